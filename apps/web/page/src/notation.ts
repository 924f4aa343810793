// Points and actions as people write them: columns as letters, `b3-b5` for a jump and `1-0` for a move.
//
// Games name points and actions in their own notation, which texts, files and addresses keep. A point named `row,column` is
// shown as `b3`, an action with such points as these names, anything else as it is.

import type { Board } from './types.js';

const letter = (column: number): string => String.fromCharCode(96 + column);

const cell = (row: string, column: string): string => `${letter(Number(column))}${row}`;

/** Whether the points of a board are rows and columns by number. */
export const numbered = (board: Board): boolean => board.points.length > 0 && board.points.every(({ name }) => /^\d+,\d+$/.test(name));

/** The name of a point. */
export const pointName = (name: string): string => name.replace(/^(\d+),(\d+)$/, (_, row: string, column: string) => cell(row, column));

/** A text of the rules with its points, `(1,2)`, as the page names them. */
export const withPoints = (text: string): string => text.replace(/\((\d+),(\d+)\)/g, (_, row: string, column: string) => cell(row, column));

/** An action. */
export function spoken(action: string): string {
  const call = /^([a-z]+)\((\d+(?:,\d+)*)\)$/.exec(action);
  if (!call) return action.replace(/^(\d+),(\d+)$/, '$1-$2');
  const numbers = (call[2] ?? '').split(',');
  const cells = Array.from({ length: numbers.length >> 1 }, (_, i) => cell(numbers[2 * i] ?? '', numbers[2 * i + 1] ?? ''));
  return `${call[1] === 'remove' ? 'x' : ''}${cells.join('-')}`;
}

/** Writes the columns of a drawing as letters, where it numbers them below the board. */
export function lettered(drawing: Element, board: Board): void {
  const bottom = Math.max(...board.points.map(({ at, radius }) => at[1] + radius));
  for (const text of drawing.querySelectorAll('text')) {
    if (Number(text.getAttribute('y')) > bottom && /^\d+$/.test(text.textContent ?? '')) text.textContent = letter(Number(text.textContent));
  }
}
