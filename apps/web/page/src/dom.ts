// Small helpers around the document.

/** The element with this id, which the page's HTML contains. */
export function element<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found as unknown as T;
}

/** A new element with attributes and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A new SVG element. */
export function shape(tag: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text) made.textContent = text;
  return made;
}

let spoken: ReturnType<typeof setTimeout> | undefined;

/** Says a line to screen readers. */
export function announce(text: string): void {
  const region = element('announcer');
  clearTimeout(spoken);
  // An unchanged text would not be read again.
  region.textContent = '';
  spoken = setTimeout(() => { region.textContent = text; }, 30);
}

/** Characters of the longest fault that is shown: it may quote what was pasted. */
const LONGEST = 400;

/** Shows a fault, or nothing. */
export function complain(text: string): void {
  const place = element('fault');
  place.textContent = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  place.hidden = text === '';
}

export const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));
