"""MaskablePPO of sb3-contrib on Mu Torere against random play, to a score of at least 90 %.

    pip install stable-baselines3 sb3-contrib
    python ppo.py

Ends with exit code 1 if the score is lower.
"""

import argparse
import sys

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import turnstone_rl  # noqa: F401: registers the environments

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--steps", type=int, default=24_000)
parser.add_argument("--games", type=int, default=400)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()


def make():
    return gymnasium.make("turnstone/MuTorere-v1", opponent="random")


torch.set_num_threads(1)  # the network is small
model = MaskablePPO(
    "MlpPolicy", DummyVecEnv([make] * 8), n_steps=128, batch_size=256, gamma=0.99, ent_coef=0.01,
    learning_rate=1e-3, n_epochs=6, seed=options.seed
)
model.learn(options.steps)
env = make()
points = []
for game in range(options.games):
    observation, info = env.reset(seed=1000 if game == 0 else None)
    over = False
    while not over:
        action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    points.append((reward + 1) / 2)
score = np.mean(points)
print(f"score {100 * score:.1f} % in {options.games} games against random play, {np.mean(np.array(points) == 1):.1%} won")
sys.exit(int(score < 0.9))
