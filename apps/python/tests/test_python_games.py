"""Games whose rules are written in Python: conformance, every door, and faults of the rules."""

import copy
import pathlib
import pickle
import sys
import threading

import numpy as np
import pytest

import turnstone_rl as turnstone

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples"))

import breakthrough  # noqa: E402
import tic_tac_toe  # noqa: E402
from breakthrough import Breakthrough  # noqa: E402
from mu_torere_py import MuTorere  # noqa: E402
from tic_tac_toe import TicTacToe  # noqa: E402

needs_program = pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without the program")


class Nim(turnstone.Game):
    """A heap of counters; players take one to three; who takes the last one wins. States are bytes: counters, mover."""

    name = "nim"
    num_actions = 3
    observation_shape = (1, 1, 21)

    def __init__(self, counters=7, most=3):
        self.counters, self.num_actions = counters, most

    def initial_state(self):
        return bytes([self.counters, 0])

    def mover(self, state):
        return state[1]

    def outcome(self, state):
        return None if state[0] else (1 if state[1] else -1)

    def legal_actions(self, state):
        return range(min(self.num_actions, state[0]))

    def play(self, state, action):
        return bytes([state[0] - action - 1, 1 - state[1]])

    def observation(self, state):
        return (np.arange(21) < state[0]).reshape(1, 1, 21)

    def position_text(self, state):
        return f"{state[0]} counters, player {state[1]}"

    def parse_position(self, text):
        counters, player = text.replace("counters, player ", "").split()
        return bytes([int(counters), int(player)])


GAMES = [TicTacToe, Breakthrough, Nim]


@pytest.fixture(autouse=True, scope="module")
def registered():
    """Not on import: other files ask for the names of the games then."""
    for game in GAMES:
        assert turnstone.register_game(game) is game


@pytest.mark.parametrize("game", GAMES)
def test_conformance(game):
    turnstone.check_game(game, games=20)
    turnstone.check_game(game(), games=5, seed=7)


def test_parameters():
    game = Nim(counters=9)
    assert game.params == {"counters": 9, "most": 3} and repr(game) == "Nim(counters=9)" and game != Nim()
    assert turnstone.State(Nim, counters=9) == turnstone.State(game) and game == Nim(9, 3)
    assert Nim(most=2).num_actions == 2 and turnstone.State(Nim(most=2)).legal_actions() == [0, 1]
    with pytest.raises(TypeError, match="keyword argument 'counter' .did you mean 'counters'"):
        turnstone.State(Nim, counter=9)
    assert Breakthrough(size=6).observation_shape == (2, 6, 6)
    turnstone.check_game(Breakthrough(size=4), games=5)


def test_a_game_describes_itself():
    game = TicTacToe()
    assert (game.name, game.version, game.num_actions, game.num_symmetries) == ("tic_tac_toe", 1, 9, 8)
    assert game.plane_names == ["own stones", "opponent's stones"] and game.observation_shape == (2, 3, 3)
    assert game.action_text(0) == "a3" and game.action_index("a3") == 0 and game.policy_index(1, 4) == 4
    assert Breakthrough().policy_index(1, 0) == 72 and Breakthrough().action_text(60) == "a1l"
    state = turnstone.State(game).play("b2 a1")
    assert state.game is game and state.to_play == 0 and state.board() == ". . .\n. X .\nO . ."
    assert turnstone.State(game, state.text()) == state and "O" in state.svg()
    assert turnstone.State(Nim()).text() == "7 counters, player 0"
    won = state.play("a3 c1 c3 b1")
    assert won.is_over and won.outcome().winner == 1 and won.legal_actions() == []
    with pytest.raises(turnstone.IllegalActionError, match="illegal action `b2`"):
        state.play("b2")
    with pytest.raises(ValueError, match="must have 9 numbers"):
        turnstone.State(game, "1,2,3")


def test_copies_and_pickles():
    game = Breakthrough()
    state = turnstone.State(game).play(turnstone.State(game).legal_actions()[0])
    for other in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert other == state and hash(other) == hash(state)
    assert pickle.loads(pickle.dumps(game)) == game and hash(copy.deepcopy(game)) == hash(game)


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("game", GAMES)
def test_vec_env(game, autoreset):
    """Many positions in each call are played as one by one."""
    game = game()
    envs = turnstone.VecEnv(game, 8, autoreset_mode=autoreset)
    envs.reset(seed=3)
    states = [turnstone.State(game)] * 8
    for _ in range(25):
        actions = envs.sample()
        movers = envs.to_play.copy()
        if autoreset == "disabled":
            actions[[state.is_over for state in states]] = 0
            if any(state.is_over for state in states):
                break
        envs.step(actions)
        for i, action in enumerate(actions):
            if states[i].is_over:
                states[i] = turnstone.State(game)
            else:
                assert movers[i] == states[i].to_play
                states[i] = states[i].play(int(action))
                if states[i].is_over:
                    assert envs.final_state(i) == states[i] and envs.outcome(i) == states[i].outcome()
                    assert envs.rewards[i].tolist() == list(states[i].outcome().rewards)
                    if autoreset == "same_step":
                        states[i] = turnstone.State(game)
            assert envs.state(i) == states[i] and np.array_equal(envs.observations[i], states[i].observation())


def evaluate(observations, masks):
    return np.zeros(masks.shape, np.float32), observations.mean((1, 2, 3)) - 0.2


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("game", GAMES)
def test_search_and_self_play(game, threads):
    game = game()
    analysis = turnstone.Search(game, evaluate, simulations=50).run([turnstone.State(game)] * 2)[1]
    assert analysis.action in turnstone.State(game).legal_actions() and analysis.visits.sum() > 2

    def play():
        self_play = turnstone.SelfPlay(game, evaluate, simulations=8, concurrent_games=4, threads=threads, seed=2)
        return self_play.play(6)

    examples = play()
    assert examples.observations.shape[1:] == game.observation_shape
    if threads == 1:
        assert np.array_equal(examples.observations, play().observations), "self-play repeats"


def test_agents():
    state = turnstone.State(TicTacToe, "1,1,0,2,2,0,0,0,0")
    for spec in ["alphabeta:depth=3", "minimax:depth=3", "mcts:sims=500"]:
        agent = turnstone.Agent(TicTacToe, spec)
        assert agent.act(state) == 2, spec
        assert agent.analyse(state).move_text == "c3"
    assert turnstone.Agent(Breakthrough(), "random").act(turnstone.State(Breakthrough())) >= 0


@needs_program
def test_certificates(tmp_path):
    # Player 0 has a heap of 7 and wins; player 1 loses to whoever takes 3.
    found = turnstone.certify(Nim, "alphabeta:depth=7", 0, out=tmp_path / "nim.proof")
    assert (found.result, found.refutation) == (1, None) and (tmp_path / "nim.proof").exists()
    lost = turnstone.certify(Nim, "alphabeta:depth=7", 1, out=tmp_path / "lost.proof")
    assert lost.result == -1 and lost.refutation[0] == "2" and not (tmp_path / "lost.proof").exists()
    assert turnstone.certify(TicTacToe, "alphabeta:depth=9", 1).result == 0


def test_pettingzoo():
    api = pytest.importorskip("pettingzoo.test")
    for game in GAMES:
        api.api_test(turnstone.raw_env(game()), num_cycles=100)
    env = turnstone.env("tic_tac_toe", render_mode="ansi")
    env.reset()
    env.step(4)
    assert env.render() == ". . .\n. X .\n. . ." and env.last()[0]["action_mask"][4] == 0
    turnstone.parallel_env(Breakthrough).reset(seed=1)


def test_gymnasium():
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make("turnstone/TicTacToe-v1", illegal="random").unwrapped, skip_render_check=True)
    env = gymnasium.make("turnstone/BreakthroughPy-v1", opponent="alphabeta:depth=1", seat=1, disable_env_checker=True)
    _, info = env.reset(seed=1)
    env.step(np.flatnonzero(info["action_mask"])[0])
    envs = gymnasium.make_vec("turnstone/TicTacToe-v1", num_envs=3, opponent=None)
    envs.reset()
    assert envs.step(np.array([0, 1, 2]))[0].sum() == 3


def test_registration():
    assert "tic_tac_toe" in turnstone.games() and turnstone.Game("tic_tac_toe") == TicTacToe()
    with pytest.raises(TypeError, match="only a subclass"):
        turnstone.register_game(3)

    class Mancala(TicTacToe):
        name = "mancala"

    with pytest.raises(ValueError, match="mancala: a game of this name is built in"):
        turnstone.register_game(Mancala)
    with pytest.raises(TypeError, match="in Rust, whose tests check them"):
        turnstone.check_game("mancala")


@needs_program
@pytest.mark.parametrize("example", [tic_tac_toe, breakthrough])
def test_train_and_arena(example, tmp_path):
    overrides = {
        "run.iterations": 2,
        "self_play.games_per_iteration": 16,
        "self_play.concurrent_games": 8,
        "search.simulations": 4,
        "learn.batch": 32,
        "arena.final_games": 4,
    }
    name = example.CONFIG["game"]["name"]
    whole = turnstone.train(example.CONFIG, overrides, run=tmp_path / "whole", progress=False)
    assert whole.finished and whole.iterations == 2
    first = turnstone.train(example.CONFIG, overrides, run=tmp_path / "part", progress=False, max_minutes=0.0001)
    assert not first.finished
    resumed = turnstone.train(resume=tmp_path / "part", progress=False)
    assert resumed.checkpoint.read_bytes() == whole.checkpoint.read_bytes(), "a resumed run is the same to the bit"
    network = turnstone.load(whole.run)
    state = turnstone.State(name)
    assert network.game == state.game and np.isclose(network.policy(state).sum(), 1)
    match = turnstone.arena(name, [whole.agent(sims=8), "random"], games=4, openings=1, threads=2)
    assert sum(match.wins_draws_losses()) == 4
    if name == "tic_tac_toe":
        assert turnstone.solve(TicTacToe).value(turnstone.State(TicTacToe)) == 0


# Faults of the rules.


def broken(method, function, base=TicTacToe):
    """A game whose method is another function after the first two plies."""
    original = getattr(base, method)

    def replaced(self, state, *rest):
        late = np.count_nonzero(state) > 1 if method != "initial_state" else False
        return function(self, state, *rest) if late else original(self, state, *rest)

    return type("Broken", (base,), {method: replaced, "name": "broken"})


def divide(self, state, *rest):
    return 1 // 0


FAULTS = [
    ("play", divide, "broken.play: ZeroDivisionError: "),
    ("mover", divide, r"broken.\w+: ZeroDivisionError: "),  # the others call it too
    ("outcome", divide, "broken.outcome: ZeroDivisionError: "),
    ("legal_actions", divide, "broken.legal_actions: ZeroDivisionError: "),
    ("observation", divide, "broken.observation: ZeroDivisionError: "),
    ("play", lambda self, state, action: state.astype(np.int64), "broken.play: TypeError: .*int64.*, not .*int8 .9,"),
    ("play", lambda self, state, action: state[:8], r"broken.play: TypeError: .*\(8,\), not .*\(9,\)"),
    ("play", lambda self, state, action: None, "broken.play: TypeError: .*NoneType"),
    ("mover", lambda self, state: 2, "ValueError: returned 2, but the players are 0 and 1"),
    ("outcome", lambda self, state: 7, "broken.outcome: ValueError: returned 7, not None, 1, 0, -1"),
    ("legal_actions", lambda self, state: [9], "broken.legal_actions: ValueError: returned the action 9"),
    ("legal_actions", lambda self, state: [-1], "broken.legal_actions: ValueError: returned the action -1"),
    ("legal_actions", lambda self, state: [3, 3], "broken.legal_actions: ValueError: returned the action 3 twice"),
    ("legal_actions", lambda self, state: [], "broken.legal_actions: ValueError: returned no action"),
    ("legal_actions", lambda self, state: [0.5], "broken.legal_actions: TypeError: returned 0.5, not an integer"),
    ("observation", lambda self, state: np.full((2, 3, 3), np.nan), "broken.observation: ValueError: returned NaN"),
    ("observation", lambda self, state: np.zeros((2, 9)), r"broken.observation: ValueError: .*\(2, 9\), not \(2, 3, 3\)"),
    ("observation", lambda self, state: "zeros", "broken.observation: TypeError: .*float32"),
    ("legal_actions", lambda self, state: state.fill(0), "broken.legal_actions: ValueError: .*read-only"),
]


@pytest.mark.parametrize(("method", "function", "message"), FAULTS)
def test_a_fault_is_an_exception_at_every_door(method, function, message, capfd):
    game = broken(method, function)
    with pytest.raises(turnstone.GameError, match=message):
        turnstone.check_game(game)

    def play_on():
        state = turnstone.State(game)
        while not state.is_over:
            state = state.play(state.legal_actions()[0])
            state.observation()

    def step_on():
        envs = turnstone.VecEnv(game, 4)
        envs.reset(seed=0)
        for _ in range(20):
            envs.step(envs.sample())

    doors = [
        play_on,
        step_on,
        lambda: turnstone.Search(game, evaluate, simulations=500).run(turnstone.State(game)),
        lambda: turnstone.SelfPlay(game, evaluate, simulations=8, concurrent_games=4).play(4),
        lambda: turnstone.SelfPlay(game, evaluate, simulations=8, concurrent_games=4, threads=2).play(4),
    ]
    if method != "observation":
        doors.append(lambda: turnstone.Agent(game, "alphabeta:depth=6").act(turnstone.State(game)))
        if turnstone._turnstone._PROGRAM:
            doors.append(lambda: turnstone.arena(game, ["random", "mcts:sims=20"], games=4, threads=2))
    for door in doors:
        with pytest.raises(turnstone.GameError, match=message) as raised:
            door()
        assert isinstance(raised.value.__cause__, Exception)
    assert capfd.readouterr().err == "", "nothing but the exception"


@needs_program
@pytest.mark.parametrize("method", ["play", "observation"])
def test_a_fault_ends_a_run(method, tmp_path, capfd):
    game = turnstone.register_game(broken(method, divide))
    config = {**tic_tac_toe.CONFIG, "game": {"name": "broken"}}
    with pytest.raises(turnstone.GameError, match=f"broken.{method}: ZeroDivisionError"):
        turnstone.train(config, run=tmp_path / "run", progress=False)
    assert "panicked" not in capfd.readouterr().err
    healthy = type("Healthy", (TicTacToe,), {"name": "broken"})
    turnstone.register_game(healthy)
    assert turnstone.train(config, {"run.iterations": 1}, run=tmp_path / "run", overwrite=True, progress=False).finished
    assert turnstone.State("broken") != turnstone.State(game), "games of different classes differ"


def test_what_remains_after_a_fault():
    game = broken("play", divide)()
    search = turnstone.Search(game, evaluate, simulations=100)
    agent = turnstone.Agent(game, "mcts:sims=100")
    self_play = turnstone.SelfPlay(game, evaluate, simulations=8, concurrent_games=2)
    envs = turnstone.VecEnv(game, 2)
    envs.reset()
    for _ in range(2):
        with pytest.raises(turnstone.GameError):
            search.run(turnstone.State(game))
        with pytest.raises(turnstone.GameError):
            agent.act(turnstone.State(game))
    with pytest.raises(turnstone.GameError):
        self_play.play(1)
    with pytest.raises(RuntimeError, match="make another SelfPlay"):
        self_play.play(1)
    with pytest.raises(turnstone.GameError):
        for _ in range(5):
            envs.step(envs.sample())
    with pytest.raises(RuntimeError, match="reset the VecEnv"):
        envs.step([0, 0])
    envs.reset()
    envs.step([0, 1])
    type(game).play = TicTacToe.play
    assert 0 <= agent.act(turnstone.State(game)) < 9 and search.run(turnstone.State(game)).nodes >= 99


def test_what_is_not_declared():
    def game(**changed):
        return type("Declared", (TicTacToe,), changed)

    with pytest.raises(TypeError, match="needs the attribute name"):
        turnstone.State(type("Nameless", (turnstone.Game,), {}))
    cases = [
        ({"name": "Tic Tac Toe"}, "lower-case letters"),
        ({"num_actions": 0}, "tic_tac_toe: num_actions is 0"),
        ({"num_actions": "nine"}, "num_actions is nine, but must be an int"),
        ({"observation_shape": (3, 3)}, "three ints"),
        ({"observation_shape": (2, 40, 40)}, "1 to 1024 points"),
        ({"plane_names": ["stones"]}, "plane_names has 1 names for 2 planes"),
        ({"action_blocks": [("cell", 8)]}, "action_blocks do not have num_actions = 9"),
        ({"second_player_map": [1] * 9}, "second_player_map must map the 9 actions"),
        ({"symmetries": [([0] * 9, range(9))]}, r"symmetries\[0\] must hold each of the 9 points once"),
        ({"initial_state": lambda self: np.zeros(9)}, "initial_state: TypeError: a state has dtype float64"),
        ({"initial_state": lambda self: np.zeros(99, np.int64)}, "initial_state: ValueError: a state has 792 bytes"),
        ({"initial_state": lambda self: [0] * 9}, "initial_state: TypeError: a state is a NumPy array"),
    ]
    for changed, message in cases:
        with pytest.raises(ValueError, match=message):
            turnstone.State(game(**changed))
    moveless = type("Moveless", (turnstone.Game,), {
        "name": "moveless", "num_actions": 1, "observation_shape": (1, 1, 1), "initial_state": lambda self: b"0",
    })
    with pytest.raises(turnstone.GameError, match="moveless: has neither the method play nor play_many"):
        turnstone.State(moveless)

    class Needy(TicTacToe):
        def __init__(self, size):
            pass

    with pytest.raises(TypeError, match="every parameter of __init__ needs a default, and size has none"):
        turnstone.State(Needy)


BROKEN_PROMISES = [
    ({"action_text": lambda self, action: "there"}, "action text `there` names another action"),
    ({"symmetries": [([1, 0, 2, 3, 4, 5, 6, 7, 8],) * 2]}, "tic_tac_toe: a symmetry commutes|a symmetry maps|keeps the outcome"),
    ({"observation": lambda self, state: np.zeros((2, 3, 3))}, "equal features mean equal legal actions"),
    ({"position_text": lambda self, state: "somewhere"}, "tic_tac_toe"),
    ({"outcome_many": lambda self, states: (np.zeros(len(states), bool), np.zeros(len(states), int))}, "agree at `|but the game has no outcome"),
    ({"observation_many": lambda self, states: np.zeros((len(states), 2, 3, 3), np.float32)}, "agree at `|equal features mean equal legal actions"),
    ({"play_many": lambda self, states, actions: states}, "play and play_many agree at `"),
]


@pytest.mark.parametrize(("changed", "message"), BROKEN_PROMISES)
def test_conformance_finds_a_broken_promise(changed, message, capfd):
    with pytest.raises((AssertionError, turnstone.GameError), match=message):
        turnstone.check_game(type("Promised", (TicTacToe,), changed))
    assert "panicked" not in capfd.readouterr().err


def test_keyboard_interrupts_pass_through():
    def interrupted(self, state, action):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        turnstone.SelfPlay(broken("play", interrupted), evaluate, simulations=8, concurrent_games=2).play(1)


def test_threads_use_a_game_at_the_same_time():
    game, results = Breakthrough(), []

    def work(seed):
        results.append(turnstone.SelfPlay(game, "uniform", simulations=8, concurrent_games=4, seed=seed).play(3))

    threads = [threading.Thread(target=work, args=(5,)) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(results) == 3 and all(np.array_equal(each.policies, results[0].policies) for each in results)


def test_the_same_game_in_rust_plays_the_same_games():
    def games(game):
        self_play = turnstone.SelfPlay(game, evaluate, simulations=16, concurrent_games=8, seed=3)
        examples = self_play.play(8)
        return [examples.observations, examples.policies, examples.values, examples.masks, examples.search_values]

    for rust, python in zip(games("mu_torere"), games(MuTorere)):
        assert np.array_equal(rust, python)
    turnstone.check_game(MuTorere, games=5)


class Widest(turnstone.Game):
    """A game of one ply, with the most actions that are allowed, all of them legal."""

    name, num_actions, observation_shape, observation_bounds = "widest", 65534, (1, 1, 1), (0, 1)

    def initial_state(self):
        return np.zeros(1, np.uint16)

    def mover(self, state):
        return 0

    def legal_actions(self, state):
        return np.ones(self.num_actions, bool)

    def play(self, state, action):
        return np.array([action + 1], np.uint16)

    def outcome(self, state):
        return None if not state.any() else 1 if state == self.num_actions else -1

    def observation(self, state):
        return np.zeros((1, 1, 1)) + state.any()


def test_the_most_actions_that_are_allowed():
    start = turnstone.State(Widest)
    assert start.legal_actions() == list(range(65534))
    for method in ("gumbel", "puct"):
        found = turnstone.Search(Widest, "uniform", simulations=40, method=method).run(start)
        assert found.visits.sum() == 40 and len(found.priors) == 65534
    assert turnstone.Agent(Widest, "mcts:sims=100").act(start) < 65534
    examples = turnstone.SelfPlay(Widest, "uniform", simulations=20, concurrent_games=2).play(3)
    assert examples.masks.shape == (3, 65534) and examples.masks.all()
    envs = turnstone.VecEnv(Widest, 2)
    envs.reset()
    assert envs.masks.sum(axis=1).tolist() == [65534] * 2
    _, rewards, terminated, _, _ = envs.step([65533, 65532])
    assert rewards[:, 0].tolist() == [1, -1] and terminated.all()
    with pytest.raises(turnstone.GameError, match="num_actions is 65535, but must be a whole number from 1 to 65534"):
        turnstone.State(type("Wider", (Widest,), {"num_actions": 65535}))


def test_bounds_of_observations():
    assert TicTacToe().observation_bounds == (-1e6, 1e6) and Widest().observation_bounds == (0, 1)
    for wrong in ((1, 0), (0, 1e7), (0,), "ab", (float("nan"), 1)):
        with pytest.raises((turnstone.GameError, TypeError), match="observation_bounds is"):
            turnstone.State(type("Wrong", (Widest,), {"observation_bounds": wrong}))
