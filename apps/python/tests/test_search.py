"""Search and self-play with evaluators of the caller."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import turnstone_rl as turnstone

GAMES = turnstone.games()


def uniform(observations, masks):
    return np.zeros(masks.shape, np.float32), np.zeros(len(masks), np.float32)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_an_evaluator_in_python_searches_like_the_one_in_rust(name, method):
    states = [turnstone.State(name)]
    for _ in range(5):
        states.append(states[-1].play(states[-1].legal_actions()[-1]))
    ours = turnstone.Search(name, uniform, simulations=40, method=method).run(states)
    theirs = turnstone.Search(name, "uniform", simulations=40, method=method).run(states)
    for state, one, other in zip(states, ours, theirs):
        assert one.action == other.action and one.value == other.value
        assert np.array_equal(one.policy, other.policy) and np.array_equal(one.visits, other.visits)
        assert one.policy.sum() == pytest.approx(1, abs=1e-5) and not one.policy[~state.legal_mask()].any()
        assert one.principal_variation[0] == one.action and one.state == state
        alone = turnstone.Search(name, uniform, simulations=40, method=method).run(state)
        assert np.array_equal(alone.policy, one.policy), "the others change nothing"


def test_the_evaluator_sees_what_the_mover_sees():
    start = turnstone.State("mancala").play("B5")
    seen = []

    def evaluate(observations, masks):
        seen.append((observations.copy(), masks.copy()))
        logits = np.where(masks, np.float32(0), np.float32(np.nan))
        logits[:, start.game.policy_index(1, start.game.action_index("A3"))] = 5
        return logits, np.full(len(masks), 0.25, np.float32)

    found = turnstone.Search("mancala", evaluate, simulations=1).run(start)
    observations, masks = seen[0]
    assert np.array_equal(observations[0], start.observation()) and np.array_equal(masks[0], start.policy_mask())
    assert start.game.action_text(int(found.priors.argmax())) == "A3"
    assert len(seen) >= 1 and observations.flags.c_contiguous and observations.flags.writeable


def test_a_search_with_a_sound_value_wins():
    # A position of Mu Torere in which one move wins at once, found by search alone.
    state = next(
        position
        for position in positions("mu_torere", 2000)
        if any(position.play(a).is_over and position.play(a).outcome().winner == position.to_play
               for a in position.legal_actions())
    )
    found = turnstone.Search("mu_torere", uniform, simulations=30).run(state)
    after = state.play(found.action)
    assert after.outcome() is not None and after.outcome().winner == state.to_play
    assert found.proven == 1 and found.value == 1


def positions(name, count):
    rng = np.random.default_rng(7)
    state = turnstone.State(name)
    for _ in range(count):
        if state.is_over:
            state = turnstone.State(name)
        yield state
        state = state.play(int(rng.choice(state.legal_actions())))


@pytest.mark.parametrize("name", GAMES)
def test_self_play_yields_training_examples(name):
    game = turnstone.Game(name)
    self_play = turnstone.SelfPlay(name, uniform, simulations=6, concurrent_games=16, seed=2)
    for _ in range(3):
        examples = next(self_play)
        observations, policies, values, masks = examples
        rows = len(examples)
        assert observations.shape == (rows, *game.observation_shape) and observations.dtype == np.float32
        assert policies.shape == masks.shape == (rows, game.num_actions) and masks.dtype == np.bool_
        assert np.allclose(policies.sum(1), 1, atol=1e-4) and not policies[~masks].any()
        assert values.shape == (rows,) and set(values) <= {-1, 0, 1}
        assert np.abs(examples.search_values).max() <= 1 and len(examples.outcomes) == 1
        assert examples.plies_left[-1] == 1 and examples.game_ends.tolist() == [rows]
        assert np.array_equal(observations[0], turnstone.State(game).observation())
        assert abs(values[-1]) == abs(examples.outcomes[0].rewards[0])
    batch = self_play.play(5)
    assert len(batch.outcomes) == 5 == len(batch.game_ends) and batch.game_ends[-1] == len(batch)
    joined = turnstone.Examples.concatenate([examples, batch])
    assert len(joined) == len(examples) + len(batch) and joined.game_ends[-1] == len(joined)
    assert self_play.stats["positions"] >= len(batch)


def test_games_do_not_depend_on_scheduling():
    def first_games(**settings):
        games = turnstone.SelfPlay("mancala", uniform, simulations=8, seed=4, **settings).play(40)
        starts = [0, *games.game_ends[:-1]]
        parts = [games.policies[start:end].tobytes() for start, end in zip(starts, games.game_ends)]
        return set(parts)

    one, two = first_games(concurrent_games=8), first_games(concurrent_games=6, threads=2)
    assert len(one & two) >= 20


def test_targets_are_those_of_the_player_to_move():
    game = turnstone.Game("konane", size=4)
    examples = turnstone.SelfPlay(game, "uniform", simulations=8, concurrent_games=4).play(20)
    # The last player who moved has won, and Konane's players alternate.
    assert (examples.values[examples.game_ends - 1] == 1).all()
    assert (examples.values[examples.game_ends - 2] == -1).all()


@pytest.mark.parametrize(
    "result, error, fault",
    [
        (lambda n, a: None, TypeError, "must return a tuple"),
        (lambda n, a: (np.zeros((n, a)),), TypeError, "not 1 things"),
        (lambda n, a: (np.zeros((n, a + 1)), np.zeros(n)), ValueError, "policy_logits of evaluate have the shape"),
        (lambda n, a: (np.zeros((n, a)), np.zeros(n + 1)), ValueError, "values of evaluate have the shape"),
        (lambda n, a: (np.full((n, a), np.nan), np.zeros(n)), ValueError, "policy logit NaN of legal action"),
        (lambda n, a: (np.full((n, a), np.inf), np.zeros(n)), ValueError, "policy logit inf of legal action"),
        (lambda n, a: (np.zeros((n, a)), np.full(n, np.nan)), ValueError, "value NaN in row 0"),
        (lambda n, a: (np.zeros((n, a)), np.full(n, 2.0)), ValueError, "value 2 in row 0 is not between -1 and 1"),
        (lambda n, a: (np.zeros((n, a)), "x"), TypeError, "the values of evaluate cannot be"),
        (lambda n, a: (np.zeros((n, a)), [object()] * n), TypeError, "the values of evaluate cannot be"),
        (lambda n, a: 1 / 0, ZeroDivisionError, "division"),
    ],
)
def test_faults_of_an_evaluator_are_exceptions(result, error, fault):
    def evaluate(observations, masks):
        if next(calls) == 3:  # one step, so that of two threads one has this number
            return result(*masks.shape)
        return np.zeros(masks.shape), np.zeros((len(masks), 1))  # float64, and an axis of length 1, are understood

    for threads in (1, 2):
        calls = itertools.count()
        self_play = turnstone.SelfPlay("mancala", evaluate, simulations=4, concurrent_games=8, threads=threads)
        with pytest.raises(error, match=fault):
            self_play.play(8)
        assert len(self_play.play(8).outcomes) == 8, "the games continue"
    calls = itertools.count()
    search = turnstone.Search("mancala", evaluate, simulations=50)
    with pytest.raises(error, match=fault):
        search.run(turnstone.State("mancala"))
    assert search.run(turnstone.State("mancala")).nodes >= 50


def test_an_evaluator_that_uses_its_own_search_is_told_so():
    def evaluate(observations, masks):
        if next(calls) == 2:
            call()
        return uniform(observations, masks)

    start = turnstone.State("mancala")
    search = turnstone.Search("mancala", evaluate, simulations=20)
    plays = [turnstone.SelfPlay("mancala", evaluate, simulations=4, concurrent_games=4, threads=n) for n in (1, 2)]
    # More games than may have ended in the other thread while the last use of one waited for its own.
    for kind, use, begin in [
        ("Search", lambda: search.run(start), lambda: search.run(start)),
        ("Search", search.clear_cache, lambda: search.run(start)),
        *(("SelfPlay", lambda play=play: next(play), lambda play=play: play.play(20)) for play in plays),
        *(("SelfPlay", lambda play=play: play.stats, lambda play=play: play.play(20)) for play in plays),
    ]:
        call = use
        calls = itertools.count()
        with pytest.raises(RuntimeError, match=f"the evaluator of this {kind} uses it .*: make another {kind} for that"):
            begin()
        begin()  # works again
    other = turnstone.Search("mancala", "uniform", simulations=5)
    call = lambda: other.run(start)  # noqa: E731
    calls = itertools.count()
    assert search.run(start).nodes >= 20, "another search may be used"

    def from_a_thread():
        faults = []

        def work():
            try:
                search.run(start)
            except RuntimeError as error:
                faults.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        raise ValueError(faults[0])

    call = from_a_thread
    calls = itertools.count()
    with pytest.raises(ValueError, match="the Search is being used by another thread"):
        search.run(start)


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="evaluate must be a function"):
        turnstone.Search("mancala", 5)
    with pytest.raises(ValueError, match="must be a function or 'uniform'"):
        turnstone.SelfPlay("mancala", "unifrom")
    with pytest.raises(TypeError, match="did you mean 'simulations'"):
        turnstone.SelfPlay("mancala", uniform, simulation=5)
    with pytest.raises(ValueError, match="simulations is 0"):
        turnstone.SelfPlay("mancala", uniform, simulations=0)
    with pytest.raises(ValueError, match="c_puct"):
        turnstone.Search("mancala", uniform, c_puct=-1.0)
    with pytest.raises(ValueError, match="method|variant"):
        turnstone.Search("mancala", uniform, method="puctt")
    with pytest.raises(ValueError, match="concurrent_games is 1"):
        turnstone.SelfPlay("mancala", uniform, concurrent_games=1, threads=2)
    with pytest.raises(TypeError, match="the state belongs to konane"):
        turnstone.Search("mancala", uniform).run(turnstone.State("konane"))
    with pytest.raises(TypeError, match="a state is a turnstone.State"):
        turnstone.Search("mancala", uniform).run(["x"])
    over = next(state for state in positions("mancala", 5000) if state.play(state.legal_actions()[0]).is_over)
    with pytest.raises(ValueError, match="the game is over"):
        turnstone.Search("mancala", uniform).run(over.play(over.legal_actions()[0]))


def test_reference_cycles_are_collected():
    class Learner:
        def __init__(self):
            self.self_play = turnstone.SelfPlay("mu_torere", self.evaluate, simulations=2, concurrent_games=2)
            self.search = turnstone.Search("mu_torere", self.evaluate)

        def evaluate(self, observations, masks):
            return uniform(observations, masks)

    learner = Learner()
    next(learner.self_play)
    gone = weakref.ref(learner)
    del learner
    gc.collect()
    assert gone() is None


INTERRUPTED = {
    "self-play": "turnstone.SelfPlay('konane', {evaluate}, simulations=100000, concurrent_games=2).play(100)",
    "self-play, 2 threads": (
        "turnstone.SelfPlay('konane', {evaluate}, simulations=100000, concurrent_games=2, threads=2).play(100)"
    ),
    "search": "turnstone.Search('konane', {evaluate}, simulations=10_000_000).run(turnstone.State('konane'))",
    "alpha-beta": "turnstone.Agent('morris', 'alphabeta:depth=40').act(turnstone.State('morris'))",
    "tree": "turnstone.Agent('konane', 'mcts:sims=10000000').act(turnstone.State('konane'))",
    "network": "turnstone.Agent('mancala', 'az:pretrained,sims=10000000').act(turnstone.State('mancala'))",
    "evaluation": (
        "n = turnstone.load('pretrained', 'konane'); n.evaluate(numpy.zeros((300_000, *n.game.observation_shape), 'float32'))"
    ),
    "analysis": "turnstone.Agent('konane', 'az:pretrained,sims=10000000').analyse(turnstone.State('konane'))",
}
if turnstone._turnstone._PROGRAM:
    INTERRUPTED |= {
        "arena": "turnstone.arena('konane', ['alphabeta:depth=3', 'alphabeta:depth=3'], games=100000)",
        "grade": "turnstone.grade('mancala', 'alphabeta:depth=14')",
        "certify": "turnstone.certify('mancala', 'alphabeta:depth=14', 0)",
        "train": "turnstone.train({{'game': {{'name': 'konane'}}}}, run=folder, progress=False)",
        "solve": "turnstone.solve(turnstone.Game('konane', size=8)).value()",
    }
INTERRUPTED_CALLS = [
    (name, evaluate)
    for name, call in INTERRUPTED.items()
    for evaluate in (["'uniform'", "evaluate"] if "{evaluate}" in call else [""])
]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
@pytest.mark.parametrize(("name", "evaluate"), INTERRUPTED_CALLS)
def test_ctrl_c_interrupts_long_calls(name, evaluate, tmp_path):
    call = INTERRUPTED[name].format(evaluate=evaluate)
    program = textwrap.dedent(
        f"""
        import signal
        import numpy, turnstone_rl as turnstone
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores it
        folder = {str(tmp_path / "run")!r}
        zeros = numpy.zeros((4096, turnstone.Game('konane').num_actions), numpy.float32)
        def evaluate(observations, masks):
            return zeros[:len(masks)], zeros[:len(masks), 0]
        print("begin", flush=True)
        try:
            {call}
            print("finished", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout.readline() == "begin\n"
    time.sleep(1.0)
    began = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    answer = process.stdout.readline()
    elapsed = time.monotonic() - began
    process.kill() if answer != "interrupted\n" else process.wait(30)
    assert answer == "interrupted\n"
    assert elapsed < float(os.environ.get("TURNSTONE_INTERRUPT_SECONDS", "1.0")), elapsed
