#!/usr/bin/env python3
"""What threads of `VecEnv` bring: steps per second with one thread, with several, and with the number that `VecEnv` chooses,
on a quiet machine and beside other programs that keep cores busy.

    python threads.py [--games konane,mancala] [--envs 256,1024,4096] [--busy 0,1,2] [--threads 2] [--seconds 3]

The three alternate, a tenth of a second each, so that other load on the machine meets all of them alike. Times are those of
a clock. Actions are drawn in NumPy outside of the measured time. `chosen` is the share of its steps that the last one made
with more than one thread.
"""

import argparse
import multiprocessing
import os
import time

import numpy as np

import turnstone


def spin():
    while True:
        pass


class Contestant:
    def __init__(self, game, envs, threads):
        self.envs = turnstone.VecEnv(game, envs, threads=threads)
        self.envs.reset(seed=1)
        self.rng = np.random.default_rng(1)
        self.steps, self.seconds, self.shared = 0, 0.0, 0

    def play(self, seconds):
        """Steps for this many seconds of measured time."""
        spent, steps = 0.0, 0
        while spent < seconds:
            places = (self.rng.random(len(self.envs), np.float32) * self.envs.legal_counts).astype(np.int64)
            actions = self.envs.legal_actions[self.envs.legal_starts[:-1] + places]
            self.shared += self.envs.threads > 1
            began = time.perf_counter()
            self.envs.step(actions)
            spent += time.perf_counter() - began
            steps += 1
        self.steps, self.seconds = self.steps + steps, self.seconds + spent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", default="konane,mancala")
    parser.add_argument("--envs", default="256,1024,4096,16384")
    parser.add_argument("--busy", default="0,1,2", help="numbers of other processes that never wait")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=3.0, help="of each contestant")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}; steps/s in thousands")
    print(f"{'game':<12}{'envs':>6}{'busy':>5} {'1 thread':>10} {f'{options.threads} threads':>11} {'chosen':>9}"
          f"   {f'{options.threads} : 1':>7} {'chosen : 1':>11} {'chosen':>7}")
    for busy in map(int, options.busy.split(",")):
        others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(busy)]
        for other in others:
            other.start()
        for game in options.games.split(","):
            for envs in map(int, options.envs.split(",")):
                contestants = [Contestant(game, envs, threads) for threads in (1, options.threads, None)]
                for _ in range(max(round(options.seconds / 0.1), 1)):
                    for contestant in contestants:
                        contestant.play(0.1)
                alone, shared, chosen = (each.steps * envs / each.seconds for each in contestants)
                share = contestants[2].shared / contestants[2].steps
                print(f"{game:<12}{envs:>6}{busy:>5} {alone / 1e3:>10,.0f} {shared / 1e3:>11,.0f} {chosen / 1e3:>9,.0f}"
                      f"   {shared / alone:>7.2f} {chosen / alone:>11.2f} {share:>7.0%}", flush=True)
        for other in others:
            other.terminate()
            other.join()


if __name__ == "__main__":
    multiprocessing.set_start_method("fork" if hasattr(os, "fork") else "spawn")
    main()
