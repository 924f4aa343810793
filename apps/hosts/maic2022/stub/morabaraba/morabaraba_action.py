"""The contest's actions."""

from enum import Enum


class MorabarabaActionType(Enum):
    """The kinds of actions."""

    ADD = 1
    MOVE = 2
    STEAL = 3
    FLY = 4


ARGUMENTS = {"ADD": {"to"}, "MOVE": {"at", "to"}, "STEAL": {"at"}, "FLY": {"at", "to"}}


class MorabarabaAction:
    """An action: its type, and cells as tuples (x, y)."""

    def __init__(self, action_type, **cells):
        assert set(cells) == ARGUMENTS[action_type.name], f"{action_type.name} with {sorted(cells)}"
        assert all(isinstance(cell, tuple) for cell in cells.values())
        self.action_type = action_type
        self.action = cells

    def get_action_as_dict(self):
        return {"action_type": self.action_type, "action": self.action}

    def __repr__(self):
        return str(self.get_action_as_dict())
