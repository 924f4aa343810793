"""The example of docs/adding-a-backend.md runs as it stands."""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
# Beside the tests in CI, where only the wheel can be imported; in a clone, in its docs.
NAME = "adding-a-backend.md"
PAGE = next(page for page in (HERE.parents[1] / NAME, HERE.parents[3] / "docs" / NAME) if page.is_file())


def test_the_example_runs(tmp_path):
    [example] = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(example.splitlines()) <= 40
    (tmp_path / "example.py").write_text(example)
    ran = subprocess.run([sys.executable, tmp_path / "example.py"], check=True, capture_output=True, text=True)
    move, played = ran.stdout.splitlines()
    assert re.fullmatch(r"\S+ -?\d\.\d+", move)
    assert re.fullmatch(r"\d+ positions of 4 games", played)
