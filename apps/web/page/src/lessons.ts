// How to play: sentences with pictures, which are small boards after an action, and the rules in full below.

import { Board } from './board.js';
import { make } from './dom.js';
import { blocks } from './markdown.js';
import type { Game } from './rules.js';
import { t } from './texts.js';

/** What the page says of how to play a game. */
export function howToPlay(game: Game): HTMLElement[] {
  const { lessons, rules } = game.board;
  const full = blocks(rules ?? '');
  if (lessons.length === 0) return full;
  const sentences = lessons.map(([text, picture]) => {
    const item = make('li', {}, make('p', {}, text));
    if (picture && game.board.standard) item.append(drawn(game, picture));
    return item;
  });
  return [make('ol', { class: 'lessons' }, ...sentences), make('details', {}, make('summary', {}, t.rulesInFull), ...full)];
}

/** A board after an action, with the marks of what it did. The sentence beside it says the same. */
function drawn(game: Game, [position, action]: [string, string]): HTMLElement {
  const root = make('div', { class: 'board', 'aria-hidden': 'true' });
  const board = new Board(root, () => undefined);
  board.setGame(game.board);
  board.show(game.view(game.play(position, action)), game.movement(position, action).steps, false);
  // It is no place to press.
  root.querySelector('.points')?.remove();
  return root;
}
