"""Mu Torere on the 3x3 grid: eight ring squares around a hub, four pieces a side, block to win."""

HUB = 4
RING = [0, 1, 2, 5, 8, 7, 6, 3]
ADJACENT = {HUB: RING, **{RING[k]: [RING[k - 1], RING[k - 7], HUB] for k in range(8)}}


class Game:
    """A state is the owner of each square (0 for none, 1, 2), the mover (0 or 1) and the plies played."""

    def __init__(self, params):
        self.max_plies = int(params["max_plies"])
        self.hub_needs_neighbour = params["hub_needs_neighbour"] == "true"

    def start(self):
        return (1, 2, 1, 2, 0, 2, 1, 2, 1), 0, 0

    def mover(self, state):
        return state[1]

    def moves(self, state):
        """The mover's moves by the rules of movement alone, limits aside."""
        board, mover, _ = state
        end = board.index(0)
        opponent_at = lambda squares: any(board[square] == 2 - mover for square in squares)
        for start in ADJACENT[end]:
            if board[start] != mover + 1:
                continue
            if self.hub_needs_neighbour:
                allowed = end != HUB or opponent_at(square for square in ADJACENT[start] if square != HUB)
            else:
                allowed = start == HUB or opponent_at(ADJACENT[end])
            if allowed:
                yield f"{start},{end}"

    def limit_reached(self, state):
        return 0 < self.max_plies <= state[2]

    def legal(self, state):
        return [] if self.limit_reached(state) else list(self.moves(state))

    def play(self, state, action):
        board, mover, plies = state
        start, end = map(int, action.split(","))
        board = list(board)
        board[start], board[end] = 0, mover + 1
        return tuple(board), 1 - mover, plies + (self.max_plies > 0)

    def outcome(self, state):
        if next(self.moves(state), None) is None:
            return ("player2", "player1")[state[1]]
        return "draw" if self.limit_reached(state) else None

    def plane(self, state, name):
        board, mover, plies = state
        return {
            "own pieces": [square == mover + 1 for square in board],
            "opponent's pieces": [square == 2 - mover for square in board],
            "plies played / max_plies": plies / max(self.max_plies, 1),
        }[name]

    def position(self, state):
        board, mover, plies = state
        return f"{''.join(map(str, board))} {mover + 1} {plies}"
