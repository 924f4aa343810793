"""Self-play of games in Python in several processes: the same bytes, faults, and interruptions."""

import multiprocessing
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import turnstone_rl as turnstone

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "examples"))

from mu_torere_py import MuTorere  # noqa: E402

pytestmark = pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without the program")

SMALL = {
    "game": {"name": "mu_torere_py"},
    "net": {"kind": "residual_mlp", "blocks": 1, "width": 32},
    "self_play": {"games_per_iteration": 9, "concurrent_games": 2},
    "search": {"simulations": 4},
    "arena": {"opponents": ["random"], "final_games": 2, "grade": False},
    "run": {"iterations": 2},
}


class Faulty(MuTorere):
    name = "mu_torere_faulty"

    def play(self, state, action):
        if state[10] == 9 and multiprocessing.parent_process() is not None:
            self.fail()
        return super().play(state, action)

    def fail(self):
        raise ZeroDivisionError("a fault of these rules")


class Dying(Faulty):
    name = "mu_torere_dying"

    def fail(self):
        signal.raise_signal(signal.SIGTERM)


@pytest.fixture(autouse=True, scope="module")
def registered():
    for game in MuTorere, Faulty, Dying:
        turnstone.register_game(game)


def files(run):
    return {path.name: path.read_bytes() for path in [run.checkpoint, *(run.run / "replay").iterdir()]}


def test_the_run_is_the_same(tmp_path):
    alone = turnstone.train(SMALL, run=tmp_path / "alone", progress=False)
    many = turnstone.train(SMALL, run=tmp_path / "many", processes=3, progress=False)
    assert len(files(alone)) > 1 and files(many) == files(alone)
    # Begun in one process and continued in two, with fewer games than they have room for.
    few = {**SMALL, "self_play": {"games_per_iteration": 3}}
    turnstone.train(few, {"run.iterations": 1}, run=tmp_path / "few", progress=False)
    resumed = turnstone.train(overrides={"run.iterations": 2}, resume=tmp_path / "few", processes=2, progress=False)
    whole = turnstone.train(few, {"run.iterations": 2, "run.schedule_iterations": 1}, run=tmp_path / "whole", progress=False)
    assert resumed.iterations == 2 and files(resumed) == files(whole)
    assert multiprocessing.active_children() == []


def test_faults(tmp_path):
    def trained(name, processes=2):
        config = {**SMALL, "game": {"name": name}}
        turnstone.train(config, run=tmp_path / name, processes=processes, progress=False)

    with pytest.raises(turnstone.GameError, match="mu_torere_faulty.play: ZeroDivisionError: a fault of these rules"):
        trained("mu_torere_faulty")
    with pytest.raises(ChildProcessError, match="a process of self-play has ended with exit code -15$"):
        trained("mu_torere_dying")
    with pytest.raises(ValueError, match="the rules of mu_torere are in Rust"):
        trained("mu_torere")
    with pytest.raises(ValueError, match="processes is 0, but must be from 1 to 1024"):
        trained("mu_torere_py", 0)
    assert multiprocessing.active_children() == []


SCRIPT = """
import signal
import sys

sys.path[:0] = [{tests!r}]

import turnstone_rl as turnstone
from mu_torere_py import MuTorere

class Own(MuTorere):
    name = "own"

turnstone.register_game(Own)
signal.signal(signal.SIGINT, signal.default_int_handler)
{guard}
    config = {config!r}
    config["game"]["name"] = "own"
    config["run"]["iterations"] = 1000000
    turnstone.train(config, run={run!r}, processes=2, progress=False, on_iteration=lambda _: print("one", flush=True))
"""


def begun(folder, guard):
    script = folder / "script.py"
    run = str(folder / "run")
    script.write_text(SCRIPT.format(tests=str(pathlib.Path(__file__).parent), guard=guard, config=SMALL, run=run))
    return subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def children(process):
    found = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [pathlib.Path(f"/proc/{child}") for child in found]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left(tmp_path, number):
    process = begun(tmp_path, 'if __name__ == "__main__":')
    assert process.stdout.readline() == "one\n", process.stderr.read()
    players = children(process)
    assert len(players) >= 2
    process.send_signal(number)
    _, fault = process.communicate(timeout=30)
    assert process.returncode != 0
    assert number == signal.SIGKILL or fault.endswith("KeyboardInterrupt\n")
    for _ in range(100):
        left = [player for player in players if player.exists()]
        if not left:
            break
        time.sleep(0.1)
    assert left == []


def test_a_script_without_a_guard_is_told(tmp_path):
    process = begun(tmp_path, "if True:")
    _, fault = process.communicate(timeout=60)
    assert process.returncode == 1
    last = fault.splitlines()[-1]
    assert re.fullmatch(r"ChildProcessError: .* exit code 1.*`if __name__ == \"__main__\":`", last), fault
