"""A stand-in for Pyro's Konane world without its window, for the tests.

    world.py GAMES

Prints its two ports, and a line for every game. It ends when this number of games is over and the players have left. As
in Pyro's, one player at a time has a port, `done` is answered without pickling, `disconnect` not at all, and a player who
goes without a `disconnect` takes everyone's connection along. Other than in Pyro's, an illegal move, or a player who speaks
out of turn, ends it with an error.
"""

import os
import pickle
import random
import socket
import sys
import threading

import konane


class World:
    """The board and whose move it is, and who is there."""

    def __init__(self, ports, games):
        self.ports = ports
        self.lock = threading.Lock()
        self.last_game = games
        self.games = 0
        self.connections = set()
        self.reset()

    def leave(self, connection, is_polite):
        """Closes a connection, and all others too after one that broke off."""
        with self.lock:
            self.connections.discard(connection)
            connection.close()
            if not is_polite:
                for other in self.connections:
                    other.shutdown(socket.SHUT_RDWR)
            if self.games >= self.last_game and not self.connections:
                os._exit(int(self.games > self.last_game))

    def reset(self):
        self.board = konane.full_board()
        self.mover = random.randrange(2)
        self.moves = 0
        self.played = False

    def process(self, request, player):
        piece = "OX"[self.mover]
        if request.startswith("connectionNum:"):
            return self.ports.index(int(request.split(":")[1]))
        if request == "whosMove":
            return self.mover
        if request == "board":
            return self.board
        if request == "properties":
            return ["world", "whosMove", "board"]
        if request == "reset":
            assert not konane.legal(self.board, piece), "reset within a game"
            self.reset()
        elif request == "done":
            assert player == self.mover and self.played, "done without a move"
            self.mover, self.played, self.moves = 1 - self.mover, False, self.moves + 1
            if not konane.legal(self.board, "OX"[self.mover]):
                self.games += 1
                print(f"game {self.games}: {piece} wins after {self.moves} moves", flush=True)
        else:
            assert player == self.mover and not self.played, f"{request} out of turn"
            assert request in konane.legal(self.board, piece), f"{request} is not legal"
            konane.play(self.board, request)
            self.played = True
        return "ok"

    def answer(self, request, player):
        """The bytes of an answer."""
        with self.lock:
            answer = self.process(request, player)
        return answer.encode() if request == "done" else pickle.dumps(answer, 0)


def serve(listener, world, player):
    while True:
        connection, _ = listener.accept()
        world.connections.add(connection)
        request = talk(connection, world, player)
        world.leave(connection, is_polite=request == "disconnect")


def talk(connection, world, player):
    """Answers requests until the player leaves; the last one."""
    while True:
        try:
            request = connection.recv(1024).decode().strip()  # a request is whatever arrives at a time
            if request in ("", "disconnect"):
                return request
            answer = world.answer(request, player)
        except OSError:
            return ""
        except Exception as error:
            print(f"world: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        try:
            connection.sendall(answer)
        except OSError:
            return ""


random.seed(1)
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
world = World([listener.getsockname()[1] for listener in listeners], int(sys.argv[1]))
print(*world.ports, flush=True)
for i in range(2):
    threading.Thread(target=serve, args=(listeners[i], world, i)).start()
