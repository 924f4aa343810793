"""Agents, networks, and what needs the whole program."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import turnstone_rl as turnstone

GAMES = turnstone.games()
needs_program = pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without the program")

SMALL = {
    "game": {"name": "mu_torere"},
    "net": {"kind": "residual_mlp", "blocks": 1, "width": 32},
    "search": {"simulations": 8},
    "self_play": {"games_per_iteration": 8, "concurrent_games": 8},
    "arena": {"opponents": ["random"], "games": 4, "final_games": 4},
    "run": {"iterations": 3, "checkpoint_steps": 1000},
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("spec", ["random", "minimax:depth=2", "alphabeta:depth=3", "mcts:sims=20", "az:pretrained,sims=16"])
def test_agents_play_and_analyse(name, spec):
    agent = turnstone.Agent(name, spec)
    state = turnstone.State(name)
    for _ in range(4):
        found = agent.analyse(state)
        action = agent.act(state)
        assert action in state.legal_actions() and found.action in state.legal_actions()
        if not spec.startswith(("random", "mcts")):
            assert found.action == action
        assert found.policy.shape == (agent.game.num_actions,) and found.policy.sum() == pytest.approx(1, abs=1e-4)
        assert (found.value is None) == (spec == "random")
        if spec.startswith("az"):
            assert found.visits.sum() >= 15 and found.nodes == found.visits.sum()
            assert found.principal_variation_text[0] == found.move_text
        state = state.play(action)


def test_levels_are_agents_of_a_game():
    weak, strong = (turnstone.Agent("mancala", level=level) for level in (1, 8))
    assert "temperature=" in weak.spec and "temperature=" not in strong.spec
    assert weak.spec == turnstone.Agent("mancala", "level:1").spec
    state = turnstone.State("mancala")
    assert len({weak.act(state) for _ in range(40)}) > 1
    for arguments in ({}, {"spec": "random", "level": 1}):
        with pytest.raises(ValueError, match="a spec or a level"):
            turnstone.Agent("mancala", **arguments)
    with pytest.raises(ValueError, match="mancala has no such level"):
        turnstone.Agent("mancala", level=9)


def test_an_agent_wins_against_random_play():
    agent, other = turnstone.Agent("mancala", "alphabeta:depth=5"), turnstone.Agent("mancala", "random", seed=1)
    points = 0
    for game in range(20):
        state = turnstone.State("mancala")
        while not state.is_over:
            state = state.play((agent if state.to_play == game % 2 else other).act(state))
        points += state.returns(game % 2)
    assert points >= 16


def test_seeds_of_agents():
    def moves(seed):
        agent, state = turnstone.Agent("konane", "random", seed=seed), turnstone.State("konane")
        return [agent.act(state) for _ in range(8)]

    assert moves(1) == moves(1) and len(set(moves(1))) > 1
    assert any(moves(1) != moves(seed) for seed in range(2, 6))


def test_wrong_agents_are_named():
    for spec, fault in [
        ("rando", "did you mean `random`"),
        ("az:missing.safetensors", "missing.safetensors"),
        ("alphabeta:dept=3", "did you mean `depth`"),
        ("human", "a person"),
        ("exact:missing", "missing"),
        ("engine::missing-engine", "missing-engine"),
    ]:
        with pytest.raises((ValueError, RuntimeError), match=fault):
            turnstone.Agent("mancala", spec)
    with pytest.raises(TypeError, match="the state belongs to konane"):
        turnstone.Agent("mancala", "random").act(turnstone.State("konane"))
    with pytest.raises(TypeError):
        turnstone.Agent("mancala", "random").act("x")


@pytest.mark.parametrize("name", GAMES)
def test_an_analysis_shows_itself_in_a_notebook(name):
    state = turnstone.State(name)
    found = turnstone.Agent(name, "az:pretrained,sims=40").analyse(state)
    shown = found._repr_html_()
    assert shown.count("<svg ") == shown.count("</svg>") == 1 and shown.index("ts-choice") < shown.index("</svg>")
    assert shown.count('class="ts-choice"') == min(3, np.count_nonzero(found.policy))
    assert f">{found.move_text.replace('>', '&gt;')}</th><td>{found.visits[found.action]}</td>" in shown
    assert "<th>visits</th><th>prior</th><th>value</th>" in shown and "% win, " in shown
    plain = turnstone.Agent(name, "random").analyse(state)
    shown = plain._repr_html_()
    assert "<th>visits</th>" not in shown and shown.count('class="ts-choice"') == 1 and "100.0 %" in shown


@pytest.mark.parametrize("name", GAMES)
def test_networks_evaluate_batches(name):
    network = turnstone.load("pretrained", name)
    states = [turnstone.State(name)]
    while len(states) < 20:
        states.append(states[-1].play(states[-1].legal_actions()[0]))
        if states[-1].is_over:
            states.pop()
            break
    observations = np.stack([state.observation() for state in states])
    masks = np.stack([state.policy_mask() for state in states])
    logits, values = network.evaluate(observations)
    assert logits.shape == masks.shape and values.shape == (len(states),) and np.abs(values).max() <= 1
    masked, _ = network(observations, masks)
    assert np.array_equal(masked[masks], logits[masks]) and (masked[~masks] == -np.inf).all()
    outcomes = network.outcomes(observations)
    assert np.allclose(outcomes.sum(1), 1, atol=1e-5) and np.allclose(outcomes[:, 0] - outcomes[:, 2], values)
    for i, state in enumerate(states):
        exponentials = np.exp(logits[i] - logits[i][masks[i]].max()) * masks[i]
        policy, expected = network.policy(state), exponentials / exponentials.sum()
        for action in state.legal_actions():
            index = state.game.policy_index(state.to_play, action)
            assert policy[action] == pytest.approx(expected[index], abs=1e-5)
        alone, value = network.evaluate(observations[i : i + 1])
        assert np.array_equal(alone[0], logits[i]) and value[0] == values[i], "the batch changes nothing"
    # The search in Python with the network is the program's own search.
    search = turnstone.Search(name, network.evaluate, simulations=32)
    agent = turnstone.Agent(name, "az:pretrained,sims=32")
    assert search.run(states[0]).visits.sum() == agent.analyse(states[0]).visits.sum()


def test_wrong_networks_are_named(tmp_path):
    with pytest.raises(ValueError, match="needs the game"):
        turnstone.load("pretrained")
    with pytest.raises(ValueError, match="missing"):
        turnstone.load("missing.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"\0" * 100)
    with pytest.raises(ValueError, match="bad.safetensors"):
        turnstone.load(tmp_path / "bad.safetensors")
    network = turnstone.load("pretrained", "mancala")
    with pytest.raises(ValueError, match="observations have the shape"):
        network.evaluate(np.zeros((3, 4), np.float32))
    with pytest.raises(ValueError, match="masks have the shape"):
        network.evaluate(np.zeros((1, *network.game.observation_shape), np.float32), np.zeros((1, 3), bool))
    assert network.evaluate(np.zeros((0, *network.game.observation_shape)))[1].shape == (0,)


@needs_program
def test_matches_and_tournaments():
    seen = []
    options = {"games": 20, "seed": 3, "progress": lambda *counts: seen.append(counts)}
    result = turnstone.arena("mancala", ["alphabeta:depth=4", "random"], **options)
    score = result.score()
    assert score.low <= score.value <= score.high and score.value > 0.8 and len(result.games) == 20
    assert result.score(1, 0).value == pytest.approx(1 - score.value) and float(score) == score.value
    assert sum(result.wins_draws_losses()) == 20 and result.wins_draws_losses(1, 0) == result.wins_draws_losses()[::-1]
    assert result.elo().value > 100 and result.elo(1, 0).value == -result.elo().value
    assert seen[-1] == (20, 20) and "alphabeta" in str(result)
    again = turnstone.arena("mancala", ["alphabeta:depth=4", "random"], games=20, seed=3, threads=1)
    assert again.record["games"] == result.record["games"]
    many = turnstone.arena("mu_torere", ["random", "mcts:sims=5", "mcts:sims=40"], games=10, openings=(0, 3))
    assert len(many.summary["meetings"]) == 3 and many._repr_html_().startswith("<pre>")
    with pytest.raises(ValueError, match="have not met"):
        many.score(0, 7)
    for arguments, fault in [
        ({"agents": ["random"]}, "at least two agents"),
        ({"agents": ["random", "rando"]}, "did you mean"),
        ({"agents": ["random", "random"], "games": 0}, "games is 0"),
        ({"agents": ["random", "random"], "format": "cup"}, "format"),
        ({"agents": ["random", "random"], "openings": (6, 2)}, "range must rise"),
        ({"agents": ["random", "random"], "clock": "3"}, "clock"),
    ]:
        with pytest.raises(ValueError, match=fault):
            turnstone.arena("mancala", **arguments)


@needs_program
def test_tables_of_results():
    pytest.importorskip("pandas")
    result = turnstone.arena("mancala", ["alphabeta:depth=3", "random"], games=10)
    frame = result.to_pandas()
    assert list(frame["agent"]) == ["alphabeta:depth=3", "random"] and len(result.games_to_pandas()) == 10
    grade = turnstone.grade("mu_torere", "random")
    assert set(grade.to_pandas()["positions"]) == {"all", "critical"}


@needs_program
def test_grades():
    perfect = turnstone.grade("mu_torere", "az:pretrained,sims=64")
    random = turnstone.grade("mu_torere", "random")
    assert perfect.kept.value == 1 and perfect.positions > 1000 and random.kept_critical.value < 0.9
    assert random.kept.low < random.kept.value < random.kept.high and "random" in str(random)
    with pytest.raises(ValueError, match="morabaraba comes without exact values"):
        turnstone.grade(turnstone.Game("morabaraba", cows=11), "random")


@needs_program
def test_certificates(tmp_path):
    proof = tmp_path / "second.proof"
    found = turnstone.certify("mu_torere", "az:pretrained,sims=0", 1, out=proof)
    assert (found.result, found.complete, found.positions, found.decisions) == (0, True, 9525, 5292)
    assert found.refutation is None and proof.read_bytes().startswith(b'{"turnstone_certificate":1,')
    lost = turnstone.certify("mu_torere", "random", 0, seed=3)
    assert lost.result == -1 and 0 < lost.beaten <= lost.positions
    assert turnstone.State("mu_torere").play(" ".join(lost.refutation)).returns(0) == -1
    some = turnstone.certify("mancala", "alphabeta:depth=2", 0, positions=100)
    assert not some.complete and some.result in (None, -1)
    for fault in [{"player": 2}, {"agent": "alphabeta:time=1s"}, {"agent": "az:pretrained,sims=8,temperature=1"}]:
        with pytest.raises((ValueError, RuntimeError), match="player must be|no function of the position"):
            turnstone.certify(**{"game": "mancala", "agent": "random", "player": 0, **fault})


@needs_program
def test_exact_values(tmp_path):
    solution = turnstone.solve("mu_torere")
    assert solution.value() == 0 and solution.counts["reachable"] > 1000
    assert len(solution.positions) == solution.counts["reachable"] - solution.counts["over"]
    state = turnstone.State("mu_torere")
    best = solution.best_actions(state)
    assert best and all(solution.value(state.play(action)) == 0 for action in best)
    small = turnstone.solve(turnstone.Game("konane", size=4))
    assert small.value() == -1 and small.value(player=1) == 1
    assert small.positions and small.counts["reachable"] > len(small.positions)
    with pytest.raises(FileNotFoundError, match="turnstone solve"):
        turnstone.solve("morris", tables=tmp_path)
    two = turnstone.Game("mancala", pits=2, stones=2)
    assert turnstone.solve(two, tables=tmp_path, build=True).value() == turnstone.solve(two, tables=tmp_path).value()
    with pytest.raises(TypeError, match="the state belongs to mancala"):
        solution.value(turnstone.State("mancala"))


@needs_program
def test_training_stops_and_resumes(tmp_path):
    folder, seen = tmp_path / "run", []
    whole = turnstone.train(SMALL, run=tmp_path / "whole", progress=False, on_iteration=seen.append)
    assert whole.finished and whole.iterations == 3 and [metrics["iteration"] for metrics in seen] == [1, 2, 3]

    class Enough(Exception):
        pass

    def stop(metrics):
        raise Enough(metrics["iteration"])

    with pytest.raises(Enough):
        turnstone.train(SMALL, run=folder, progress=False, on_iteration=stop)
    resumed = turnstone.train(resume=folder, progress=False)
    assert resumed.finished and len(resumed.metrics) == 3
    assert resumed.checkpoint.read_bytes() == whole.checkpoint.read_bytes(), "resumed equals uninterrupted"
    network = turnstone.load(folder)
    assert network.game == turnstone.Game("mu_torere") and network.step > 0
    assert turnstone.Agent("mu_torere", resumed.agent(sims=8)).act(turnstone.State("mu_torere")) >= 0
    short = turnstone.train(SMALL, {"run.iterations": 1, "seed": 5}, run=tmp_path / "short", progress=False)
    assert short.iterations == 1
    for arguments, fault in [
        (({"game": {"name": "mancla"}},), "did you mean `mancala`"),
        ((SMALL, {"learn.bacth": 1}), "did you mean `learn.batch`"),
        (("missing.toml",), "missing.toml"),
        ((SMALL,), "run"),  # the folder is in use
        ((), "give a config"),
    ]:
        with pytest.raises((ValueError, OSError), match=fault):
            turnstone.train(*arguments, run=folder, progress=False)
    with pytest.raises(ValueError, match="its own config"):
        turnstone.train(SMALL, resume=folder)


@needs_program
def test_progress_is_shown(tmp_path, capfd):
    turnstone.train(SMALL, {"run.iterations": 1}, run=tmp_path / "run")
    assert "1/1 step" in capfd.readouterr().err


@needs_program
def test_numbers_of_numpy_in_a_config(tmp_path):
    config = {**SMALL, "seed": np.int64(3), "run": {"iterations": np.uint8(1)}}
    run = turnstone.train(config, {"learn.batch": np.int32(16)}, run=tmp_path / "run", progress=False)
    assert run.iterations == 1
    with pytest.raises(TypeError, match="a config holds no object"):
        turnstone.train({**SMALL, "seed": object()}, run=tmp_path / "other")


def last_legal(state):
    return state.legal_actions()[-1]


@needs_program
@pytest.mark.parametrize("threads", [1, 3])
def test_functions_searches_and_agents_in_a_match(threads):
    search = turnstone.Search("mu_torere", "uniform", simulations=8)
    agent = turnstone.Agent("mu_torere", "alphabeta:depth=2")
    players = [last_legal, lambda state: state.legal_moves()[0], search, agent, last_legal]
    match = turnstone.arena("mu_torere", players, games=2, threads=threads)
    assert match.agents == ["python:last_legal", "python:lambda", "python:Search", "alphabeta:depth=2", "python:last_legal_2"]
    assert len(match.games) == 20
    first = next(game for game in match.games if game["agents"] == [0, 1] or game["agents"] == [1, 0])
    state = turnstone.State("mu_torere")
    for ply, move in enumerate(first["moves"]):
        if ply >= first.get("opening_plies", len(first["moves"])):
            expected = last_legal(state) if first["agents"][state.to_play] == 0 else state.legal_actions()[0]
            assert state.game.action_index(move) == expected
        state = state.play(move)
    assert state.is_over


@needs_program
def test_the_fault_of_a_function_ends_its_match():
    def broken(state):
        raise KeyError("nothing")

    def illegal(state):
        return next(action for action in range(state.game.num_actions) if action not in state.legal_actions())

    with pytest.raises(KeyError, match="nothing"):
        turnstone.arena("mu_torere", ["random", broken], games=4)
    with pytest.raises(turnstone.IllegalActionError, match=r"^\d+ is not legal at `"):
        turnstone.arena("mu_torere", ["random", illegal], games=4)
    with pytest.raises(TypeError, match="an action is an integer or a text"):
        turnstone.arena("mancala", [lambda state: 1.5, "random"], games=4)
    with pytest.raises(ValueError, match="no such function"):
        turnstone.arena("mancala", ["python:broken", "random"], games=4)
    with pytest.raises(ValueError, match="plays turnstone.Game..mancala..*, not turnstone.Game..mu_torere"):
        turnstone.arena("mu_torere", [turnstone.Agent("mancala", "random"), "random"], games=4)
    with pytest.raises(TypeError, match="an agent is a spec, an Agent, a Search or a function of a State, not int"):
        turnstone.arena("mu_torere", ["random", 3], games=4)


@pytest.mark.skipif(turnstone._turnstone._PROGRAM, reason="built with the program")
def test_a_build_without_the_program_says_so():
    for call in (
        lambda: turnstone.train({"game": {"name": "mancala"}}),
        lambda: turnstone.arena("mancala", ["random", "random"]),
        lambda: turnstone.grade("mancala", "random"),
        lambda: turnstone.solve("mu_torere"),
    ):
        with pytest.raises(RuntimeError, match="without the program: training, .* need a build with the default features"):
            call()
    done = subprocess.run([sys.executable, "-m", "turnstone_rl", "games"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "made without the program" in done.stderr


@needs_program
def test_the_command_line():
    def run(*arguments):
        command = [sys.executable, "-m", "turnstone_rl", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert "mancala" in run("games").stdout and run("--version").stdout.startswith("turnstone ")
    shown = run("show", "mancala", "--legal", "--json")
    assert shown.returncode == 0 and json.loads(shown.stdout)
    wrong = run("show", "mancla", "--legal")
    assert wrong.returncode == 1 and wrong.stderr.startswith("error: unknown game `mancla`")
    assert run("--no-such-option").returncode == 2 and run("--help").returncode == 0


@needs_program
def test_an_interrupted_match_goes_on(tmp_path):
    out, played = tmp_path / "cup", []

    def second(state):
        played.append(state)
        if len(played) == 30:
            raise KeyError("enough")
        return state.legal_actions()[0]

    match = {"games": 10, "seed": 4, "threads": 1, "out": out}
    with pytest.raises(KeyError):
        turnstone.arena("mu_torere", ["random", second], **match)
    kept = len((out / "games.jsonl").read_text().splitlines()) - 1
    assert 0 < kept < 10
    with pytest.raises((ValueError, RuntimeError), match="exists already"):
        turnstone.arena("mu_torere", ["random", second], **match)
    before = len(played)
    result = turnstone.arena("mu_torere", ["random", second], resume=True, **match)
    own = [game for game in result.games[kept:] for _ in game["moves"][game["opening_plies"] :]]
    assert len(result.games) == 10 and len(played) - before <= len(own), "only the missing games are played"
    whole = turnstone.arena("mu_torere", ["random", second], **{**match, "out": None})
    assert result.record == whole.record and (out / "report.html").is_file()
    with pytest.raises(ValueError, match="out=FOLDER"):
        turnstone.arena("mu_torere", ["random", second], resume=True)


@needs_program
def test_faults_of_a_dictionary_name_keys_and_no_lines(tmp_path):
    for change, fault in [
        ({"learn": {"batch": "many"}}, "learn.batch is"),
        ({"learn": {"bach": 16}}, "unknown key `learn.bach`"),
        ({"learn": {"batch": None}}, "learn.batch is None"),
        ({"learn": {"learning_rate": float("nan")}}, "learn.learning_rate is nan"),
        ({"arena": {"opponents": ["rando"]}}, "arena.opponents"),
        ({"game": {"name": "mancla"}}, "did you mean `mancala`"),
    ]:
        with pytest.raises(ValueError) as raised:
            turnstone.train({**SMALL, **change}, run=tmp_path / "run", progress=False)
        text = str(raised.value)
        assert fault in text and not re.search(r"\bline\b|column", text), text
