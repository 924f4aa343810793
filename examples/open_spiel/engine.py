#!/usr/bin/env python3
"""OpenSpiel's players as an engine for `turnstone arena`, over the Universal Game Interface.

    turnstone arena mancala --param empty_capture=false --param end_rule=either_side_empty \\
        az:pretrained,sims=200 "engine:patience=600s:python3 examples/open_spiel/engine.py mancala mcts:1000"

The players are `mcts:SIMULATIONS` (OpenSpiel's MCTSBot: UCT with constant 2, one random rollout per leaf, solving on),
`alphabeta:DEPTH` (its alpha_beta_search; the evaluation is the difference of the stores) and `random`. Games: `mancala`, which
is Turnstone's with the two parameters above, and `connect_four`, the example game of the workspace. Needs the package
`open_spiel`.
"""

import collections
import random
import sys

try:
    import pyspiel
except ImportError:
    sys.exit("engine.py: the package open_spiel is missing (pip install open_spiel)")

# Of a search.
MEGABYTES = 1000
# Positions to look at for one that is given by its text.
MOST_POSITIONS = 200_000


class Mancala:
    """Turnstone names pits B2..B7 (player 1) and A2..A7; OpenSpiel numbers them 1..6 and, on the way back, 8..13."""

    parameters = {"pits": "6", "stones": "4", "empty_capture": "false", "end_rule": "either_side_empty", "first_player": "1"}

    @staticmethod
    def text(action):
        return f"B{action + 1}" if action < 7 else f"A{15 - action}"

    @staticmethod
    def action(text):
        pit = int(text[1:])
        return {"B": pit - 1, "A": 15 - pit}[text[0]]

    @staticmethod
    def numbers(state):
        """Pits of player 2 from A2, the stores of players 2 and 1, pits of player 1 from B2: the first three lines of the
        state's text. OpenSpiel 2.0 has added lines with the player and the number of the move."""
        rows = [[int(number) for number in line.split("-") if number] for line in str(state).split("\n")[:3]]
        pits2, (store2, store1), pits1 = rows
        return pits2, store2, store1, pits1

    @classmethod
    def position(cls, state):
        pits2, store2, store1, pits1 = cls.numbers(state)
        row = lambda pits, store: ",".join(map(str, pits)) + f"/{store}"  # noqa: E731
        return f"{row(pits1, store1)} {row(pits2, store2)} {state.current_player() + 1}"

    @classmethod
    def evaluation(cls, state):
        """Difference of the stores for player 1, between -1 and 1."""
        _, store2, store1, _ = cls.numbers(state)
        return (store1 - store2) / 48


class ConnectFour:
    """Turnstone's example game names columns from 1, OpenSpiel numbers them from 0."""

    parameters = {}

    @staticmethod
    def text(action):
        return str(action + 1)

    @staticmethod
    def action(text):
        return int(text) - 1

    @staticmethod
    def position(state):
        return str(state).strip().upper().replace("\n", "/")

    @staticmethod
    def evaluation(_state):
        return 0.0


GAMES = {"mancala": Mancala, "connect_four": ConnectFour}


def apply(state, actions):
    for action in actions:
        state.apply_action(action)


class Positions:
    """Moves from the start to positions that are given by their text: OpenSpiel's states are made of moves only. They are found
    breadth first, so this reaches the random openings of matches, not endings."""

    def __init__(self, game, rules):
        self.game, self.rules = game, rules
        self.known = {rules.position(game.new_initial_state()): []}
        self.unexplored = collections.deque(self.known.values())

    def find(self, text):
        while text not in self.known and self.unexplored and len(self.known) < MOST_POSITIONS:
            moves = self.unexplored.popleft()
            state = self.game.new_initial_state()
            apply(state, moves)
            for action in [] if state.is_terminal() else state.legal_actions():
                child = state.child(action)
                reached = self.rules.position(child)
                if not child.is_terminal() and reached not in self.known:
                    self.known[reached] = [*moves, action]
                    self.unexplored.append(self.known[reached])
        if text not in self.known:
            raise ValueError(f"no short game leads to `{text}`")
        return self.known[text]


class Player:
    """Chooses an action."""

    def __init__(self, game, rules, spec, seed):
        self.game, self.rules, self.seed = game, rules, seed
        self.kind, _, limit = spec.partition(":")
        if self.kind not in ("mcts", "alphabeta", "random") or (self.kind != "random") != limit.isdecimal():
            sys.exit(f"engine.py: a player is mcts:SIMULATIONS, alphabeta:DEPTH or random, not {spec}")
        self.limit = int(limit or 0)

    def choose(self, state, nodes, depth):
        self.seed += 1
        if self.kind == "mcts":
            evaluator = pyspiel.RandomRolloutEvaluator(1, self.seed)
            bot = pyspiel.MCTSBot(self.game, evaluator, 2.0, nodes or self.limit, MEGABYTES, True, self.seed, False)
            return bot.step(state)
        if self.kind == "alphabeta":
            return self.alphabeta(state, depth or self.limit)
        return random.Random(self.seed).choice(state.legal_actions())

    def alphabeta(self, state, depth):
        from open_spiel.python.algorithms.minimax import alpha_beta_search

        sign = 1 if state.current_player() == 0 else -1
        value = lambda leaf: sign * self.rules.evaluation(leaf)  # noqa: E731
        _, action = alpha_beta_search(self.game, state=state, value_function=value, maximum_depth=depth)
        return action


class Engine:
    """The conversation. Unusable input is answered with one line and changes nothing."""

    def __init__(self, name, spec, seed):
        self.name, self.rules, self.game = name, GAMES[name], pyspiel.load_game(name)
        self.player = Player(self.game, self.rules, spec, seed)
        self.positions = Positions(self.game, self.rules)
        self.state = self.game.new_initial_state()

    def position(self, words):
        self.state = None  # a `go` after a fault gets no move of another position
        end = words.index("moves") if "moves" in words else len(words)
        state = self.game.new_initial_state()
        if words[:1] == ["fen"]:
            apply(state, self.positions.find(" ".join(words[1:end])))
        elif words[:end] != ["startpos"]:
            raise ValueError("a position is `startpos` or `fen TEXT`, with `moves ...` or without")
        self.moves(state, words[end + 1 :])

    def moves(self, state, words):
        """Plays moves and makes the state the current one. Takes over none of them if one is not legal."""
        self.state = None
        for word in words:
            try:
                action = self.rules.action(word)
            except (KeyError, ValueError):
                action = None
            if state.is_terminal() or action not in state.legal_actions():
                raise ValueError(f"{word} is not legal after {state.history_str() or 'the start'}")
            state.apply_action(action)
        self.state = state

    def option(self, words):
        name, value = words[words.index("name") + 1], words[words.index("value") + 1]
        if self.rules.parameters.get(name, value) != value:
            raise ValueError(f"OpenSpiel's {self.name} has {name}={self.rules.parameters[name]}, not {value}")
        if name == "Game" and value != self.name:
            raise ValueError(f"this engine plays {self.name}, not {value}")

    def query(self, what):
        state = self.state
        if state is None:
            raise ValueError("there is no position")
        if what == "p1turn":
            return str(state.current_player() == 0).lower()
        if what == "gameover":
            return str(state.is_terminal()).lower()
        if what == "legal":
            return " ".join(map(self.rules.text, [] if state.is_terminal() else state.legal_actions()))
        if what == "fen":
            return self.rules.position(state)
        if what == "result":
            first = state.returns()[0]
            return "none" if not state.is_terminal() else "p1win" if first > 0 else "p2win" if first < 0 else "draw"
        raise ValueError(f"unknown query {what}")

    def go(self, words):
        limits = dict(zip(words[::2], words[1::2]))
        if self.state is None or self.state.is_terminal():
            return "bestmove none"
        choice = self.player.choose(self.state, int(limits.get("nodes", 0)), int(limits.get("depth", 0)))
        return f"bestmove {self.rules.text(choice)}"

    def answer(self, line):
        command, *words = line.split()
        if command == "ugi":
            options = [f"option name Game type combo default {self.name} var {self.name}"]
            options += [f"option name {name} type string default {value}" for name, value in self.rules.parameters.items()]
            return "\n".join([f"id name OpenSpiel {self.player.kind}", "id author OpenSpiel", *options, "ugiok"])
        if command == "isready":
            return "readyok"
        if command == "uginewgame":
            self.state = self.game.new_initial_state()
        elif command == "position":
            self.position(words)
        elif command == "moves":
            if self.state is None:
                raise ValueError("there is no position")
            self.moves(self.state.clone(), words)
        elif command == "setoption":
            self.option(words)
        elif command == "query":
            return "response " + self.query(words[0] if words else "")
        elif command == "go":
            return self.go(words)
        elif command != "stop":
            raise ValueError(f"unknown command {command}")
        return None


def main(arguments):
    if len(arguments) not in (2, 3) or arguments[0] not in GAMES:
        sys.exit(f"usage: engine.py {{{','.join(GAMES)}}} PLAYER [SEED]")
    engine = Engine(arguments[0], arguments[1], int(arguments[2]) if len(arguments) > 2 else random.randrange(1 << 30))
    for line in sys.stdin:
        if line.strip() == "quit":
            break
        try:
            answer = engine.answer(line) if line.strip() else None
        except (ValueError, IndexError) as error:
            answer = f"info string error: {error}"
        if answer is not None:
            print(answer, flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (KeyboardInterrupt, BrokenPipeError):
        pass
