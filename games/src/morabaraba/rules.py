"""Morabaraba, twelve men's morris: a mill shoots a cow, three cows fly, and a mill just broken is banned for a move."""

from collections import namedtuple

from mills import Board

BOARD = Board(
    "a1 a4 a7 b2 b4 b6 c3 c4 c5 d1 d2 d3 d5 d6 d7 e3 e4 e5 f2 f4 f6 g1 g4 g7",
    "a1-a4-a7 a1-b2-c3 a1-d1-g1 a4-b4-c4 a7-b6-c5 a7-d7-g7 b2-b4-b6 b2-d2-f2 b6-d6-f6 c3-c4-c5 c3-d3-e3 c5-d5-e5 "
    "d1-d2-d3 d5-d6-d7 e3-e4-e5 e3-f2-g1 e4-f4-g4 e5-f6-g7 f2-f4-f6 g1-g4-g7",
)
# Of each side: cows on the board and in hand, and the mills that it may not form by its next move; `shooting`: the
# mover has formed a mill and has yet to shoot; the plies since the last shot, and those of them made while a player
# was flying.
State = namedtuple("State", "cows hands bans mover shooting quiet fly")


class Game:
    def __init__(self, params):
        self.cows = int(params["cows"])
        self.quiet_limit, self.fly_limit = int(params["quiet_limit"]), int(params["fly_limit"])

    def start(self):
        nothing = frozenset(), frozenset()
        return State(nothing, (self.cows, self.cows), nothing, 0, False, 0, 0)

    def mover(self, state):
        return state.mover

    def total(self, state, side):
        return len(state.cows[side]) + state.hands[side]

    def score(self, state, side):
        """The cows that a side has shot."""
        return self.cows - self.total(state, 1 - side)

    def flies(self, state, side):
        return state.hands[side] == 0 and len(state.cows[side]) == 3

    def moves(self, state):
        """The mover's placements, moves and flights, limits aside."""
        own, empty = state.cows[state.mover], BOARD.empty(state.cows)
        if self.total(state, state.mover) <= 2:
            return []
        if state.hands[state.mover]:
            return [BOARD.place(point) for point in empty]
        banned = lambda start, end: any(
            end in mill and mill <= own - {start} | {end} for mill in state.bans[state.mover]
        )
        reach = lambda point: empty if self.flies(state, state.mover) else empty & BOARD.near[point]
        return [BOARD.move(start, end) for start in own for end in reach(start) if not banned(start, end)]

    def limit_reached(self, state):
        return 0 < self.quiet_limit <= state.quiet or 0 < self.fly_limit <= state.fly

    def legal(self, state):
        if state.shooting:
            others = state.cows[1 - state.mover]
            return [BOARD.remove(point) for point in BOARD.outside_mills(others) or others]
        return [] if self.limit_reached(state) else self.moves(state)

    def play(self, state, action):
        kind, points = BOARD.parse(action)
        cows, hands, bans = list(state.cows), list(state.hands), list(state.bans)
        own, other = state.mover, 1 - state.mover
        if kind == "remove":
            cows[other] -= set(points)
            bans[other] = frozenset(mill for mill in bans[other] if points[0] not in mill)
            return State(tuple(cows), state.hands, tuple(bans), other, False, 0, 0)
        flight = self.flies(state, 0) or self.flies(state, 1)
        if kind == "place":
            hands[own] -= 1
        else:
            bans[own] = frozenset(mill for mill in BOARD.mills if points[0] in mill and mill <= cows[own])
            # What the opponent could not form anyway is banned no longer.
            bans[other] = frozenset(mill for mill in bans[other] if points[1] not in mill)
            cows[own] -= {points[0]}
        cows[own] |= {points[-1]}
        shooting = BOARD.closes(cows[own], points[-1]) and bool(cows[other])
        quiet = state.quiet + (self.quiet_limit > 0)
        fly = state.fly + (self.fly_limit > 0 and flight)
        return State(tuple(cows), tuple(hands), tuple(bans), own if shooting else other, shooting, quiet, fly)

    def outcome(self, state):
        if state.shooting or (self.moves(state) and not self.limit_reached(state)):
            return None
        first, second = self.score(state, 0), self.score(state, 1)
        return "player1" if first > second else "player2" if second > first else "draw"

    def plane(self, state, name):
        own, other = state.mover, 1 - state.mover
        points = lambda some: [point in some for point in BOARD.points]
        return {
            "own cows": lambda: points(state.cows[own]),
            "opponent's cows": lambda: points(state.cows[other]),
            "own banned mills": lambda: points(frozenset().union(*state.bans[own])),
            "opponent's banned mills": lambda: points(frozenset().union(*state.bans[other])),
            "own cows in hand / cows": lambda: state.hands[own] / self.cows,
            "opponent's cows in hand / cows": lambda: state.hands[other] / self.cows,
            "shot pending": lambda: state.shooting,
            "plies without a shot / quiet_limit": lambda: state.quiet / max(self.quiet_limit, 1),
            "plies of flight without a shot / fly_limit": lambda: state.fly / max(self.fly_limit, 1),
            "own score / cows": lambda: self.score(state, own) / self.cows,
            "opponent's score / cows": lambda: self.score(state, other) / self.cows,
            "own cows fly": lambda: self.flies(state, own),
            "opponent's cows fly": lambda: self.flies(state, other),
        }[name]()

    def position(self, state):
        name = lambda mill: "".join(BOARD.names[point] for point in sorted(mill))
        bans = [",".join(name(mill) for mill in BOARD.mills if mill in banned) or "-" for banned in state.bans]
        board, mover = BOARD.text(state.cows, "BW."), "BW"[state.mover]
        counts = f"{'x' if state.shooting else '-'} {state.quiet} {state.fly}"
        return f"{board} {mover} {state.hands[0]} {state.hands[1]} {counts} {bans[0]} {bans[1]}"
