"""Render modes of the environments."""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np

from ._turnstone import State, _rasterize

__all__ = ["RENDER_MODES", "RenderMode", "rendered"]

RenderMode = Literal["human", "ansi", "svg", "rgb_array"]
RENDER_MODES: tuple[RenderMode, ...] = ("human", "ansi", "svg", "rgb_array")


def rendered(state: State, mode: str) -> str | np.ndarray[Any, Any] | None:
    """A position drawn in a render mode."""
    if mode == "human":
        print(state.board(), file=sys.stdout, flush=True)
        return None
    if mode == "ansi":
        return state.board()
    if mode == "svg":
        return state.svg()
    return _rasterize(state.svg())
