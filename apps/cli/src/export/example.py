#!/usr/bin/env python3
"""Plays a game against itself with the network of this folder: `python example.py [--seed N] [--random-plies N]`.

It needs Python 3.7, numpy and onnxruntime 1.12, or newer ones. Planes, actions and the names of inputs and outputs are
read from manifest.json. The rules are those of the Python package `turnstone` where it is installed, else of rules.py.
Without search the network's favourite move is played; the first plies are random.
"""

import argparse
import json
import pathlib
import random
import sys

import numpy
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import rules  # noqa: E402: it lies beside this file, wherever that is called from

try:
    import turnstone
except ImportError:
    turnstone = None


class Package:
    """The game of the package `turnstone`, with the methods of `rules.Game` and the observation."""

    def __init__(self, described):
        self.game = turnstone.Game(described["name"], **described["params"])
        if self.game.version != described["version"]:
            raise ValueError("the package has other rules of {} than this folder".format(described["name"]))

    def start(self):
        return turnstone.State(self.game)

    def mover(self, state):
        return state.to_play

    def legal(self, state):
        return state.legal_moves()

    def play(self, state, action):
        return state.play(action)

    def outcome(self, state):
        outcome = state.outcome()
        if outcome is None:
            return None
        return "draw" if outcome.winner is None else "player{}".format(outcome.winner + 1)

    def position(self, state):
        return state.text()

    def index(self, state, action):
        return state.legal_actions()[state.legal_moves().index(action)]

    def observation(self, state):
        return state.observation()


def observe(manifest, game, state):
    """The observation `[planes, height, width]` of a state, as its mover sees it."""
    if hasattr(game, "observation"):
        return game.observation(state)
    described = manifest["observation"]
    tensor = numpy.zeros(described["shape"], numpy.float32)
    for plane, entry in zip(tensor, described["planes"]):
        value = game.plane(state, entry["name"])
        if entry["per"] == "point":
            plane.reshape(-1)[described["cells"]] = value
        else:
            plane[:] = value
    return tensor


def policy_entry(manifest, game, state, action):
    """Where the logits hold the action of this text."""
    texts = manifest["actions"]["texts"]
    index = game.index(state, action) if hasattr(game, "index") else texts.index(action)
    turned = manifest["actions"]["turned"]
    return turned[index] if turned and game.mover(state) == 1 else index


def softmax(logits):
    exponentials = numpy.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def evaluate(manifest, session, game, state):
    """The network's probabilities of the legal actions by text, and those of win, draw and loss for the mover."""
    inputs = {"observation": observe(manifest, game, state)[None]}
    policy, value = session.run(["policy_logits", "value_logits"], inputs)
    legal = game.legal(state)
    logits = policy[0][[policy_entry(manifest, game, state, action) for action in legal]]
    return dict(zip(legal, softmax(logits))), softmax(value[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--random-plies", type=int, default=2)
    parser.add_argument("--plies", type=int, default=1000, help="stop here: without limits a game may never end")
    options = parser.parse_args()
    manifest = json.loads((HERE / "manifest.json").read_text())
    network = str(HERE / manifest["onnx"]["file"])
    session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
    game = Package(manifest["game"]) if turnstone else rules.Game(manifest["game"]["params"])
    rng, state, plies = random.Random(options.seed), game.start(), 0
    while game.outcome(state) is None and plies < options.plies:
        priors, (win, draw, loss) = evaluate(manifest, session, game, state)
        if plies < options.random_plies:
            action = rng.choice(sorted(priors))
        else:
            action = max(priors, key=priors.get)
        print(f"{plies + 1:>3}. player {game.mover(state) + 1} {action:<16} "
              f"prior {priors[action]:.2f}, win {win:.2f} draw {draw:.2f} loss {loss:.2f}")
        state, plies = game.play(state, action), plies + 1
    print(f"{game.outcome(state) or 'no end'} after {plies} plies: {game.position(state)}")


if __name__ == "__main__":
    main()
