"""A stand-in for Pyro's Konane world without its window, for the tests.

    world.py GAMES

Prints its two ports, and a line for every game. It ends when so many games are over and the players have left; an illegal
move, or a player who speaks out of turn, ends it with an error.
"""

import os
import pickle
import random
import socket
import sys
import threading

import konane


class World:
    """The board and whose move it is."""

    def __init__(self, ports):
        self.ports = ports
        self.lock = threading.Lock()
        self.games = 0
        self.reset()

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


def serve(listener, world, player):
    connection, _ = listener.accept()
    while True:
        request = connection.recv(1024)  # a request is whatever arrives at a time
        if not request:
            return
        try:
            with world.lock:
                answer = pickle.dumps(world.process(request.decode(), player), 0)
        except Exception as error:
            print(f"world: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        connection.sendall(answer)


random.seed(1)
listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
world = World([listener.getsockname()[1] for listener in listeners])
print(*world.ports, flush=True)
threads = [threading.Thread(target=serve, args=(listeners[i], world, i)) for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert world.games == int(sys.argv[1]), f"{world.games} games"
