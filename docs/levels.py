#!/usr/bin/env python3
"""Measures the levels of the games and writes their tables.

    docs/levels.py TURNSTONE [GAME...] [--games 200] [--threads N]

For each game it plays a round robin between `random` and the agents of the table `[levels]` in
games/src/<game>/ladder.toml, 200 games for each pair, and writes their Elo with 95 % intervals, `random` at 0, back into
that table; `docs/results.py` draws them. It also prints each level's score against the level below, and that
of level 1 against `alphabeta:depth=2` where the game has a heuristic. Agents and games are those of the seed, so the
numbers repeat.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GAMES = ["mu_torere", "mancala", "morris", "konane", "morabaraba"]


def arena(program, game, agents, games, threads, *more):
    command = [program, "arena", game, *agents, "--games", str(games), "--openings", "2-6", "--seed", "1", "--json", *more]
    if threads:
        command += ["--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)["summary"]


def measure(program, game, games, threads):
    path = ROOT / "games/src" / game / "ladder.toml"
    rungs, levels = path.read_text().split("[levels]\n")
    agents = [json.loads(line.split("=", 1)[1])[0] for line in levels.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        ladder = str(pathlib.Path(folder) / "ladder.toml")
        summary = arena(program, game, ["random", *agents], games, threads, "--ladder-build", ladder)
    rows = summary["agents"][1:]
    text = rungs + "[levels]\n"
    print(f"\n| {game} | Elo | 95 % interval | against the level below | agent |\n|---|---|---|---|---|")
    for number, row in enumerate(rows, 1):
        elo, (low, high) = round(row["rating"]), map(round, row["rating_interval"])
        text += f"{number} = {json.dumps([agents[number - 1], elo, low, high])}\n"
        below = "-"
        if number > 1:
            meeting = next(each for each in summary["meetings"] if each["agents"] == [number - 1, number])
            share, [least, most] = 1 - meeting["score"], sorted(1 - end for end in meeting["score_interval"])
            below = f"{share:.1%} [{least:.1%}, {most:.1%}]".replace("%", " %")
        print(f"| {number} | {elo} | {low} to {high} | {below} | `{agents[number - 1]}` |")
    path.write_text(text)
    if any(line.startswith("alphabeta") for line in rungs.split('"')):
        meeting = arena(program, game, [agents[0], "alphabeta:depth=2"], games, threads)["meetings"][0]
        won, drawn, lost = (sum(seat[key] for seat in meeting["by_seat"].values()) for key in ["wins", "draws", "losses"])
        least, most = meeting["score_interval"]
        print(f"\nLevel 1 against `alphabeta:depth=2`: {won} won, {drawn} drawn, {lost} lost,", end=" ")
        print(f"{meeting['score']:.1%} [{least:.1%}, {most:.1%}]".replace("%", " %"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("game", nargs="*", default=GAMES)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    for game in arguments.game:
        measure(arguments.program, game, arguments.games, arguments.threads)


if __name__ == "__main__":
    main()
