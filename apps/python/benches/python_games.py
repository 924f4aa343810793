#!/usr/bin/env python3
"""What rules in Python cost: positions per second of self-play, with a network that costs nothing, of games in Python beside
the same game in Rust, and beside the search in Python of OpenSpiel, on its tic-tac-toe in Python and on games in C++ that
Turnstone plays by their names. Per second of processor time, on one thread.

    python python_games.py [--rounds 3] [--seconds 5]
    python python_games.py --only "board_size,rows,othello" --simulations 32
"""

import argparse
import pathlib
import statistics
import sys
import time

import numpy as np

import turnstone_rl as turnstone

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE / "examples"), str(HERE / "tests")]

from breakthrough import Breakthrough  # noqa: E402
from mu_torere_py import MuTorere  # noqa: E402
from tic_tac_toe import TicTacToe  # noqa: E402


def turnstone_rate(game, options):
    """Positions searched per second by self-play with equal priors and value 0."""
    self_play = turnstone.SelfPlay(
        game, "uniform", simulations=options.simulations, concurrent_games=32, method="puct", forced_playouts=0
    )
    began = time.process_time()
    while time.process_time() - began < options.seconds:
        next(self_play)
    return self_play.stats["positions"] / (time.process_time() - began)


def open_spiel_rate(name, options):
    """The same for OpenSpiel's search in Python on one of its games."""
    import pyspiel
    from open_spiel.python.algorithms import mcts
    from open_spiel.python.games import tic_tac_toe  # noqa: F401 (registers the game)

    class Uniform(mcts.Evaluator):
        def evaluate(self, state):
            return np.zeros(2)

        def prior(self, state):
            legal = state.legal_actions()
            return [(action, 1 / len(legal)) for action in legal]

    game = pyspiel.load_game(name)
    bot = mcts.MCTSBot(game, 1.25, options.simulations, Uniform(), child_selection_fn=mcts.SearchNode.puct_value)
    rng, positions, began = np.random.default_rng(0), 0, time.process_time()
    while time.process_time() - began < options.seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            policy = bot.step_with_policy(state)[0]
            actions, shares = zip(*policy)
            state.apply_action(int(rng.choice(actions, p=np.array(shares) / sum(shares))))
            positions += 1
    return positions / (time.process_time() - began)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--simulations", type=int, default=64)
    parser.add_argument("--only", default="", help="rows whose names have one of these texts, with commas between them")
    options = parser.parse_args()
    rows = {
        "Mu Torere, Rust": lambda: turnstone_rate("mu_torere", options),
        "Mu Torere, Python": lambda: turnstone_rate(MuTorere, options),
        "Breakthrough 5x5, NumPy": lambda: turnstone_rate(Breakthrough, options),
        "tic-tac-toe, Python": lambda: turnstone_rate(TicTacToe, options),
    }
    try:
        import pyspiel  # noqa: F401

        rows["tic-tac-toe, OpenSpiel in Python"] = lambda: open_spiel_rate("python_tic_tac_toe", options)
        for name in ("hex(board_size=5)", "breakthrough(rows=6,columns=6)", "othello"):
            rows[name] = lambda name=name: turnstone_rate(turnstone.open_spiel(name), options)
            rows[f"{name}, OpenSpiel"] = lambda name=name: open_spiel_rate(name, options)
    except ImportError:
        print("OpenSpiel is not installed: pip install open_spiel")
    rates = {name: [] for name in rows if any(text in name for text in options.only.split(","))}
    for _ in range(options.rounds):
        for name in rates:
            rates[name].append(rows[name]())
    for name, found in rates.items():
        print(f"{name:<42} {statistics.median(found):>12,.1f} positions/s  ({', '.join(f'{rate:,.1f}' for rate in found)})")


if __name__ == "__main__":
    main()
