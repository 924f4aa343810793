"""Training, arena, grading and exact values."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, List, Literal, Sequence, Tuple, Union

import numpy as np

from . import _turnstone
from ._made import Player, chooser, player_name
from ._processes import Processes
from ._turnstone import Agent, Game, Search, State

__all__ = [
    "ArenaResult",
    "Grade",
    "Guarantee",
    "Interval",
    "Solution",
    "TrainingResult",
    "arena",
    "certify",
    "grade",
    "solve",
    "train",
]

MISSING = "this build of turnstone was made without the program: training, arena, grades, exact values and the command line \
need a build with the default features, such as `pip install ./apps/python`"


def _need_program() -> None:
    if not _turnstone._PROGRAM:
        raise RuntimeError(MISSING)


PathLike = Union[str, "os.PathLike[str]"]
Config = Union[PathLike, Dict[str, Any]]


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return f"{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"

    def __float__(self) -> float:
        return self.value


def _number(value: Any) -> Any:
    return float("nan") if value is None else value


class ArenaResult:
    """The result of a match or tournament.

    `print(result)` shows the program's report; a notebook shows the same; `html` has charts and boards.
    """

    def __init__(self, record: Dict[str, Any], table: Dict[str, List[Any]], text: str, page: str) -> None:
        self._table = table
        self.agents: List[str] = record["record"]["agents"]
        """Specs of the agents, in the order of the call (those of the ladder follow)."""
        self.summary: Dict[str, Any] = record["summary"]
        """Everything that the program computes: standings, meetings, score of the first seat, endings."""
        self.record: Dict[str, Any] = record["record"]
        """Game, settings, openings and every game with its moves."""
        self.ladder: Dict[str, Any] | None = record.get("ladder")
        """Rating on the game's ladder, with `ladder=True`."""
        self.text = text
        """The report as text."""
        self.html = page
        """The report as an HTML page."""

    def __str__(self) -> str:
        return self.text.rstrip()

    def __repr__(self) -> str:
        return f"<turnstone.ArenaResult {' - '.join(self.agents)}: {len(self.games)} games>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    @property
    def games(self) -> List[Dict[str, Any]]:
        """Every game: agents, moves, result for its first player (1, 0, -1), how it ended."""
        games: List[Dict[str, Any]] = self.record["games"]
        return games

    def _meeting(self, agent: int, opponent: int) -> Tuple[Dict[str, Any], bool]:
        for meeting in self.summary["meetings"]:
            if sorted(meeting["agents"]) == sorted((agent, opponent)):
                return meeting, meeting["agents"][0] != agent
        raise ValueError(f"agents {agent} and {opponent} have not met")

    def score(self, agent: int = 0, opponent: int = 1) -> Interval:
        """Share of the points of an agent against another, 0 to 1, by their indices."""
        meeting, swapped = self._meeting(agent, opponent)
        low, high = meeting["score_interval"]
        value = meeting["score"]
        return Interval(1 - value, 1 - high, 1 - low) if swapped else Interval(value, low, high)

    def elo(self, agent: int = 0, opponent: int = 1) -> Interval:
        """Elo difference between two agents by their indices; infinite if one has won or lost everything."""
        meeting, swapped = self._meeting(agent, opponent)
        score = meeting["score"]
        extreme = float("inf") if score > 0.5 else float("-inf")
        value = extreme if meeting["elo"] is None else meeting["elo"]
        low, high = meeting["elo_interval"]
        low = float("-inf") if low is None else low
        high = float("inf") if high is None else high
        return Interval(-value, -high, -low) if swapped else Interval(value, low, high)

    def wins_draws_losses(self, agent: int = 0, opponent: int = 1) -> Tuple[int, int, int]:
        """Games won, drawn and lost by an agent against another, by their indices."""
        meeting, swapped = self._meeting(agent, opponent)
        seats = meeting["by_seat"].values()
        won, drawn, lost = (sum(seat[what] for seat in seats) for what in ("wins", "draws", "losses"))
        return (lost, drawn, won) if swapped else (won, drawn, lost)

    def to_pandas(self) -> Any:
        """The standings as a `pandas.DataFrame`, strongest agent first."""
        import pandas

        rows = [[_number(value) for value in row] for row in self._table["rows"]]
        return pandas.DataFrame(rows, columns=self._table["columns"]).sort_values("rank", ignore_index=True)

    def games_to_pandas(self) -> Any:
        """The games as a `pandas.DataFrame`: players, result for the first player, number of plies, moves."""
        import pandas

        rows = [
            {
                "number": game["number"],
                "first": self.agents[game["agents"][0]],
                "second": self.agents[game["agents"][1]],
                "result": game["result"],
                "ending": game["ending"],
                "plies": len(game["moves"]),
                "moves": " ".join(game["moves"]),
            }
            for game in self.games
        ]
        return pandas.DataFrame(rows)


def _option_text(value: Any) -> str:
    """The text of an option's value, as the command line has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "-".join(str(end) for end in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _given(player: Player, game: Game) -> str | Tuple[str, Callable[[State], Any]]:
    """A player of a match: a spec, or a name and the function that chooses."""
    if isinstance(player, str):
        return player
    choose = chooser(player, game)
    return player.spec if isinstance(player, Agent) else (player_name(player), choose)


def arena(
    game: str | Game | type[Game],
    agents: Player | Sequence[Player],
    *,
    games: int = 200,
    openings: int | Tuple[int, int] | PathLike | None = None,
    opening_filter: str | None = None,
    opening_bound: int | None = None,
    seed: int = 0,
    format: Literal["round-robin", "gauntlet"] = "round-robin",
    clock: str | None = None,
    out_of_time: Literal["random", "lose"] | None = None,
    sprt: str | None = None,
    threads: int | None = None,
    ladder: bool = False,
    out: PathLike | None = None,
    resume: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> ArenaResult:
    """Plays a match between two agents, or a tournament of more. Ctrl-C stops it.

    Args:
        game: name of a game, or a `Game` with parameters.
        agents: one-line specs, such as `alphabeta:depth=6` or `az:runs/mancala,sims=100`, each an `Agent`, or a `Search` or
            function that returns an action of a `State`; the result calls these `python:<name>`.
        games: games of each meeting, in pairs with equal openings and seats swapped.
        openings: number of random plies, a range `(2, 6)` of it, or the path of a book with one line of moves each.
        opening_filter: agent whose score of an opening must be within `opening_bound` for the opening to be kept.
        opening_bound: greatest score of either side, in the heuristic's units or as the expected result in hundredths.
        seed: of openings and random choices; it determines the result.
        format: `round-robin` or `gauntlet` (the first agent against each of the others).
        clock: time of each agent for all its moves of a game, such as `10s`.
        out_of_time: with a clock, the penalty for a player whose clock has run out: `random` moves, the default, or `lose`.
        sprt: bounds of a sequential test that may end a match early, such as `elo0=0,elo1=10`.
        threads: number of threads, by default one per core; they do not change the result.
        ladder: rates one agent on the game's ladder, on which `random` has Elo 0.
        out: new folder, which gets every game as soon as it ends and finally the files of `turnstone arena --out`.
        resume: goes on with the games in `out`, of the same call that was interrupted.
        progress: called with the number of finished games and of all games.
    """
    _need_program()
    if resume and out is None:
        raise ValueError("name the folder of the match to resume: out=FOLDER")
    folder = None if out is None else (os.fspath(out), resume)
    rules = _turnstone._game(game, "arena", [], None, {})
    is_one = isinstance(agents, (str, Agent, Search)) or callable(agents)
    players: List[Any] = [agents] if is_one else list(agents)  # type: ignore[arg-type]
    given = [_given(player, rules) for player in players]
    options = {
        "games": games,
        "openings": openings,
        "opening_filter": opening_filter,
        "opening_bound": opening_bound,
        "seed": seed,
        "format": format,
        "clock": clock,
        "out_of_time": out_of_time,
        "sprt": sprt,
    }
    texts = {name: _option_text(value) for name, value in options.items() if value is not None}
    record, table, *reports = _turnstone._arena(rules, given, texts, ladder, threads, folder, progress)
    return ArenaResult(json.loads(record), json.loads(table), *reports)


@dataclass(frozen=True)
class Grade:
    """An agent's moves compared with exact values."""

    agent: str
    kept: Interval
    """Share of the positions in which the move keeps the exact value."""
    kept_critical: Interval
    """The same over the critical positions, in which at least one move loses value."""
    regret: Interval
    """Mean loss of value per move, with 1 for a win, 0 for a draw and -1 for a loss."""
    positions: int
    """Number of positions."""
    critical: int
    """Number of critical positions."""
    data: Dict[str, Any] = field(repr=False)
    """Everything that the program computes: shares by phase, accuracy and calibration of the value head."""

    def to_pandas(self) -> Any:
        """The shares of all phases as a `pandas.DataFrame`."""
        import pandas

        parts = {"all": [self.data["all"], self.data["critical"]], **self.data["phases"]}
        rows = []
        for phase, shares in parts.items():
            for kind, share in zip(("all", "critical"), shares):
                interval = _share(share)
                rows.append(
                    {
                        "phase": phase,
                        "positions": kind,
                        "count": share["positions"],
                        "kept": share["kept"],
                        "share": interval.value,
                        "low": interval.low,
                        "high": interval.high,
                    }
                )
        return pandas.DataFrame(rows)

    def __str__(self) -> str:
        return (
            f"{self.agent}: {100 * self.kept.value:.1f} % of {self.positions} moves keep the value, "
            f"{100 * self.kept_critical.value:.1f} % of {self.critical} critical ones"
        )


def _share(share: Dict[str, Any]) -> Interval:
    low, high = share["interval"]
    positions = share["positions"]
    return Interval(share["kept"] / positions if positions else 1.0, low, high)


def grade(
    game: str | Game | type[Game],
    agent: str,
    *,
    positions: PathLike | None = None,
    sample: int | None = None,
    phase: Literal["opening", "midgame", "endgame"] | None = None,
    critical: bool = False,
    tables: PathLike = "tables",
    seed: int = 0,
    threads: int | None = None,
) -> Grade:
    """Compares an agent's moves with exact values. Ctrl-C stops it.

    Without `positions` or `sample` the positions are those that come with the game, or all positions of a small game.

    Args:
        game: name of a game, or a `Game` with parameters.
        agent: one-line spec.
        positions: file of positions with exact values.
        sample: number of positions to draw from games of alpha-beta, mixed with random moves, and to solve.
        phase: draws positions of this phase only: `opening`, `midgame` or `endgame`.
        critical: draws critical positions only, in which some move gives the value away.
        tables: folder with tables of exact values.
        seed: of the sample and of random choices.
    """
    _need_program()
    if positions is not None and sample is not None:
        raise ValueError("give positions or sample, not both")
    path = None if positions is None else os.fspath(positions)
    data = json.loads(_turnstone._grade(game, agent, path, sample, phase, critical, os.fspath(tables), seed, threads))
    if data is None:
        raise RuntimeError("the grading was interrupted before its end")
    regret = Interval(*data["regret"])
    every, hard = data["all"], data["critical"]
    return Grade(agent, _share(every), _share(hard), regret, every["positions"], hard["positions"], data)


@dataclass(frozen=True)
class Guarantee:
    """The worst that an agent can come to against any opponent."""

    agent: str
    player: int
    """The player that it is, 0 or 1."""
    result: int | None
    """1 if it wins against any opponent, 0 if it comes to a draw at least, -1 if it can be beaten, None if that is not known."""
    complete: bool
    """Whether all positions that can arise were met."""
    positions: int
    """Number of positions that were met."""
    decisions: int
    """Number of those in which the agent is to move."""
    beaten: int
    """Number of those from which it can be beaten."""
    refutation: List[str] | None
    """The moves of a shortest game that it loses, if it can be beaten."""


def certify(
    game: str | Game | type[Game],
    agent: str,
    player: int,
    *,
    out: PathLike | None = None,
    positions: int = 100_000_000,
    seed: int = 0,
    threads: int | None = None,
) -> Guarantee:
    """Finds the worst that an agent can come to, by asking it in every position that can arise. Ctrl-C stops it.

    Args:
        game: name of a game, or a `Game` with parameters.
        agent: one-line spec of an agent whose move depends on the position alone.
        player: the player that it is, 0 or 1.
        out: file for the certificate, which is written if the agent cannot be beaten.
        positions: stops at about this many positions.
        seed: of random choices; each position has random numbers of its own.
    """
    _need_program()
    path = None if out is None else os.fspath(out)
    data = json.loads(_turnstone._certify(game, agent, player, path, positions, seed, threads))
    if data is None:
        raise RuntimeError("it was interrupted before its end")
    return Guarantee(agent, player, **data)


class Solution:
    """Exact values of a game's positions."""

    def __init__(self, values: Any) -> None:
        self._values = values

    @property
    def game(self) -> Game:
        """The game."""
        game: Game = self._values.game
        return game

    @property
    def counts(self) -> Dict[str, int] | None:
        """Numbers of positions by value, of a game that is enumerated."""
        counts: Dict[str, int] | None = self._values.counts
        return counts

    @property
    def positions(self) -> List[State] | None:
        """All positions in which the game is not over, of a game that is enumerated."""
        positions: List[State] | None = self._values.positions
        return positions

    def value(self, state: State | None = None, player: int = 0) -> int | None:
        """The value of a position (by default of the start) for a player: 1, 0 or -1. None where it is not known.

        Values are those of the game without limits on its plies, where infinite play is a draw.
        """
        if player not in (0, 1):
            raise IndexError(f"player {player}: the players are 0 and 1")
        value: int | None = self._values.value(State(self.game) if state is None else state)
        return value if value is None or player == 0 else -value

    def best_actions(self, state: State) -> List[int] | None:
        """The legal actions that keep the position's value. None where it is not known."""
        actions: List[int] | None = self._values.best_actions(state)
        return actions

    def __repr__(self) -> str:
        return f"<turnstone.Solution of {self.game!r}>"


def solve(game: str | Game | type[Game], *, tables: PathLike = "tables", build: bool = False) -> Solution:
    """Exact values of a game.

    A game of at most 100,000 positions is enumerated; Konane is searched when a position is asked for. Mancala (endgames),
    Morris and Morabaraba (endgames) read a table from the folder `tables`; `build=True` builds it if it is missing, in a
    process of its own that prints its progress and continues where it was interrupted.

    Raises:
        FileNotFoundError: the table is missing.
        ValueError: there are no exact values of the game with its parameters.
    """
    _need_program()
    rules = _turnstone._game(game, "solve", [], None, {})
    if build and type(rules) is _turnstone.Game:
        command = [sys.executable, "-m", "turnstone_rl", "solve", rules.name, "--tables-only", "--out", os.fspath(tables)]
        for key, value in rules.params.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            command += ["--param", f"{key}={text}"]
        code = subprocess.run(command, check=False).returncode
        if code != 0:
            raise RuntimeError(f"`turnstone solve {rules.name}` ended with exit code {code}")
    return Solution(_turnstone._exact_values(rules, os.fspath(tables)))


@dataclass
class TrainingResult:
    """A training run, finished or stopped."""

    run: Path
    """The run's folder; agents `az:<folder>,sims=100` play with its newest checkpoint."""
    iterations: int
    """Number of finished iterations."""
    finished: bool
    """Whether these are all iterations of the run."""

    @property
    def checkpoint(self) -> Path:
        """The newest checkpoint."""
        return self.run / "latest.safetensors"

    @property
    def metrics(self) -> List[Dict[str, Any]]:
        """The metrics of all iterations, those before a resumption included."""
        with open(self.run / "metrics.jsonl", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.endswith("\n")]

    def to_pandas(self) -> Any:
        """The metrics as a `pandas.DataFrame`, nested ones with dots: `losses.policy_loss`, `timing.seconds`."""
        import pandas

        return pandas.json_normalize(self.metrics)

    def agent(self, sims: int = 100) -> str:
        """The spec of an agent with the newest checkpoint."""
        return f"az:{self.run},sims={sims}"


class _Progress:
    """Shows one line per iteration: in a notebook a line that is replaced, elsewhere lines on standard error."""

    def __init__(self) -> None:
        self._display: Any = None
        try:
            from IPython import get_ipython

            if get_ipython() is not None and "IPKernelApp" in get_ipython().config:
                from IPython.display import display

                self._display = display({"text/plain": "self-play ..."}, raw=True, display_id=True)
        except ImportError:
            pass

    def show(self, line: str, iteration: int, iterations: int) -> None:
        if self._display is None:
            print(line, file=sys.stderr, flush=True)
            return
        bar = f'<progress value="{iteration}" max="{iterations}" style="width: 20em"></progress>'
        text = {"text/plain": line, "text/html": f"{bar} <code>{html.escape(line.strip())}</code>"}
        self._display.update(text, raw=True)


def _plain(value: Any) -> Any:
    """What a config in TOML holds in place of a number of NumPy, or of a path."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a config holds no {type(value).__name__}: {value!r}")


def _check_values(table: Dict[str, Any], section: str = "") -> None:
    """Names a key whose value no config has: None, a number that is not finite."""
    for key, value in table.items():
        name = f"{section}{key}"
        if isinstance(value, dict):
            _check_values(value, f"{name}.")
        elif value is None or isinstance(value, (float, np.floating)) and not np.isfinite(value):
            raise ValueError(f"config: {name} is {value}: leave the key out for its default")


def train(
    config: Config | None = None,
    overrides: Dict[str, Any] | None = None,
    *,
    run: PathLike | None = None,
    resume: bool | PathLike = False,
    overwrite: bool = False,
    max_minutes: float | None = None,
    processes: int = 1,
    allow_engines: bool = False,
    on_iteration: Callable[[Dict[str, Any]], Any] | None = None,
    progress: bool = True,
) -> TrainingResult:
    """Trains a network by self-play.

    Ctrl-C stops the run with a `KeyboardInterrupt`, and so does any exception of `on_iteration`; the last finished
    iteration is on disk, and `train(resume=folder)` continues from it.

    Args:
        config: path of a TOML file, or the same as a dictionary: `{"game": {"name": "mancala"}, "run":
            {"iterations": 10}}`. Every key has a default but the game's name.
        overrides: values that replace the config's: `{"learn.batch": 512, "seed": 2}`. With `resume`, those of the run's own,
            and only keys that may change.
        run: folder of the run; by default `runs/<name of the config file, or of the game>`.
        resume: True to continue the run in `run`, or its folder.
        overwrite: replaces an earlier run in the folder.
        max_minutes: stops at the end of the iteration in which they have passed.
        processes: number of processes that play the games, if the rules are written in Python. The result is the same. A
            script with more than one trains under `if __name__ == "__main__":`.
        allow_engines: lets a resumed run start the programs of `engine:` opponents in its config, if the run is yours.
        on_iteration: called with the metrics of each iteration as it ends.
        progress: shows a line per iteration.
    """
    _need_program()
    if isinstance(resume, (str, os.PathLike)):
        run = resume
    path, text = None, None
    if resume:
        if config is not None or overwrite:
            raise ValueError("a run is resumed with its own config: give no config or overwrite")
        if run is None:
            raise ValueError("name the folder of the run to resume")
    elif config is None:
        raise ValueError("give a config, or the folder of a run to resume")
    elif isinstance(config, dict):
        _check_values(config)
        text = json.dumps(config, default=_plain)
        name = re.sub(r"\W+", "_", str(config.get("game", {}).get("name", "run"))).strip("_")
    else:
        path = os.fspath(config)
        name = Path(path).stem
    folder = Path(run) if run is not None else Path("runs") / name
    shown = _Progress() if progress else None

    def finished(metrics: str, line: str, iterations: int) -> None:
        data = json.loads(metrics)
        if shown is not None:
            shown.show(line, data["iteration"], iterations)
        if on_iteration is not None:
            on_iteration(data)

    task: Dict[str, Any] = {
        "run": os.fspath(folder),
        "config": path,
        "config_json": text,
        "overrides": [f"{key}={json.dumps(value, default=_plain)}" for key, value in (overrides or {}).items()],
        "overwrite": overwrite,
        "max_minutes": max_minutes,
        "allow_engines": allow_engines,
    }
    if not 1 <= processes <= 1024:
        raise ValueError(f"processes is {processes}, but must be from 1 to 1024")
    with Processes(processes) if processes > 1 else nullcontext() as task["processes"]:
        iterations, complete = _turnstone._train(task, finished)
    return TrainingResult(folder, iterations, complete)
