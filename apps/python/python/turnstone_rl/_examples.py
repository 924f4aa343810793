"""Training examples of self-play."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._turnstone import Outcome

__all__ = ["Examples"]


@dataclass(frozen=True)
class Examples:
    """The recorded positions of one or more finished games; `rows` is their number.

    Unpacks into the four arrays that a learner needs::

        for observations, policies, values, masks in self_play: ...
    """

    observations: npt.NDArray[np.float32]
    """`[rows, planes, height, width]`, as seen by the player to move."""
    policies: npt.NDArray[np.float32]
    """`[rows, actions]`: policy target, the search's probabilities, in the order of the network's policy vector."""
    values: npt.NDArray[np.float32]
    """`[rows]`: value target, the result of the game for the player to move: 1, 0 or -1."""
    masks: npt.NDArray[np.bool_]
    """`[rows, actions]`: the legal actions, in the order of the network's policy vector."""
    search_values: npt.NDArray[np.float32]
    """`[rows]`: the search's value of the position for the player to move, -1 to 1."""
    plies_left: npt.NDArray[np.int64]
    """`[rows]`: number of plies from the position to the end of the game."""
    game_ends: npt.NDArray[np.int64]
    """`[games]`: the row after the last one of each game."""
    outcomes: list[Outcome] = field(default_factory=list)
    """How each game ended."""
    game_lengths: list[int] = field(default_factory=list)
    """Number of plies of each game, unrecorded ones included."""

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return iter((self.observations, self.policies, self.values, self.masks))

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def concatenate(cls, parts: list[Examples]) -> Examples:
        """The examples of several parts in one."""
        if not parts:
            raise ValueError("there are no examples to concatenate")
        joined: dict[str, Any] = {}
        for each in fields(cls):
            values = [getattr(part, each.name) for part in parts]
            if isinstance(values[0], list):
                joined[each.name] = [item for value in values for item in value]
            else:
                joined[each.name] = np.concatenate(values)
        starts = np.cumsum([0] + [len(part) for part in parts[:-1]])
        joined["game_ends"] = np.concatenate([part.game_ends + start for part, start in zip(parts, starts)])
        return cls(**joined)
