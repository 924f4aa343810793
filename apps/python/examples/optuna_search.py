"""Searches for a learning rate and a network with Optuna. Each trial is a run like those of `turnstone sweep`: a folder to
resume, report and play with.

    pip install optuna
    python optuna_search.py [FOLDER]    # minutes
    python optuna_search.py --smoke     # seconds
"""

import sys
import tempfile
from pathlib import Path

import optuna

import turnstone_rl as turnstone

CONFIG = {
    "seed": 1,
    "game": {"name": "mu_torere"},
    "net": {"kind": "residual_mlp", "blocks": 1},
    "search": {"simulations": 24},
    "self_play": {"games_per_iteration": 64, "concurrent_games": 32, "opening_plies": 20},
    "learn": {"batch": 128, "window": 5000},
    "arena": {"every": 4, "games": 20, "final_games": 20, "simulations": 2, "opponents": ["random"]},
    "run": {"iterations": 24},
}


def search(folder, overrides, trials):
    """Trains `trials` runs below `folder`, and stops those that fall behind."""

    def trained(trial):
        values = {
            "learn.learning_rate": trial.suggest_float("learning_rate", 3e-4, 1e-2, log=True),
            "net.width": trial.suggest_categorical("width", [16, 32, 64]),
        }

        def judged(metrics):
            grade = metrics.get("grade")
            if grade is not None:
                trial.report(grade["critical"]["kept"] / grade["critical"]["positions"], metrics["iteration"])
                if trial.should_prune():
                    raise optuna.TrialPruned  # ends the run, which `turnstone.train(resume=...)` could continue

        run = turnstone.train(
            CONFIG, {**overrides, **values}, run=folder / str(trial.number), on_iteration=judged, progress=False
        )
        return turnstone.grade("mu_torere", run.agent(sims=0)).kept_critical.value

    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=1),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=3),
    )
    study.optimize(trained, n_trials=trials)
    return study


if __name__ == "__main__":
    smoke = "--smoke" in sys.argv
    named = [each for each in sys.argv[1:] if not each.startswith("--")]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(named[0] if named else place)
        small = {"run.iterations": 4, "arena.every": 2, "self_play.games_per_iteration": 16, "search.simulations": 8}
        study = search(folder, small if smoke else {}, 3 if smoke else 12)
        for trial in study.trials:
            print(trial.number, trial.state.name.lower(), trial.params, trial.value)
        print("best:", study.best_params, f"{100 * study.best_value:.1f} % of critical positions")
        assert study.best_value > 0.5, "no trial has learned anything"
