// The texts of the page in the language of the person.
//
// A language is a file in `texts/` with everything that `texts/en.ts` has, which the compiler checks, a line in `LANGUAGES`, and
// its name in `build.mjs` and in `apps/serve/src/assets.rs`.

import { en, type Texts } from './texts/en.js';

/** A file of texts beside the page, which is loaded when its language is chosen. */
const file = async (code: string): Promise<Texts> =>
  ((await import(new URL(`${code}.js`, document.baseURI).href)) as Record<string, Texts>)[code] ?? en;

/** Languages by their code, with their own names. */
export const LANGUAGES: Record<string, { name: string; texts: () => Promise<Texts> }> = {
  en: { name: 'English', texts: async () => en },
  de: { name: 'Deutsch', texts: () => file('de') },
};

/** The texts of the chosen language. */
export let t: Texts = en;

/** The language that was chosen before, or the browser's, or English. */
export function preferred(chosen: string | null): string {
  const wanted = [chosen ?? '', ...navigator.languages.map((tag) => tag.split('-')[0] ?? '')];
  return wanted.find((code) => code in LANGUAGES) ?? 'en';
}

/** Chooses a language, and fills the texts of the document in. */
export async function speak(code: string): Promise<void> {
  t = (await LANGUAGES[code]?.texts().catch(() => en)) ?? en;
  document.documentElement.lang = code;
  // The server has put this link there.
  for (const link of document.querySelectorAll('nav a[href="runs"]')) link.textContent = t.html.runs;
  const text = (key: string | undefined): string => (t.html as Record<string, string>)[key ?? ''] ?? '';
  for (const one of document.querySelectorAll<HTMLElement>('[data-t]')) one.textContent = text(one.dataset['t']);
  for (const one of document.querySelectorAll<HTMLElement>('[data-t-label]')) one.setAttribute('aria-label', text(one.dataset['tLabel']));
  for (const one of document.querySelectorAll<HTMLElement>('[data-t-title]')) one.title = text(one.dataset['tTitle']);
}

/** The name of a side without what its game's own notation calls it, such as `Dark` for `dark (X)`. */
export function sideName(name: string): string {
  const plain = word(name.replace(/ \(.*\)$/, ''));
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** A word that comes from a game, such as the name of a side. */
export function word(text: string): string {
  const stones = /^(\d+) stones?$/.exec(text);
  return stones ? t.stones(Number(stones[1])) : (t.words[text] ?? text);
}

/** A share as people say it: `83 %`. */
export const percent = (share: number): string => `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;

/** A share without decimals. */
export const wholePercent = (share: number): string => `${Math.round(100 * share)} %`;

/** A side's chance to win, from an expected result for player 1 between -1 and 1. A draw counts as half. */
export const chanceOf = (value: number, side: number): number => (1 + (side === 0 ? value : -value)) / 2;

/** That chance in words: whole per cents, and nothing is certain that is not proven. */
export function chanceText(value: number, side: number): string {
  const share = Math.round(100 * chanceOf(value, side));
  if (Math.abs(value) < 1) return `${Math.min(99, Math.max(1, share))} %`;
  return `${share} %`;
}
