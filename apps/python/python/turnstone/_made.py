"""The game of an environment's arguments."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict

from ._turnstone import Game, _game

__all__ = ["made"]


def made(game: str | Game | type[Game], params: Dict[str, Any], call: Callable[..., Any]) -> Game:
    """A game, or the one of a name and parameters.

    Args:
        call: what was called with them: a parameter that does not exist may be one of its keyword arguments misspelt.
    """
    parameters = inspect.signature(call).parameters.values()
    keywords = [each.name for each in parameters if each.kind is not inspect.Parameter.VAR_KEYWORD]
    return _game(game, params, [name for name in keywords if name != "game"])
