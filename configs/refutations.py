#!/usr/bin/env python3
"""Learning from refutations: the corrections that a network needs, round by round.

    cargo build --release
    configs/refutations.py configs/mu_torere.toml --set net.width=4

trains the config, repairs the network without search (`turnstone certify --repair`), and trains it again and again from its weights,
once as before (`plain`) and once with half of the games beginning at the positions of the last book (`refutations`). Prints, as CSV,
how many corrections are left after every round: 0 is an agent that cannot be beaten. Runs are kept in `runs/refutations`. `TURNSTONE`
names the program.
"""

import argparse
import json
import os
import subprocess
import tomllib
from pathlib import Path

PROGRAM = os.environ.get("TURNSTONE", "target/release/turnstone")
QUIET = ["arena.every=0", "arena.ladder_games=0", "arena.best_games=0", 'arena.opponents=["random"]', "arena.final_games=2"]


def turnstone(*words):
    """Runs the program. Returns what it prints."""
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


def trained(config, run, changes, *words):
    """Trains a run, unless it is there."""
    if not run.exists():
        run.parent.mkdir(parents=True, exist_ok=True)
        sets = [word for change in [*QUIET, *changes] for word in ("--set", change)]
        turnstone("train", str(config), "--run", str(run), "--quiet", *sets, *words)


def corrections(game, params, run):
    """The positions of the book that repairs the run's network in both seats, or in the one that does not lose."""
    book = run.with_suffix(".book")
    sets = [word for key, value in params.items() for word in ("--param", f"{key}={value}")]
    for seat in ["both", "1", "2"]:
        words = ["certify", game, *sets, "--agent", f"az:{run},sims=0", "--seat", seat, "--repair", str(book)]
        done = subprocess.run([PROGRAM, *words], check=False, capture_output=True, text=True)
        if done.returncode == 0:
            return [line.split(" ; ")[0] for line in book.read_text().splitlines()[1:]]
    raise SystemExit(f"{run}: {done.stderr.splitlines()[-1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change of the config, as of train")
    options = parser.parse_args()
    params = tomllib.loads(options.config.read_text())["game"]
    game = params.pop("name")
    sets = [word for key, value in params.items() for word in ("--param", f"{key}={value}")]
    start = json.loads(turnstone("show", game, *sets, "--json"))["position"]
    print("config,changes,seed,arm,round,corrections")
    for seed in options.seeds:
        folder = Path("runs/refutations") / "-".join([options.config.stem, *options.set, str(seed)]).replace("/", "_")
        changes = [f"seed={seed}", *options.set]
        first = folder / "first"
        trained(options.config, first, changes)
        at_first = corrections(game, params, first)
        for arm in ["plain", "refutations"]:
            run, left = first, at_first
            for number in range(options.rounds + 1):
                if number > 0:
                    last, run = run, folder / f"{arm}-{number}"
                    begins = []
                    if arm == "refutations" and left:
                        openings = run.with_suffix(".txt")
                        openings.write_text("\n".join([*left, *[start] * len(left)]) + "\n")
                        begins = [f"self_play.openings={json.dumps(str(openings.resolve()))}"]
                    trained(options.config, run, [*changes, *begins], "--from", str(last))
                    left = corrections(game, params, run)
                print(f"{options.config.stem},{' '.join(options.set)},{seed},{arm},{number},{len(left)}", flush=True)


if __name__ == "__main__":
    main()
