"""PettingZoo's own tests, and what they do not see."""

import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

pettingzoo = pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, render_test, seed_test  # noqa: E402
from pettingzoo.utils.conversions import parallel_to_aec  # noqa: E402

import turnstone_rl as turnstone  # noqa: E402

GAMES = turnstone.games()
IDS = [f"turnstone/{name}-v1" for name in ("mu_torere", "mancala", "morris", "konane", "morabaraba")]
REGISTRY = hasattr(pettingzoo, "aec_registry")
needs_registry = pytest.mark.skipif(not REGISTRY, reason=f"PettingZoo {pettingzoo.__version__} has no registry")


def test_the_registry_is_there_from_1_27_on():
    assert REGISTRY == (tuple(int(part) for part in pettingzoo.__version__.split(".")[:2]) >= (1, 27))


@needs_registry
def test_the_games_are_registered():
    made = "[pettingzoo.make(kind, name) for kind in ('aec', 'parallel') for name in {}]; print('made')".format(IDS)
    for program in ("import turnstone_rl, pettingzoo; " + made, "import pettingzoo, turnstone_rl; " + made):
        # Neither a second registration nor the old way of making environments is warned of.
        command = [sys.executable, "-W", "error::DeprecationWarning:pettingzoo", "-W", "error::UserWarning", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout == "made\n", done.stderr
    for registry in (pettingzoo.aec_registry, pettingzoo.parallel_registry):
        assert [name for name in registry if name.startswith("turnstone/")][:5] == IDS


@needs_registry
@pytest.mark.parametrize("name", IDS)
def test_api_of_registered_games(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=DeprecationWarning)
        api_test(pettingzoo.make("aec", name), num_cycles=200)
        parallel_api_test(pettingzoo.make("parallel", name, illegal="random", max_cycles=50), num_cycles=200)


@needs_registry
def test_arguments_of_registered_games():
    environment = pettingzoo.make("aec", "turnstone/mancala_v1", render_mode="ansi", stones=3)
    environment.reset()
    assert environment.unwrapped.position == turnstone.State("mancala", stones=3) and isinstance(environment.render(), str)
    assert pettingzoo.make("aec", "turnstone/konane").unwrapped.game.name == "konane", "the newest version"
    with pytest.raises(TypeError, match="keyword argument 'stons' .did you mean 'stones'"):
        pettingzoo.make("aec", "turnstone/mancala-v1", stons=3)


@needs_registry
def test_a_game_in_python_is_registered_with_its_name():
    program = """
import pettingzoo, turnstone_rl as turnstone
from tic_tac_toe import TicTacToe
turnstone.register_game(TicTacToe)
print(pettingzoo.make("aec", f"turnstone/{TicTacToe().name}-v1").unwrapped.game.name)
"""
    examples = __file__.rsplit("tests", 1)[0] + "examples"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=examples)
    assert done.stdout == "tic_tac_toe\n", done.stderr


@pytest.mark.parametrize("name", GAMES)
def test_api(name):
    api_test(turnstone.env(name), num_cycles=1000)
    api_test(turnstone.raw_env(name), num_cycles=200)


@pytest.mark.parametrize("name", GAMES)
def test_seeds(name):
    seed_test(lambda **arguments: turnstone.env(name, **arguments), num_cycles=200)


@pytest.mark.parametrize("name", GAMES)
def test_max_cycles(name):
    # The test steps both agents in every cycle, with actions that are not masked.
    def parallel(max_cycles):
        return turnstone.parallel_env(name, max_cycles=max_cycles, illegal="random")

    module = SimpleNamespace(parallel_env=parallel, env=lambda max_cycles: parallel_to_aec(parallel(max_cycles)))
    max_cycles_test(module)


@pytest.mark.parametrize("name", GAMES)
def test_parallel_api(name):
    parallel_api_test(turnstone.parallel_env(name, illegal="random"), num_cycles=500)


@pytest.mark.parametrize("name", GAMES)
def test_rendering(name):
    render_test(lambda **arguments: turnstone.env(name, **arguments))
    for mode, kind in [("ansi", str), ("svg", str), ("rgb_array", np.ndarray)]:
        environment = turnstone.env(name, render_mode=mode)
        environment.reset(seed=1)
        assert isinstance(environment.render(), kind)


def test_a_player_moves_twice_in_a_row():
    environment = turnstone.env("mancala")
    environment.reset()
    assert environment.agent_selection == "player_0"
    environment.step(environment.unwrapped.game.action_index("B4"))  # its last stone falls into the store
    assert environment.agent_selection == "player_0"
    environment.step(environment.unwrapped.game.action_index("B2"))
    assert environment.agent_selection == "player_1"


@pytest.mark.parametrize("name", GAMES)
def test_rewards_of_whole_games(name):
    environment, rng = turnstone.env(name), np.random.default_rng(1)
    for game in range(10):
        environment.reset(seed=game)
        totals = {agent: 0 for agent in environment.agents}
        state = turnstone.State(name)
        for agent in environment.agent_iter():
            observation, reward, terminated, truncated, _ = environment.last()
            totals[agent] += reward
            if terminated or truncated:
                environment.step(None)
                continue
            assert agent == f"player_{state.to_play}"
            assert np.array_equal(observation["observation"], state.observation())
            assert np.array_equal(observation["action_mask"], state.legal_mask())
            other = "player_1" if agent == "player_0" else "player_0"
            assert not environment.observe(other)["action_mask"].any()
            action = int(rng.choice(state.legal_actions()))
            environment.step(action)
            state = state.play(action)
        assert tuple(totals.values()) == state.outcome().rewards and not environment.agents


def test_options_and_faults():
    environment = turnstone.env("mancala", stones=3)
    position = turnstone.State("mancala", stones=3).play("B2")
    for given in (position, position.text()):
        environment.reset(options={"position": given})
        assert environment.unwrapped.position == position
    with pytest.raises(ValueError, match="options"):
        environment.reset(options={"position": turnstone.State("konane")})
    environment.reset()
    with pytest.raises(turnstone.IllegalActionError, match="illegal action `A2`"):
        environment.step(6)
    assert environment.agent_selection == "player_0", "nothing was played"
    with pytest.raises(ValueError, match="render_mode is 'film'"):
        turnstone.env("mancala", render_mode="film")
    for make, key, near in [
        (turnstone.env, "render_mod", "render_mode"),
        (turnstone.parallel_env, "max_cycle", "max_cycles"),
    ]:
        with pytest.raises(TypeError, match=f"keyword argument '{key}' .did you mean '{near}'"):
            make("mancala", **{key: 1})


def test_without_pettingzoo_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "turnstone_rl.aec", raising=False)
    monkeypatch.delattr(turnstone, "aec", raising=False)
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(ModuleNotFoundError, match="need the package pettingzoo: pip install pettingzoo"):
        turnstone.env("mancala")
