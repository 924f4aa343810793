"""OpenSpiel's own AlphaZero in Python, beside `examples/open_spiel/all_games.py`: trains a game for some minutes of processor
time, and plays 40 games from random openings against OpenSpiel's `MCTSBot` in C++, both with 1,000 simulations a move.

    pip install open_spiel jax flax optax chex
    python alpha_zero.py --train 10 "hex(board_size=7)" othello

Needs Linux, whose /proc has the processor time of the actor and the learner.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SETTINGS = {
    "learning_rate": 1e-3,
    "weight_decay": 1e-4,
    "decouple_weight_decay": True,
    "train_batch_size": 256,
    "replay_buffer_size": 8192,
    "replay_buffer_reuse": 4,
    "max_steps": 0,
    "checkpoint_freq": 1000000,
    "actors": 1,
    "evaluators": 0,
    "evaluation_window": 10,
    "eval_levels": 2,
    "uct_c": 2,
    "policy_alpha": 1,
    "policy_epsilon": 0.25,
    "temperature": 1,
    "temperature_drop": 10,
    "nn_model": "resnet",
    "nn_width": 32,
    "nn_depth": 2,
    "verbose": False,
    "quiet": True,
}


def config(text, path, simulations):
    import pyspiel
    from open_spiel.python.algorithms.alpha_zero import alpha_zero

    game = pyspiel.load_game(text)
    shape, actions = game.observation_tensor_shape(), game.num_distinct_actions()
    own = {"game": text, "path": path, "max_simulations": simulations, "observation_shape": shape, "output_size": actions}
    return alpha_zero, alpha_zero.Config(**SETTINGS, **own)


def processor_seconds(group):
    """Of the living processes of a group."""
    ticks = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def trained(text, path, minutes, simulations):
    """How much was learned in these minutes: seconds of processor time, steps, and positions and games of self-play."""
    command = [sys.executable, __file__, "--learn", path, "--simulations", str(simulations), text]
    with open(f"{path}/log", "w") as log:
        process = subprocess.Popen(command, start_new_session=True, stdout=log, stderr=log)
    seconds = 0
    while seconds < 60 * minutes and process.poll() is None:
        time.sleep(1)
        seconds = processor_seconds(process.pid)
    if process.poll() is not None:
        sys.exit(f"{text}: training has ended:\n{pathlib.Path(path, 'log').read_text()}")
    os.killpg(process.pid, signal.SIGKILL)
    written = pathlib.Path(path, "learner.jsonl")
    steps = [json.loads(line) for line in written.read_text().splitlines()] if written.exists() else []
    if not steps:
        sys.exit(f"{text}: no step of the learner within {minutes} minutes; --train gives it more")
    positions, games = steps[-1]["total_states"], steps[-1]["total_trajectories"]
    return {"training": round(seconds), "steps": len(steps), "positions": positions, "games": games}


def match(text, path, games=40):
    """The score against OpenSpiel's search in C++. The network is compiled for it, which its authors leave out."""
    import jax
    import pyspiel
    from open_spiel.python.algorithms.alpha_zero import evaluator

    alpha_zero, settings = config(text, path, 1000)
    model = alpha_zero._init_model_from_config(settings)
    model.load_checkpoint(-1)
    model.inference = jax.jit(model.inference)
    game, chance, score = pyspiel.load_game(text), random.Random(1), 0
    own = alpha_zero._init_bot(settings, game, evaluator.AlphaZeroEvaluator(game, model), True)
    for number in range(games // 2):
        opening = game.new_initial_state()
        for _ in range(chance.randrange(5)):
            opening.apply_action(chance.choice(opening.legal_actions()))
        for seat in range(2):
            state = opening.clone()
            other = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, number), 2, 1000, 1000, True, number, False)
            while not state.is_terminal():
                state.apply_action((own if state.current_player() == seat else other).step(state))
            score += (1 + state.returns()[seat]) / 2
    return score / games


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="GAME")
    parser.add_argument("--train", type=float, default=10, metavar="MINUTES")
    parser.add_argument("--simulations", type=int, default=8, help="of self-play")
    parser.add_argument("--learn", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.learn:
        alpha_zero, settings = config(options.names[0], options.learn, options.simulations)
        alpha_zero.alpha_zero(settings)
        return
    for text in options.names:
        with tempfile.TemporaryDirectory() as path:
            found = trained(text, path, options.train, options.simulations)
            began = time.process_time()
            found["score"], found["match"] = match(text, path), round(time.process_time() - began)
        print(json.dumps({"game": text, "simulations": options.simulations, **found}), flush=True)


if __name__ == "__main__":
    main()
