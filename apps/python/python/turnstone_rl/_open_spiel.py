"""Games of OpenSpiel by OpenSpiel's own strings."""

from __future__ import annotations

import importlib
import math
import re
from bisect import bisect_left
from typing import Any

import numpy as np
import numpy.typing as npt

from ._turnstone import Game

__all__ = ["OpenSpielGame", "open_spiel"]

BITS = 8 * 510
"""Most bits of the moves in a key of 512 bytes."""

POINTS = 1024
"""Most points of a plane."""

DECIDED = frozenset(
    "amazons breakthrough clobber connect_four dots_and_boxes gomoku havannah hex mancala mnk nim othello oware pentago shogi "
    "tic_tac_toe twixt ultimate_tic_tac_toe xiangqi y".split()
)
"""Games whose tensor, with the player to move, decides the legal actions. Others see the legal actions in planes of their own:
the tensor of chess does not show which pawn may be taken en passant, that of checkers not which piece must go on jumping."""

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
"""Colours of a terminal."""

Map = npt.NDArray[np.int64]


def open_spiel(game: str) -> Game:
    """A game of OpenSpiel by OpenSpiel's own string: `open_spiel("hex(board_size=5)")`.

    Two players move in turns with perfect information and without chance, and one's gain is the other's loss; other games are
    refused with the reason. Wherever a name is accepted, `open_spiel:hex(board_size=5)` is the same game. Needs `open_spiel`.
    """
    return OpenSpielGame(_text(_loaded(game)))


def _pyspiel() -> Any:
    try:
        return importlib.import_module("pyspiel")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("games of OpenSpiel need the package open_spiel: pip install open_spiel", name=error.name)


def _loaded(text: str) -> Any:
    pyspiel = _pyspiel()
    try:
        return pyspiel.load_game(text)
    except (pyspiel.SpielError, LookupError, RuntimeError, TypeError, ValueError) as error:  # what OpenSpiel's code in C++ throws
        raise ValueError(f"{text}: {(str(error).splitlines() or ['OpenSpiel does not load it'])[0]}") from None


def _text(game: Any) -> str:
    """The string of a game, the same for all ways to write it."""
    return str(game).removesuffix("()")


def _refusal(game: Any) -> str | None:
    """Why a game is not of the kind that is searched and learned here."""
    kind, spiel = game.get_type(), _pyspiel().GameType
    if kind.dynamics != spiel.Dynamics.SEQUENTIAL:
        return "its players do not move in turns"
    if kind.chance_mode != spiel.ChanceMode.DETERMINISTIC:
        return "it has chance"
    if kind.information != spiel.Information.PERFECT_INFORMATION:
        return "it has hidden information"
    if game.num_players() != 2:
        return f"it is for {game.num_players()} player{'s'[: game.num_players() > 1]}, not for two"
    if kind.utility != spiel.Utility.ZERO_SUM:
        return "one player's gain is not the other's loss"
    if not kind.provides_observation_tensor:
        return "it has no observation tensor"
    if not 1 <= game.num_distinct_actions() <= 65534:
        return f"it has {game.num_distinct_actions()} actions, but 1 to 65534 are allowed"
    planes, height, width = _shape(game)
    if planes > 900 or height * width > POINTS:
        return f"its observation has {planes} planes of {height * width} points, but 900 of {POINTS} are allowed"
    return None


def _shape(game: Any) -> tuple[int, int, int]:
    """Planes, height and width of a game's tensor."""
    shape = [int(length) for length in game.observation_tensor_shape()]
    if len(shape) == 3 and "HWC" in str(game.observation_tensor_layout()):
        return shape[2], shape[0], shape[1]
    if len(shape) == 3:
        return shape[0], shape[1], shape[2]
    if len(shape) == 2 and math.isqrt(shape[1]) ** 2 == shape[1]:
        return shape[0], math.isqrt(shape[1]), math.isqrt(shape[1])
    return (shape[0], 1, shape[1]) if len(shape) == 2 else (1, 1, math.prod(shape))


class _Position:
    """A state of OpenSpiel, with the answers to most questions and the moves to it as one number."""

    __slots__ = ("legal", "mover", "number", "outcome", "plies", "state", "texts", "weight")

    def __init__(self, state: Any, mover: int, plies: int, number: int, weight: int) -> None:
        self.state, self.plies, self.number, self.weight = state, plies, number, weight
        self.outcome: int | str | None = None
        self.legal: list[int] = []
        self.texts: dict[int, str] | None = None
        self.mover = mover
        if state.is_terminal():
            result = state.returns()[0]
            self.outcome = (result > 0) - (result < 0)
            return
        self.mover = state.current_player()
        self.legal = state.legal_actions()
        if (weight * len(self.legal)).bit_length() > BITS or plies == 65535:
            self.outcome = "truncated"


class OpenSpielGame(Game):
    """A game of OpenSpiel.

    The key of a state is the moves from the start, since OpenSpiel does not say what else decides the future: their number, and
    the place of each among the legal actions, as the digits of one number whose bases are the numbers of legal actions. A game
    that has no room for one more move is truncated.

    Observations are OpenSpiel's tensor for the player to move, a plane that is 1 if that is player 1, and for most games the
    legal actions.
    """

    name = "open_spiel"

    def __init__(self, game: str = "tic_tac_toe") -> None:
        loaded = _loaded(game)
        reason = _refusal(loaded)
        if reason is None:
            try:
                # Some options put chance before the first move, or are refused only here.
                if loaded.new_initial_state().is_chance_node():
                    reason = "it has chance"
                observer = _pyspiel()._Observation(loaded, loaded.make_observer({}))
            except _pyspiel().SpielError as error:
                reason = str(error).splitlines()[0]
        if reason is not None:
            raise ValueError(f"{_text(loaded)}: {reason}")
        self._game = loaded
        self.num_actions = loaded.num_distinct_actions()
        self._tensor, self._is_transposed = _shape(loaded), "HWC" in str(loaded.observation_tensor_layout())
        points = self._tensor[1] * self._tensor[2]
        self._scattered = 0
        self._legal_planes = 0
        if loaded.get_type().short_name not in DECIDED:
            # The last actions, of which few are left, such as a pass, have planes of their own.
            whole, left = divmod(self.num_actions, points)
            self._scattered = left if left <= 4 else 0
            self._legal_planes = whole + (left if left <= 4 else 1)
        self.observation_shape = (self._tensor[0] + 1 + self._legal_planes, *self._tensor[1:])
        self._observer = observer
        self._seen = np.frombuffer(self._observer, np.float32)
        self._images: dict[bytes, Map] = {}
        self.symmetries = _symmetries(loaded, self._tensor[1:])
        for images, actions in self.symmetries:
            self._images[images.tobytes()] = actions

    def initial_state(self) -> _Position:
        """No moves."""
        return _Position(self._game.new_initial_state(), 0, 0, 0, 1)

    def key(self, state: _Position) -> bytes:
        """The number of moves in two bytes, and the moves in the others."""
        number = state.number
        return state.plies.to_bytes(2, "little") + number.to_bytes((number.bit_length() + 7) // 8, "little")

    def from_key(self, key: bytes) -> _Position:
        """The position after the moves, which are played again."""
        state, left = self.initial_state(), int.from_bytes(key[2:], "little")
        for _ in range(int.from_bytes(key[:2], "little")):
            if state.outcome is not None:
                raise ValueError("the moves go on after the end of the game")
            left, place = divmod(left, len(state.legal))
            state = self.play(state, state.legal[place])
        return state

    def play(self, state: _Position, action: int) -> _Position:
        """The state with one more move."""
        legal = state.legal
        number, weight = state.number + state.weight * bisect_left(legal, action), state.weight * len(legal)
        return _Position(state.state.child(action), 1 - state.mover, state.plies + 1, number, weight)

    def expand(self, states: list[_Position]) -> tuple[list[int], list[int | str | None], list[list[int]], None]:
        """The players to move (in a finished game the one who has not moved last), the signs of player 0's returns and
        OpenSpiel's legal actions.
        """
        movers, outcomes, legal = [], [], []
        for state in states:
            movers.append(state.mover)
            outcomes.append(state.outcome)
            legal.append(state.legal)
        return movers, outcomes, legal, None

    def observation_many(self, states: list[_Position]) -> npt.NDArray[np.float32]:
        """OpenSpiel's tensors, the players to move, and the legal actions."""
        planes, height, width = self._tensor
        seen = np.zeros((len(states), *self.observation_shape), np.float32)
        flat = seen.reshape(len(states), -1)
        points, tensor = height * width, planes * height * width
        whole = self.num_actions - self._scattered
        for row, state in enumerate(states):
            self._observer.set_from(state.state, state.mover)
            if self._is_transposed:
                seen[row, :planes] = self._seen.reshape(height, width, planes).transpose(2, 0, 1)
            else:
                flat[row, :tensor] = self._seen
            if state.mover:
                seen[row, planes] = 1
            if self._legal_planes and state.outcome is None:
                legal = np.asarray(state.legal)
                flat[row, tensor + points + legal[legal < whole]] = 1
                for action in legal[legal >= whole].tolist():
                    seen[row, action - self.num_actions] = 1
        return seen

    def move_text(self, state: _Position, action: int) -> str:
        """OpenSpiel's text of a legal action, or its number where that is no word of its own."""
        if state.texts is None:
            texts = ["_".join(state.state.action_to_string(state.mover, each).split()) for each in state.legal]
            state.texts = {
                each: text if text and texts.count(text) == 1 else str(each) for each, text in zip(state.legal, texts)
            }
        return state.texts[action]

    def position_text(self, state: _Position) -> str:
        """The numbers of the moves from the start."""
        return ",".join(map(str, state.state.history())) or "start"

    def parse_position(self, text: str) -> _Position:
        """The position after moves from the start."""
        try:
            return self._played([] if text == "start" else [int(action) for action in text.split(",")])
        except ValueError as error:
            raise ValueError(f"moves are numbers of actions with commas between them, or `start`: {error}") from None

    def draw(self, state: _Position) -> str:
        """OpenSpiel's drawing, whose frame hardly changes with the numbers in it."""
        first, *others = ESCAPES.sub("", str(state.state)).strip("\n").splitlines() or [""]
        width = max(map(len, [first, *others]))
        return "\n".join([first.ljust(width + -width % 8), *others])

    def permuted(self, state: _Position, points: Map) -> _Position:
        """The position after the images of the moves."""
        actions = self._images[points.tobytes()]
        return self._played([int(actions[action]) for action in state.state.history()])

    def _played(self, moves: list[int]) -> _Position:
        state = self.initial_state()
        for action in moves:
            if state.outcome is not None or action not in state.legal:
                raise ValueError(f"action {action} is not legal as move {state.plies + 1}")
            state = self.play(state, action)
        return state


def _symmetries(game: Any, board: tuple[int, int]) -> list[tuple[Map, Map]]:
    """The symmetries that are known of a game, but the identity: images of the points, and of the actions."""
    name, params, actions = game.get_type().short_name, game.get_parameters(), game.num_distinct_actions()
    height, width = board
    rows, columns = np.divmod(np.arange(height * width), width)
    last_row, last_column = height - 1 - rows, width - 1 - columns
    mirrored = rows * width + last_column
    if name == "connect_four":
        return [(mirrored, np.arange(actions)[::-1])]
    if name == "breakthrough":
        # An action is a cell, one of two times three directions from left to right, and whether it captures.
        every = np.arange(actions)
        cell, direction, captures = every // 12, every % 12 // 2, every % 2
        return [(mirrored, 12 * mirrored[cell] + 2 * (2 - direction % 3 + direction // 3 * 3) + captures)]
    if height != width:
        return []
    turned = [last_row * width + last_column, columns * width + rows, last_column * width + last_row]
    every_turn = [*turned, mirrored, last_row * width + columns, columns * width + last_row, last_column * width + rows]
    if name == "othello":
        images = turned
    elif name in ("tic_tac_toe", "mnk") or (name == "gomoku" and params.get("dims", 2) == 2):
        images = every_turn
    elif name == "go" and not params.get("handicap", 0):
        images = every_turn
    else:
        return []
    passes = np.arange(height * width, actions)
    return [(image, np.concatenate([image, passes])) for image in images]
