// The small part of Markdown that the games' rules use, as elements: paragraphs, lists, tables, code and emphasis.

import { make } from './dom.js';

/** The blocks of a text. Nothing in it becomes markup but what is listed above. */
export function blocks(text: string): HTMLElement[] {
  return text.split(/\n{2,}/).filter((block) => block.trim() !== '').map((block) => {
    const lines = block.split('\n');
    const first = lines[0] ?? '';
    if (first.startsWith('```')) return make('pre', {}, lines.filter((line) => !line.startsWith('```')).join('\n'));
    if (first.startsWith('|')) return table(lines);
    if (/^\d+\. /.test(first)) return list('ol', lines, /^\d+\. /);
    if (/^[-*] /.test(first)) return list('ul', lines, /^[-*] /);
    if (first.startsWith('#')) return make('h3', {}, ...words(block.replace(/^#+ */, '')));
    return make('p', {}, ...words(lines.join(' ')));
  });
}

/** Items begin with a mark; lines without one continue the item before. */
function list(tag: 'ol' | 'ul', lines: string[], mark: RegExp): HTMLElement {
  const items: string[] = [];
  for (const line of lines) {
    if (mark.test(line)) items.push(line.replace(mark, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return make(tag, {}, ...items.map((item) => make('li', {}, ...words(item))));
}

function table(lines: string[]): HTMLElement {
  const rows = lines.filter((line) => !/^\|[-:| ]+\|$/.test(line)).map((line) => line.replace(/^\||\|$/g, '').split('|'));
  const row = (cells: string[], tag: 'th' | 'td'): HTMLElement => make('tr', {}, ...cells.map((cell) => make(tag, {}, ...words(cell.trim()))));
  return make('table', {}, ...rows.map((cells, i) => row(cells, i === 0 ? 'th' : 'td')));
}

/** Text with `code`, **strong** and *emphasis*. */
function words(text: string): (Node | string)[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).map((part) => {
    if (part.startsWith('`')) return make('code', {}, part.slice(1, -1));
    if (part.startsWith('**')) return make('strong', {}, part.slice(2, -2));
    if (part.length > 2 && part.startsWith('*')) return make('em', {}, part.slice(1, -1));
    return part;
  });
}
