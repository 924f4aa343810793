#!/usr/bin/env python3
"""Trains the smoke run with a program and with the same program for another processor, and compares their files:

    processors.py target/release/turnstone "qemu-aarch64 -L /usr/aarch64-linux-gnu .../release/turnstone" [--set KEY=VALUE]...

Self-play computes in integers, then in floats. Fails if a checkpoint, the learner's state, a game of the window or a metric
that no clock decides differs. docs/lab/quantisation.md says what is promised of it. Both programs have to be built from one
commit, whose name is in the checkpoints.
"""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def main(one, other, *settings):
    # The window keeps all games, and the precisions come last, so that neither can be set otherwise.
    settings = [*settings, "--set", "learn.window=100000", "--set", "learn.max_window=100000"]
    different = [
        f"{precision}: {name}"
        for precision in ("i8", "f32")
        for name in differences([one, other], [*settings, "--set", f'self_play.precision="{precision}"'])
    ]
    if different:
        sys.exit("\n".join(["these files differ:", *different]))


def differences(programs, settings):
    """The names of the files of two runs that are not the same."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [pathlib.Path(folder) / name for name in ("one", "other")]
        for program, run in zip(programs, runs):
            command = [*shlex.split(program), "train", ROOT / "configs/smoke.toml", "--quiet", "--run", run]
            subprocess.run([*command, *settings], check=True)
        contents = [{str(path.relative_to(run)): content(path) for path in files(run)} for run in runs]
    names = sorted(contents[0].keys() | contents[1].keys())
    assert "state.safetensors" in names and "replay/000001.shard" in names, names
    different = [name for name in names if contents[0].get(name) != contents[1].get(name)]
    print(f"{settings[-1]}: {len(names) - len(different)} files of {len(names)} are the same", flush=True)
    return different


def files(run):
    """All but what the process and the clock write."""
    return [path for path in run.rglob("*") if path.is_file() and path.name not in ("lock", "provenance.jsonl")
            and path.parent.name != "tensorboard"]


def content(path):
    """The bytes of a file; of metrics the lines without what depends on the clock."""
    if path.name != "metrics.jsonl":
        return path.read_bytes()
    lines = map(json.loads, path.read_text().splitlines())
    return [{key: value for key, value in line.items() if key not in ("timing", "crc")} for line in lines]


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
