"""Breakthrough on 5x5 with its rules in NumPy, many positions in each call: checked, trained, and played against random moves.

    python breakthrough.py            # minutes
    python breakthrough.py --smoke    # seconds: every step, but too little training to be strong

Pawns move one cell forwards, straight or diagonally, and capture diagonally. Whose pawn reaches the other end, or who takes
all pawns of the other, wins. There are no draws.
"""

import sys
import tempfile

import numpy as np

import turnstone_rl as turnstone


class Breakthrough(turnstone.Game):
    """A state is an array int8 [cells + 1]: 1 and -1 for a pawn of player 0 or 1 on each cell, and the player to move.

    Action `3 * cell + d` moves the pawn on a cell forwards, to the left (d = 0), straight or to the right, as its owner sees
    the board. Observations are turned for player 1, and so are the policies: `second_player_map`.
    """

    name = "breakthrough_py"

    def __init__(self, size=5):
        cells = size * size
        self.size, self.num_actions, self.observation_shape = size, 3 * cells, (2, size, size)
        self.plane_names = ["own pawns", "opponent's pawns"]
        # Turned by half a circle, cell c becomes cells - 1 - c; left stays left for the owner of the pawn.
        self.second_player_map = [3 * (cells - 1 - action // 3) + action % 3 for action in range(3 * cells)]
        rows, columns = np.divmod(np.arange(cells), size)
        # For player 0, who moves up: the target of each action, and whether it lies on the board.
        targets = [(rows - 1, columns + d - 1) for d in range(3)]
        inside = [(row >= 0) & (column >= 0) & (column < size) for row, column in targets]
        self.inside = np.stack(inside, 1)
        self.targets = np.where(self.inside, np.stack([row * size + column for row, column in targets], 1), 0)

    def initial_state(self):
        state = np.zeros(self.size * self.size + 1, np.int8)
        state[: 2 * self.size] = -1
        state[-1 - 2 * self.size : -1] = 1
        return state

    def seen(self, states):
        """The boards as the players to move see them: their own pawns are 1 and move up."""
        boards, second = states[:, :-1], states[:, -1:] == 1
        return np.where(second, -boards[:, ::-1], boards)

    def mover_many(self, states):
        return states[:, -1]

    def legal_actions_many(self, states):
        boards = self.seen(states)
        targets = boards[:, self.targets]  # [positions, cells, 3]
        free = targets != 1
        free[:, :, 1] = targets[:, :, 1] == 0
        legal = ((boards == 1)[:, :, None] & self.inside & free).reshape(len(states), -1)
        return np.where(states[:, -1:] == 1, legal[:, self.second_player_map], legal)

    def play_many(self, states, actions):
        second, each = states[:, -1] == 1, np.arange(len(states))
        actions = np.where(second, np.array(self.second_player_map)[actions], actions)
        boards = self.seen(states).copy()
        boards[each, actions // 3] = 0
        boards[each, self.targets[actions // 3, actions % 3]] = 1
        boards = np.where(second[:, None], -boards[:, ::-1], boards)
        return np.concatenate([boards, 1 - states[:, -1:]], 1).astype(np.int8)

    def outcome_many(self, states):
        boards = states[:, :-1]
        first = (boards[:, : self.size] == 1).any(1) | ~(boards == -1).any(1)
        second = (boards[:, -self.size :] == -1).any(1) | ~(boards == 1).any(1)
        return first | second, np.where(first, 1, -1)

    def observation_many(self, states):
        boards = self.seen(states)
        return np.stack([boards == 1, boards == -1], 1).reshape(-1, 2, self.size, self.size).astype(np.float32)

    def draw(self, state):
        return "\n".join(" ".join(".wb"[stone] for stone in row) for row in state[:-1].reshape(self.size, -1).tolist())

    def cell(self, index):
        return "abcdefgh"[index % self.size] + str(self.size - index // self.size)

    def action_text(self, action):
        return f"{self.cell(action // 3)}{'lsr'[action % 3]}"  # as in b2l: from b2 to the left


CONFIG = {
    "game": {"name": "breakthrough_py"},
    "net": {"kind": "residual_conv", "blocks": 2, "channels": 24},
    "search": {"simulations": 24},
    "self_play": {"games_per_iteration": 128, "concurrent_games": 64, "opening_plies": 4},
    "learn": {"batch": 256, "learning_rate": 4e-3, "samples_per_position": 4, "window": 20000},
    "arena": {"every": 100, "opponents": ["random"], "final_games": 40},
    "run": {"iterations": 12},
}

if __name__ == "__main__":
    turnstone.check_game(Breakthrough, games=50)
    turnstone.register_game(Breakthrough)
    overrides = {}
    if "--smoke" in sys.argv:
        overrides = {"run.iterations": 1, "self_play.games_per_iteration": 32, "search.simulations": 4}
    with tempfile.TemporaryDirectory() as folder:
        run = turnstone.train(CONFIG, overrides, run=f"{folder}/run")
        match = turnstone.arena("breakthrough_py", [run.agent(sims=24), "random"], games=200, openings=(0, 3))
        won, drawn, lost = match.wins_draws_losses()
        print(f"against random: {won} won, {drawn} drawn, {lost} lost: {match.score():.3f} of the points")
