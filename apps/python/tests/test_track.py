"""The bridge to experiment trackers, with a tracker that writes down what it is told, and with the real ones where they are."""

import importlib.util
import json
import subprocess
import sys

import pytest

import turnstone_rl as turnstone
from turnstone_rl.track import scalars, send

TRACKER = """
import json

def note(*what):
    with open("told.jsonl", "a") as file:
        file.write(json.dumps(what) + "\\n")

def init(project, name=None, config=None, **options):
    note("init", project, name, sorted(config or {}), options)

def log(metrics, step=None):
    note("log", metrics, step)

def finish():
    note("finish")
"""

LINES = [
    {
        "iteration": 1,
        "games": 8,
        "losses": {"policy_loss": 1.5, "value_loss": None},
        "outcome_shares": [0.5, 0.25, 0.25],
        "arena": [],
        "crc": "0000abcd",
    },
    {
        "iteration": 2,
        "games": 16,
        "losses": {"policy_loss": 1.25},
        "arena": [
            {"opponent": "random", "score": 1.0, "elo": None, "score_interval": [0.75, 1.0], "elo_interval": [190.8, None]},
            {"opponent": "alphabeta:depth=2", "score": 0.5, "by_seat": {"first": {"wins": 3}}},
        ],
        "grade": {"all": {"kept": 9, "positions": 10, "interval": [0.5, 1.0]}},
    },
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "fake_tracker.py").write_text(TRACKER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "fake_tracker", raising=False)
    folder = tmp_path / "games" / "first"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("seed = 1\n")
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES) + '{"iteration": 3, "ga')
    return folder


def told(folder):
    return [json.loads(line) for line in (folder / "told.jsonl").read_text().splitlines()]


def test_scalars():
    assert scalars(LINES[0]) == {
        "games": 8,
        "losses/policy_loss": 1.5,
        "outcome_shares/0": 0.5,
        "outcome_shares/1": 0.25,
        "outcome_shares/2": 0.25,
    }
    assert scalars(LINES[1]) == {
        "games": 16,
        "losses/policy_loss": 1.25,
        "arena/random/score": 1.0,
        "arena/random/score_interval/low": 0.75,
        "arena/random/score_interval/high": 1.0,
        "arena/random/elo_interval/low": 190.8,
        "arena/alphabeta:depth=2/score": 0.5,
        "arena/alphabeta:depth=2/by_seat/first/wins": 3,
        "grade/all/kept": 9,
        "grade/all/positions": 10,
        "grade/all/interval/low": 0.5,
        "grade/all/interval/high": 1.0,
    }
    assert scalars({"iteration": 1, "rate": float("inf"), "loss": float("nan"), "done": True}) == {}


def test_a_folder_is_sent(run, tmp_path):
    assert send(run, "fake_tracker", entity="me") == 2, "an incomplete last line does not count"
    assert told(tmp_path) == [
        ["init", "games", "first", ["config", "run"], {"entity": "me"}],
        ["log", scalars(LINES[0]), 1],
        ["log", scalars(LINES[1]), 2],
        ["finish"],
    ]
    (tmp_path / "told.jsonl").unlink()
    assert send(run, "fake_tracker", "project", "name", first=2) == 1
    assert [line[0] for line in told(tmp_path)] == ["init", "log", "finish"] and told(tmp_path)[0][1:3] == ["project", "name"]


def test_a_run_is_followed(run, tmp_path, monkeypatch):
    """What is written while the bridge waits is sent when its line is complete; Ctrl-C ends it."""
    waits = []

    def wait(_):
        waits.append(len(told(tmp_path)))
        if len(waits) == 3:
            raise KeyboardInterrupt
        with open(run / "metrics.jsonl", "a") as file:
            file.write('mes": 24' if len(waits) == 1 else "}\n")

    monkeypatch.setattr("turnstone_rl.track.time.sleep", wait)
    assert send(run, "fake_tracker", follow=True) == 3
    assert waits == [3, 3, 4] and told(tmp_path)[-2:] == [["log", {"games": 24}, 3], ["finish"]]


def test_faults_are_named(run, tmp_path):
    def line(*arguments):
        command = [sys.executable, "-m", "turnstone_rl.track", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    done = line(str(run), "--to", "fake_tracker")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 iterations\n", "")
    for arguments, fault in [
        ((str(run), "--to", "no_such_tracker"), "error: the tracker no_such_tracker is not installed: pip install"),
        ((str(tmp_path), "--to", "fake_tracker"), "metrics.jsonl: there is no such file; a run has one after"),
    ]:
        done = line(*arguments)
        assert done.returncode == 1 and fault in done.stderr and done.stderr.count("\n") == 1, done.stderr
    for damaged in ("[]", "{}", "no", '{"iteration": "1"}'):
        (run / "metrics.jsonl").write_text(json.dumps(LINES[0]) + "\n" + damaged + "\n")
        with pytest.raises(ValueError, match="line 2 holds no metrics"):
            send(run, "fake_tracker")


@pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without training")
def test_a_trained_run_is_sent(run, tmp_path):
    config = {
        "game": {"name": "mu_torere"},
        "net": {"kind": "residual_mlp", "blocks": 1, "width": 8},
        "search": {"simulations": 4},
        "self_play": {"games_per_iteration": 4, "concurrent_games": 4},
        "learn": {"batch": 16},
        "arena": {"every": 0, "final_games": 2, "simulations": 2, "opponents": ["random"]},
        "run": {"iterations": 2},
    }
    trained = turnstone.train(config, run=tmp_path / "run", progress=False)
    assert send(tmp_path / "run", "fake_tracker") == 2
    assert [line[0] for line in told(tmp_path)] == ["init", "log", "log", "finish"]
    assert told(tmp_path)[2] == ["log", scalars(trained.metrics[1]), 2]
    assert {"step", "losses/policy_loss", "timing/seconds"} <= told(tmp_path)[2][1].keys()


@pytest.mark.parametrize("name", ["trackio", "wandb"])
def test_real_trackers(name, run, tmp_path, monkeypatch):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path / "kept"))
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "kept"))
    (tmp_path / "kept").mkdir()
    assert send(run, name, "mancala") == 2
    assert any(path.is_file() for path in (tmp_path / "kept").rglob("*")), "nothing has been written"
