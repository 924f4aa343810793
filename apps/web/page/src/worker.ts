// A worker that searches: trees in slices, so that a stop or another request is heard within milliseconds.

import init, { Review, Searcher, Table, Truth } from '../../generated/turnstone_web.js';
import type { AgentChoice, Answer, Choice, ExactValues, Prediction, Progress, Report, Request, Reviewed, Rules } from './types.js';

/** Milliseconds that a search keeps the worker busy at a time. */
const SLICE = 12;
/** Milliseconds between two reports of progress. */
const REPORT_EVERY = 120;

const networks = new Map<string, Uint8Array>();
let ready: Promise<unknown> = new Promise(() => undefined);
let table: { key: string; table: Table } | null = null;
/** The agents of both sides, the last one asked at the end: to quantise a network takes longer than a move. */
const searchers = new Map<string, Searcher>();
let truth: { key: string; truth: Truth | undefined } | null = null;
/** The search in progress; a greater number ends it. */
let current = 0;

const post = (answer: Answer): void => self.postMessage(answer);
const key = (...parts: (string | null)[]): string => JSON.stringify(parts);
const parsed = <T>(text: string): T => JSON.parse(text) as T;

/** Lets waiting messages be handled. A timer would wait four milliseconds. */
const channel = new MessageChannel();
const breath = (): Promise<void> =>
  new Promise((resolve) => {
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(null);
  });

function tableOf({ game, params }: Rules): Table {
  const wanted = key(game, params);
  if (table?.key !== wanted) {
    const next = new Table(game, params);
    keep(0);
    table?.table.free();
    table = { key: wanted, table: next };
  }
  return table.table;
}

function searcherOf(rules: Rules, { spec, network }: AgentChoice): Searcher {
  const of = tableOf(rules);
  const wanted = key(spec, network);
  let found = searchers.get(wanted);
  if (!found) {
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    found = new Searcher(of, spec, network === null ? undefined : networks.get(network), seed);
    keep(1);
  }
  searchers.delete(wanted);
  searchers.set(wanted, found);
  return found;
}

/** Frees all agents but those asked last. */
function keep(count: number): void {
  for (const [key, searcher] of [...searchers].slice(0, Math.max(0, searchers.size - count))) {
    searchers.delete(key);
    searcher.free();
  }
}

async function search(request: Request & { kind: 'search' }): Promise<Choice | null> {
  const { id, rules, agent, position } = request;
  const mine = ++current;
  const found = searcherOf(rules, agent);
  const simulations = request.simulations ?? found.simulations();
  if (!found.is_tree() || simulations === 0) {
    const report = (text: string): void => post({ kind: 'progress', id, progress: parsed<Progress>(text) });
    return { action: found.choose(position, undefined, report), report: null };
  }
  found.begin(position, simulations ?? 0xffff_ffff);
  let last = performance.now();
  while (!found.advance(SLICE)) {
    if (performance.now() - last >= REPORT_EVERY) {
      post({ kind: 'progress', id, report: parsed<Report>(found.report()) });
      last = performance.now();
    }
    await breath();
    if (current !== mine) return null;
  }
  const report = parsed<Report>(found.report());
  return { action: report.actions[0]?.action ?? '', report };
}

/** Searches the positions that a review asks for. */
async function review({ id, rules, agent, start, moves, simulations }: Request & { kind: 'review' }): Promise<Reviewed | null> {
  const mine = ++current;
  const found = searcherOf(rules, agent);
  const game = new Review(tableOf(rules), start, moves);
  const known = truthOf(rules);
  if (known) game.know(known);
  try {
    for (let position = game.wanted(); position !== undefined; position = game.wanted()) {
      found.begin(position, simulations);
      while (!found.advance(SLICE)) {
        await breath();
        if (current !== mine) return null;
      }
      game.take(found);
      post({ kind: 'progress', id, review: parsed<Reviewed>(game.report()) });
    }
    return parsed<Reviewed>(game.report());
  } finally {
    game.free();
  }
}

function truthOf(rules: Rules): Truth | undefined {
  const wanted = key(rules.game, rules.params);
  if (truth?.key !== wanted) {
    truth?.truth?.free();
    truth = { key: wanted, truth: Truth.of(tableOf(rules)) };
  }
  return truth.truth;
}

function exact(rules: Rules, positions: string[]): (ExactValues | null)[] {
  const known = truthOf(rules);
  return positions.map((position) => (known ? parsed<ExactValues | null>(known.values(position)) : null));
}

/** Simulations per second of searches from a position. */
function rate(request: Request & { kind: 'rate' }): number {
  const found = searcherOf(request.rules, request.agent);
  const begin = performance.now();
  let simulations = 0;
  while (performance.now() - begin < request.milliseconds) {
    found.begin(request.position, 400);
    while (!found.advance(1000));
    simulations += parsed<Report>(found.report()).visits;
  }
  return (1000 * simulations) / (performance.now() - begin);
}

function answer(request: Request): unknown {
  switch (request.kind) {
    case 'search':
      return search(request);
    case 'review':
      return review(request);
    case 'below': {
      const last = [...searchers.values()].at(-1);
      return last ? parsed(last.below(request.line)) : null;
    }
    case 'predict': {
      const found = searcherOf(request.rules, request.agent);
      return request.positions.map((position) => parsed<Prediction>(found.predict(position)));
    }
    case 'exact':
      return exact(request.rules, request.positions);
    case 'rate':
      return rate(request);
    default:
      return null;
  }
}

self.onmessage = async ({ data }: MessageEvent<Request>): Promise<void> => {
  if (data.kind === 'module') {
    ready = init({ module_or_path: data.module });
    return;
  }
  if (data.kind === 'network') {
    networks.set(data.url, data.bytes);
    return;
  }
  if (data.kind === 'stop') {
    current++;
    return;
  }
  try {
    await ready;
    post({ kind: 'result', id: data.id, value: await answer(data) });
  } catch (error) {
    post({ kind: 'fault', id: data.id, message: error instanceof Error ? error.message : String(error) });
  }
};
