#!/usr/bin/env python3
"""Checks that OpenSpiel's game is Turnstone's: random games, with legal moves, mover and result compared after every move.

    check.py PROGRAM GAME [GAMES]

PROGRAM is `target/release/turnstone`, or `own_game` for connect_four. Needs the package `open_spiel`.
"""

import random
import subprocess
import sys

from engine import GAMES, Engine


class Program:
    def __init__(self, path, game):
        parameters = [word for key, value in GAMES[game].parameters.items() for word in ("--param", f"{key}={value}")]
        command = [path, "engine", game, "--agent", "random", *parameters]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *lines):
        print(*lines, sep="\n", file=self.process.stdin, flush=True)
        return [self.process.stdout.readline().strip().removeprefix("response").split() for _ in lines]


def main(path, game, games):
    program, other, rng, moves = Program(path, game), Engine(game, "random", 1), random.Random(1), 0
    questions = ["query legal", "query p1turn", "query result", "query fen"]
    for number in range(games):
        played = []
        while True:
            position = " ".join(["position startpos", *(["moves", *played] if played else [])])
            # Every other game is told move by move.
            line = f"moves {played[-1]}" if played and number % 2 else position
            program.process.stdin.write(line + "\n")
            other.answer(line)
            legal, turn, result, text = program.ask(*questions)
            theirs = [other.query(question.split()[1]).split() for question in questions]
            if result != ["none"]:
                theirs[1], theirs[3] = turn, text  # nobody is to move, and stones that are left are counted elsewhere
            if [sorted(legal), turn, result, text] != [sorted(theirs[0]), *theirs[1:]]:
                sys.exit(f"game {number}: {position}: here {legal} {turn} {result} {text}, there {theirs}")
            if len(played) == 4:
                other.position(["fen", *text])
                if other.query("fen").split() != text:
                    sys.exit(f"game {number}: {position}: `position fen` leads elsewhere")
            if result != ["none"]:
                break
            played.append(rng.choice(legal))
            moves += 1
    program.process.stdin.close()
    program.process.wait()
    print(f"{game}: {games} games of {moves} moves are the same in OpenSpiel")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in GAMES:
        sys.exit(f"usage: check.py PROGRAM {{{','.join(GAMES)}}} [GAMES]")
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) == 4 else 300)
