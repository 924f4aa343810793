"""Tries all games of OpenSpiel in Turnstone, and prints a table of those that are accepted and of those that are not.

    python all_games.py                     # checks the rules of all games: minutes
    python all_games.py --train 10          # also trains those that are accepted for ten minutes each
    python all_games.py --train 1 "hex(board_size=5)" othello

A game is accepted if `turnstone.open_spiel` makes it and `turnstone.check_game` finds no fault in random games. With
`--train` its network is trained, exported to ONNX, and plays `mcts:sims=1000` from random openings. Each game has a process of
its own: some of OpenSpiel's end theirs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time

SMALL = """
amazons(board_size=6) cursor_go(board_size=5,max_cursor_moves=60) dots_and_boxes(num_rows=3,num_cols=3) go(board_size=5)
gomoku(size=7) havannah(board_size=4) hex(board_size=5) mnk(m=4,n=4,k=3) quoridor(board_size=5) twixt(board_size=6)
y(board_size=7) breakthrough(rows=6,columns=6) clobber(rows=4,columns=5) lines_of_action(max_game_length=200)
connect_four(rows=5,columns=5) misere(game=tic_tac_toe()) oware(num_houses_per_player=4)
""".split()

SECONDS = 600


def one(text, games, minutes):
    """Checks a game, and trains it: what is known of it, for the table."""
    import turnstone_rl as turnstone

    began = time.process_time()
    game = turnstone.open_spiel(text)
    turnstone.check_game(game, games=games)
    found = {
        "shape": "x".join(map(str, game.observation_shape)),
        "actions": game.num_actions,
        "symmetries": game.num_symmetries,
        "seconds": round(time.process_time() - began, 1),
    }
    if minutes:
        found.update(trained(game, minutes))
    return found


def trained(game, minutes):
    """The score of a network after some minutes of training against `mcts:sims=1000`, and the size of its export."""
    import turnstone_rl as turnstone

    flat = game.observation_shape[1] < 3
    config = {
        "game": {"name": "open_spiel", **game.params},
        "net": {"kind": "residual_mlp", "blocks": 2, "width": 128} if flat else {"kind": "residual_conv", "blocks": 3, "channels": 32},
        "search": {"simulations": 32},
        "self_play": {"games_per_iteration": 64, "concurrent_games": 32, "opening_plies": 4},
        "learn": {"batch": 256, "learning_rate": 3e-3, "samples_per_position": 4, "window": 50000},
        "arena": {"every": 1000000, "opponents": ["random"], "final_games": 2},
        "run": {"iterations": 1000000},
    }
    with tempfile.TemporaryDirectory() as folder:
        run = turnstone.train(config, run=f"{folder}/run", max_minutes=minutes, progress=False)
        onnx = [sys.executable, "-m", "turnstone_rl", "export", f"{folder}/run", "--format", "onnx", "--out", f"{folder}/onnx"]
        subprocess.run(onnx, check=True, capture_output=True)
        match = turnstone.arena(game, [run.agent(sims=100), "mcts:sims=1000"], games=40, openings=4, threads=1)
        return {"iterations": run.iterations, "score": f"{match.score():.2f}"}


def asked(text, games, minutes, seconds):
    """The answer of a process of its own: a dictionary, or the reason why there is none."""
    command = [sys.executable, __file__, "--one", "--games", str(games), "--train", str(minutes), text]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"no answer within {seconds} s"
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = [line for line in done.stderr.splitlines() if "Error: " in line] or done.stderr.splitlines() or ["no message"]
    return lines[-1].split("Error: ", 1)[-1].removeprefix(f"{text}: ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="GAME", help="OpenSpiel's strings [default: all games, and small ones]")
    parser.add_argument("--train", type=float, default=0, metavar="MINUTES")
    parser.add_argument("--games", type=int, default=10, help="random games of each check")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.names[0], options.games, options.train)))
        return
    import pyspiel

    names = options.names or sorted([*pyspiel.registered_names(), *SMALL])
    refused = {}
    columns = ["shape", "actions", "symmetries", "seconds", *(["iterations", "score"] if options.train else [])]
    print("| game |", " | ".join(columns), "|\n|---" + "|---" * len(columns) + "|")
    for name in names:
        found = asked(name, options.games, options.train, SECONDS + 600 * options.train)
        if isinstance(found, str):
            refused.setdefault(found, []).append(name)
        else:
            print(f"| `{name}` |", " | ".join(str(found[column]) for column in columns), "|", flush=True)
    print("\n| refused because | games |\n|---|---|")
    for reason, games in refused.items():
        print(f"| {reason} | {', '.join(games)} |")


if __name__ == "__main__":
    main()
