"""An agent for the notebook's `Game` package (bblais/Game) that lets `turnstone engine` play Mu Torere.

    from turnstone_agent import turnstone_agent
    g = Game()
    g.run(turnstone_agent(g), random_agent)

It needs the `Game` package and the standard library. TURNSTONE in the environment names the program (`turnstone`, found
on the PATH), TURNSTONE_AGENT the agent.
"""

import os
import subprocess
import weakref

from Game import Agent

AGENT = "az:pretrained,sims=64"


def turnstone_agent(game):
    """An `Agent` for games of this `Game`, as player 1 or 2. Its engine ends with it, or with the process."""
    engine = Engine()

    def move(state, player):
        board = "".join(str(int(state[square])) for square in range(9))
        chosen = [int(square) for square in engine.best(f"{board} {player} 0").split(",")]
        valid = game.valid_moves(state, player)
        if chosen not in [list(move) for move in valid]:
            raise ValueError(f"the engine moves {chosen}, which is none of {valid}: does the game have other rules?")
        return chosen

    return Agent(move)


class Engine:
    """A `turnstone engine` for Mu Torere, over the Universal Game Interface."""

    def __init__(self):
        program = os.environ.get("TURNSTONE", "turnstone")
        agent = os.environ.get("TURNSTONE_AGENT", AGENT)
        command = [program, "engine", "mu_torere", "--agent", agent]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, universal_newlines=True, bufsize=1)
        weakref.finalize(self, end, self.process)

    def best(self, position):
        """The engine's move in a position, as `start,end`."""
        try:
            self.process.stdin.write(f"position fen {position}\ngo\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, which the end of its output says too
        for line in self.process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "bestmove":
                return rest
            if rest.startswith("string error:"):
                raise ValueError(f"the engine refuses {position}: {rest}")
        raise RuntimeError(f"the engine has ended with status {self.process.wait()}")


def end(process):
    """Ends an engine. At the end of its input it leaves by itself."""
    try:
        process.stdin.close()
        process.wait(timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        process.kill()
        process.wait()
