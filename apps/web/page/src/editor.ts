// The board editor: any position of a game, put together on the board and by numbers, and checked by the rules.

import type { Board } from './board.js';
import { element, make, message } from './dom.js';
import type { Game } from './rules.js';
import { sideName, t } from './texts.js';

/** A position taken apart. */
interface Sketch {
  /** What is on each point: 0 for nothing, else the player; empty where a position has numbers only. */
  cells: number[];
  mover: number;
  counts: { name: string; value: number }[];
}

/** How a game writes its positions. */
interface Format {
  /** The letters of an empty point and of both sides' pieces. */
  symbols?: string;
  /** Whether a point holds the pieces of one player only: those that it holds at the start. */
  owned?: boolean;
  read(position: string, game: Game): Sketch;
  write(sketch: Sketch, before: string, game: Game): string;
}

/** Games with one letter per point; `hands` is how many numbers of pieces in hand there are, `rest` what follows them. */
function letters(symbols: string, movers: string, hands: number, rest: (sketch: Sketch, game: Game) => string): Format {
  return {
    symbols,
    read: (position, { board }) => {
      const [cells = '', mover = '', ...others] = position.split(' ');
      const counts = board.sides.slice(0, hands).map((side, i) => ({ name: t.editor.inHand(sideName(side)), value: Number(others[i]) }));
      return { cells: [...cells].filter((cell) => cell !== '/').map((cell) => symbols.indexOf(cell)), mover: movers.indexOf(mover), counts };
    },
    write: (sketch, before, game) => {
      const { cells, mover, counts } = sketch;
      const drawn = cells.map((cell) => symbols.charAt(cell));
      // Rows are parted as they were.
      const board = [...(before.split(' ')[0] ?? '')].map((cell) => (cell === '/' ? cell : drawn.shift())).join('');
      return [board, movers.charAt(mover), ...counts.map(({ value }) => value), rest(sketch, game)].join(' ').trim();
    },
  };
}

/** Two rows of pits, each with a store. */
const pits: Format = {
  read: (position) => {
    const [first = '', second = '', mover] = position.split(' ');
    const row = (text: string, letter: string): Sketch['counts'] => {
      const [own = '', store = ''] = text.split('/');
      const values = own.split(',').map((value, i) => ({ name: `${letter}${i + 2}`, value: Number(value) }));
      return [...values, { name: t.editor.store(letter), value: Number(store) }];
    };
    return { cells: [], mover: Number(mover) - 1, counts: [...row(first, 'B'), ...row(second, 'A')] };
  },
  write: ({ mover, counts }) => {
    const half = counts.length / 2;
    const row = (values: number[]): string => `${values.slice(0, -1).join(',')}/${values.at(-1)}`;
    const values = counts.map(({ value }) => value);
    return `${row(values.slice(0, half))} ${row(values.slice(half))} ${mover + 1}`;
  },
};

/** Plies without a shot: while none was lost, as many as cows are placed. */
function quiet({ cells, counts }: Sketch, { board }: Game): number {
  const cows = Number(board.params.find(({ key }) => key === 'cows')?.value);
  const placed = 2 * cows - counts.reduce((sum, { value }) => sum + value, 0);
  return placed === cells.filter((cell) => cell > 0).length ? placed : 0;
}

/** A game of one's own is not in the list: its positions are edited as text. */
const FORMATS: Record<string, Format> = {
  mu_torere: letters('012', '12', 0, () => '0'),
  mancala: pits,
  morris: letters('xWB', 'WB', 2, () => '- 0'),
  konane: { ...letters('.XO', 'XO', 0, () => ''), owned: true },
  morabaraba: letters('.BW', 'BW', 2, (sketch, game) => `- ${quiet(sketch, game)} 0 - -`),
};

export class Editor {
  private game: Game | null = null;
  private sketch: Sketch = { cells: [], mover: 0, counts: [] };
  /** The last text that the rules accepted, which the board shows. */
  private valid = '';

  constructor(private readonly board: Board, private readonly play: (position: string) => void, private readonly left: () => void) {
    const on = (id: string, act: () => void): void => element(id).addEventListener('click', act);
    on('edit-empty', () => {
      this.sketch.cells.fill(0);
      if (this.sketch.cells.length === 0) for (const count of this.sketch.counts) count.value = 0;
      this.fill();
    });
    on('edit-play', () => {
      const position = this.valid;
      this.end();
      this.play(position);
    });
    on('edit-cancel', () => {
      this.end();
      this.left();
    });
    element('edit-mover').addEventListener('change', () => {
      this.sketch.mover = Number(element<HTMLSelectElement>('edit-mover').value);
      this.check();
    });
  }

  get on(): boolean {
    return this.game !== null;
  }

  static knows(game: Game): boolean {
    return game.board.name in FORMATS;
  }

  begin(game: Game, position: string): void {
    const format = FORMATS[game.board.name];
    if (!format) return;
    [this.game, this.valid] = [game, position];
    this.sketch = format.read(position, game);
    element('editor').hidden = false;
    this.say(true);
    element('edit-how').textContent = this.sketch.cells.length > 0 ? t.editor.points : t.editor.numbers;
    const sides = game.board.sides.map((side, i) => make('option', { value: String(i) }, sideName(side)));
    element('edit-mover').replaceChildren(...sides);
    this.board.edit(this.sketch.cells.length > 0 ? (point) => this.turn(point) : null);
    this.fill();
    element('editor').focus();
  }

  end(): void {
    this.game = null;
    this.board.edit(null);
    element('editor').hidden = true;
    this.say(false);
  }

  /** Says at the board whether a position is set up; after the end, the page says what else there is. */
  private say(on: boolean): void {
    element('edit').setAttribute('aria-pressed', String(on));
    if (!on) return;
    element('status').textContent = t.editor.mode;
    for (const id of ['event', 'task', 'thinking']) element(id).textContent = '';
  }

  /** The next content of a point: nothing, a piece of player 1, one of player 2, as far as the point can hold it. */
  private turn(point: number): void {
    const { game, sketch } = this;
    const format = game ? FORMATS[game.board.name] : undefined;
    if (!game || !format) return;
    const before = sketch.cells[point] ?? 0;
    const own = format.owned ? (format.read(game.board.start, game).cells[point] ?? 0) : null;
    sketch.cells[point] = own === null ? (before + 1) % 3 : before === 0 ? own : 0;
    this.check();
  }

  private fill(): void {
    element<HTMLSelectElement>('edit-mover').value = String(this.sketch.mover);
    const fields = this.sketch.counts.map((count, i) => {
      const input = make('input', { type: 'number', min: '0', max: '255', id: `edit-${i}`, value: String(count.value) });
      input.addEventListener('input', () => {
        count.value = Math.max(0, Math.round(Number(input.value)));
        this.check();
      });
      return make('div', {}, make('label', { for: `edit-${i}` }, count.name), input);
    });
    element('edit-counts').replaceChildren(...fields);
    this.check();
  }

  /** Shows the position if the rules accept it, else what is wrong, and on the board what is not drawn yet. */
  private check(): void {
    const { game, sketch } = this;
    if (!game) return;
    const format = FORMATS[game.board.name]!;
    const text = format.write(sketch, this.valid, game);
    let fault = '';
    try {
      this.valid = game.view(text).position;
    } catch (error) {
      // The position is before the first colon of its fault.
      fault = message(error).replace(/^position `[^`]*`: /, '');
      // As the page calls the sides, not as a position writes them.
      for (const side of [0, 1] as const) {
        const letter = format.symbols?.charAt(side + 1) ?? '';
        if (/[A-Z]/.test(letter)) fault = fault.replace(new RegExp(`\`?\\b${letter}\\b\`?`, 'g'), sideName(game.board.sides[side]));
      }
    }
    element('edit-fault').textContent = fault;
    element<HTMLButtonElement>('edit-play').disabled = fault !== '';
    const drawn = format.read(this.valid, game).cells;
    this.board.show(game.view(this.valid), [], false);
    this.board.patch(sketch.cells.flatMap((cell, point) => (cell === drawn[point] ? [] : [{ point, side: cell - 1 }])));
  }
}
