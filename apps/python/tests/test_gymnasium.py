"""Gymnasium's own tests, and what they do not see."""

import subprocess
import sys
import warnings
from importlib import metadata

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import turnstone_rl as turnstone  # noqa: E402
from turnstone_rl.gym import TurnstoneEnv, TurnstoneVectorEnv, env_id  # noqa: E402

GAMES = turnstone.games()
IDS = {
    "mu_torere": "turnstone/MuTorere-v1",
    "mancala": "turnstone/Mancala-v1",
    "morris": "turnstone/Morris-v1",
    "konane": "turnstone/Konane-v1",
    "morabaraba": "turnstone/Morabaraba-v1",
}


def test_the_games_are_registered():
    made = "[gymnasium.make(name) for name in {}]; print('made')"
    for program in (
        "import turnstone_rl, gymnasium; " + made.format(list(IDS.values())),
        "import gymnasium, turnstone_rl; " + made.format(list(IDS.values())),
        "import gymnasium; " + made.format([f"turnstone_rl:{name}" for name in IDS.values()]),
    ):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.stdout == "made\n", done.stderr
    entries = metadata.entry_points()
    group = entries.select(group="gymnasium.envs") if hasattr(entries, "select") else entries["gymnasium.envs"]
    for entry in group:
        entry.load()()
    assert {name: env_id(name) for name in GAMES} == IDS


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("opponent", ["random", "alphabeta:depth=2"])
def test_check_env(name, opponent):
    # The checker samples actions without the mask, so illegal ones must not raise.
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module="gymnasium.utils")
        check_env(gymnasium.make(IDS[name], opponent=opponent, illegal="random", seat=0).unwrapped)
        check_env(TurnstoneEnv(name, opponent=opponent, illegal="lose"), skip_render_check=True)


@pytest.mark.parametrize("name", GAMES)
def test_whole_games_from_both_seats(name):
    env, rng = gymnasium.make(IDS[name], opponent="random").unwrapped, np.random.default_rng(3)
    seats, rewards = [], []
    for game in range(12):
        observation, info = env.reset(seed=5 if game == 0 else None)
        seats.append(info["to_play"])
        terminated = truncated = False
        while not (terminated or truncated):
            assert np.array_equal(observation, env.position.observation())
            assert env.position.to_play == info["to_play"] and env.action_masks().dtype == np.bool_
            assert np.array_equal(env.action_masks(), info["action_mask"])
            action = rng.choice(np.flatnonzero(env.action_masks()))
            observation, reward, terminated, truncated, info = env.step(action)
        assert env.position.is_over and reward == env.position.outcome().rewards[info["to_play"]]
        rewards.append(reward)
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
    assert seats == [0, 1] * 6 and len(set(rewards)) > 1


def test_seeds_and_seats():
    def trace(seed):
        env = TurnstoneEnv("konane", opponent="random", seat="random")
        observation, info = env.reset(seed=seed)
        steps = [info["to_play"], observation.tobytes()]
        for _ in range(3):
            observation, *_ = env.step(np.flatnonzero(env.action_masks())[0])
            steps.append(observation.tobytes())
        return steps

    assert trace(1) == trace(1) and any(trace(1) != trace(seed) for seed in range(2, 6))
    env = TurnstoneEnv("mancala", seat=1)
    assert [env.reset()[1]["to_play"] for _ in range(3)] == [1, 1, 1]
    assert env.reset(options={"seat": 0})[1]["to_play"] == 0
    position = turnstone.State("mancala").play("B4")
    env.reset(options={"seat": 0, "position": position})
    assert env.position == position
    for options in ({"seat": 2}, {"position": turnstone.State("konane")}, {"position": "x"}):
        with pytest.raises(ValueError):
            env.reset(options=options)


def test_illegal_actions():
    env = TurnstoneEnv("mancala", seat=0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset()
    with pytest.raises(turnstone.IllegalActionError, match="illegal action `A2`"):
        env.step(6)
    env = TurnstoneEnv("mancala", seat=0, illegal="lose")
    env.reset()
    _, reward, terminated, _, info = env.step(6)
    assert (reward, terminated, info["illegal_action"]) == (-1.0, True, 6)
    for arguments in ({"seat": 3}, {"illegal": "x"}, {"render_mode": "x"}, {"opponent": "rando"}, {"stones": 0}):
        with pytest.raises(ValueError):
            TurnstoneEnv("mancala", **arguments)


def test_a_misspelt_keyword_is_answered_with_the_nearest():
    for make, key, near in [
        (lambda **slip: gymnasium.make("turnstone/Mancala-v1", **slip), "oponent", "opponent"),
        (lambda **slip: gymnasium.make("turnstone/Mancala-v1", **slip), "stons", "stones"),
        (lambda **slip: gymnasium.make_vec("turnstone/Mancala-v1", num_envs=2, **slip), "autoreset_mod", "autoreset_mode"),
        (lambda **slip: TurnstoneVectorEnv("mancala", **slip), "thread", "threads"),
        (lambda **slip: turnstone.VecEnv("mancala", 2, **slip), "autoreset_mod", "autoreset_mode"),
        (lambda **slip: turnstone.Agent("mancala", "random", **slip), "sead", "seed"),
        (lambda **slip: turnstone.State("mancala", **slip), "txt", "text"),
    ]:
        with pytest.raises(TypeError, match=f"argument '{key}' .did you mean '{near}'.*mancala has the parameters"):
            make(**{key: "random"})
    game = turnstone.Game("mancala")
    for make in (lambda: TurnstoneEnv(game, oponent="random"), lambda: turnstone.VecEnv(game, 2, thread=1)):
        with pytest.raises(TypeError, match="did you mean '(opponent|threads)'.*parameters belong to the name of a game"):
            make()


def test_vector_environments_need_a_reset():
    for opponent in (None, "random"):
        envs = TurnstoneVectorEnv("mancala", 2, opponent=opponent)
        with pytest.raises(gymnasium.error.ResetNeeded):
            envs.step(np.zeros(2, np.int64))
        with pytest.raises(ValueError, match="the first reset starts all"):
            envs.reset(options={"reset_mask": np.array([True, False])})
        _, info = envs.reset()
        envs.step(info["action_mask"].argmax(1))


@pytest.mark.parametrize("opponent", [None, "random"])
def test_an_ended_game_is_reset_by_the_caller_where_nothing_else_resets_it(opponent):
    envs = TurnstoneVectorEnv(
        "mu_torere", 2, opponent=opponent, autoreset_mode="disabled", illegal="random", max_plies=9
    )
    envs.reset(seed=1)
    ended = np.zeros(2, bool)
    while not ended.any():
        _, _, terminated, truncated, _ = envs.step(np.zeros(2, np.int64))
        ended = terminated | truncated
    with pytest.raises(gymnasium.error.ResetNeeded, match=f"env {ended.argmax()}: the game is over"):
        envs.step(np.zeros(2, np.int64))
    envs.reset(options={"reset_mask": ended})
    envs.step(np.zeros(2, np.int64))


def test_rendering():
    for mode, kind in [("ansi", str), ("svg", str), ("rgb_array", np.ndarray)]:
        env = gymnasium.make("turnstone/Morris-v1", render_mode=mode)
        env.reset(seed=1)
        assert isinstance(env.render(), kind)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("opponent", [None, "random"])
def test_vector_environments(mode, opponent):
    envs = gymnasium.make_vec(
        "turnstone/MuTorere-v1", num_envs=5, opponent=opponent, autoreset_mode=mode, max_plies=20
    )
    assert envs.metadata["autoreset_mode"] == mode and isinstance(envs.unwrapped, TurnstoneVectorEnv)
    observations, info = envs.reset(seed=1)
    rng, ended, games = np.random.default_rng(1), np.zeros(5, bool), 0
    for _ in range(200):
        assert observations.shape == envs.observation_space.shape and envs.observation_space.contains(observations)
        actions = (rng.random(info["action_mask"].shape) * info["action_mask"]).argmax(1)
        before = observations
        observations, rewards, terminated, truncated, info = envs.step(actions)
        assert before is not observations and rewards.shape == (5,)
        if mode == AutoresetMode.NEXT_STEP:
            assert not (terminated | truncated)[ended].any() and (rewards[ended] == 0).all()
        ended = terminated | truncated
        games += ended.sum()
        if mode == AutoresetMode.SAME_STEP and ended.any():
            assert np.array_equal(info["_final_obs"], ended)
            assert all((final is not None) == done for final, done in zip(info["final_obs"], ended))
    assert games > 20


def test_the_sync_vector_environment_works_too():
    envs = gymnasium.make_vec("turnstone/Mancala-v1", num_envs=3, vectorization_mode="sync", opponent="random")
    envs.reset(seed=1)
    for _ in range(60):
        actions = [np.flatnonzero(mask)[0] if mask.any() else 0 for mask in envs.call("action_masks")]
        envs.step(np.array(actions))


def test_spaces_sample_with_the_masks():
    env = TurnstoneEnv("mancala", opponent="random")
    _, info = env.reset(seed=1)
    assert info["action_mask"].dtype == np.int8 and env.action_masks().dtype == np.bool_
    assert env.action_masks()[env.action_space.sample(mask=info["action_mask"])]
    for opponent in (None, "random"):
        envs = TurnstoneVectorEnv("mancala", 3, opponent=opponent)
        _, info = envs.reset(seed=1)
        for _ in range(5):
            assert info["action_mask"].dtype == np.int8 and envs.action_masks().dtype == np.bool_
            *_, info = envs.step(envs.action_space.sample(mask=tuple(info["action_mask"])))
    envs = turnstone.VecEnv("mancala", 3)
    _, info = envs.reset()
    assert info["action_mask"].dtype == np.int8 and np.shares_memory(info["action_mask"], envs.masks)
    space = gymnasium.vector.utils.batch_space(env.action_space, 3)
    *_, info = envs.step(space.sample(mask=tuple(info["action_mask"])))
    assert np.array_equal(info["action_mask"], envs.masks)


@pytest.mark.parametrize("name", GAMES)
def test_the_bounds_of_observations(name):
    low, high = turnstone.Game(name).observation_bounds
    assert (low, high) == ((-3, 3) if name == "mancala" else (0, 1))
    env = TurnstoneEnv(name, opponent="random", illegal="random")
    envs = TurnstoneVectorEnv(name, 2, opponent=None)
    for space in (env.observation_space, envs.single_observation_space, envs.observation_space):
        assert (space.low == low).all() and (space.high == high).all() and space.is_bounded()
    observation, _ = env.reset(seed=1)
    for _ in range(200):
        assert env.observation_space.contains(observation)
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            observation, _ = env.reset()


def test_the_same_words_in_all_environments():
    single, sync = TurnstoneEnv("mancala"), gymnasium.make_vec("turnstone/Mancala-v1", 2, vectorization_mode="sync")
    kinds = [TurnstoneVectorEnv("mancala", 2, opponent=opponent) for opponent in (None, "random")]
    assert set(single.reset()[1]) == {"action_mask", "to_play"}
    for envs in (sync, *kinds):
        assert set(envs.reset()[1]) == {"action_mask", "_action_mask", "to_play", "_to_play"}
        assert envs.unwrapped.autoreset_mode == AutoresetMode.NEXT_STEP


def test_the_last_info_of_a_game_has_what_the_sync_environment_has():
    arguments = {"opponent": "random", "illegal": "random", "seat": 0, "max_plies": 9}
    sync = gymnasium.make_vec(
        "turnstone/MuTorere-v1", 3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": "SameStep"}, **arguments
    )
    envs = TurnstoneVectorEnv("mu_torere", 3, autoreset_mode="same_step", **arguments)
    both = TurnstoneVectorEnv("mu_torere", 3, autoreset_mode="same_step", opponent=None, illegal="random", max_plies=9)
    for each in (sync, envs, both):
        each.reset(seed=4)
    last = 0
    for _ in range(60):
        actions = np.zeros(3, np.int64)
        (*_, first), (*_, second) = sync.step(actions), envs.step(actions)
        assert set(first) == set(second), "at every step"
        if "final_info" in first:
            last += 1
            expected, found = first["final_info"], second["final_info"]
            assert set(expected) == set(found) == {"action_mask", "_action_mask", "to_play", "_to_play"}
            for key in expected:
                assert np.array_equal(expected[key], found[key]), key
            assert np.array_equal(first["_final_info"], second["_final_info"])
            assert all(np.array_equal(*pair) for pair in zip(first["final_obs"], second["final_obs"]))
        *_, info = both.step(actions)
        if "final_info" in info:
            ended = info["_final_info"]
            assert {"action_mask", "to_play", "rewards"} < set(info["final_info"])
            assert np.array_equal(info["final_info"]["rewards"][ended], info["rewards"][ended])
            assert not info["final_info"]["action_mask"][ended].any()
    assert last > 3


@pytest.mark.parametrize("opponent", [None, "random"])
def test_one_illegal_action_names_its_env_and_plays_nothing(opponent):
    envs = TurnstoneVectorEnv("mancala", 4, opponent=opponent, seat=0)
    before, info = envs.reset(seed=1)
    legal = info["action_mask"].argmax(1)
    for wrong in (11, 12, -1):
        actions = legal.copy()
        actions[2] = wrong
        with pytest.raises(turnstone.IllegalActionError, match="^env 2: "):
            envs.step(actions)
        assert np.array_equal(envs._observations(), before)
    envs.step(legal)
    envs = TurnstoneVectorEnv("mu_torere", 2, opponent=opponent, seat=0, autoreset_mode="disabled", max_plies=2)
    _, info = envs.reset(seed=1, options={"reset_mask": np.array([True, True])})
    while not (~info["action_mask"].any(1)).any():
        *_, info = envs.step(info["action_mask"].argmax(1))
    with pytest.raises((gymnasium.error.ResetNeeded, turnstone.IllegalActionError), match="env 0: .*game is over"):
        envs.step(np.zeros(2, np.int64))


def test_illegal_actions_in_vector_environments():
    _, info = (envs := TurnstoneVectorEnv("mancala", 3, opponent="random", seat=0, illegal="lose")).reset(seed=1)
    actions = info["action_mask"].argmax(1)
    actions[1] = 11
    _, rewards, terminated, _, info = envs.step(actions)
    assert rewards.tolist() == [0, -1, 0] and terminated.tolist() == [False, True, False]
    assert info["illegal_action"].tolist() == [0, 11, 0] and info["_illegal_action"].tolist() == [False, True, False]
    for opponent in (None, "random"):
        envs = TurnstoneVectorEnv("mancala", 3, opponent=opponent, illegal="random")
        envs.reset(seed=1)
        for _ in range(300):
            envs.step(np.full(3, -1))
    with pytest.raises(ValueError, match="illegal is 'lose', which needs an opponent"):
        TurnstoneVectorEnv("mancala", 3, opponent=None, illegal="lose")
    with pytest.raises(ValueError, match="illegal is 'never'"):
        TurnstoneVectorEnv("mancala", 3, illegal="never")


@pytest.mark.parametrize("opponent", [None, "random"])
def test_each_env_has_a_seed_of_its_own(opponent):
    def trace(seed):
        envs = TurnstoneVectorEnv("konane", 3, opponent=opponent, illegal="random", seat=0)
        envs.reset(seed=seed)
        return [[each.tobytes() for each in envs.step(np.full(3, -1))[0]] for _ in range(12)][-1]

    whole = trace([5, 6, 7])
    assert len(set(whole)) == 3
    assert trace(5) == trace((5, 6, 7)) == trace(np.array([5, 6, 7])) == whole
    assert trace([9, 6, 5])[1] == whole[1] and trace([9, 6, 5])[2] == whole[0]
    assert trace([5, None, 7])[::2] == whole[::2]
    with pytest.raises(ValueError, match="there are 2 seeds for 3 envs"):
        trace([1, 2])


@pytest.mark.parametrize("kind", ["function", "Search", "Agent"])
def test_opponents_that_are_no_specs(kind):
    opponent = {
        "function": lambda state: state.legal_moves()[-1],
        "Search": turnstone.Search("mancala", "uniform", simulations=4),
        "Agent": turnstone.Agent("mancala", "alphabeta:depth=1"),
    }[kind]
    env = TurnstoneEnv("mancala", opponent=opponent, seat=1)
    _, info = env.reset(seed=1)
    assert env.position.last_action is not None, "the opponent has begun"
    if kind == "function":
        start = turnstone.State("mancala")
        while start.to_play == 0:
            start = start.play(start.legal_actions()[-1])
        assert env.position == start
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        over = terminated or truncated
    envs = TurnstoneVectorEnv("mancala", 2, opponent=opponent)
    envs.reset()
    envs.step(envs.action_masks().argmax(1))
    with pytest.raises(ValueError, match="not turnstone.Game..konane") if kind != "function" else pytest.raises(TypeError):
        TurnstoneEnv("konane", opponent=opponent if kind != "function" else 3)
