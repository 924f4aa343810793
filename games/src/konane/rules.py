"""Konane: two stones leave a full board, then each player jumps over the other's; who cannot move loses."""

STEPS = (1, 0), (0, 1), (-1, 0), (0, -1)


class Game:
    """A state is the set of occupied cells (row, column), counted from 1 with row 1 at the bottom, and the mover: 0 is
    X, 1 is O. Stones never leave the cells of their colour."""

    def __init__(self, params):
        self.size = int(params["size"])
        self.first_player = "XO".index(params["first_player"])
        numbers = range(1, self.size + 1)
        self.cells = [(row, column) for row in reversed(numbers) for column in numbers]  # in the order of the points
        self.board = frozenset(self.cells)

    def start(self):
        return self.board, self.first_player

    def mover(self, state):
        return state[1]

    def colour(self, cell):
        """Whose stone stands on a cell while there is one."""
        return (sum(cell) + 1) % 2

    def removals(self, state):
        """The cells that the mover may remove a stone from, while that is due."""
        stones, mover = state
        gaps = [cell for cell in self.cells if cell not in stones]
        if gaps:
            row, column = gaps[0]
            return [(row + down, column + right) for down, right in STEPS if (row + down, column + right) in stones]
        middle, ends = (self.size // 2, self.size // 2 + 1), (1, self.size)
        squares = [(row, column) for line in (middle, ends) for row in line for column in line]
        return [cell for cell in squares if self.colour(cell) == mover]

    def removals_due(self, state):
        return len(self.cells) - len(state[0]) < 2

    def jumps(self, state):
        """The mover's jumps as the cells on which the stone stands, one after the other."""
        stones, mover = state
        for row, column in stones:
            if self.colour((row, column)) != mover:
                continue
            for down, right in STEPS:
                path = [(row, column)]
                over, landing = (row + down, column + right), (row + 2 * down, column + 2 * right)
                while over in stones and landing not in stones and landing in self.board:
                    path.append(landing)
                    yield list(path)
                    over = landing[0] + down, landing[1] + right
                    landing = landing[0] + 2 * down, landing[1] + 2 * right

    def legal(self, state):
        if self.removals_due(state):
            return [f"remove({row},{column})" for row, column in self.removals(state)]
        return ["jump(" + ",".join(f"{row},{column}" for row, column in path) + ")" for path in self.jumps(state)]

    def play(self, state, action):
        stones, mover = set(state[0]), state[1]
        kind, numbers = action.rstrip(")").split("(")
        numbers = [int(number) for number in numbers.split(",")]
        path = list(zip(numbers[::2], numbers[1::2]))
        stones.remove(path[0])
        if kind == "jump":
            for (row, column), (next_row, next_column) in zip(path, path[1:]):
                stones.remove(((row + next_row) // 2, (column + next_column) // 2))
            stones.add(path[-1])
        return frozenset(stones), 1 - mover

    def outcome(self, state):
        if self.removals_due(state) or next(self.jumps(state), None):
            return None
        return ("player2", "player1")[state[1]]

    def plane(self, state, name):
        stones, mover = state
        gaps = len(self.cells) - len(stones)
        return {
            "own stones": [cell in stones and self.colour(cell) == mover for cell in self.cells],
            "opponent's stones": [cell in stones and self.colour(cell) != mover for cell in self.cells],
            "empty cells": [cell not in stones for cell in self.cells],
            "first removal": gaps == 0,
            "second removal": gaps == 1,
        }[name]

    def position(self, state):
        stones, mover = state
        letters = ["XO"[self.colour(cell)] if cell in stones else "." for cell in self.cells]
        rows = ["".join(letters[first : first + self.size]) for first in range(0, len(letters), self.size)]
        return f"{'/'.join(rows)} {'XO'[mover]}"
