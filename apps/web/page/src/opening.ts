// The game that an address names, and the agent of its own: what does not exist is told, and the page plays all the same.

import * as address from './address.js';
import { message } from './dom.js';
import { networkFile } from './engine.js';
import { Match } from './match.js';
import type { Checkpoint } from './players.js';
import { Game, checkpoint, gameNames, title } from './rules.js';
import { t } from './texts.js';

/** The game of a first visit. */
const FIRST_GAME = 'mancala';

/** The agent that an address names by its file. */
export interface OwnAgent {
  checkpoint: Checkpoint;
  game: string;
  params: Record<string, string>;
  /** What of the address names it. */
  pairs: [string, string][];
}

export interface Opening {
  match: Match;
  own: OwnAgent | null;
}

/** The game of an address; faults are told. */
export async function opening(query: URLSearchParams, tell: (fault: string) => void): Promise<Opening> {
  let isFault = false;
  const fault = (words: string): void => {
    isFault = true;
    tell(words);
  };
  const asked = query.get('game');
  let name = gameNames().includes(FIRST_GAME) ? FIRST_GAME : (gameNames()[0] ?? '');
  if (asked !== null && gameNames().includes(asked)) name = asked;
  else if (asked !== null) fault(t.address.game(asked, title(name)));
  let own: OwnAgent | null = null;
  let params: Record<string, string> = {};
  try {
    own = await ownAgent(query);
    if (own) [name, params] = [own.game, { ...own.params }];
  } catch (error) {
    fault(t.address.agent(message(error)));
  }
  if (asked === null || asked === name) for (const [key, value] of query) if (key.startsWith('param.')) params[key.slice(6)] = value;
  let game: Game;
  try {
    game = new Game(name, params);
  } catch (error) {
    game = new Game(name, {});
    fault(t.address.rules(message(error), title(name)));
  }
  // Moves of other rules mean nothing.
  return { match: isFault ? new Match(game) : address.played(new Match(game), query, tell), own };
}

async function ownAgent(query: URLSearchParams): Promise<OwnAgent | null> {
  const network = query.get('agent');
  if (!network) return null;
  const url = new URL(network, document.baseURI);
  // Not by their origins, which are all `null` where the page is a file.
  if (url.protocol !== location.protocol || url.host !== location.host) throw new Error(t.address.elsewhere);
  const { game, params, step } = checkpoint(await networkFile(url.href));
  if (!gameNames().includes(game)) throw new Error(t.address.otherGame(game));
  const name = query.get('name');
  return {
    checkpoint: { label: name ?? t.players.checkpoint(step), url: url.href },
    game,
    params: Object.fromEntries(Object.entries(params).map(([key, value]) => [key, String(value)])),
    pairs: [['agent', network], ...(name === null ? [] : [['name', name] as [string, string]])],
  };
}
