#!/usr/bin/env python3
"""Errors on graded positions against processor minutes of training.

    cargo build --release
    configs/strength.py configs/mancala.toml --iterations 10 40 160 --grade="--sample 4000 --seed 77"
    configs/strength.py configs/mancala.toml --iterations 40 --set net.width=192 --grade="--sample 4000 --seed 77"

trains the config once for each number of iterations and each seed, grades the agents, and prints a line per run and a line per
number of iterations. Errors are moves that lose value. Compare settings at equal processor minutes and with the same seeds: the
last column is the interval of 95 % of the mean over seeds, and within it nothing is a difference. Runs are kept in `runs/strength`
and continue after an interruption; their minutes add up. `TURNSTONE` names the program.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

# Quantiles of Student's t at 97.5 % for 1, 2, ... degrees of freedom.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]

PROGRAM = os.environ.get("TURNSTONE", "target/release/turnstone")


def trained(config, changes, run):
    """Trains a run to its end. Returns the processor seconds of all its processes, which a file beside it adds up."""
    spent = run.with_suffix(".seconds")
    before = float(spent.read_text()) if spent.exists() else 0.0
    if run.exists():
        command = [PROGRAM, "train", "--resume", run, "--quiet"]
    else:
        sets = [word for change in changes for word in ("--set", change)]
        command = [PROGRAM, "train", config, "--run", run, "--quiet", *sets]
    start = os.times()
    done = subprocess.run(command, check=False)
    end = os.times()
    seconds = before + (end.children_user - start.children_user) + (end.children_system - start.children_system)
    spent.write_text(str(seconds))
    if done.returncode != 0:
        sys.exit(f"{run}: training ended with {done.returncode}")
    return seconds


def graded(game, run, sims, options):
    """Errors and positions of the run's agent."""
    command = [PROGRAM, "grade", game, "--agent", f"az:{run},sims={sims}", *options, "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    part = found["grade"]["all"]
    return part["positions"] - part["kept"], part["positions"]


def interval(errors):
    """Half of the interval of 95 % of a mean."""
    if len(errors) < 2:
        return float("nan")
    return T[min(len(errors) - 2, len(T) - 1)] * statistics.stdev(errors) / len(errors) ** 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("--iterations", type=int, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change of the config, as of train")
    parser.add_argument("--sims", type=int, default=200)
    parser.add_argument("--grade", default="", metavar="OPTIONS", help="options of turnstone grade")
    options = parser.parse_args()
    game = tomllib.loads(options.config.read_text())["game"]["name"]
    quiet = ["arena.every=0", "arena.ladder_games=0", "arena.best_games=0", 'arena.opponents=["random"]', "arena.final_games=2"]
    print("iterations  seed  minutes  errors  of")
    for iterations in options.iterations:
        minutes, errors = [], []
        for seed in options.seeds:
            changes = [*quiet, f"run.iterations={iterations}", f"seed={seed}", *options.set]
            name = f"{options.config.stem}-{zlib.crc32(repr(changes).encode()):08x}"
            run = Path("runs/strength") / name
            run.parent.mkdir(parents=True, exist_ok=True)
            minutes.append(trained(options.config, changes, run) / 60)
            wrong, positions = graded(game, run, options.sims, options.grade.split())
            errors.append(wrong)
            print(f"{iterations:10}  {seed:4}  {minutes[-1]:7.1f}  {wrong:6}  {positions}", flush=True)
        mean = statistics.mean(errors)
        print(f"{iterations:10}  mean  {statistics.mean(minutes):7.1f}  {mean:6.1f}  ± {interval(errors):.1f}", flush=True)


if __name__ == "__main__":
    main()
