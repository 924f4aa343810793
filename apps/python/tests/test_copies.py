"""Copies and pickles of agents and environments continue as the original."""

import copy
import pickle

import numpy as np
import pytest

import turnstone_rl as turnstone

GAMES = turnstone.games()


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


WAYS = [copy.copy, copy.deepcopy, pickled]
SPECS = ["random", "alphabeta:depth=2", "mcts:sims=20", "az:pretrained,sims=8"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("spec", SPECS)
def test_agents(way, name, spec):
    agent = turnstone.Agent(name, spec, seed=5)
    state = turnstone.State(name)
    for _ in range(3):
        state = state.play(agent.act(state))
    other = way(agent)
    assert other.game == agent.game and other.spec == agent.spec and other is not agent
    for _ in range(5):
        assert other.act(state) == agent.act(state)
    assert np.array_equal(other.analyse(state).policy, agent.analyse(state).policy)


@pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without the program")
def test_a_copy_keeps_a_network_whose_file_is_gone(tmp_path):
    config = {
        "game": {"name": "mu_torere"},
        "net": {"kind": "residual_mlp", "blocks": 1, "width": 16},
        "search": {"simulations": 4},
        "self_play": {"games_per_iteration": 4, "concurrent_games": 4},
        "arena": {"opponents": ["random"], "games": 2, "final_games": 2},
        "run": {"iterations": 1},
    }
    file = turnstone.train(config, run=tmp_path / "run", progress=False).checkpoint
    agent, network = turnstone.Agent("mu_torere", f"az:{file},sims=8"), turnstone.load(file)
    data, state = pickle.dumps(agent), turnstone.State("mu_torere")
    assert pickle.loads(data).act(state) == agent.act(state)
    file.unlink()
    assert copy.deepcopy(agent).act(state) == agent.act(state) and copy.deepcopy(network) is network
    with pytest.raises(ValueError, match="latest.safetensors"):
        pickle.loads(data)


def test_forged_pickles_are_refused():
    restore, (game, spec, seed, choices) = turnstone.Agent("mancala", "random").__reduce__()
    with pytest.raises(ValueError, match="did you mean `random`"):
        restore(game, "rando", seed, choices)


@pytest.mark.parametrize("kind", [turnstone.Search, turnstone.SelfPlay])
def test_what_holds_an_evaluator_says_what_to_do(kind):
    thing = kind("mancala", "uniform")
    for way in WAYS:
        with pytest.raises(TypeError, match=rf"turnstone.{kind.__name__}\(game, evaluate, \*\*settings\)"):
            way(thing)


@pytest.mark.parametrize("way", WAYS)
def test_networks(way):
    network = turnstone.load("pretrained", "mancala")
    other, observation = way(network), turnstone.State("mancala").observation()[None]
    assert np.array_equal(network.evaluate(observation)[0], other.evaluate(observation)[0])
    assert other.game == network.game and other.step == network.step


def played(env, rng_seed, steps=60):
    """What happens in some steps of an environment with an opponent."""
    rng, trace = np.random.default_rng(rng_seed), []
    for _ in range(steps):
        action = int(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))
        observation, reward, terminated, truncated, info = env.step(action)
        trace.append((observation.tobytes(), reward, terminated, truncated, info["to_play"]))
        if terminated or truncated:
            env.reset()
    return trace


@pytest.mark.parametrize("way", [copy.deepcopy, pickled])
@pytest.mark.parametrize("opponent", ["random", "alphabeta:depth=2", "az:pretrained,sims=4"])
def test_gymnasium_environments(way, opponent):
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("turnstone/Mancala-v1", opponent=opponent, seat="random", render_mode="ansi")
    env.reset(seed=3)
    played(env, 1, 20)
    other = way(env)
    assert other.render() == env.render()
    assert played(other, 2) == played(env, 2)


@pytest.mark.parametrize("way", [copy.deepcopy, pickled])
def test_pettingzoo_environments(way):
    pytest.importorskip("pettingzoo")
    for env in (turnstone.env("morris"), turnstone.parallel_env("morris")):
        env.reset(seed=1)
        other = way(env)
        assert other.unwrapped.position == env.unwrapped.position

