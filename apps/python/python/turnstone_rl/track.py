"""Sends the metrics of runs to experiment trackers: trackio, or Weights & Biases.

From the run's folder, finished or not::

    python -m turnstone_rl.track runs/mancala --to wandb --project mancala --follow

Both have the same interface, so a tracker is named by its module: any other with `init(project=, name=, config=)`, a `log(metrics,
step=)` and a `finish()` works too.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

__all__ = ["scalars", "send"]


def scalars(metrics: Dict[str, Any]) -> Dict[str, float]:
    """The numbers of an iteration, nested ones with slashes: `losses/policy_loss`, `arena/random/score`.

    The ends of an interval are `.../low` and `.../high`. What is unknown or infinite is left out.
    """
    return {name: value for name, value in _numbers("", metrics) if name not in ("crc", "iteration")}


def _numbers(name: str, value: Any) -> Iterator[Tuple[str, float]]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        if math.isfinite(value):
            yield name, value
        return
    parts: List[Tuple[str, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list) and value and all(isinstance(each, dict) and "opponent" in each for each in value):
        parts = [(each["opponent"], each) for each in value]
    elif isinstance(value, list) and name.endswith("interval") and len(value) == 2:
        parts = [("low", value[0]), ("high", value[1])]
    elif isinstance(value, list):
        parts = [(str(place), each) for place, each in enumerate(value)]
    for key, each in parts:
        yield from _numbers(f"{name}/{key}" if name else key, each)


def _iterations(path: Path, follow: bool) -> Iterator[Dict[str, Any]]:
    """The lines of `metrics.jsonl`; with `follow` also those to come. A line without its end is still being written."""
    rest, number = "", 0
    with open(path, encoding="utf-8") as file:
        while True:
            rest += file.read()
            *lines, rest = rest.split("\n")
            for line in lines:
                number += 1
                try:
                    metrics = json.loads(line)
                    if not isinstance(metrics["iteration"], int):
                        raise TypeError
                except (ValueError, KeyError, TypeError):
                    raise ValueError(f"{path}: line {number} holds no metrics") from None
                yield metrics
            if not follow:
                return
            time.sleep(1.0)


def send(
    run: str | os.PathLike[str],
    to: str,
    project: str | None = None,
    name: str | None = None,
    *,
    first: int = 1,
    follow: bool = False,
    **options: Any,
) -> int:
    """Sends the metrics of a run's folder; returns the number of iterations sent.

    Args:
        run: the run's folder.
        to: module of the tracker: `trackio` or `wandb`.
        project: name of the project [default: that of the folder around the run].
        name: name of the run [default: that of its folder].
        first: the first iteration to send, where earlier ones have been.
        follow: waits for further iterations and sends them, until Ctrl-C.
        options: further arguments of the tracker's `init`.
    """
    folder = Path(run).resolve()
    path = folder / "metrics.jsonl"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file; a run has one after its first iteration")
    try:
        tracker = importlib.import_module(to)
    except ModuleNotFoundError as error:
        if error.name != to:
            raise
        raise ModuleNotFoundError(f"the tracker {to} is not installed: pip install {to}", name=to) from None
    config = {"run": os.fspath(folder), "config": (folder / "config.toml").read_text(encoding="utf-8")}
    tracker.init(project=project or folder.parent.name, name=name or folder.name, config=config, **options)
    sent = 0
    try:
        for metrics in _iterations(path, follow):
            if metrics["iteration"] >= first:
                tracker.log(scalars(metrics), step=metrics["iteration"])
                sent += 1
    except KeyboardInterrupt:
        if not follow:
            raise
    finally:
        tracker.finish()
    return sent


def main(arguments: List[str] | None = None) -> int:
    """The command line: `python -m turnstone_rl.track RUN --to TRACKER`."""
    parser = argparse.ArgumentParser(prog="python -m turnstone_rl.track", description="Send a run's metrics to a tracker.")
    parser.add_argument("run", help="the run's folder")
    parser.add_argument("--to", required=True, metavar="TRACKER", help="trackio or wandb")
    parser.add_argument("--project", help="name of the project [default: that of the folder around the run]")
    parser.add_argument("--name", help="name of the run [default: that of its folder]")
    parser.add_argument("--first", type=int, default=1, metavar="ITERATION", help="first iteration to send [default: 1]")
    parser.add_argument("--follow", action="store_true", help="send what is written from now on too, until Ctrl-C")
    given = parser.parse_args(arguments)
    try:
        sent = send(given.run, given.to, given.project, given.name, first=given.first, follow=given.follow)
    except (OSError, ValueError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{sent} iterations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
