#!/usr/bin/env python3
"""Runs the commands of README.md and docs/tutorial.md as a reader would: `docs/run_tutorial.py FOLDER`, with the folder of the
program.

Blocks of code marked `sh` are run line by line in a folder for each page, where `configs` is the only other thing; those
marked `sh no_test` are for people, and README's `cargo test` is a step of its own in CI. Checks that every command succeeds and
that what the tutorial promises has come true.
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
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]

# What the output of a command must show: its beginning, a pattern with a number, and the least number.
PROMISES = [
    ("grade mu_torere", r"^all .* ([0-9.]+) %", 100.0),
    ("arena mancala az:runs/first,sims=100 alphabeta:depth=6", r"^score +([0-9.]+) %", 55.0),
    ("arena mancala az:runs/first,sims=0 random", r"^score +([0-9.]+) %", 80.0),
]

# What a reader types into `play`: a move of Mancala, which Mu Torere does not have, and the reverse.
TYPED = "B3\n2,4\nhint\nsave\nquit\n"


def commands(text):
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        for line in block.splitlines():
            line = line.replace("cargo run --release -- ", "turnstone ")
            if line.strip() and not line.startswith(("#", "alias ", "cargo test ")):
                yield line


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
    text = "```sh\nalias turnstone=x\n\n# c\ncargo run --release -- a\n```\n```sh\ncargo test --release\n```\n"
    assert list(commands(text)) == ["turnstone a"]
    assert not list(kept("turnstone grade mu_torere --x", "all   1100  1100  100.00 %   [99, 100]\n"))
    assert list(kept("turnstone grade mu_torere --x", "all   1100  1099   99.91 %   [99, 100]\n"))
    assert list(kept("turnstone grade mu_torere", "")) and not list(kept("turnstone games", ""))


def serve(program, args, folder):
    """Starts the server, reads its page, and stops it. Returns its exit code before that, if it ended, and its output."""
    server = subprocess.Popen([program, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    shown = ""
    try:
        for line in server.stdout:
            shown += line
            address = re.search(r"http://\S+", line)
            if address:
                with urllib.request.urlopen(address.group(0)) as page:
                    return (0 if b"<html" in page.read() else 1), shown
        return server.wait() or 1, shown
    finally:
        server.kill()


def run(program, args, folder):
    if args[0] == "serve":
        return serve(program, args, folder)
    done = subprocess.run([program, *args], cwd=folder, input=TYPED, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def run_page(program, page):
    """Runs the commands of a page in a new folder, and ends the program at the first fault."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "configs", pathlib.Path(folder) / "configs")
        for line in commands((ROOT / page).read_text(encoding="utf-8")):
            name, *args = shlex.split(line, comments=True)
            if name != "turnstone":
                sys.exit(f"{page} runs `{name}`, which this test cannot: {line}")
            begun = time.monotonic()
            code, shown = run(program, args, folder)
            faults = [f"exit code {code}"] if code else list(kept(line, shown))
            if faults:
                sys.exit(f"{line}\n{shown}{faults[0]}")
            print(f"{time.monotonic() - begun:6.1f} s  {line}", flush=True)


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
    for page in ["README.md", "docs/tutorial.md"]:
        run_page(program, page)


if __name__ == "__main__":
    main()
