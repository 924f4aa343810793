"""A stand-in for Pyro's random Konane player, for the tests: its requests, and Python's own unpickler for the answers.

    player.py PORT

Plays until the world has gone, jumps in single steps, and asks for a new game when it has lost one. As in Pyro's, an
answer that is no pickle is taken as it is.
"""

import pickle
import random
import socket
import sys
import time

import konane


def ask(connection, request):
    connection.sendall(request.encode())
    answer = connection.recv(4096)
    if not answer:
        sys.exit(0)
    try:
        return pickle.loads(answer.strip())
    except pickle.UnpicklingError:
        return answer.decode()


def steps(command):
    """The single jumps of a jump."""
    name, numbers = command[:-1].split("(")
    numbers = numbers.split(",")
    if len(numbers) <= 4:
        return [command]
    return [f"{name}({','.join(numbers[i : i + 4])})" for i in range(0, len(numbers) - 2, 2)]


port = int(sys.argv[1])
random.seed(port)
connection = socket.create_connection(("127.0.0.1", port))
me = ask(connection, f"connectionNum:{port}")
assert ask(connection, "properties") == ["world", "whosMove", "board"]
assert ask(connection, "radius") == "error"
while True:
    if ask(connection, "whosMove") != me:
        time.sleep(0.001)
        continue
    commands = konane.legal(ask(connection, "board"), "OX"[me])
    if not commands:
        assert ask(connection, "reset") == "ok"
        continue
    for step in steps(random.choice(commands)):
        assert ask(connection, step) == "ok", step
    assert ask(connection, "done") == "ok"
