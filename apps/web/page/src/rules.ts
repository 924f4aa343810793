// The rules of the game on the board, in the page's own instance of the module: answers come at once.

import init, { Searcher, Table } from '../../generated/turnstone_web.js';
import { t } from './texts.js';
import type { Board, Movement, Rules, View } from './types.js';

/** Compiles the module and starts the page's instance of it. */
export async function load(): Promise<WebAssembly.Module> {
  const response = await fetch(new URL('turnstone.wasm', document.baseURI));
  if (!response.ok) throw new Error(t.fileMissing('turnstone.wasm', response.status));
  // Some servers of static files do not know the type.
  const module = response.headers.get('content-type')?.startsWith('application/wasm')
    ? await WebAssembly.compileStreaming(response)
    : await WebAssembly.compile(await response.arrayBuffer());
  await init({ module_or_path: module });
  return module;
}

export const gameNames = (): string[] => JSON.parse(Table.names()) as string[];

/** Game, parameters and step of a checkpoint. */
export const checkpoint = (network: Uint8Array): { game: string; params: Record<string, unknown>; step: number } =>
  JSON.parse(Searcher.checkpoint(network)) as { game: string; params: Record<string, unknown>; step: number };

/** A game with its parameters. Faults of texts are thrown as `Error`s with a message for people. */
export class Game {
  readonly board: Board;
  readonly rules: Rules;
  private readonly table: Table;
  private readonly views = new Map<string, View>();

  constructor(name: string, params: Record<string, string>) {
    this.rules = { game: name, params: JSON.stringify(params) };
    this.table = new Table(name, this.rules.params);
    this.board = JSON.parse(this.table.board()) as Board;
  }

  view(position: string): View {
    let view = this.views.get(position);
    if (!view) {
      view = JSON.parse(this.text(position)) as View;
      if (this.views.size > 400) this.views.clear();
      this.views.set(position, view);
    }
    return view;
  }

  /** The view as the module writes it. */
  text(position: string): string {
    return this.table.view(position);
  }

  play(position: string, action: string): string {
    return this.table.play(position, action);
  }

  /** What an action does in a position. */
  movement(position: string, action: string): Movement {
    return JSON.parse(this.table.movement(position, action)) as Movement;
  }

  /** Whether a checkpoint was trained for this game with these parameters. */
  fits(network: Uint8Array): boolean {
    return this.table.fits(network);
  }

  free(): void {
    this.table.free();
  }
}

/** `mu_torere` as a heading, `Mu Torere`. */
export const title = (name: string): string =>
  name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
