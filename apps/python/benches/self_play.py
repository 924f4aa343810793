#!/usr/bin/env python3
"""Positions per second of self-play with an evaluator in Python that costs nothing, beside one in Rust that costs
nothing: what the way through Python costs. Positions per second of processor time, on one thread.

    python self_play.py [--rounds 3] [--seconds 5]
"""

import argparse
import statistics
import time

import numpy as np

import turnstone_rl as turnstone


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--simulations", type=int, default=64)
    parser.add_argument("--concurrent-games", type=int, default=256)
    options = parser.parse_args()
    print(f"{'positions/s':<14} {'in Rust':>10} {'in Python':>10}   ratio (of each round)")
    for name in turnstone.games():
        actions = turnstone.Game(name).num_actions
        logits, values = np.zeros((options.concurrent_games, actions), np.float32), np.zeros(options.concurrent_games)
        values = values.astype(np.float32)

        def evaluate(observations, masks, logits=logits, values=values):
            return logits[: len(masks)], values[: len(masks)]

        ratios, rates = [], []
        for _ in range(options.rounds):
            rate = []
            for evaluator in ("uniform", evaluate):
                self_play = turnstone.SelfPlay(
                    name, evaluator, simulations=options.simulations, concurrent_games=options.concurrent_games
                )
                began = time.process_time()
                while time.process_time() - began < options.seconds:
                    next(self_play)
                rate.append(self_play.stats["positions"] / (time.process_time() - began))
            rates.append(rate)
            ratios.append(rate[1] / rate[0])
        rust, python = (statistics.median(rate[i] for rate in rates) for i in range(2))
        each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"{name:<14} {rust:>10,.0f} {python:>10,.0f}   {statistics.median(ratios):.2f} ({each})", flush=True)


if __name__ == "__main__":
    main()
