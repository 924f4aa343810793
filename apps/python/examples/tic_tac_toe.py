"""Tic-tac-toe with its rules in plain Python: checked, trained, and played against random moves.

    python tic_tac_toe.py            # seconds
    python tic_tac_toe.py --smoke    # seconds: every step, but too little training to be strong
"""

import sys
import tempfile

import numpy as np

import turnstone_rl as turnstone

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe(turnstone.Game):
    name = "tic_tac_toe"
    num_actions = 9  # one for each cell, row by row
    observation_shape = (2, 3, 3)
    plane_names = ["own stones", "opponent's stones"]

    def initial_state(self):
        return np.zeros(9, np.int8)  # 0: empty, 1 and 2: a stone of player 0 or 1

    def mover(self, state):
        return sum(stone != 0 for stone in state.tolist()) % 2

    def legal_actions(self, state):
        return [cell for cell, stone in enumerate(state.tolist()) if stone == 0]

    def play(self, state, action):
        state[action] = 1 + self.mover(state)  # a copy, which may be changed
        return state

    def outcome(self, state):
        cells = state.tolist()
        for a, b, c in LINES:
            if cells[a] and cells[a] == cells[b] == cells[c]:
                return 1 if cells[a] == 1 else -1
        return 0 if all(cells) else None

    def observation(self, state):
        own = 1 + self.mover(state)
        return np.stack([state == own, state == 3 - own]).reshape(2, 3, 3)

    def draw(self, state):
        return "\n".join(" ".join(".XO"[stone] for stone in row) for row in state.reshape(3, 3).tolist())

    def action_text(self, action):
        return "abc"[action % 3] + "321"[action // 3]

    @property
    def symmetries(self):
        """The turns and reflections of the square: where each cell goes. An action goes where its cell goes."""
        cells = np.arange(9).reshape(3, 3)
        squares = [np.rot90(board, turns) for board in (cells, cells.T) for turns in range(4)]
        return [(square.ravel().tolist(), square.ravel().tolist()) for square in squares]


CONFIG = {
    "game": {"name": "tic_tac_toe"},
    "net": {"kind": "residual_mlp", "blocks": 1, "width": 64},
    "search": {"simulations": 24},
    "self_play": {"games_per_iteration": 128, "concurrent_games": 64, "opening_plies": 4},
    "learn": {"batch": 256, "learning_rate": 4e-3, "samples_per_position": 4, "window": 8000},
    "arena": {"every": 100, "opponents": ["random"], "final_games": 40},
    "run": {"iterations": 150},
}

if __name__ == "__main__":
    turnstone.check_game(TicTacToe, games=50)
    turnstone.register_game(TicTacToe)
    overrides = {}
    if "--smoke" in sys.argv:
        overrides = {"run.iterations": 2, "self_play.games_per_iteration": 64, "search.simulations": 8}
    with tempfile.TemporaryDirectory() as folder:
        run = turnstone.train(CONFIG, overrides, run=f"{folder}/run")
        match = turnstone.arena("tic_tac_toe", [run.agent(sims=24), "random"], games=200, openings=(0, 3))
        won, drawn, lost = match.wins_draws_losses()
        print(f"against random: {won} won, {drawn} drawn, {lost} lost: {match.score():.3f} of the points")
