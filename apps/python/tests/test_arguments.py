"""Arguments of calls: unknown keywords, parameters of games that are called as an argument, and actions that are no integers."""

import inspect

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import turnstone_rl as turnstone  # noqa: E402
from turnstone_rl.gym import TurnstoneEnv, TurnstoneVectorEnv  # noqa: E402


class Counters(turnstone.Game):
    """Takes one or two counters. Its parameters are called as arguments of the package's own calls are."""

    name, num_actions, observation_shape = "counters", 2, (1, 1, 8)

    def __init__(
        self,
        counters=5,
        seed=0,
        threads=1,
        game=0,
        text=0,
        spec=0,
        level=0,
        num_envs=0,
        autoreset_mode=0,
        opponent=0,
        seat=0,
        illegal=0,
        render_mode=0,
        copy=0,
        max_cycles=0,
        params=0,
    ):
        self.counters = counters

    def initial_state(self):
        return np.array([self.counters, 0], np.int8)

    def mover(self, state):
        return state[1]

    def legal_actions(self, state):
        return range(min(2, state[0]))

    def play(self, state, action):
        return np.array([state[0] - action - 1, 1 - state[1]], np.int8)

    def outcome(self, state):
        return None if state[0] else 1 if state[1] else -1

    def observation(self, state):
        return (np.arange(8) < state[0]).reshape(1, 1, 8)


class Plain(Counters):
    name = "plain"

    def __init__(self, counters=5):
        self.counters = counters


def state(game, **given):
    return turnstone.State(game, **given)


def agent(game, **given):
    return turnstone.Agent(game, **({} if "spec" in given or "level" in given else {"spec": "random"}) | given)


def vec_env(game, **given):
    return turnstone.VecEnv(game, **({"num_envs": 2} | given))


CALLS = {
    "State": (state, {"text": "3,0"}),
    "Agent": (agent, {"spec": "random", "seed": 4}),
    "VecEnv": (vec_env, {"num_envs": 2, "threads": 2, "autoreset_mode": "same_step"}),
    "TurnstoneEnv": (TurnstoneEnv, {"opponent": "random", "seat": 1, "illegal": "lose", "render_mode": "ansi"}),
    "TurnstoneVectorEnv": (
        TurnstoneVectorEnv,
        {"num_envs": 2, "opponent": "random", "threads": 1, "autoreset_mode": "disabled", "copy": True, "seat": 0}
        | {"render_mode": "ansi", "illegal": "random"},
    ),
    "env": (turnstone.env, {"render_mode": "ansi"}),
    "raw_env": (turnstone.raw_env, {"render_mode": "ansi"}),
    "parallel_env": (turnstone.parallel_env, {"render_mode": "ansi", "max_cycles": 9, "illegal": "random"}),
}
COLLISIONS = [(name, key) for name, (_, own) in CALLS.items() for key in own]


def game_of(made):
    return getattr(made, "unwrapped", made).game


@pytest.mark.parametrize(("name", "key"), COLLISIONS)
def test_a_parameter_is_never_taken_for_an_argument(name, key):
    make, own = CALLS[name]
    given = {key: own[key]}
    # `spec` and `num_envs` have no default, so that they are always given.
    found = rf"`({key}|spec|num_envs)` is an argument of {name}.. and a parameter of counters.*params="
    with pytest.raises(TypeError, match=found):
        make(Counters, **given)
    made = make(Counters, params={key: 7, "counters": 4}, **given)
    assert game_of(made).params[key] == 7 and game_of(made).params["counters"] == 4
    assert game_of(make(Counters, params={}, **given)) == Counters()
    assert game_of(make(Counters(**{key: 7}), **given)) == Counters(**{key: 7})
    assert game_of(make(Plain, counters=3, **given)) == Plain(3)


@pytest.mark.parametrize("name", CALLS)
def test_parameters_are_given_by_keyword_or_together(name):
    make, own = CALLS[name]
    assert game_of(make("mancala", stones=3)).params["stones"] == 3
    assert game_of(make("mancala", params={"stones": 3})).params["stones"] == 3
    with pytest.raises(TypeError, match="by keyword .`stones`. or as `params`, not both"):
        make("mancala", params={"pits": 5}, stones=3)
    with pytest.raises(ValueError, match="mancala has no parameter `stons` .did you mean `stones`"):
        make("mancala", params={"stons": 3})
    with pytest.raises(TypeError, match="multiple values for argument 'game'"):
        make(Counters, game=3)
    for given in ({"stons": 3}, {"params": {"stons": 3}}):
        with pytest.raises(TypeError, match="`?stons.*parameters belong to the name of a game"):
            make(turnstone.Game("mancala"), **given)
    with pytest.raises(TypeError, match="'params'"):
        make("mancala", params=3)


KEYWORDS = {
    **{name: (lambda make=make, **given: make("mancala", **given)) for name, (make, _) in CALLS.items()},
    "Game": lambda **given: turnstone.Game("mancala", **given),
    "Search": lambda **given: turnstone.Search("mancala", "uniform", **given),
    "SelfPlay": lambda **given: turnstone.SelfPlay("mancala", "uniform", **given),
    "a game in Python": lambda **given: Plain(**given),
    "gymnasium.make": lambda **given: gymnasium.make("turnstone/Mancala-v1", **given),
    "gymnasium.make_vec": lambda **given: gymnasium.make_vec("turnstone/Mancala-v1", num_envs=2, **given),
    "arena": lambda **given: turnstone.arena("mancala", "random", **given),
    "grade": lambda **given: turnstone.grade("mancala", "random", **given),
    "certify": lambda **given: turnstone.certify("mancala", "random", 0, **given),
    "solve": lambda **given: turnstone.solve("mancala", **given),
    "train": lambda **given: turnstone.train({}, **given),
    "check_game": lambda **given: turnstone.check_game(Plain, **given),
    "load": lambda **given: turnstone.load("pretrained", **given),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_an_unknown_keyword_is_a_type_error_in_pythons_words(name):
    # TorchRL's GymEnv looks for them.
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
        KEYWORDS[name](frameskip=4)


@pytest.mark.parametrize("name", CALLS)
def test_signatures_name_the_parameters(name):
    called = getattr(turnstone, name, None) or {each.__name__: each for each in (TurnstoneEnv, TurnstoneVectorEnv)}[name]
    assert list(inspect.signature(called).parameters)[-2:] == ["params", "parameters"]


NO_INTEGERS = [1.9, 1.0, True, np.True_, np.float32(1), np.array(1.0), [1], (1,)]


def test_actions_are_integers():
    position, game = turnstone.State("mancala"), turnstone.Game("mancala")
    single = TurnstoneEnv("mancala", seat=0)
    aec, parallel = turnstone.raw_env("mancala"), turnstone.parallel_env("mancala", illegal="random")
    envs = [
        turnstone.VecEnv("mancala", 2),
        TurnstoneVectorEnv("mancala", 2, opponent=None),
        TurnstoneVectorEnv("mancala", 2, opponent=None, illegal="random"),
        TurnstoneVectorEnv("mancala", 2, opponent="random", seat=0),
        TurnstoneVectorEnv("mancala", 2, opponent="random", seat=0, illegal="lose"),
    ]
    for env in (single, aec, parallel, *envs):
        env.reset()
    steps = [
        position.play,
        game.action_text,
        lambda action: game.policy_index(0, action),
        single.step,
        aec.step,
        lambda action: parallel.step({"player_0": action, "player_1": 0}),
        *(lambda action, env=env: env.step([0, action]) for env in envs),
    ]
    for step in steps:
        for action in NO_INTEGERS:
            with pytest.raises((TypeError, ValueError)) as error:  # arrays of arrays have the wrong shape
                step(action)
            assert error.type is TypeError or isinstance(action, (list, tuple)), action
        if step != position.play:
            with pytest.raises(TypeError):
                step("2")
    assert single.position == aec.position == parallel.position == position
    for env in envs:
        observations = env.observations if isinstance(env, turnstone.VecEnv) else env._observations()
        assert (observations == position.observation()).all(), "nothing was played"
    for action in (1, np.int8(1), np.uint64(1), np.array(1)):
        assert position.play(action) == position.play(game.action_text(1))
        single.reset()
        single.step(action)
    for action in (2**70, -(2**70), 12, -1):
        with pytest.raises(turnstone.IllegalActionError, match="the actions of mancala are 0 to 11"):
            position.play(action)


def test_options_of_a_reset_are_a_dictionary():
    from turnstone_rl.aec import TurnstoneAEC

    for env in (TurnstoneEnv("mancala"), TurnstoneVectorEnv("mancala", 2), TurnstoneAEC("mancala")):
        with pytest.raises(TypeError, match="options must be a dictionary, not int: 3"):
            env.reset(options=3)
        env.reset(options={})


def test_a_number_beyond_64_bits_is_refused_by_its_name():
    with pytest.raises(ValueError, match=r"stones must be between -2\^63 and 2\^63 - 1"):
        turnstone.Game("mancala", stones=10**30)
