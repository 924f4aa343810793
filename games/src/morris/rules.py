"""The 18-point Morris variant: mills along sides, spokes and diagonals; a mill removes a piece outside the mills."""

from collections import namedtuple

from mills import Board

BOARD = Board(
    "a0 g0 b1 f1 c2 e2 e3 f3 g3 c4 d4 e4 b5 d5 f5 a6 d6 g6",
    "a0-b1-c2 g0-f1-e2 a6-b5-c4 g6-f5-e4 e2-e3-e4 f1-f3-f5 g0-g3-g6 c4-d4-e4 b5-d5-f5 a6-d6-g6 e3-f3-g3 d4-d5-d6",
    "a0-g0 b1-f1 c2-e2 a0-a6 b1-b5 c2-c4",
)
# Of each side: pieces on the board and in hand; `removing`: the mover has closed a mill and has yet to remove a piece.
State = namedtuple("State", "pieces hands mover removing no_progress")


class Game:
    def __init__(self, params):
        self.pieces, self.limit = int(params["pieces"]), int(params["no_progress_limit"])

    def start(self):
        return State((frozenset(), frozenset()), (self.pieces, self.pieces), 0, False, 0)

    def mover(self, state):
        return state.mover

    def hops(self, state, side):
        return state.hands[side] == 0 and len(state.pieces[side]) == 3

    def moves(self, state):
        """The mover's placements, moves and hops, limits aside."""
        own, empty = state.pieces[state.mover], BOARD.empty(state.pieces)
        if len(own) + state.hands[state.mover] <= 2:
            return []
        if state.hands[state.mover]:
            return [BOARD.place(point) for point in empty]
        reach = lambda point: empty if self.hops(state, state.mover) else empty & BOARD.near[point]
        return [BOARD.move(start, end) for start in own for end in reach(start)]

    def limit_reached(self, state):
        return 0 < self.limit <= state.no_progress

    def legal(self, state):
        if state.removing:
            return [BOARD.remove(point) for point in BOARD.outside_mills(state.pieces[1 - state.mover])]
        return [] if self.limit_reached(state) else self.moves(state)

    def play(self, state, action):
        kind, points = BOARD.parse(action)
        pieces, hands, mover = list(state.pieces), list(state.hands), state.mover
        no_progress = 0
        if kind == "remove":
            pieces[1 - mover] -= set(points)
            return State(tuple(pieces), state.hands, 1 - mover, False, 0)
        if kind == "place":
            hands[mover] -= 1
        else:
            pieces[mover] -= {points[0]}
            no_progress = state.no_progress + (self.limit > 0)
        pieces[mover] |= {points[-1]}
        removing = BOARD.closes(pieces[mover], points[-1]) and bool(BOARD.outside_mills(pieces[1 - mover]))
        return State(tuple(pieces), tuple(hands), mover if removing else 1 - mover, removing, no_progress)

    def outcome(self, state):
        if state.removing:
            return None
        if not self.moves(state):
            return ("player2", "player1")[state.mover]
        return "draw" if self.limit_reached(state) else None

    def plane(self, state, name):
        own, other = state.mover, 1 - state.mover
        return {
            "own pieces": lambda: [point in state.pieces[own] for point in BOARD.points],
            "opponent's pieces": lambda: [point in state.pieces[other] for point in BOARD.points],
            "own pieces in hand / pieces": lambda: state.hands[own] / self.pieces,
            "opponent's pieces in hand / pieces": lambda: state.hands[other] / self.pieces,
            "removal pending": lambda: state.removing,
            "plies without progress / no_progress_limit": lambda: state.no_progress / max(self.limit, 1),
            "own pieces hop": lambda: self.hops(state, own),
            "opponent's pieces hop": lambda: self.hops(state, other),
        }[name]()

    def position(self, state):
        white, black = state.hands
        board, mover = BOARD.text(state.pieces, "WBx"), "WB"[state.mover]
        return f"{board} {mover} {white} {black} {'x' if state.removing else '-'} {state.no_progress}"
