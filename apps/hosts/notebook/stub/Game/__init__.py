"""A stand-in for the notebook's `Game` package, written from its interface for the tests: `Agent`, `Board` and `Game`."""

import inspect
from copy import deepcopy


class Agent:
    """An agent is its move function, and whatever else is put into it."""

    def __init__(self, move):
        self.move = move


class Board:
    """A board of squares, numbered row by row."""

    def __init__(self, rows, columns):
        self.squares = [0] * (rows * columns)

    def __getitem__(self, square):
        return self.squares[square]

    def __setitem__(self, square, piece):
        self.squares[square] = piece

    def __eq__(self, other):
        return self.squares == other.squares


class Game:
    """Plays games of the functions that stand in the place where it is made."""

    def __init__(self, number_of_games=1, **params):
        self.number_of_games = number_of_games
        self.params = params
        self.state = None
        self.check_repeated_states = False
        self.max_move_count = 500
        self.functions = inspect.currentframe().f_back.f_locals

    def __getattr__(self, name):
        if name in ("valid_moves", "update_state", "win_status"):
            return self.functions[name]
        raise AttributeError(name)

    def initial_state(self):
        """The start, where this also puts the game."""
        self.state = self.functions["initial_state"](**self.params)
        return self.state

    def run(self, agent1, agent2):
        """The winner of every game, 1 or 2, or 3 for one that was too long.

        An illegal move is an error here, where the package ends the game with a 3.
        """
        return [self.play({1: agent1, 2: agent2}) for _ in range(self.number_of_games)]

    def play(self, agents):
        for agent in agents.values():
            agent.states, agent.actions = [], []
            agent.move_args = len(inspect.signature(agent.move).parameters)
        player, move_count, visited = 1, 1, {1: [], 2: []}
        self.initial_state()
        while True:
            agent = agents[player]
            agent.move_count = move_count
            arguments = (self.state, player, agent)[: agent.move_args]
            move = agent.move(*arguments)
            valid = self.valid_moves(self.state, player)
            assert move in valid, f"illegal move {move} of player {player}; valid are {valid}"
            move_count += 1
            agent.states.append(deepcopy(self.state))
            agent.actions.append(deepcopy(move))
            if move_count > self.max_move_count:
                return 3
            visited[player].append(deepcopy(self.state))
            self.state = self.update_state(deepcopy(self.state), player, move)
            if self.win_status(self.state, player) == "win":
                return player
            if self.check_repeated_states and self.state in visited[3 - player]:
                return 3 - player
            player = 3 - player
