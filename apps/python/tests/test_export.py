"""The example of docs/export.md: it plays as the agent does without search."""

import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("onnxruntime")

import turnstone_rl as turnstone  # noqa: E402

HERE = pathlib.Path(__file__).resolve()
# Beside the tests in CI, where only the wheel can be imported; in a clone, in its docs.
PAGE = next(page for page in (HERE.parents[1] / "export.md", HERE.parents[3] / "docs/export.md") if page.is_file())


@pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without the program")
@pytest.mark.parametrize("name", turnstone.games())
def test_the_example_plays_as_the_agent(name, tmp_path):
    export = [sys.executable, "-m", "turnstone_rl", "export", "az:pretrained", "--game", name, "--format", "onnx"]
    subprocess.run([*export, "--out", tmp_path / name], check=True, capture_output=True)
    [example] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "example.py").write_text(example)
    command = [sys.executable, tmp_path / "example.py", tmp_path / name]
    *lines, outcome = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    agent = turnstone.Agent(name, "az:pretrained,sims=0,precision=f32")
    state, moves = turnstone.State(name), []
    while not state.is_over:
        action = agent.act(state)
        moves.append(f"player {state.to_play + 1}: {state.game.action_text(action)}")
        state = state.play(action)
    assert [line.split(", prior")[0] for line in lines] == moves
    assert outcome == str(state.outcome())
