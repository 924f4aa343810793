"""Arguments that several calls share: a game with its parameters, actions, and agents."""

from __future__ import annotations

import functools
import inspect
import operator
import re
import threading
from typing import Any, Callable, Mapping, ParamSpec, TypeVar, Union

import numpy as np

from ._turnstone import Agent, Game, Search, State, _game

__all__ = ["Player", "action_index", "chooser", "checked_options", "player_name", "takes_game"]

Player = Union[str, Agent, Search, Callable[[State], Any]]
"""An agent: its spec, an `Agent`, a `Search`, or a function that returns an action of a state, as an index or a text."""

P = ParamSpec("P")
R = TypeVar("R")


def takes_game(function: Callable[P, R]) -> Callable[P, R]:
    """Lets a function or an `__init__` whose first argument is `game` take the game's parameters: as the dictionary
    `params`, or as keyword arguments that the function does not have itself. It is called with the `Game` alone.
    """
    parameters = inspect.signature(function).parameters.values()
    own = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD and each.name not in ("self", "game")]
    *_, owner, name = f".{function.__qualname__}".split(".")
    call, place = (owner, 1) if name == "__init__" else (name, 0)

    def called(*args: Any, **kwargs: Any) -> Any:
        if len(args) <= place and "game" not in kwargs:
            return inner(*args, **kwargs)  # which names the missing argument
        arguments = [(each, each in kwargs) for each in own if each != "params"] + [("params", False)]
        params = kwargs.pop("params", None)
        named = {key: kwargs.pop(key) for key in list(kwargs) if key not in own and key != "game"}
        if len(args) > place:
            game = _game(args[place], call, arguments, params, named)
            return inner(*args[:place], game, *args[place + 1 :], **kwargs)
        kwargs["game"] = _game(kwargs["game"], call, arguments, params, named)
        return inner(*args, **kwargs)

    inner: Callable[..., Any] = function
    wrapped: Callable[P, R] = functools.wraps(function)(called)
    return wrapped


def action_index(action: Any) -> int:
    """An action as an index: an integer of any kind, but no bool."""
    if not isinstance(action, (bool, np.bool_)):
        try:
            return operator.index(action)
        except TypeError:
            pass
    raise TypeError(f"an action is an integer, not {type(action).__name__}: {action!r}")


def checked_options(options: Any) -> Mapping[str, Any]:
    """The `options` of a reset as a mapping, empty for None."""
    if options is None or isinstance(options, Mapping):
        return options or {}
    raise TypeError(f"options must be a dictionary, not {type(options).__name__}: {options!r}")


def chooser(player: Player, game: Game, seed: int = 0) -> Callable[[State], Any]:
    """The function that chooses a player's actions."""
    if isinstance(player, str):
        return functools.partial(Agent.act, Agent(game, player, seed=seed))  # copies copy the agent
    if not isinstance(player, (Agent, Search)):
        if callable(player):
            return player
        raise TypeError(f"an agent is a spec, an Agent, a Search or a function of a State, not {type(player).__name__}")
    if player.game != game:
        raise ValueError(f"{player!r} plays {player.game!r}, not {game!r}")
    if isinstance(player, Agent):
        return functools.partial(Agent.act, player)
    search, lock = player, threading.Lock()

    def choose(state: State) -> int:
        with lock:  # another thread may play another game of the match
            return search.run(state).action

    return choose


def player_name(player: Any) -> str:
    """The name of a player without a spec, as the specs of a match have it."""
    name = getattr(player, "__name__", type(player).__name__)
    return re.sub(r"\W+", "_", str(name)).strip("_") or "function"
