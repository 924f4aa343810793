#!/usr/bin/env python3
"""Runs the commands of docs/tutorial.md as a reader would: `docs/run_tutorial.py FOLDER`, with the folder of the program.

Blocks of code marked `sh` are run line by line in a folder of their own, where `configs` is the only other thing; those
marked `sh no_test` are for people. Checks that every command succeeds and that what the tutorial promises has come true.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]

# What the output of a command must show: its beginning, a pattern with a number, and the least number.
PROMISES = [
    ("grade mu_torere", r"^all .* ([0-9.]+) %", 100.0),
    ("arena mancala az:runs/first,sims=100 alphabeta:depth=6", r"^score +([0-9.]+) %", 55.0),
    ("arena mancala az:runs/first,sims=0 random", r"^score +([0-9.]+) %", 80.0),
]


def commands(text):
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        yield from (line for line in block.splitlines() if line.strip())


def kept(command, output):
    """The faults of an output against the promises."""
    for beginning, pattern, least in PROMISES:
        if command.startswith(f"turnstone {beginning}"):
            found = re.search(pattern, output, re.M)
            if not found or float(found.group(1)) < least:
                yield f"expected {pattern} of at least {least}"


def check():
    text = "```sh\nturnstone a\nturnstone b\n```\n```sh no_test\nturnstone c\n```\n```text\nd\n```\n"
    assert list(commands(text)) == ["turnstone a", "turnstone b"]
    assert not list(kept("turnstone grade mu_torere --x", "all   1100  1100  100.00 %   [99, 100]\n"))
    assert list(kept("turnstone grade mu_torere --x", "all   1100  1099   99.91 %   [99, 100]\n"))
    assert list(kept("turnstone grade mu_torere", "")) and not list(kept("turnstone games", ""))


def main():
    check()
    build = pathlib.Path(sys.argv[1]).resolve()
    program = shutil.which("turnstone", path=str(build))
    if not program:
        sys.exit(f"{build}: there is no turnstone")
    lines = list(commands((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")))
    missing = [p for p, _, _ in PROMISES if not any(line.startswith(f"turnstone {p}") for line in lines)]
    if missing:
        sys.exit(f"the tutorial has no command {missing[0]}")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "configs", pathlib.Path(folder) / "configs")
        for line in lines:
            name, *args = shlex.split(line)
            if name != "turnstone":
                sys.exit(f"the tutorial runs `{name}`, which this test cannot: {line}")
            begun = time.monotonic()
            done = subprocess.run([program, *args], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            faults = [f"exit code {done.returncode}"] if done.returncode else list(kept(line, done.stdout))
            if faults:
                sys.exit(f"{line}\n{done.stdout}{done.stderr}\n{faults[0]}")
            print(f"{time.monotonic() - begun:6.1f} s  {line}", flush=True)


if __name__ == "__main__":
    main()
