"""Mu Torere with its rules in Python: the same actions, observations and limits as the game in Rust."""

import numpy as np

import turnstone_rl as turnstone

RUST = turnstone.Game("mu_torere")
MOVES = [tuple(int(square) for square in RUST.action_text(action).split(",")) for action in range(RUST.num_actions)]
NEAR = [{end for start, end in MOVES if start == square} for square in range(9)]
HUB = 4


class MuTorere(turnstone.Game):
    """A state is int8 [11]: the owner of each square (0: empty, 1 or 2), the player to move, and the plies played."""

    name = "mu_torere_py"
    num_actions = len(MOVES)
    observation_shape = (3, 3, 3)

    def initial_state(self):
        return np.array([1, 2, 1, 2, 0, 2, 1, 2, 1, 0, 0], np.int8)

    def mover(self, state):
        return state[9]

    def moves(self, state):
        squares, own = state.tolist(), 1 + state[9]
        found = []
        for action, (start, end) in enumerate(MOVES):
            if squares[start] == own and squares[end] == 0:
                if start == HUB or any(squares[near] == 3 - own for near in NEAR[end]):
                    found.append(action)
        return found

    def legal_actions(self, state):
        return self.moves(state)

    def play(self, state, action):
        start, end = MOVES[action]
        state[start], state[end] = 0, 1 + state[9]
        state[9], state[10] = 1 - state[9], state[10] + 1
        return state

    def outcome(self, state):
        if not self.moves(state):
            return 1 if state[9] else -1
        return "truncated" if state[10] >= 100 else None

    def observation(self, state):
        own = 1 + state[9]
        planes = np.empty((3, 9), np.float32)
        planes[0], planes[1], planes[2] = state[:9] == own, state[:9] == 3 - own, np.float32(state[10]) / np.float32(100)
        return planes.reshape(3, 3, 3)
