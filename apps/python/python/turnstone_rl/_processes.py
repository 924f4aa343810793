"""Self-play in several processes, each with an interpreter of its own."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing.connection import Connection, wait
from typing import Any, cast

from . import _turnstone
from ._turnstone import Game, GameError

PAUSE = 0.05
"""Seconds for which `played` waits, so that Ctrl-C is seen in between."""


class Processes:
    """Processes that play the games of a run, each by its number: they take the next one from a counter that all share, so a
    game does not depend on who plays it.
    """

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._next = context.Value("q", 0)
        self._end = 0
        self._children: dict[Any, Any] = {}
        try:
            for _ in range(count):
                connection, its_own = context.Pipe()
                child = context.Process(target=_serve, args=(its_own, self._next), daemon=True)
                self._children[connection] = child
                child.start()
                its_own.close()
        except BaseException:
            self.close()
            raise

    def begin(self, game: Game, task: tuple[str, bytes, list[float]], games: int) -> None:
        """Begins the games of an iteration. Those of the last one are over."""
        first, self._end = self._end, self._end + games
        for connection in self._children:
            try:
                connection.send((game, task, first, self._end))
            except OSError:
                raise self._ended(connection) from None

    def played(self) -> list[tuple[int, bytes]]:
        """The numbers and transcripts of the games that have been finished since the last call. It waits for a moment."""
        games: list[tuple[int, bytes]] = []
        for connection in cast("list[Connection]", wait(list(self._children), PAUSE)):
            try:
                found = connection.recv()
            except (EOFError, OSError):
                raise self._ended(connection) from None
            if isinstance(found, str):
                raise GameError(found)
            games.append(found)
        return games

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the processes."""
        for connection, child in self._children.items():
            connection.close()
            if child.pid is not None:
                child.terminate()
                child.join()

    def _ended(self, connection: Any) -> ChildProcessError:
        child = self._children[connection]
        child.join(1)
        why = f"a process of self-play has ended with exit code {child.exitcode}"
        if child.exitcode == 1:
            why += ', as it says above; a script that starts processes trains under `if __name__ == "__main__":`'
        return ChildProcessError(why)


def _serve(connection: Connection, next_number: Any) -> None:
    """Plays games until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process closes this one
    while True:
        try:
            game, task, first, end = connection.recv()
            _turnstone._play_games(game, task, lambda: _take(next_number, first, end), lambda *played: connection.send(played))
        except (EOFError, BrokenPipeError):
            return
        except Exception as error:
            connection.send(str(error))


def _take(next_number: Any, first: int, end: int) -> int | None:
    """The number of the next game of an iteration that has those from `first` to before `end` of all games."""
    with next_number.get_lock():
        number: int = next_number.value
        if number >= end:
            return None
        next_number.value = number + 1
    return number - first
