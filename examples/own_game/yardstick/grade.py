#!/usr/bin/env python3
"""Grades agents on the nine classes of positions in this folder and prints a table of their errors.

    yardstick/grade.py az:runs/connect_four,sims=100 alphabeta:depth=8

An error is a move that loses value: a won position drawn or lost, a drawn one lost. A position is critical if some legal
move loses value. Shares are in per cent, with 95 % intervals (Wilson).
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PHASES = ["beginning", "middle", "end"]
DIFFICULTIES = ["easy", "medium", "hard"]


def wilson(errors, positions):
    """The ends of the 95 % interval of a share."""
    if positions == 0:
        return 0.0, 1.0
    z = 1.959964
    share = errors / positions
    centre = share + z * z / (2 * positions)
    spread = z * math.sqrt(share * (1 - share) / positions + z * z / (4 * positions**2))
    scale = 1 + z * z / positions
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def cell(errors, positions):
    low, high = wilson(errors, positions)
    share = errors / max(positions, 1)
    return f"{100 * share:.1f} [{100 * low:.1f}, {100 * high:.1f}], {errors} of {positions}"


def grade(program, agent, file):
    """Errors and positions: among all, and among the critical ones."""
    command = [program, "grade", "connect_four", "--positions", str(file), "--agent", agent, "--json"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        sys.exit(f"grade.py: {program}: {error.strerror}; build it, or name it with --program")
    if done.returncode != 0:
        sys.exit(f"grade.py: `{' '.join(command)}` failed with exit code {done.returncode}")
    shares = json.loads(done.stdout)["grade"]
    return [(s["positions"] - s["kept"], s["positions"]) for s in (shares["all"], shares["critical"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="+", metavar="AGENT", help="an agent, as `own_game arena` takes it")
    parser.add_argument("--program", default="own_game", help="the program [default: own_game]")
    parser.add_argument("--positions", type=Path, default=FOLDER, help="the folder of the positions [default: this one]")
    arguments = parser.parse_args()
    for agent in arguments.agents:
        print(f"\n`{agent}`, errors in %\n\n| class | all positions | critical positions |\n|---|---|---|", flush=True)
        sums = [[0, 0], [0, 0]]
        for name in (f"{phase}-{difficulty}" for phase in PHASES for difficulty in DIFFICULTIES):
            results = grade(arguments.program, agent, arguments.positions / f"{name}.txt")
            for total, result in zip(sums, results):
                total[0] += result[0]
                total[1] += result[1]
            print(f"| {name} | {cell(*results[0])} | {cell(*results[1])} |", flush=True)
        print(f"| **all nine** | **{cell(*sums[0])}** | **{cell(*sums[1])}** |", flush=True)


if __name__ == "__main__":
    main()
