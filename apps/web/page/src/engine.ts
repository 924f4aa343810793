// A worker seen from the page: requests as promises, and a stop that takes effect at once.

import { t } from './texts.js';
import type {
  ActionReport, AgentChoice, Answer, Choice, ExactValues, Prediction, Progress, Report, Request, Reviewed, Rules,
} from './types.js';

type Listener = { progress: (answer: Answer & { kind: 'progress' }) => void; done: (value: unknown) => void; fault: (error: Error) => void };

/** Milliseconds after which a worker that does not stop is replaced: a search without a tree does not listen. */
const PATIENCE = 60;

const files = new Map<string, Promise<Uint8Array>>();

/** The bytes of a checkpoint, fetched once. */
export function networkFile(url: string): Promise<Uint8Array> {
  let file = files.get(url);
  if (!file) {
    file = fetch(url).then(async (response) => {
      if (!response.ok) throw new Error(t.fileMissing(url, response.status));
      return new Uint8Array(await response.arrayBuffer());
    });
    file.catch(() => files.delete(url));
    files.set(url, file);
  }
  return file;
}

/** The answer to a request whose search was stopped. */
export class Stopped extends Error {}

export class Engine {
  private worker: Worker | null = null;
  private readonly listeners = new Map<number, Listener>();
  private sent = new Set<string>();
  private next = 1;
  private searching: number | null = null;
  /** Resolved when the search that was stopped last has ended, or its worker with it. */
  private stopping: Promise<void> = Promise.resolve();

  constructor(private readonly module: WebAssembly.Module) {}

  /** Searches a position. `progress` receives the tree, or the depths of a search without one. */
  async search(
    rules: Rules,
    agent: AgentChoice,
    position: string,
    simulations: number | null,
    progress: (report: Report | null, progress: Progress | null) => void,
  ): Promise<Choice> {
    const told: Listener['progress'] = (answer) => progress(answer.report ?? null, answer.progress ?? null);
    return this.begin(agent, (id) => ({ kind: 'search', id, rules, agent, position, simulations }), told);
  }

  /** Reviews a game; `progress` receives the moves reviewed so far. */
  async review(
    rules: Rules,
    agent: AgentChoice,
    start: string,
    moves: string,
    simulations: number,
    progress: (review: Reviewed) => void,
  ): Promise<Reviewed> {
    const told: Listener['progress'] = ({ review }) => { if (review) progress(review); };
    return this.begin(agent, (id) => ({ kind: 'review', id, rules, agent, start, moves, simulations }), told);
  }

  /** Begins what `stop` ends. */
  private async begin<T>(agent: AgentChoice, request: (id: number) => Request & { id: number }, progress: Listener['progress']): Promise<T> {
    this.stop();
    const id = this.next++;
    this.searching = id;
    await this.hand(agent);
    if (this.searching !== id) throw new Stopped();
    const result = await this.ask<T | null>(request(id), progress);
    if (this.searching === id) this.searching = null;
    if (!result) throw new Stopped();
    return result;
  }

  /** Ends the search in progress, whose promise is refused with `Stopped`. Requests that follow wait until it has ended. */
  stop(): void {
    const id = this.searching;
    this.searching = null;
    const listener = id === null ? undefined : this.listeners.get(id);
    if (id === null || !listener) return;
    const worker = this.worker;
    worker?.postMessage({ kind: 'stop' } satisfies Request);
    this.stopping = new Promise((resolve) => {
      const ended = (): void => {
        clearTimeout(timer);
        listener.fault(new Stopped());
        resolve();
      };
      this.listeners.set(id, { progress: () => undefined, done: ended, fault: ended });
      const timer = setTimeout(() => {
        if (!this.listeners.has(id) || this.worker !== worker) return;
        worker?.terminate();
        this.worker = null;
        const waiting = [...this.listeners.values()];
        this.listeners.clear();
        for (const one of waiting) one.fault(new Stopped());
      }, PATIENCE);
    });
  }

  /** The actions after a line, in the tree of the last search. */
  async below(line: string[]): Promise<ActionReport[] | null> {
    await this.stopping;
    return this.ask({ kind: 'below', id: this.next++, line: line.join(' ') });
  }

  async predict(rules: Rules, agent: AgentChoice, positions: string[]): Promise<Prediction[]> {
    await this.hand(agent);
    return this.ask({ kind: 'predict', id: this.next++, rules, agent, positions });
  }

  async exact(rules: Rules, positions: string[]): Promise<(ExactValues | null)[]> {
    return this.ask({ kind: 'exact', id: this.next++, rules, positions });
  }

  /** For tests: simulations per second. */
  async rate(rules: Rules, agent: AgentChoice, position: string, milliseconds: number): Promise<number> {
    await this.hand(agent);
    return this.ask({ kind: 'rate', id: this.next++, rules, agent, position, milliseconds });
  }

  /** Waits for the search that was stopped last, and hands the file of the agent's network to the worker, once. */
  private async hand({ network }: AgentChoice): Promise<void> {
    const bytes = network === null ? null : await networkFile(network);
    await this.stopping;
    if (network === null || bytes === null) return;
    const worker = this.started();
    if (this.sent.has(network)) return;
    this.sent.add(network);
    worker.postMessage({ kind: 'network', url: network, bytes } satisfies Request);
  }

  private started(): Worker {
    if (!this.worker) {
      this.worker = new Worker(new URL('worker.js', document.baseURI), { type: 'module' });
      this.sent = new Set();
      this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.heard(data);
      this.worker.onerror = (event) => {
        const waiting = [...this.listeners.values()];
        this.listeners.clear();
        this.worker?.terminate();
        this.worker = null;
        for (const one of waiting) one.fault(new Error(event.message || t.searchFailed));
      };
      this.worker.postMessage({ kind: 'module', module: this.module } satisfies Request);
    }
    return this.worker;
  }

  private ask<T>(request: Request & { id: number }, progress: Listener['progress'] = () => undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const worker = this.started();
      this.listeners.set(request.id, { progress, done: (value) => resolve(value as T), fault: reject });
      worker.postMessage(request);
    });
  }

  private heard(answer: Answer): void {
    const listener = this.listeners.get(answer.id);
    if (!listener) return;
    if (answer.kind === 'progress') {
      listener.progress(answer);
      return;
    }
    this.listeners.delete(answer.id);
    if (answer.kind === 'result') listener.done(answer.value);
    else listener.fault(new Error(answer.message));
  }
}
