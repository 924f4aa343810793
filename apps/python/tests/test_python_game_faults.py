"""Faults planted in a game written in Python, each found by `check_game`; exceptions at hosts' doors; Ctrl-C."""

import copy
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time
import traceback
import warnings

import numpy as np
import pytest

import turnstone_rl as turnstone

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples"))

from breakthrough import Breakthrough  # noqa: E402
from tic_tac_toe import TicTacToe  # noqa: E402


def planted(base=Breakthrough, **changed):
    return type("Planted", (base,), {"name": "planted", **changed})


class Counting(TicTacToe):
    """Keeps notes: the answer depends on how often it was asked for."""

    name, asked, symmetries = "planted", 0, []

    def observation(self, state):
        self.asked += 1
        return super().observation(state) * (1 + self.asked % 7)


class WithoutMirror(Breakthrough):
    """Its symmetry mirrors the board, and leaves the actions as they are."""

    name = "planted"

    def __init__(self, size=5):
        super().__init__(size)
        mirror = [row * size + size - 1 - column for row in range(size) for column in range(size)]
        self.symmetries = [(mirror, range(3 * size * size))]

    def permuted(self, state, points):
        image = state.copy()
        image[list(points)] = state[:-1]
        return image


class Unpermuted(WithoutMirror):
    """Its symmetry is right, but `permuted` gives the board back."""

    def __init__(self, size=5):
        super().__init__(size)
        points = self.symmetries[0][0]
        self.symmetries = [(points, [3 * points[action // 3] + 2 - action % 3 for action in range(3 * size * size)])]

    def permuted(self, state, points):
        return state


class Unturned(Breakthrough):
    """Observations are turned for player 1, policies are not."""

    name = "planted"

    def __init__(self, size=5):
        super().__init__(size)
        self.turn = np.array(self.second_player_map)
        del self.second_player_map

    def turned(self, ask, *arguments):
        self.__dict__["second_player_map"] = self.turn
        try:
            return ask(self, *arguments)
        finally:
            del self.__dict__["second_player_map"]

    def legal_actions_many(self, states):
        return self.turned(Breakthrough.legal_actions_many, states)

    def play_many(self, states, actions):
        return self.turned(Breakthrough.play_many, states, actions)


def observed(change):
    def observation_many(self, states):
        planes = Breakthrough.observation_many(self, states)
        change(planes)
        return planes

    return observation_many


def decided_late(self, states):
    over, values = Breakthrough.outcome_many(self, states)
    return np.zeros_like(over), values


def endless(self, states, actions):
    return np.concatenate([states[:, :-1], 1 - states[:, -1:]], 1)


def no_mover(self, state):
    return ",".join(str(stone) for stone in state[:-1])


def read_without_mover(self, text):
    return np.array([int(stone) for stone in text.split(",")] + [0], np.int8)


PLANTED = {
    "the opponent's pawns are not observed": (
        planted(observation_many=observed(lambda planes: planes[:, 1].fill(0))),
        "equal features mean equal legal actions",
    ),
    "a feature is too large": (
        planted(observation_many=observed(lambda planes: np.multiply(planes, 1e9, planes))),
        r"returned 1000000000, but observation_bounds is .-1000000, 1000000",
    ),
    "a feature is beyond the bounds": (
        planted(observation_bounds=(0, 0.5)),
        r"returned 1, but observation_bounds is .0, 0.5",
    ),
    "no game ends": (planted(outcome_many=decided_late), "returned no action"),
    "moves change nothing": (planted(play_many=endless), "did not end within"),
    "the text lacks the mover": (planted(position_text=no_mover, parse_position=read_without_mover), "position text"),
    "two actions have one text": (planted(action_text=lambda self, action: str(action // 2)), "names another action"),
    "the board is not drawn": (planted(draw=lambda self, state: ""), "is drawn"),
    "the symmetry leaves the actions": (WithoutMirror, "a symmetry maps the legal actions"),
    "permuted leaves the board": (Unpermuted, "a symmetry maps"),
    "the rules keep notes": (Counting, "planted: observation and observation_many agree"),
    "policies are not turned": (Unturned, "equal features mean equal legal actions"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_check_game_finds_each_planted_fault(fault, capfd):
    game, message = PLANTED[fault]
    # Positions that look alike to both players are rare.
    games = 300 if game is Unturned else 20
    with pytest.raises((AssertionError, turnstone.GameError), match=message):
        turnstone.check_game(game, games=games)
    assert "panicked" not in capfd.readouterr().err


def test_rules_may_end_a_game_at_a_limit_of_plies():
    def outcome(self, state):
        found = TicTacToe.outcome(self, state)
        return "truncated" if found is None and np.count_nonzero(state) >= 6 else found

    turnstone.check_game(planted(TicTacToe, outcome=outcome))


def divide(self, state, *rest):
    """A fault after two plies."""
    return 1 // 0


def late(method):
    def replaced(self, state, *rest):
        return divide(self, state, *rest) if np.count_nonzero(state) > 1 else getattr(TicTacToe, method)(self, state, *rest)

    return planted(TicTacToe, **{method: replaced})


def two_players(game):
    env = turnstone.raw_env(game())
    env.reset(seed=1)
    while env.agents:
        observation = env.last()[0]
        env.step(None if observation is None else int(np.flatnonzero(observation["action_mask"])[0]))


def opponent(game):
    import gymnasium

    turnstone.register_game(game)
    env = gymnasium.make("turnstone/Planted-v1", opponent="random", disable_env_checker=True)
    over, info = False, env.reset(seed=1)[1]
    while not over:
        _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))


def many(game):
    import gymnasium

    turnstone.register_game(game)
    envs = gymnasium.make_vec("turnstone/Planted-v1", num_envs=2, opponent=None)
    info = envs.reset(seed=1)[1]
    for _ in range(9):
        info = envs.step(np.array([np.flatnonzero(mask)[0] for mask in info["action_mask"]]))[4]


def analysed(game):
    turnstone.Agent(game, "mcts:sims=200").analyse(turnstone.State(game))


METHODS = ["play", "mover", "outcome", "legal_actions", "observation"]
# A search with rollouts asks for no observation.
DOORS = [(door, method) for door in [two_players, opponent, many, analysed] for method in METHODS][:-1]


@pytest.mark.parametrize(("door", "method"), DOORS)
def test_an_exception_reaches_the_hosts_with_its_traceback(door, method, capfd):
    pytest.importorskip("pettingzoo")
    pytest.importorskip("gymnasium")
    with pytest.raises(turnstone.GameError, match="ZeroDivisionError") as raised:
        door(late(method))
    cause = raised.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert traceback.extract_tb(cause.__traceback__)[-1].line == "return 1 // 0", "the line of the rules is shown"
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.parametrize("method", ["position_text", "draw", "action_text"])
def test_an_exception_of_a_text(method):
    game = planted(TicTacToe, **{method: lambda self, *rest: 1 // 0})
    with pytest.raises(turnstone.GameError, match=f"planted.{method}: ZeroDivisionError"):
        state = turnstone.State(game)
        state.text(), state.board(), state.legal_moves()


def test_states_of_a_class_that_cannot_be_found_say_so():
    state = turnstone.State(planted(TicTacToe)).play(4)
    assert copy.deepcopy(state) == state == copy.copy(state)
    with pytest.raises((pickle.PicklingError, AttributeError), match="Planted"):
        pickle.dumps(state)


# A shell that starts tests in the background makes them ignore Ctrl-C, which children inherit.
INTERRUPTED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv[1])
from breakthrough import CONFIG, Breakthrough
from tic_tac_toe import TicTacToe
import turnstone_rl as turnstone

class Held(TicTacToe):
    def outcome(self, state):
        if state.any():
            self.hold()
        return super().outcome(state)

class Spins(Held):
    name = "spins"
    def hold(self):
        while True:
            pass

class Sleeps(Held):
    name = "sleeps"
    def hold(self):
        time.sleep(1000)

class Endless(TicTacToe):
    name = "endless"
    def legal_actions(self, state):
        return range(9)
    def play(self, state, action):
        state[action] = (state[action] + 1) % 3
        return state
    def outcome(self, state):
        return None

class Known(Endless):
    name = "known"
    def legal_actions(self, state):
        return range(2)

for game in (Breakthrough, Spins, Sleeps, Endless, Known):
    turnstone.register_game(game)
print("begins", flush=True)
try:
    {}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

LONG = {
    "self-play": 'turnstone.SelfPlay(Breakthrough, "uniform", simulations=64, concurrent_games=64, threads=2).play(10**6)',
    "search": 'turnstone.Search(Breakthrough, "uniform", simulations=10**7).run(turnstone.State(Breakthrough))',
    "agent": 'turnstone.Agent(Breakthrough, "alphabeta:depth=30").act(turnstone.State(Breakthrough))',
    "answers that are all known": 'turnstone.Agent(Known, "minimax:depth=40").act(turnstone.State(Known))',
    "self-play that spins": 'turnstone.SelfPlay(Spins, "uniform", concurrent_games=4, threads=2).play(9)',
    "self-play that sleeps": 'turnstone.SelfPlay(Sleeps, "uniform", concurrent_games=4, threads=2).play(9)',
    "self-play without end": 'turnstone.SelfPlay(Endless, "uniform", concurrent_games=4, threads=2).play(9)',
    "an agent that spins": 'turnstone.Agent(Spins, "alphabeta:depth=3").act(turnstone.State(Spins))',
    "an agent that sleeps": 'turnstone.Agent(Sleeps, "alphabeta:depth=3").act(turnstone.State(Sleeps))',
}
if turnstone._turnstone._PROGRAM:
    run = '{"game": {"name": "%s"}}, progress=False'
    LONG |= {
        "arena": 'turnstone.arena(Breakthrough, ["alphabeta:depth=30"] * 2)',
        "arena with a search of known answers": 'turnstone.arena(Known, ["minimax:depth=40"] * 2)',
        "arena that spins": 'turnstone.arena(Spins, ["random"] * 2, threads=2)',
        "arena that sleeps": 'turnstone.arena(Sleeps, ["random"] * 2, threads=2)',
        "arena without end": 'turnstone.arena(Endless, ["random"] * 2, threads=2)',
        "training that spins": f"turnstone.train({run % 'spins'})",
        "training that sleeps": f"turnstone.train({run % 'sleeps'})",
        "training without end": f"turnstone.train({run % 'endless'})",
        "exact values that spin": "turnstone.solve(Spins)",
        "exact values that sleep": "turnstone.solve(Sleeps)",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_ends_long_work(work, tmp_path):
    examples = pathlib.Path(__file__).parents[1] / "examples"
    program = [sys.executable, "-c", INTERRUPTED.replace("{}", LONG[work], 1), str(examples)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as child:
        try:
            assert child.stdout.readline() == "begins\n"
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(1)
            began = time.monotonic()
            child.send_signal(signal.SIGINT)
            answer, elapsed = child.stdout.readline(), time.monotonic() - began
            out, err = child.communicate(timeout=30)
        finally:
            child.kill()
    assert (answer, out, child.returncode) == ("interrupted\n", "", 0)
    assert "Traceback" not in err and "panicked" not in err
    assert elapsed < float(os.environ.get("TURNSTONE_INTERRUPT_SECONDS", "1.0")), elapsed


def test_a_game_can_be_used_after_an_interruption():
    program = INTERRUPTED.replace(
        "    {}",
        "    game = Breakthrough()\n"
        "    turnstone.arena(game, ['alphabeta:depth=30'] * 2, threads=2)",
        1,
    )
    program += """
agent = turnstone.Agent(game, "alphabeta:depth=2")
agent.act(turnstone.State(game))
turnstone.arena(game, ["random"] * 2, games=4, threads=2)
turnstone.check_game(game, games=2)
print("goes on", flush=True)
"""
    if not turnstone._turnstone._PROGRAM:
        pytest.skip("needs the arena")
    examples = pathlib.Path(__file__).parents[1] / "examples"
    with subprocess.Popen([sys.executable, "-c", program, str(examples)], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "begins\n"
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(1)
            child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=60)[0] == "interrupted\ngoes on\n"
        finally:
            child.kill()


def test_a_game_without_an_end_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    endless = planted(
        TicTacToe,
        legal_actions=lambda self, state: range(9),
        play=lambda self, state, action: (state + (np.arange(9) == action)).astype(np.int8) % 3,
        outcome=lambda self, state: None,
    )
    message = "planted: a random game has not ended after 10000 plies"
    with pytest.warns(RuntimeWarning, match=message):
        turnstone.SelfPlay(endless, "uniform")
    with pytest.raises(AssertionError, match="did not end within"):
        turnstone.check_game(endless, games=1)
    if turnstone._turnstone._PROGRAM:
        turnstone.register_game(endless)
        for work in (
            lambda: turnstone.arena(endless, ["random"] * 2),
            lambda: turnstone.train({"game": {"name": "planted"}}, progress=False),
        ):
            with pytest.raises(RuntimeWarning, match=message), warnings.catch_warnings():
                warnings.simplefilter("error")
                work()
