"""Mancala with two rows of pits and two stores, sown counter-clockwise: B2.., store 8, A7.., store 1, B2.."""


class Game:
    """A state is the stones of all holes in sowing order (a row and its store, the other row and its store) and the
    mover (0 or 1)."""

    def __init__(self, params):
        self.pits, self.stones = int(params["pits"]), int(params["stones"])
        self.empty_capture = params["empty_capture"] == "true"
        self.either_side_empty = params["end_rule"] == "either_side_empty"
        self.first_player = int(params["first_player"]) - 1
        self.total = 2 * self.pits * self.stones

    def start(self):
        row = (self.stones,) * self.pits + (0,)
        return row + row, self.first_player

    def mover(self, state):
        return state[1]

    def row(self, holes, side):
        """The stones in a side's pits in its sowing order."""
        first = side * (self.pits + 1)
        return list(holes[first : first + self.pits])

    def store(self, side):
        """The hole that is a side's store."""
        return side * (self.pits + 1) + self.pits

    def hole(self, action):
        label = int(action[1:]) - 2
        return label if action[0] == "B" else 2 * self.pits - label

    def is_over(self, holes, mover):
        empty = lambda side: not any(self.row(holes, side))
        return empty(mover) or (self.either_side_empty and empty(1 - mover))

    def legal(self, state):
        holes, mover = state
        labels = [f"{'BA'[mover]}{label + 2}" for label in range(self.pits)]
        return [label for label in labels if holes[self.hole(label)]]

    def play(self, state, action):
        holes, mover = list(state[0]), state[1]
        hole = self.hole(action)
        stones, holes[hole] = holes[hole], 0
        while stones:
            hole = (hole + 1) % len(holes)
            if hole != self.store(1 - mover):
                holes[hole] += 1
                stones -= 1
        if hole != self.store(mover):
            opposite = 2 * self.pits - hole
            own = hole // (self.pits + 1) == mover
            if own and holes[hole] == 1 and (self.empty_capture or holes[opposite]):
                holes[self.store(mover)] += 1 + holes[opposite]
                holes[hole] = holes[opposite] = 0
            mover = 1 - mover
        if self.is_over(holes, mover):
            rows = [self.row(holes, side) for side in (0, 1)]
            stores = [holes[self.store(side)] + sum(rows[side]) for side in (0, 1)]
            holes = [0] * self.pits + [stores[0]] + [0] * self.pits + [stores[1]]
        return tuple(holes), mover

    def outcome(self, state):
        holes, mover = state
        if not self.is_over(holes, mover):
            return None
        first, second = (holes[self.store(side)] for side in (0, 1))
        return "player1" if first > second else "player2" if second > first else "draw"

    def plane(self, state, name):
        holes, mover = state
        stones = self.row(holes, mover) + self.row(holes, 1 - mover)[::-1]
        own, other = holes[self.store(mover)], holes[self.store(1 - mover)]
        if name.startswith("at least "):
            return [count >= int(name.split()[2]) for count in stones]
        return {
            "stones / 16": [count / 16 for count in stones],
            "own store / all stones": own / self.total,
            "opponent's store / all stones": other / self.total,
            "store difference / 16": (own - other) / 16,
        }[name]

    def position(self, state):
        holes, mover = state
        rows = self.row(holes, 0), self.row(holes, 1)[::-1]
        sides = [f"{','.join(map(str, row))}/{holes[self.store(side)]}" for side, row in enumerate(rows)]
        return f"{sides[0]} {sides[1]} {mover + 1}"
