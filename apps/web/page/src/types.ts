// What crosses the border to the WebAssembly module, and between the page and its workers.

/** A game with its parameters: all that stays the same during a game. */
export interface Board {
  name: string;
  version: number;
  params: Param[];
  /** Whether all parameters have their default values. */
  standard: boolean;
  /** The points of the board; empty where the drawing shows none. */
  points: Point[];
  /** The stores of both sides, where the drawing shows them. */
  stores: [Point | null, Point | null];
  sides: [string, string];
  /** Index of the side with the dark stones. */
  dark: number;
  heuristics: string[];
  /** Agents of measured strength, the weakest first; none with other than the standard parameters. */
  levels: Level[];
  start: string;
  /** How to play, a sentence each, with a position and an action to show beside it. */
  lessons: [text: string, picture: [position: string, action: string] | null][];
  /** The rules in words, as Markdown. */
  rules: string | null;
}

export interface Level {
  number: number;
  /** Where random moves have 0. */
  elo: number;
  agent: string;
  /** Whether it plays the game's trained network. */
  network: boolean;
}

export interface Point {
  name: string;
  /** Centre, in the drawing's units. */
  at: [number, number];
  /** Radius of what belongs to the point: its cell, pit or stone. */
  radius: number;
}

export interface Param {
  key: string;
  value: string;
  default: string;
  /** Values that it can have, in words, and what it changes; may be empty. */
  range: string;
  meaning: string;
}

export interface Legal {
  /** The action as people see it, and as files have it. */
  action: string;
  written: string;
  /** The points to click, in order; empty for an action that is chosen by its text. */
  clicks: number[];
}

export interface Outcome {
  winner: number | null;
  truncated: boolean;
  margin: number;
}

/** A position as it is shown. */
export interface View {
  position: string;
  /** An SVG document. */
  drawing: string;
  mover: number;
  outcome: Outcome | null;
  legal: Legal[];
  contents: string[];
  lines: number[][];
  /** What the drawing does not show, by side or of both. */
  notes: [side: number | null, note: string][];
  /** Pieces that each side has taken. */
  captured: [number, number];
  /** What the mover does. */
  task: string;
  /** Why the game is over. */
  reason: string;
  phase: string;
}

/** What an action does. */
export interface Movement {
  /** What it brings about in words; empty where it only moves something. */
  event: string;
  steps: Step[];
}

/** Pieces that go from a place to another: from a point, or -1 for what is beside the board of player 1, -2 of player 2. */
export interface Step {
  from: number;
  to: number;
  /** Whose piece it is; null for stones of no side. */
  side: number | null;
  count: number;
  /** The board while they are in the air. */
  drawing: string;
}

/** An action in the tree of a search; values are expected results for player 1, -1 to 1. */
export interface ActionReport {
  action: string;
  visits: number;
  prior: number;
  value: number;
  proven: number | null;
  line: string[];
}

export interface Report {
  visits: number;
  value: number;
  draw: number;
  proven: number | null;
  actions: ActionReport[];
}

export interface Prediction {
  value: number;
  draw: number;
  priors: { action: string; prior: number }[];
}

/** Progress of a search without a tree. */
export interface Progress {
  depth: number;
  nodes: number;
  score: number | null;
  value: number | null;
  line: string[];
}

export interface ExactValues {
  value: number;
  actions: ({ action: string; value: number } & Quality)[];
}

export type Mark = '??' | '?' | '?!' | '!';

/** How good a move was: its mark, and whether it certainly kept the value. */
export interface Quality {
  mark: Mark | null;
  keeps: boolean;
}

/** A game reviewed up to some move. Losses are shares of a point, values for player 1. */
export interface Reviewed {
  moves: ReviewedMove[];
  totals: Record<'mean_loss' | 'blunders' | 'mistakes' | 'inaccuracies' | 'only_moves', number>[];
  /** Numbers from 1 of the moves to look at. */
  moments: number[];
}

export interface ReviewedMove {
  value: number;
  value_after: number;
  source: 'exact' | 'proof' | 'search';
  loss: number;
  mark: Mark | null;
  /** The best move, and what is expected after it. */
  best: string[];
}

/** A game's name and parameters, as texts. */
export interface Rules {
  game: string;
  params: string;
}

/** An agent: its spec, and where the file of its network lies. */
export interface AgentChoice {
  spec: string;
  network: string | null;
}

export type Request =
  | { kind: 'module'; module: WebAssembly.Module }
  | { kind: 'network'; url: string; bytes: Uint8Array }
  | { kind: 'search'; id: number; rules: Rules; agent: AgentChoice; position: string; simulations: number | null }
  | { kind: 'review'; id: number; rules: Rules; agent: AgentChoice; start: string; moves: string; simulations: number }
  | { kind: 'stop' }
  | { kind: 'below'; id: number; line: string }
  | { kind: 'predict'; id: number; rules: Rules; agent: AgentChoice; positions: string[] }
  | { kind: 'exact'; id: number; rules: Rules; positions: string[] }
  | { kind: 'rate'; id: number; rules: Rules; agent: AgentChoice; position: string; milliseconds: number };

/** Answers carry the number of their request; `progress` may come many times before `result`. */
export type Answer =
  | { kind: 'progress'; id: number; report?: Report; progress?: Progress; review?: Reviewed }
  | { kind: 'result'; id: number; value: unknown }
  | { kind: 'fault'; id: number; message: string };

/** The result of a search. */
export interface Choice {
  action: string;
  report: Report | null;
}
