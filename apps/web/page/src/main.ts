// The page: a game between people and agents, and what an analysis shows of it.

import { Board } from './board.js';
import { Clocks, clockText } from './clock.js';
import { announce, complain, element, make, message } from './dom.js';
import { Engine, Stopped, networkFile } from './engine.js';
import { Look } from './look.js';
import { blocks } from './markdown.js';
import { Match, ending, read } from './match.js';
import { type Checkpoint, Seat, TRAINED, checkpoints } from './players.js';
import { Game, checkpoint, gameNames, load, title } from './rules.js';
import type { AgentChoice, Param } from './types.js';

/** Simulations of an analysis; it can be stopped at any time. */
const ANALYSIS = 20_000;

class App {
  private match: Match;
  private readonly board: Board;
  private readonly player: Engine;
  private readonly analyst: Engine;
  private readonly solver: Engine;
  private readonly look: Look;
  private readonly clocks: Clocks;
  private readonly seats: [Seat, Seat];
  private trained: Checkpoint[] = [];
  private readonly shipped: Set<string>;
  private extra: Checkpoint[] = [];
  /** A greater number ends whatever waits for an agent or a movement. */
  private turn = 0;
  private paused = false;
  private timeLost: number | null = null;

  constructor(module: WebAssembly.Module) {
    this.shipped = new Set((document.body.dataset['agents'] ?? '').split(' '));
    this.player = new Engine(module);
    this.analyst = new Engine(module);
    this.solver = new Engine(module);
    this.match = new Match(new Game(gameNames()[0] ?? '', {}));
    this.board = new Board(element('board'), (action) => this.act(action));
    this.look = new Look(this.board, this.analyst, this.solver, (ply) => this.goTo(ply), () => this.showMoves());
    this.clocks = new Clocks((left) => this.showClocks(left), (side) => this.flag(side));
    const seat = (side: number): Seat =>
      new Seat(element(`kind${side}`), element(`level${side}`), () => {
        this.paused = false;
        this.next();
      });
    this.seats = [seat(0), seat(1)];
    this.listen();
  }

  /** Starts with the game and players that the address names. */
  async begin(query: URLSearchParams): Promise<void> {
    const select = element<HTMLSelectElement>('game');
    select.replaceChildren(...gameNames().map((name) => make('option', { value: name }, title(name))));
    let params: Record<string, string> = {};
    let name = query.get('game') ?? 'morabaraba';
    const network = query.get('agent');
    if (network) {
      const url = new URL(network, document.baseURI);
      if (url.origin !== location.origin) throw new Error('an agent comes from the same server as the page');
      const info = checkpoint(await networkFile(url.href));
      name = info.game;
      params = Object.fromEntries(Object.entries(info.params).map(([key, value]) => [key, String(value)]));
      this.extra = [{ label: query.get('name') ?? `checkpoint, step ${info.step}`, url: url.href }];
    }
    if (!gameNames().includes(name)) name = gameNames()[0] ?? '';
    for (const [key, value] of query) if (key.startsWith('param.')) params[key.slice(6)] = value;
    await this.setGame(new Match(new Game(name, params)));
    for (const side of [0, 1] as const) {
      const kind = query.get(`p${side + 1}`);
      if (kind) this.seats[side].set(kind, query.get(`level${side + 1}`) ?? '');
    }
    if (query.get('analyse') === '1') this.setLook(true);
    this.next();
  }

  private listen(): void {
    const on = (id: string, act: () => void): void => element(id).addEventListener('click', () => {
      complain('');
      act();
    });
    element('game').addEventListener('change', () => {
      void this.setGame(new Match(new Game(element<HTMLSelectElement>('game').value, {}))).then(() => this.next());
    });
    element('params').addEventListener('submit', (event) => {
      event.preventDefault();
      this.newGame();
    });
    on('new', () => this.newGame());
    on('undo', () => this.undo());
    on('swap', () => this.swap());
    on('first', () => this.goTo(0));
    on('back', () => this.goTo(this.match.at - 1));
    on('on', () => this.goTo(this.match.at + 1));
    on('last', () => this.goTo(this.match.plies.length));
    on('resume', () => this.resume());
    on('pause', () => this.pause());
    on('analyse', () => this.setLook(!this.look.on));
    on('copy-position', () => this.copy(this.match.view().position, 'position'));
    on('copy-game', () => this.copy(this.match.text(), 'game'));
    on('load', () => this.load(element<HTMLTextAreaElement>('text').value));
    on('theme', () => this.nextTheme());
    element('minutes').addEventListener('change', () => {
      this.clocks.reset(Number(element<HTMLSelectElement>('minutes').value));
      this.timeLost = null;
      this.next();
    });
    element('moves').addEventListener('click', (event) => {
      const ply = (event.target as Element).closest<HTMLElement>('[data-ply]')?.dataset['ply'];
      if (ply !== undefined) this.goTo(Number(ply));
    });
    document.addEventListener('paste', (event) => {
      if (event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement) return;
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text.trim() !== '') this.load(text);
    });
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLTextAreaElement) return;
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
      if (event.key === 'u') this.undo();
      else if (event.key === '[') this.goTo(this.match.at - 1);
      else if (event.key === ']') this.goTo(this.match.at + 1);
    });
  }

  /** Shows another game, or another position of the same one. */
  private async setGame(match: Match): Promise<void> {
    const same = match.game === this.match.game;
    this.halt();
    this.match = match;
    this.timeLost = null;
    this.paused = false;
    const { board } = match.game;
    element<HTMLSelectElement>('game').value = board.name;
    if (!same || element('fields').childElementCount === 0) this.showParams();
    this.board.setGame(board);
    this.clocks.reset(Number(element<HTMLSelectElement>('minutes').value));
    for (const side of [0, 1] as const) {
      const name = board.sides[side];
      const words = name.toLowerCase().startsWith('player') ? name.charAt(0).toUpperCase() + name.slice(1) : `Player ${side + 1}: ${name}`;
      element(`side${side}`).textContent = words;
    }
    element('how').hidden = board.rules === null;
    element('how-text').replaceChildren(...blocks(board.rules ?? ''));
    const turn = this.turn;
    this.trained = await checkpoints(match.game, this.extra, this.shipped);
    if (turn !== this.turn) return;
    this.seats[0].offer(match.game, this.trained, 'human');
    this.seats[1].offer(match.game, this.trained, 'az0');
    element('untrained').hidden = this.trained.length > 0;
    this.show();
  }

  private showParams(): void {
    const fields = this.match.game.board.params.map(field);
    element('fields').replaceChildren(...fields);
    element('rules').hidden = fields.length === 0;
  }

  /** A new game with the parameters of the form. */
  private newGame(): void {
    const entries = [...element('fields').querySelectorAll<HTMLInputElement | HTMLSelectElement>('[name]')].map(({ name, value }) => [name, value.trim()]);
    try {
      const game = new Game(element<HTMLSelectElement>('game').value, Object.fromEntries(entries) as Record<string, string>);
      complain('');
      announce('new game');
      void this.setGame(new Match(game)).then(() => this.next());
    } catch (error) {
      complain(message(error));
    }
  }

  /** An action chosen on the board or in the list. */
  private act(action: string): void {
    const view = this.match.view();
    if (!this.seats[view.mover === 0 ? 0 : 1].isPerson || this.timeLost !== null) return;
    void this.perform(action).then((done) => { if (done) this.next(); });
  }

  /** Plays an action with its movement; false if something else happened meanwhile. */
  private async perform(action: string): Promise<boolean> {
    const turn = ++this.turn;
    const { match } = this;
    const before = match.view();
    const ply = match.play(action);
    const after = match.view();
    const who = match.game.board.sides[ply.mover] ?? '';
    this.state(after.position, true);
    await this.board.animate(ply, before, after);
    if (turn !== this.turn) return false;
    this.show();
    const sides = match.game.board.sides;
    announce(`${who}: ${action}. ${after.outcome ? ending(after, sides) : `${sides[after.mover] ?? ''} to move`}`);
    return true;
  }

  /** Lets the agent play whose turn it is. */
  private next(): void {
    this.halt();
    this.show();
    const view = this.match.view();
    if (view.outcome || this.timeLost !== null || !this.match.isAtEnd) return;
    this.clocks.start(view.mover);
    const agent = this.seats[view.mover === 0 ? 0 : 1].agent;
    if (!agent || this.paused) return;
    void this.answer(agent, view.position);
  }

  private async answer(agent: AgentChoice, position: string): Promise<void> {
    const turn = this.turn;
    const { match } = this;
    const status = (text: string): void => { if (turn === this.turn) element('thinking').textContent = text; };
    status('thinking');
    element('board').dataset['thinking'] = 'true';
    try {
      const begun = performance.now();
      const choice = await this.player.search(match.game.rules, agent, position, null, (report, progress) => {
        if (report) status(`thinking: ${report.visits.toLocaleString('en')} simulations`);
        else if (progress) status(`thinking: depth ${progress.depth}`);
      });
      const bothAgents = !this.seats[0].isPerson && !this.seats[1].isPerson;
      const wait = (bothAgents ? 350 : 150) - (performance.now() - begun);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (turn !== this.turn) return;
      status('');
      if (await this.perform(choice.action)) this.next();
    } catch (error) {
      if (error instanceof Stopped || turn !== this.turn) return;
      status('');
      complain(`the agent cannot play: ${message(error)}`);
      this.paused = true;
      this.show();
    }
  }

  /** Ends searches and movements. */
  private halt(): void {
    this.turn++;
    this.player.stop();
    this.clocks.stop();
    element('thinking').textContent = '';
    element('board').dataset['thinking'] = 'false';
  }

  private undo(): void {
    if (this.match.plies.length === 0) return;
    this.halt();
    this.timeLost = null;
    const { match } = this;
    const person = (ply: number): boolean => this.seats[match.view(ply).mover === 0 ? 0 : 1].isPerson;
    let ply = Math.max(0, match.at - 1);
    // Back to a person's turn, if there is one.
    for (let earlier = ply; earlier >= 0; earlier--) {
      if (person(earlier)) {
        ply = earlier;
        break;
      }
    }
    match.cut(ply);
    announce(`taken back to move ${ply}`);
    if (!person(ply)) this.paused = true;
    this.next();
  }

  private goTo(ply: number): void {
    this.halt();
    this.match.at = Math.max(0, Math.min(ply, this.match.plies.length));
    this.show();
    announce(this.match.at === 0 ? 'start of the game' : `after move ${this.match.at}, ${this.match.last?.action ?? ''}`);
    if (this.match.isAtEnd) this.next();
  }

  /** Plays on from the position shown. */
  private resume(): void {
    this.match.cut(this.match.at);
    this.timeLost = null;
    this.paused = false;
    this.next();
  }

  private pause(): void {
    this.paused = !this.paused;
    this.next();
  }

  private swap(): void {
    const [a, b] = this.seats;
    const [kind, level] = [a.kind.value, a.level.value];
    a.set(b.kind.value, b.level.value);
    b.set(kind, level);
    announce('sides swapped');
    this.next();
  }

  private flag(side: number): void {
    this.halt();
    this.timeLost = side;
    this.show();
    announce(`${this.match.game.board.sides[side] ?? ''} has lost on time`);
  }

  private setLook(on: boolean): void {
    element('analyse').setAttribute('aria-pressed', String(on));
    this.look.turn(on);
    this.show();
  }

  /** The agent that analyses: the trained one if there is one. */
  private analysisAgent(): AgentChoice {
    const best = this.trained[0];
    element('analyst').textContent = best?.label ?? 'random playouts';
    return best
      ? { spec: `${TRAINED},sims=${ANALYSIS},search=puct`, network: best.url }
      : { spec: `mcts:sims=${ANALYSIS}`, network: null };
  }

  private load(text: string): void {
    try {
      const match = read(text, this.match.game);
      complain('');
      void this.setGame(match).then(() => {
        this.paused = !this.seats[match.view().mover === 0 ? 0 : 1].isPerson;
        this.next();
        announce(`loaded; ${match.plies.length} moves`);
      });
    } catch (error) {
      complain(`the text cannot be read: ${message(error)}`);
    }
  }

  private copy(text: string, what: string): void {
    const area = element<HTMLTextAreaElement>('text');
    area.value = text;
    const done = (): void => announce(`${what} copied`);
    const selected = (): void => {
      area.focus();
      area.select();
      announce(`${what} selected, to be copied`);
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, selected);
    else selected();
  }

  private state(position: string, moving: boolean): void {
    const { dataset } = element('board');
    dataset['game'] = this.match.game.board.name;
    dataset['position'] = position;
    dataset['ply'] = String(this.match.at);
    dataset['moving'] = String(moving);
  }

  private show(): void {
    const { match } = this;
    const view = match.view();
    const { sides } = match.game.board;
    const seat = this.seats[view.mover === 0 ? 0 : 1];
    const open = seat.isPerson && this.timeLost === null;
    this.board.show(view, match.last?.clicks ?? [], open);
    const over = this.timeLost === null ? ending(view, sides) : `${sides[this.timeLost] ?? ''} has lost on time`;
    element('status').textContent = over || `${sides[view.mover] ?? ''} to move`;
    this.state(view.position, false);
    element('status').classList.toggle('over', over !== '');
    element('board').dataset['over'] = String(over !== '');
    element('board').dataset['mover'] = String(view.mover);
    element('board').setAttribute('aria-label', `Board of ${title(match.game.board.name)}. ${element('status').textContent}`);
    // Games with stones of no player, such as Mancala, have none to show beside the players.
    const coloured = view.drawing.includes('class="ts-fill-light') || view.drawing.includes('class="ts-fill-dark');
    for (const side of [0, 1]) {
      element(`seat${side}`).classList.toggle('turn', !over && view.mover === side);
      const stone = element(`stone${side}`);
      stone.hidden = !coloured;
      stone.classList.toggle('dark', side === match.game.board.dark);
    }
    const button = (id: string): HTMLButtonElement => element<HTMLButtonElement>(id);
    button('undo').disabled = match.plies.length === 0;
    button('first').disabled = button('back').disabled = match.at === 0;
    button('on').disabled = button('last').disabled = match.isAtEnd;
    button('resume').hidden = match.isAtEnd && !(this.paused && !seat.isPerson && !over);
    button('pause').hidden = this.seats[0].isPerson || this.seats[1].isPerson || over !== '' || this.paused;
    element('position').textContent = view.position;
    this.showMoves();
    this.showLegal(open && over === '' ? view.legal.map(({ action }) => action) : []);
    this.look.follow(match, this.analysisAgent());
  }

  private showMoves(): void {
    const { match } = this;
    const list = element('moves');
    const kept = (ply: number, action: string): string => {
      const known = this.look.kept(match.positionAt(ply), action);
      return known === null ? '' : known ? ' keeps' : ' loses';
    };
    list.replaceChildren(...match.plies.map((ply, i) => {
      const current = i + 1 === match.at;
      const button = make('button', { type: 'button', 'data-ply': String(i + 1), class: `move p${ply.mover + 1}${kept(i, ply.action)}` }, ply.action);
      if (current) button.setAttribute('aria-current', 'step');
      return make('li', {}, button);
    }));
    const shown = list.querySelector<HTMLElement>('[aria-current]');
    if (shown) list.scrollTop = shown.offsetTop - list.offsetTop - list.clientHeight / 2;
    element('count').textContent = match.plies.length === 0 ? '' : `${match.at} of ${match.plies.length}`;
  }

  /** The legal actions as buttons: for keyboards, and for actions that are not played on the board. */
  private showLegal(actions: string[]): void {
    const buttons = actions.map((action) => {
      const button = make('button', { type: 'button', class: 'legal', 'data-action': action }, action);
      button.addEventListener('click', () => this.act(action));
      return button;
    });
    element('legal').replaceChildren(...buttons);
    element('legal-count').textContent = actions.length === 0 ? 'none' : String(actions.length);
    // Where the board alone does not do, the list is open.
    const { match } = this;
    const hidden = match.view().legal.some(({ clicks }) => clicks.length === 0) || match.game.board.points.length === 0;
    if (hidden) element<HTMLDetailsElement>('legal-moves').open = true;
  }

  private showClocks(left: [number, number] | null): void {
    for (const side of [0, 1] as const) element(`clock${side}`).textContent = left ? clockText(left[side]) : '';
  }

  private nextTheme(): void {
    const order = ['auto', 'light', 'dark'];
    const root = document.documentElement;
    const next = order[(order.indexOf(root.dataset['theme'] ?? 'auto') + 1) % order.length] ?? 'auto';
    setTheme(next);
    announce(`colours: ${next}`);
  }

  /** What tests look at. */
  get hooks(): Record<string, unknown> {
    const agent = (name: string, spec: string): AgentChoice => ({ spec, network: new URL(`agents/${name}.safetensors`, document.baseURI).href });
    return {
      agreement: (name: string, count: number, spec: string) => this.analyst.agreement(name, count, agent(name, spec)),
      rate: (name: string, milliseconds: number, spec: string) => {
        const game = new Game(name, {});
        return this.analyst.rate(game.rules, agent(name, spec), game.board.start, milliseconds);
      },
      positions: () => [this.match.start, ...this.match.plies.map((ply) => ply.position)],
      moves: () => this.match.plies.map((ply) => ply.action),
      legal: () => this.match.view().legal,
    };
  }
}

/** A field for a parameter: a choice where the game's sheet lists the values, else a text. */
function field({ key, value, default: own, range, meaning }: Param): HTMLElement {
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

function setTheme(theme: string): void {
  document.documentElement.dataset['theme'] = theme;
  element('theme').textContent = theme;
  element('theme').setAttribute('aria-label', `Colours: ${theme}`);
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // A page without storage keeps its colours until it is closed.
  }
}

async function start(): Promise<void> {
  try {
    setTheme(localStorage.getItem('theme') ?? 'auto');
  } catch {
    setTheme('auto');
  }
  try {
    const module = await load();
    const app = new App(module);
    await app.begin(new URLSearchParams(location.search));
    Object.assign(window, { turnstone: app.hooks });
    document.body.dataset['ready'] = 'true';
  } catch (error) {
    complain(`the page cannot start: ${message(error)}`);
  }
  if ('serviceWorker' in navigator && isSecureContext) {
    // Without it the page works, only not offline.
    navigator.serviceWorker.register('offline.js').catch(() => undefined);
  }
}

void start();
