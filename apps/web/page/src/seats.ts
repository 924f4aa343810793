// The two seats: who sits there, by the address and by choice.

import { element } from './dom.js';
import { type Checkpoint, FIRST_PLAYERS, Seat } from './players.js';
import type { Game } from './rules.js';
import { t } from './texts.js';

export class Seats {
  private readonly seats: [Seat, Seat];

  constructor(changed: () => void) {
    const seat = (side: number): Seat => new Seat(element(`kind${side}`), element(`level${side}`), changed);
    this.seats = [seat(0), seat(1)];
  }

  of(side: number): Seat {
    return this.seats[side === 0 ? 0 : 1];
  }

  /** Offers what can play a game; `trained` are its checkpoints. */
  offer(game: Game, trained: Checkpoint[]): void {
    for (const side of [0, 1] as const) this.seats[side].offer(game, trained, FIRST_PLAYERS[side]);
  }

  /** Takes the players of an address, and says which do not exist. An agent of the address plays, unless it says who does. */
  ask(query: URLSearchParams, hasAgent: boolean, tell: (fault: string) => void): void {
    for (const side of [0, 1] as const) {
      const [kind, level] = [query.get(`p${side + 1}`), query.get(`level${side + 1}`)];
      const seat = this.seats[side];
      const first = side === 1 && hasAgent ? 'az' : FIRST_PLAYERS[side];
      const unknown = seat.set(kind ?? first, level);
      if (unknown === 'player') seat.set(first, null);
      if (unknown === 'player') tell(t.address.player(side + 1, kind ?? '', seat.label));
      if (unknown === 'level') tell(t.address.level(side + 1, level ?? kind ?? '', seat.label));
    }
  }

  /** The pairs of an address for the players. */
  get setup(): [string, string][] {
    return this.seats.flatMap(({ asked: [kind, level] }, side) => {
      const pairs: [string, string][] = [[`p${side + 1}`, kind]];
      if (level !== '') pairs.push([`level${side + 1}`, level]);
      return pairs;
    });
  }

  /** Whether a person plays. */
  get hasPerson(): boolean {
    return this.seats.some(({ isPerson }) => isPerson);
  }

  /** The side of the only person; `null` if there are two or none. */
  get you(): number | null {
    const [first, second] = this.seats.map(({ isPerson }) => isPerson);
    return first === second ? null : first ? 0 : 1;
  }

  get labels(): [string, string] {
    return [this.seats[0].label, this.seats[1].label];
  }

  /** Seats a person on a side: the one who plays, if there is one. */
  seatPerson(side: number): void {
    if (this.of(side).isPerson) return;
    if (this.you !== null) this.exchange();
    else this.of(side).set('human', null);
  }

  exchange(): void {
    const [a, b] = this.seats;
    const [kind, level] = [a.kind.value, a.level.value];
    a.set(b.kind.value, b.level.value);
    b.set(kind, level);
  }
}
