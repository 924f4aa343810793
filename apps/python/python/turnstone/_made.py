"""Arguments that the environments share: a game with its parameters, and actions."""

from __future__ import annotations

import functools
import inspect
import operator
from typing import Any, Callable, Mapping, ParamSpec, TypeVar

import numpy as np

from ._turnstone import _game

__all__ = ["action_index", "checked_options", "takes_game"]

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
