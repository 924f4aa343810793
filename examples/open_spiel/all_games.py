"""Tries all games of OpenSpiel in Turnstone, and prints a table of those that are accepted and of those that are not.

    python all_games.py                     # checks the rules of all games: minutes
    python all_games.py --train 10 --jobs 2 --out results.jsonl
    python all_games.py --train 1 "hex(board_size=5)" othello

A game is accepted if `turnstone.open_spiel` makes it and `turnstone.check_game` finds no fault in random games. With
`--train` its network is trained for that many minutes of processor time, exported to ONNX, and plays 40 games from random
openings against OpenSpiel's own `MCTSBot` in C++, which has random rollouts, both with 1,000 simulations a move. Then its
moves are graded in positions that `MCTSBot` proves to be won or drawn within 20,000 simulations. Each game has a process of
its own: some of OpenSpiel's end theirs.

`--out` gets a line for every game as it ends. With the same file again, the games that have a line there are not tried again.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor, as_completed

SMALL = """
amazons(board_size=6) cursor_go(board_size=5,max_cursor_moves=60) dots_and_boxes(num_rows=3,num_cols=3) go(board_size=5)
gomoku(size=7) havannah(board_size=4) hex(board_size=5) mnk(m=4,n=4,k=3) quoridor(board_size=5) twixt(board_size=6)
y(board_size=7) breakthrough(rows=6,columns=6) clobber(rows=4,columns=5) lines_of_action(max_game_length=200)
connect_four(rows=5,columns=5) misere(game=tic_tac_toe()) oware(num_houses_per_player=4)
""".split()

SECONDS = 600
COLUMNS = ["shape", "actions", "symmetries", "seconds"]
TRAINED = ["iterations", "training", "score", "interval", "match", "errors", "proven"]


def one(text, games, minutes):
    """Checks a game, and trains it: what is known of it, for the table. Times are seconds of processor time."""
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


class Enough(Exception):
    """The processor time of the training has passed."""


def trained(game, minutes):
    """How a network does after some minutes of training."""
    import turnstone_rl as turnstone

    flat = game.observation_shape[1] < 3
    config = {
        "game": {"name": "open_spiel", **game.params},
        "net": {"kind": "residual_mlp", "blocks": 2, "width": 128} if flat else {"kind": "residual_conv", "blocks": 2, "channels": 32},
        "search": {"simulations": 8},
        "self_play": {"games_per_iteration": 64, "concurrent_games": 32, "opening_plies": 4, "threads": 1, "precision": "auto"},
        "learn": {"batch": 256, "learning_rate": 3e-3, "samples_per_position": 4, "window": 50000, "threads": 1},
        "arena": {"every": 1000000, "opponents": ["random"], "final_games": 2},
        "run": {"iterations": 1000000},
    }
    iterations, began = 0, time.process_time()

    def ended(metrics):
        nonlocal iterations
        iterations += 1
        if time.process_time() - began > 60 * minutes:
            raise Enough

    with tempfile.TemporaryDirectory() as folder:
        try:
            turnstone.train(config, run=f"{folder}/run", on_iteration=ended, progress=False)
        except Enough:
            pass
        training = time.process_time() - began
        onnx = [sys.executable, "-m", "turnstone_rl", "export", f"{folder}/run", "--format", "onnx", "--out", f"{folder}/onnx"]
        subprocess.run(onnx, check=True, capture_output=True)
        began = time.process_time()
        players = [f"az:{folder}/run,sims=1000", mcts(game.params["game"])]
        score = turnstone.arena(game, players, games=40, openings=4, threads=1).score()
        match = round(time.process_time() - began)
        errors, proven = graded(game, turnstone.Agent(game, players[0]))
        return {
            "iterations": iterations,
            "training": round(training),
            "score": f"{score.value:.3f}",
            "interval": f"{score.low:.2f} to {score.high:.2f}",
            "match": match,
            "errors": errors,
            "proven": proven,
        }


def graded(game, agent, seconds=90, most=200):
    """Errors of an agent among positions of the second halves of random games that OpenSpiel's search proves to be won or drawn
    for the player to move, as many as are found in some seconds: moves that are proven to lose value, and all positions."""
    import pyspiel
    import turnstone_rl as turnstone

    if not hasattr(pyspiel, "MCTSBot"):
        return 0, 0
    rules = pyspiel.load_game(game.params["game"])
    bot = mcts_bot(rules, 20000, 1)

    def value(state, player):
        if state.is_terminal():
            return state.returns()[player]
        proven = bot.mcts_search(state).outcome
        return proven[player] if proven else None

    chance, errors, proven, began = random.Random(1), 0, 0, time.process_time()
    while proven < most and time.process_time() - began < seconds:
        states = [rules.new_initial_state()]
        while not states[-1].is_terminal():
            states.append(states[-1].child(chance.choice(states[-1].legal_actions())))
        state = chance.choice(states[len(states) // 2 : -1] or states[:1])
        player = state.current_player()
        best = value(state, player)
        if best is None or best < 0:
            continue
        text = ",".join(map(str, state.history())) or "start"
        kept = value(state.child(agent.act(turnstone.State(game, text))), player)
        if kept is not None:
            proven += 1
            errors += kept < best
    return errors, proven


def mcts(text, simulations=1000):
    """OpenSpiel's own search with random rollouts, in C++ where it has that; its seed is that of the position."""
    import pyspiel

    if not hasattr(pyspiel, "MCTSBot"):
        return f"mcts:sims={simulations}"
    game = pyspiel.load_game(text)

    def open_spiel_mcts(state):
        moves = state.text()
        seed = zlib.crc32(moves.encode()) >> 1
        position = game.new_initial_state()
        for action in [] if moves == "start" else moves.split(","):
            position.apply_action(int(action))
        return mcts_bot(game, simulations, seed).step(position)

    return open_spiel_mcts


def mcts_bot(game, simulations, seed):
    """OpenSpiel's search in C++: the constant of UCT 2, a tree of at most 1,000 MiB, proven values, and no log."""
    import pyspiel

    return pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, seed), 2, simulations, 1000, True, seed, False)


def asked(text, games, minutes, seconds):
    """The answer of a process of its own: a dictionary with the game's row, or with the reason why there is none."""
    command = [sys.executable, __file__, "--one", "--games", str(games), "--train", str(minutes), text]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"refused": f"no answer within {seconds:.0f} s"}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = [line for line in done.stderr.splitlines() if "Error: " in line] or done.stderr.splitlines() or ["no message"]
    return {"refused": lines[-1].split("Error: ", 1)[-1].removeprefix(f"{text}: ")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="GAME", help="OpenSpiel's strings [default: all games, and small ones]")
    parser.add_argument("--train", type=float, default=0, metavar="MINUTES")
    parser.add_argument("--games", type=int, default=10, help="random games of each check")
    parser.add_argument("--jobs", type=int, default=1, help="games that are tried at the same time")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="gets a line of JSON for each game; those in it are kept")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.names[0], options.games, options.train)))
        return
    import pyspiel

    names = options.names or sorted([*pyspiel.registered_names(), *SMALL])
    rows = {}
    if options.out and options.out.exists():
        known = map(json.loads, options.out.read_text().splitlines())
        rows = {row["game"]: row for row in known if row["game"] in names}
    seconds = SECONDS + 600 * options.train
    with ThreadPoolExecutor(options.jobs) as jobs:
        waiting = {jobs.submit(asked, name, options.games, options.train, seconds): name for name in names if name not in rows}
        try:
            for number, done in enumerate(as_completed(waiting), 1):
                rows[waiting[done]] = {"game": waiting[done], **done.result()}
                line = json.dumps(rows[waiting[done]])
                print(f"{number} of {len(waiting)}: {line}", file=sys.stderr, flush=True)
                if options.out:
                    with options.out.open("a") as file:
                        file.write(f"{line}\n")
        except KeyboardInterrupt:
            jobs.shutdown(cancel_futures=True)
            sys.exit("stopped")
    columns = COLUMNS + (TRAINED if options.train else [])
    print("| game |", " | ".join(columns), "|\n|---" + "|---" * len(columns) + "|")
    refused = {}
    for name in names:
        if "refused" in rows[name]:
            refused.setdefault(rows[name]["refused"], []).append(name)
        else:
            print(f"| `{name}` |", " | ".join(str(rows[name].get(column, "")) for column in columns), "|")
    print("\n| refused because | games |\n|---|---|")
    for reason, games in refused.items():
        print(f"| {reason} | {', '.join(games)} |")


if __name__ == "__main__":
    main()
