"""Two-player board games for reinforcement learning: environments, search, self-play and agents.

Games are `mu_torere`, `mancala`, `morris`, `konane` and `morabaraba`. Positions are immutable::

    import turnstone_rl as turnstone

    state = turnstone.State("mancala").play("B5")
    state.legal_moves()                      # ['A2', 'A3', ...]
    agent = turnstone.Agent("mancala", "alphabeta:depth=6")
    state = state.play(agent.act(state))

`env` makes a PettingZoo environment, `VecEnv` steps many games into NumPy arrays, `gymnasium.make` finds
`turnstone/Mancala-v1` and `pettingzoo.make` finds `turnstone/mancala-v1`, and `Search` and `SelfPlay` search with a network of any framework. A subclass of `Game` is a game with
its rules in Python, which `check_game` checks and `register_game` makes known by its name. `open_spiel` makes one of OpenSpiel's.

Conventions: players are 0 and 1, and the same player may move twice in a row. An action's index means the same in every
state. Observations are seen by the player to move, and so are the policy vectors of networks: see `Game.policy_index`.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal, TypeVar

from ._examples import Examples
from ._made import takes_game
from ._open_spiel import open_spiel
from ._program import (
    ArenaResult,
    Grade,
    Guarantee,
    Interval,
    Solution,
    TrainingResult,
    arena,
    certify,
    grade,
    solve,
    train,
)
from ._rendering import RenderMode
from ._turnstone import (
    Agent,
    Analysis,
    Game,
    GameError,
    IllegalActionError,
    Network,
    Outcome,
    Search,
    SelfPlay,
    State,
    VecEnv,
    __version__,
    _register_game,
    _restore_agent,
    _restore_state,
    check_game,
    games,
    load,
)

__all__ = [
    "Agent",
    "Analysis",
    "ArenaResult",
    "Examples",
    "Game",
    "GameError",
    "Grade",
    "Guarantee",
    "IllegalActionError",
    "Interval",
    "Network",
    "Outcome",
    "Search",
    "SelfPlay",
    "Solution",
    "State",
    "TrainingResult",
    "VecEnv",
    "__version__",
    "arena",
    "certify",
    "check_game",
    "env",
    "games",
    "grade",
    "load",
    "open_spiel",
    "parallel_env",
    "raw_env",
    "register_game",
    "solve",
    "train",
]

if find_spec("gymnasium") is not None:
    from ._register import register_envs

    register_envs()


def _aec() -> Any:
    try:
        from . import aec
    except ModuleNotFoundError as error:
        if error.name not in ("gymnasium", "pettingzoo"):
            raise
        message = f"PettingZoo environments need the package {error.name}: pip install pettingzoo"
        raise ModuleNotFoundError(message, name=error.name) from None
    return aec


@takes_game
def env(
    game: str | Game | type[Game],
    render_mode: RenderMode | None = None,
    *,
    params: dict[str, Any] | None = None,
    **parameters: Any,
) -> Any:
    """A PettingZoo AEC environment of a game, with PettingZoo's wrapper that checks the order of calls.

    Parameters of the game are keyword arguments, ``turnstone.env("mancala", stones=3)``, or the dictionary `params`. See
    `turnstone_rl.aec.TurnstoneAEC`. Needs `pettingzoo`.
    """
    return _aec().env(game, render_mode=render_mode)


@takes_game
def raw_env(
    game: str | Game | type[Game],
    render_mode: RenderMode | None = None,
    *,
    params: dict[str, Any] | None = None,
    **parameters: Any,
) -> Any:
    """The environment of `env` without the wrapper."""
    return _aec().raw_env(game, render_mode=render_mode)


@takes_game
def parallel_env(
    game: str | Game | type[Game],
    render_mode: RenderMode | None = None,
    max_cycles: int | None = None,
    illegal: Literal["raise", "random"] = "raise",
    *,
    params: dict[str, Any] | None = None,
    **parameters: Any,
) -> Any:
    """A PettingZoo parallel environment of a game: both agents choose in every step, and the choice of the one that is
    to move is played. See `turnstone_rl.aec.TurnstoneParallel`. Needs `pettingzoo`.
    """
    return _aec().parallel_env(game, render_mode, max_cycles, illegal)


_GameClass = TypeVar("_GameClass", bound="type[Game]")


def register_game(game: _GameClass) -> _GameClass:
    """Gives a subclass of `Game` its name everywhere: in configs of `train`, for checkpoints, and wherever a name of a game is
    an argument. In Gymnasium it becomes `turnstone/<Name>-v<version>`, in PettingZoo `turnstone/<name>-v<version>`. Returns the class,
    so that it can be a decorator.

    A run is resumed, and its checkpoint loaded, by a program that has registered the game again.
    """
    _register_game(game)
    if find_spec("gymnasium") is not None:
        register_envs()
    return game


def _restore_game(name: str | type[Game], version: int, params: dict[str, Any]) -> Any:
    """A game of a pickle."""
    return _restore_state(name, version, params, None, None)
