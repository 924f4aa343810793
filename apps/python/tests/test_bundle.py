"""The exports' bundle: its example plays the same with this package's rules and with its own."""

import subprocess
import sys

import pytest

pytest.importorskip("onnxruntime")

import turnstone  # noqa: E402

WITHOUT_PACKAGE = "import runpy, sys; sys.modules['turnstone'] = None; runpy.run_path(sys.argv[0], run_name='__main__')"


@pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without the program")
@pytest.mark.parametrize("name", turnstone.games())
def test_the_example_plays_the_same(name, tmp_path):
    bundle = tmp_path / name
    command = [sys.executable, "-m", "turnstone", "export", "az:pretrained", "--game", name, "--format", "bundle"]
    subprocess.run([*command, "--out", bundle], check=True, capture_output=True)
    example = bundle / "example.py"
    for seed in ("1", "2", "3"):
        arguments = ["--seed", seed, "--random-plies", "4"]
        without = f"import sys; sys.argv = {[str(example), *arguments]!r}; {WITHOUT_PACKAGE}"
        games = [
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for command in ([sys.executable, example, *arguments], [sys.executable, "-c", without])
        ]
        assert games[0] == games[1] and len(games[0].splitlines()) > 5
