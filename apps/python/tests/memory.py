"""Memory of a million environment steps and a thousand games of self-play: after a warm-up it must not grow.

    python memory.py

Ends with exit code 1 if the resident memory grows by more than `--limit` MiB.
"""

import argparse
import gc
import resource
import sys

import numpy as np

import turnstone_rl as turnstone

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--steps", type=int, default=1_000_000)
parser.add_argument("--games", type=int, default=1000)
parser.add_argument("--limit", type=float, default=16.0)
options = parser.parse_args()


def resident():
    """MiB of resident memory; the peak where the system does not tell the present number."""
    gc.collect()
    try:
        with open("/proc/self/statm") as numbers:
            return int(numbers.read().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def steps(count):
    envs, rng = turnstone.VecEnv("konane", 256), np.random.default_rng(1)
    _, info = envs.reset(seed=1)
    for _ in range(count // 256):
        envs.step((rng.random(info["action_mask"].shape) * info["action_mask"]).argmax(1))


def plies(count):
    state = turnstone.State("morris")
    for _ in range(count):
        state = turnstone.State("morris") if state.is_over else state.play(state.legal_actions()[0])
        state.observation()
        state.legal_mask()


def evaluate(observations, masks):
    return np.zeros(masks.shape, np.float32), np.zeros(len(masks), np.float32)


def self_play(games):
    play = turnstone.SelfPlay("mancala", evaluate, simulations=16, concurrent_games=64)
    for _ in range(games):
        next(play)


growth = {}
for name, work, count in (
    ("steps of VecEnv", steps, options.steps),
    ("plies of State", plies, options.steps // 4),
    ("games of self-play", self_play, options.games),
):
    work(count // 4)
    before = resident()
    work(count)
    growth[name] = resident() - before
    print(f"{count} {name}: {before:.1f} MiB before, {growth[name]:+.1f} MiB", flush=True)
sys.exit(any(grown > options.limit for grown in growth.values()))
