#!/usr/bin/env python3
"""Writes the positions with exact values as a data set, with the card that data hubs read:

    games/dataset.py OUT [--tables FOLDER]    # also copies the solvers' tables that `turnstone solve` wrote into FOLDER
    games/dataset.py --check                  # whether games/DATASET.md is the card that would be written

Each line of `data/<game>.jsonl` is a position: its text, its exact value, and the legal moves with their values.
"""

import argparse
import hashlib
import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
CARD = HERE / "DATASET.md"
GAMES = {
    "mancala": "positions of games between alpha-beta and random moves in different shares",
    "morris": "positions of such games, opening and midgame",
    "konane": "endings on 8x8",
    "morabaraba": "endgames of up to eight cows",
}
OUTCOMES = {-1: "won for player 2", 0: "drawn", 1: "won for player 1"}

HEAD = """---
pretty_name: Exact values of traditional board games
license: mit
task_categories:
- reinforcement-learning
tags:
- board-games
- solved-games
- game-theory
size_categories:
- 1K<n<10K
configs:
"""

TEXT = """
# Exact values of traditional board games

Positions of Mancala (Kalah with six pits of four stones), an 18-point Morris variant, Konane 8x8 and Morabaraba, each with its
game-theoretic value and that of every legal move. An agent can be graded on them: how often does its move preserve the value?

| game | positions | critical | won for player 1 | drawn | won for player 2 | content |
|---|---|---|---|---|---|---|
"""

FIELDS = """
In a critical position at least one legal move loses value.

## Fields

| field | type | meaning |
|---|---|---|
| `position` | string | the position in Turnstone's notation, with whose turn it is (`turnstone rules <game>` explains it) |
| `value` | int | 1: player 1 wins with perfect play, 0: a draw, -1: player 2 wins |
| `moves` | list of strings | the legal moves |
| `move_values` | list of ints | the value after each of them, for player 1 too |

A removal or a further turn is a move of its own, so the player to move may stay the same.

## How they were made

`turnstone grade <game> --sample` draws positions from games and looks their values up with `turnstone solve`: Morris in its strong
solution, Mancala by alpha-beta over a table of endgames, Konane by exhaustive search, Morabaraba in tables of endgames. Mu Torere is
not included: `turnstone grade mu_torere` enumerates all its positions.

## Limits

The positions come from games of mixed strength, not of experts, and those of Konane and Morabaraba are late. Values of Morris are
those without its limit of plies without progress.

## Checksums

| file | SHA-256 |
|---|---|
"""


def positions(game):
    """The parameters and the positions of a game's truth set."""
    head, *lines = (HERE / "src" / game / "truth.txt").read_text(encoding="utf-8").splitlines()
    rows = []
    for line in lines:
        text, value, moves = (part.strip() for part in line.split(" ; "))
        named = [move.rsplit("=", 1) for move in moves.split()]
        rows.append(
            {
                "position": text,
                "value": int(value),
                "moves": [move for move, _ in named],
                "move_values": [int(each) for _, each in named],
            }
        )
    return json.loads(head)["params"], rows


def contents():
    """The files of the data set by name, and the card."""
    files, yaml, table, sums = {}, "", "", ""
    for game, content in GAMES.items():
        params, rows = positions(game)
        name = f"data/{game}.jsonl"
        files[name] = "".join(json.dumps(row) + "\n" for row in rows).encode()
        yaml += f"- config_name: {game}\n  data_files: {name}\n"
        counts = [sum(row["value"] == value for row in rows) for value in (1, 0, -1)]
        critical = sum(any(each != row["value"] for each in row["move_values"]) for row in rows)
        settings = ", ".join(f"{key} = {value}" for key, value in params.items())
        cells = [f"`{game}`", f"{len(rows):,}", f"{critical:,}", *(f"{count:,}" for count in counts), f"{content}; {settings}"]
        table += "| " + " | ".join(cells) + " |\n"
        sums += f"| `{name}` | `{hashlib.sha256(files[name]).hexdigest()}` |\n"
    return files, HEAD + yaml + "---\n" + TEXT + table + FIELDS + sums


def tables(folder, out):
    """Copies tables, and returns their lines of the card."""
    lines = ""
    found = sorted(pathlib.Path(folder).glob("*.table"))
    if not found:
        sys.exit(f"games/dataset.py: {folder}: no tables; `turnstone solve` writes them")
    (out / "tables").mkdir()
    for path in found:
        shutil.copyfile(path, out / "tables" / path.name)
        with open(path, "rb") as file:
            digest = hashlib.sha256()
            while block := file.read(1 << 20):
                digest.update(block)
        lines += f"| `tables/{path.name}` | `{digest.hexdigest()}` |\n"
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", metavar="OUT", help="folder to make")
    parser.add_argument("--tables", metavar="FOLDER", help="folder with the tables of solvers")
    parser.add_argument("--check", action="store_true", help="compare games/DATASET.md with the card")
    given = parser.parse_args()
    files, card = contents()
    if given.check:
        if CARD.read_text(encoding="utf-8") != card:
            sys.exit("games/DATASET.md is not the card of the positions: games/dataset.py OUT && cp OUT/README.md games/DATASET.md")
        return
    if given.out is None:
        parser.error("name a folder to make, or --check")
    out = pathlib.Path(given.out)
    if out.exists():
        sys.exit(f"games/dataset.py: {out} exists already")
    (out / "data").mkdir(parents=True)
    for name, contents_of in files.items():
        (out / name).write_bytes(contents_of)
    if given.tables:
        card += tables(given.tables, out)
    (out / "README.md").write_text(card, encoding="utf-8")
    print(f"{out}: {len(files)} games")


if __name__ == "__main__":
    main()
