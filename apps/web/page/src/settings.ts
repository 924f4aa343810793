// What a person sets: the rules of the game, colours.

import { announce, element, make } from './dom.js';
import { t } from './texts.js';
import type { Param } from './types.js';

/** What was kept under a name; pages without storage keep nothing. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A page without storage keeps its settings until it is closed.
  }
}

/** A field for a parameter of a game: a choice where the game's sheet lists the values, else a text. */
export function field({ key, value, default: own, range, meaning }: Param): HTMLElement {
  const listed = range.split(', ');
  const choices = listed.length > 1 && listed.includes(own) ? listed : ['true', 'false'].includes(own) ? ['true', 'false'] : [];
  const id = `param-${key}`;
  const attributes = { id, name: key, ...(meaning ? { 'aria-describedby': `${id}-note` } : {}) };
  const options = choices.map((choice) => {
    const option = make('option', { value: choice }, choice.replaceAll('_', ' '));
    option.selected = choice === value;
    return option;
  });
  const input = choices.length > 0
    ? make('select', attributes, ...options)
    : make('input', { ...attributes, value, autocomplete: 'off', ...(/^\d+$/.test(own) ? { inputmode: 'numeric' } : {}) });
  const words = [meaning, choices.length === 0 ? range : ''].filter((text) => text !== '').join('; ');
  const note = words ? [make('p', { id: `${id}-note`, class: 'note' }, words)] : [];
  return make('div', { class: 'field' }, make('label', { for: id }, key.replaceAll('_', ' ')), input, ...note);
}

/** The values of the form of rules. */
export const fields = (): Record<string, string> =>
  Object.fromEntries([...element('fields').querySelectorAll<HTMLInputElement | HTMLSelectElement>('[name]')].map(({ name, value }) => [name, value.trim()]));

function setTheme(theme: string): void {
  document.documentElement.dataset['theme'] = theme;
  const name = t.themes[theme] ?? theme;
  element('theme').textContent = name;
  element('theme').setAttribute('aria-label', t.colours(name));
  keep('theme', theme);
}

/** Shows the next of the colours: those of the system, light, dark. */
export function nextTheme(): void {
  const order = ['auto', 'light', 'dark'];
  const next = order[(order.indexOf(document.documentElement.dataset['theme'] ?? 'auto') + 1) % order.length] ?? 'auto';
  setTheme(next);
  announce(t.colours(t.themes[next] ?? next));
}

/** A choice that is kept for the next visit; `chosen` hears it now and after each change. */
export function keptChoice(id: string, words: Record<string, string>, own: string, chosen: (value: string) => void): void {
  const select = element<HTMLSelectElement>(id);
  select.replaceChildren(...Object.entries(words).map(([value, word]) => make('option', { value }, word)));
  const last = kept(id);
  select.value = last !== null && last in words ? last : own;
  chosen(select.value);
  select.addEventListener('change', () => {
    keep(id, select.value);
    chosen(select.value);
  });
}

/** A button that switches something, kept for the next visit; `switched` hears it now and after each change. */
export function keptSwitch(id: string, switched: (isOn: boolean) => void): void {
  const set = (isOn: boolean): void => {
    element(id).setAttribute('aria-pressed', String(isOn));
    switched(isOn);
  };
  element(id).addEventListener('click', () => {
    const isOn = element(id).getAttribute('aria-pressed') !== 'true';
    keep(id, isOn ? 'on' : '');
    set(isOn);
  });
  set(kept(id) === 'on');
}

/** Opens what was opened on the last visit, and keeps what is opened now. */
export function keptFolds(): void {
  for (const fold of document.querySelectorAll<HTMLDetailsElement>('details.fold-away')) {
    fold.open = kept(fold.id) === 'open';
    fold.addEventListener('toggle', () => keep(fold.id, fold.open ? 'open' : ''));
  }
}

/** Colours as they were chosen before. */
export const restoreTheme = (): void => setTheme(kept('theme') ?? 'auto');
