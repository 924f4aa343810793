"""A stand-in for the contest's `core`: the colours."""

from enum import Enum


class Color(Enum):
    """A player's colour has the player's number."""

    white = -1
    empty = 0
    green = 1
