"""Games in Python whose states are objects with keys, and the methods `expand`, `evaluation` and `pieces`."""

import dataclasses
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import turnstone_rl as turnstone

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples"))

from tic_tac_toe import TicTacToe  # noqa: E402

needs_program = pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without the program")


@dataclasses.dataclass
class Heap:
    counters: int
    player: int


class Objects(turnstone.Game):
    """A heap of counters; players take one to three, and whoever takes the last one wins. States are objects."""

    num_actions, observation_bounds = 3, (0, 1)

    def __init__(self, counters=11):
        self.counters, self.observation_shape = counters, (1, 1, min(counters, 64))

    def initial_state(self):
        return Heap(self.counters, 0)

    def key(self, state):
        return bytes([state.player]) + str(state.counters).encode()

    def from_key(self, key):
        return Heap(int(key[1:]), key[0])

    def play(self, state, action):
        return Heap(state.counters - action - 1, 1 - state.player)

    def draw(self, state):
        return f"{state.counters} counters"


class ByMethods(Objects):
    name = "by_methods"

    def mover(self, state):
        return state.player

    def outcome(self, state):
        return None if state.counters else (1 if state.player else -1)

    def legal_actions(self, state):
        return list(range(min(3, state.counters)))

    def observation(self, state):
        return (np.arange(self.observation_shape[2]) < state.counters).reshape(self.observation_shape)


class Expanding(Objects):
    name = "expanding"

    def expand(self, states):
        counters = np.array([state.counters for state in states])
        return (
            [state.player for state in states],
            [None if state.counters else (1 if state.player else -1) for state in states],
            np.arange(3) < counters[:, None],
            (np.arange(self.observation_shape[2]) < counters[:, None]).reshape(-1, *self.observation_shape),
        )


class Both(ByMethods, Expanding):
    name = "both"


class Unobserved(ByMethods):
    """Leaves the observations to `observation`."""

    name = "unobserved"

    def expand(self, states):
        return tuple([ask(state) for state in states] for ask in (self.mover, self.outcome, self.legal_actions)) + (None,)


class ByArray(turnstone.Game):
    name, num_actions, observation_bounds, observation_shape = "by_array", 3, (0, 1), (1, 1, 11)

    def initial_state(self):
        return np.array([11, 0], np.int8)

    def play(self, state, action):
        return state - np.array([action + 1, 2 * state[1] - 1], np.int8)

    def mover(self, state):
        return state[1]

    def outcome(self, state):
        return None if state[0] else (1 if state[1] else -1)

    def legal_actions(self, state):
        return range(min(3, state[0]))

    def observation(self, state):
        return (np.arange(11) < state[0]).reshape(1, 1, 11)


class Paths(turnstone.Game):
    """States are the actions up to them, so that no two paths lead to the same one."""

    name, num_actions, observation_shape = "paths", 3, (1, 1, 2)

    def initial_state(self):
        return ()

    def key(self, state):
        return bytes(state)

    def from_key(self, key):
        return tuple(key)

    def play(self, state, action):
        return (*state, action)

    def expand(self, states):
        observations = np.array([[len(state), sum(state)] for state in states]).reshape(-1, 1, 1, 2)
        outcomes = [None if len(state) < 20 else sum(state) % 3 - 1 for state in states]
        return [len(state) % 2 for state in states], outcomes, [range(3)] * len(states), observations

    def observation(self, state):
        return self.expand([state])[3][0]


FORMS = [ByMethods, Expanding, Both, Unobserved]


@pytest.mark.parametrize("game", FORMS)
def test_every_form_is_the_same_game(game):
    turnstone.check_game(game, games=20)
    turnstone.check_game(ByArray)

    def played(game):
        evaluate = lambda observations, masks: (np.zeros(masks.shape, np.float32), observations.mean((1, 2, 3)) - 0.5)
        self_play = turnstone.SelfPlay(game, evaluate, simulations=8, concurrent_games=4, seed=2)
        return self_play.play(10)

    ours, arrays = played(game), played(ByArray)
    assert np.array_equal(ours.observations, arrays.observations) and np.array_equal(ours.policies, arrays.policies)
    envs = turnstone.VecEnv(game, 8)
    envs.reset(seed=1)
    for _ in range(30):
        envs.step(envs.sample())
    assert turnstone.Agent(game, "alphabeta:depth=11").act(turnstone.State(game)) == 2


def test_states_of_objects():
    state = turnstone.State(Expanding).play(1).play(2)
    assert state.text() == (b"\0" + b"6").hex() and state.board() == "6 counters"
    assert turnstone.State(Expanding(), state.text()) == state and state == turnstone.State(Expanding).play(2).play(1)
    for text in ("00zz", "003", "0030f", "00" * 600, "00"):
        with pytest.raises(ValueError, match="^[^\n]*$"):
            turnstone.State(Expanding(), text)


def test_a_leaf_costs_one_call_of_play_and_one_of_expand():
    calls = dict.fromkeys(["play", "expand", "observation", "from_key"], 0)

    def counted(name):
        def call(self, *arguments):
            calls[name] += 1
            return getattr(super(Counted, self), name)(*arguments)

        return call

    class Counted(Paths):
        name = "counted"

    for each in calls:
        setattr(Counted, each, counted(each))
    seen = []

    def evaluate(observations, masks):
        seen.append(len(observations))
        return np.zeros(masks.shape, np.float32), np.zeros(len(observations), np.float32)

    game = Counted()
    turnstone.Search(game, evaluate, simulations=40).run(turnstone.State(game))
    assert sum(seen) == 41 and calls == {"play": 40, "expand": 41, "observation": 0, "from_key": 0}


def test_positions_are_found_again_after_they_are_forgotten():
    made = []

    class Long(ByMethods):
        name = "long"

        def from_key(self, key):
            made.append(key)
            return super().from_key(key)

    game = Long(counters=100_000)
    state = start = turnstone.State(game)
    while not state.is_over:
        state = state.play(0)
    assert made == []
    assert start.board() == "100000 counters" and made == [b"\x00100000"]
    assert start.board() == "100000 counters" and len(made) == 1


def spoilt(base=Both, **changed):
    return type("Spoilt", (base,), {"name": "spoilt", **changed})


def in_place(self, state, action):
    state.counters, state.player = state.counters - action - 1, 1 - state.player
    return state


def swapped(place, change):
    def expand(self, states):
        answers = list(Both.expand(self, states))
        answers[place] = change(answers[place])
        return tuple(answers)

    return expand


class Confused(Both):
    """The object of a key is another one."""

    name = "spoilt"

    def from_key(self, key):
        heap = super().from_key(key)
        heap.counters = 3 if heap.counters == 4 else heap.counters
        return heap


class Forgetful(ByMethods):
    """An answer depends on what the key does not hold."""

    name = "spoilt"

    def play(self, state, action):
        after = super().play(state, action)
        after.last = action
        return after

    def observation(self, state):
        return super().observation(state) * (1 - getattr(state, "last", 0) / 4)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (spoilt(key=lambda self, state: "7"), "spoilt.key: TypeError: returned <class 'str'>, not bytes"),
        (spoilt(key=lambda self, state: bytes(513)), "spoilt.key: ValueError: a key has 513 bytes, but at most 512"),
        (spoilt(from_key=turnstone.Game.__init__), "spoilt.from_key: "),
        (spoilt(TicTacToe, key=lambda self, state: bytes(state)), "one of the methods key and from_key, but needs both"),
        (spoilt(TicTacToe, initial_state=lambda self: "start"), "not <class 'str'>, which needs key and from_key"),
        (spoilt(play=in_place), "play has changed its state: it has to make a new one"),
        (Confused, r"from_key\(key\(state\)\) has the key of `0[01]34`"),
        (Forgetful, r"from_key\(key\(state\)\) is observed as"),
        (spoilt(expand=lambda self, states: [1, 2, 3]), "spoilt.expand: TypeError: must return a tuple: .movers, outcomes"),
        (spoilt(expand=swapped(0, lambda each: each[1:])), "spoilt.expand: ValueError: returned 0 movers, not 1"),
        (spoilt(expand=swapped(0, lambda each: [2 for _ in each])), "spoilt.expand: ValueError: returned 2, but the players"),
        (spoilt(expand=swapped(1, lambda each: [0.5] * len(each))), "spoilt.expand: ValueError: returned 0.5, not None"),
        (spoilt(expand=swapped(2, lambda each: [[3]] * len(each))), "spoilt.expand: ValueError: returned the action 3"),
        (spoilt(expand=swapped(3, lambda each: each[:, 0])), "spoilt.expand: ValueError: returned the shape"),
        (spoilt(expand=swapped(3, lambda each: each * 7)), "returned 7, but observation_bounds is"),
        (spoilt(expand=swapped(2, lambda each: [[0]] * len(each))), "legal_actions and expand agree"),
        (spoilt(expand=swapped(3, lambda each: each * 0.5)), "observation and expand agree"),
        (spoilt(Expanding, expand=swapped(3, lambda each: None)), "expand: returned no observations, and spoilt has no"),
        (spoilt(Expanding, play=None), "spoilt"),
        (spoilt(symmetries=[(list(range(11)), [0, 2, 1])]), r"states that are objects need permuted\(state, points\)"),
        (spoilt(evaluation=lambda self, state: 0.5), "spoilt.evaluation: TypeError: returned 0.5, not an integer"),
        (spoilt(evaluation=lambda self, state: 10**6), "spoilt.evaluation: ValueError: returned 1000000, not a number from"),
        (spoilt(pieces=lambda self, state: [0] * 4), "spoilt.pieces: ValueError: returned 4 numbers for 11 points"),
        (spoilt(pieces=lambda self, state: [2] * 11), "spoilt.pieces: ValueError: returned 2, not 1, -1 or 0"),
    ],
)
def test_faults_are_found(game, message):
    with pytest.raises((AssertionError, turnstone.GameError, TypeError), match=message):
        turnstone.check_game(game, games=5)
        turnstone.Agent(game, "alphabeta:depth=1").act(turnstone.State(game))


def test_alpha_beta_asks_for_the_evaluation():
    class Evaluated(ByMethods):
        name = "evaluated"

        def evaluation(self, state):
            return 5 * state.counters  # for player 0, who therefore takes few

    game = Evaluated(counters=40)
    assert game.heuristics == ["evaluation", "win_loss"]
    start = turnstone.State(game)
    agent = turnstone.Agent(game, "alphabeta:depth=1")
    assert [agent.act(start), agent.act(start.play(0))] == [0, 2]
    turnstone.check_game(game, games=3)


def test_pieces_are_drawn():
    class Drawn(TicTacToe):
        name = "drawn"

        def pieces(self, state):
            return np.array([0, 1, -1])[state]

    state = turnstone.State(Drawn).play("a3 b2")
    assert state.board().split()[:12] == "3 X . . 2 . O . 1 . . .".split()
    assert state.svg().count("<circle") == 2
    turnstone.check_game(Drawn)


@needs_program
@pytest.mark.parametrize("work", ["arena", "train"])
def test_the_program_names_an_exception_of_rules_in_one_line(work, tmp_path):
    script = """
import sys
from turnstone_rl.__main__ import main
from turnstone_rl._open_spiel import OpenSpielGame

play = OpenSpielGame.play
OpenSpielGame.play = lambda self, state, action: play(self, state, action if state.plies < 5 else 1 // 0)
sys.exit(main())
"""
    pytest.importorskip("pyspiel")
    arguments = {"arena": ["random", "mcts:sims=5", "--games", "4"], "train": ["--quiet"]}[work]
    command = [sys.executable, "-c", script, work, "open_spiel:tic_tac_toe", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "error: open_spiel.play: ZeroDivisionError: integer division or modulo by zero"
    assert "Traceback" not in done.stderr and "panicked" not in done.stderr
