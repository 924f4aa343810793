"""Vectorised environments."""

import os
import threading

import numpy as np
import pytest

import turnstone_rl as turnstone

GAMES = turnstone.games()


def sampled(masks, rng):
    """A random legal action of each row."""
    return (rng.random(masks.shape) * masks).argmax(1)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
@pytest.mark.parametrize("threads", [1, 3])
def test_equals_single_games(name, autoreset, threads):
    rng = np.random.default_rng(1)
    envs = turnstone.VecEnv(name, 7, threads=threads, autoreset_mode=autoreset)
    start = turnstone.State(name)
    states, ended, games = [start] * 7, [False] * 7, 0
    observations, info = envs.reset(seed=3)
    masks = info["action_mask"]
    for _ in range(400):
        actions = sampled(masks, rng)
        movers = [state.to_play for state in states]
        after, rewards, terminated, truncated, info = envs.step(actions)
        assert after is observations and info["action_mask"] is masks, "written in place"
        for i in range(7):
            if autoreset == "next_step" and ended[i]:
                states[i], ended[i] = start, False
                expected = ((0, 0), False, False)
            else:
                states[i] = states[i].play(int(actions[i]))
                outcome = states[i].outcome()
                expected = ((0, 0), False, False)
                if outcome is not None:
                    games += 1
                    expected = (outcome.rewards, not outcome.truncated, outcome.truncated)
                    assert envs.outcome(i) == outcome and envs.final_state(i) == states[i]
                    states[i], ended[i] = (states[i], True) if autoreset == "next_step" else (start, False)
            assert (tuple(rewards[i]), terminated[i], truncated[i]) == expected
            assert np.array_equal(after[i], states[i].observation()) and envs.state(i) == states[i]
            mask = np.ones_like(masks[i]) if ended[i] else states[i].legal_mask()
            assert np.array_equal(masks[i], mask)
            assert info["to_play"][i] == states[i].to_play
    assert games > 3 and len(movers) == 7


def test_disabled_autoreset():
    envs = turnstone.VecEnv("mu_torere", 2, autoreset_mode="disabled", max_plies=2)
    envs.reset()
    envs.step([envs.game.action_index("0,4")] * 2)
    _, _, _, truncated, info = envs.step([envs.game.action_index("1,0")] * 2)
    assert truncated.all() and not info["action_mask"].any()
    with pytest.raises(turnstone.IllegalActionError, match="env 0: .*the game is over"):
        envs.step([0, 0])
    envs.reset(reset_mask=[False, True])
    assert truncated.tolist() == [True, False] and envs.state(1) == turnstone.State("mu_torere", max_plies=2)


def test_seeds_restart_the_samples():
    envs = turnstone.VecEnv("konane", 32)
    envs.reset(seed=5)
    first = envs.sample()
    envs.reset(seed=5)
    assert np.array_equal(first, envs.sample()) and first.dtype == np.int64
    assert not np.array_equal(first, envs.sample())


def test_errors_name_the_env_and_change_nothing():
    envs = turnstone.VecEnv("mancala", 3)
    envs.reset()
    before = envs.observations.copy()
    for actions, error, fault in [
        ([0, 0], ValueError, r"actions have the shape \(2,\), not \(3,\)"),
        ([[0, 0, 0]], ValueError, "actions have the shape"),
        ([0, 6, 0], turnstone.IllegalActionError, "env 1: illegal action `A2`"),
        ([0, 0, 12], turnstone.IllegalActionError, "env 2: action 12: the actions are 0 to 11"),
        ([0, -1, 0], turnstone.IllegalActionError, "env 1: action -1"),
        ([0.0, 1.0, 2.0], TypeError, "actions must be integers, not float64"),
        ("abc", TypeError, "actions must be integers"),
    ]:
        with pytest.raises(error, match=fault):
            envs.step(actions)
        assert np.array_equal(envs.observations, before)
    for kind in (np.uint8, np.uint16, np.int32, np.int64):
        envs.step(envs.sample().astype(kind))
    envs.reset()
    for listed, fault in [
        (np.array([0, 6, 0], np.uint16), "env 1: illegal action `A2`"),
        (np.array([0, 0, 12], np.uint16), "env 2: action 12: the actions are 0 to 11"),
    ]:
        with pytest.raises(turnstone.IllegalActionError, match=fault):
            envs.step(listed)
        assert np.array_equal(envs.observations, before)
    with pytest.raises(ValueError, match="actions have the shape"):
        envs.step(np.zeros(2, np.uint16))
    envs.step(np.repeat(envs.sample(), 2)[::2])
    with pytest.raises(ValueError, match="num_envs is 0"):
        turnstone.VecEnv("mancala", 0)
    with pytest.raises(ValueError, match="threads is -1"):
        turnstone.VecEnv("mancala", 1, threads=-1)
    with pytest.raises(ValueError, match="autoreset_mode is .never."):
        turnstone.VecEnv("mancala", 1, autoreset_mode="never")
    with pytest.raises(ValueError, match="stones"):
        turnstone.VecEnv("mancala", 1, stones=0)
    with pytest.raises(IndexError, match="env 3: the envs are 0 to 2"):
        envs.state(3)
    with pytest.raises(ValueError, match="reset_mask has 1 entries for 3 envs"):
        envs.reset(reset_mask=[True])


def test_threads_of_python_share_an_env_only_with_errors():
    envs = turnstone.VecEnv("konane", 2048)
    envs.reset()
    faults = []

    def work():
        for _ in range(30):
            try:
                envs.step(envs.sample())
            except (RuntimeError, ValueError, BufferError, TypeError) as error:
                faults.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    envs.reset(seed=1)
    envs.step(envs.sample())


def test_a_step_needs_a_reset():
    envs = turnstone.VecEnv("mancala", 3)
    assert len(envs.sample()) == 3
    for call in (lambda: envs.step([0, 0, 0]), lambda: envs.step(np.zeros(3, np.uint16))):
        with pytest.raises(RuntimeError, match="reset the VecEnv before the first step"):
            call()
    with pytest.raises(ValueError, match="the first reset starts all"):
        envs.reset(reset_mask=[True, False, True])
    envs.reset(reset_mask=[True] * 3)
    envs.step(envs.sample())
    envs.reset(reset_mask=[True, False, True])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_after_threads_works():
    envs = turnstone.VecEnv("konane", 64, threads=2)
    envs.reset()
    self_play = turnstone.SelfPlay("mu_torere", "uniform", simulations=4, concurrent_games=8, threads=2)
    envs.step(envs.sample())
    next(self_play)
    child = os.fork()
    if child == 0:
        try:
            envs.step(envs.sample())
            next(self_play)
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0


def test_games_start_at_positions():
    positions = [turnstone.State("mancala").play("B5"), None, turnstone.State("mancala").play("B5 A3")]
    start = turnstone.State("mancala")
    envs = turnstone.VecEnv("mancala", 3, autoreset_mode="disabled")
    with pytest.raises(RuntimeError, match="reset the VecEnv before"):
        envs.set(positions)
    observations, info = envs.reset(positions=positions)
    for i, state in enumerate([positions[0], start, positions[2]]):
        assert envs.state(i) == state and np.array_equal(observations[i], state.observation())
        assert np.array_equal(info["action_mask"][i], state.legal_mask()) and info["to_play"][i] == state.to_play
    envs.step([int(np.flatnonzero(mask)[0]) for mask in info["action_mask"]])
    moved = [envs.state(i) for i in range(3)]
    same, _ = envs.set([None, positions[0], None])
    assert same is observations
    assert [envs.state(i) for i in range(3)] == [moved[0], positions[0], moved[2]]
    envs.reset(reset_mask=[True, False, True], positions=[None, start, positions[0]])
    assert [envs.state(i) for i in range(3)] == [start, positions[0], positions[0]]


def test_a_game_that_has_ended_starts_at_a_position():
    envs = turnstone.VecEnv("mu_torere", 1, max_plies=1)
    start = turnstone.State(envs.game)
    envs.reset()
    _, _, _, truncated, _ = envs.step(envs.sample())
    assert truncated.all() and envs.final_state(0) is not None
    envs.set([start])
    assert envs.final_state(0) is None and envs.outcome(0) is None
    envs.step(envs.sample())
    assert envs.state(0) != start, "the step is played, and no reset"


def test_positions_are_checked():
    envs = turnstone.VecEnv("mu_torere", 2, max_plies=1)
    start, other = turnstone.State(envs.game), turnstone.State("mancala")
    envs.reset()
    for positions, error, fault in [
        ([start], ValueError, "positions has 1 entries for 2 envs"),
        ([start, other], TypeError, "the state belongs to mancala"),
        ([start.play(start.legal_actions()[0]), None], ValueError, r"positions\[0\] .*: the game is over"),
        (["start", None], TypeError, "State"),
    ]:
        for call in (envs.set, lambda positions: envs.reset(positions=positions)):
            with pytest.raises(error, match=fault):
                call(positions)
        assert [envs.state(i) for i in range(2)] == [start, start]
