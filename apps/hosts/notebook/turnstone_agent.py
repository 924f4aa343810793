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
from copy import deepcopy

from Game import Agent

AGENT = "az:pretrained,sims=64"

# The search for repetitions ends at this depth, or after this number of positions.
DEPTH = 40
POSITIONS = 5_000


def turnstone_agent(game):
    """An `Agent` for games of this `Game`, as player 1 or 2. Its engine ends with it, or with the process."""
    engine = Engine()
    graph = Graph(game)

    def move(state, player, agent):
        board = squares(state)
        valid = [list(move) for move in game.valid_moves(state, player)]
        candidates = valid
        if getattr(game, "check_repeated_states", False):
            candidates = best_without_repetition(graph, state, player, visited(game, player, agent))
        if len(candidates) == 1:
            return candidates[0]
        chosen = engine.best(board, player)
        if chosen not in valid:
            raise ValueError(f"the engine moves {chosen}, which is none of {valid}: does the game have other rules?")
        if chosen not in candidates:
            chosen = min(candidates, key=lambda move: engine.expectation(graph.after(state, player, move), 3 - player))
        return chosen

    return Agent(move)


def squares(state):
    """A state as a text of nine digits."""
    return "".join(str(int(state[square])) for square in range(9))


class Graph:
    """The positions of a game by its own functions, each looked at once."""

    def __init__(self, game):
        self.game = game
        self.known = {}

    def moves(self, state, player):
        """For each move: the move, the board after it, the state after it, and the package's status (`"win"`, None ...)."""
        key = squares(state), player
        if key not in self.known:
            moves = []
            for move in self.game.valid_moves(state, player):
                after = self.game.update_state(deepcopy(state), player, move)
                moves.append((list(move), squares(after), after, self.game.win_status(after, player)))
            self.known[key] = moves
        return self.known[key]

    def after(self, state, player, move):
        """The board after a move."""
        return next(board for other, board, _, _ in self.moves(state, player) if other == move)


def visited(game, player, agent):
    """The boards at which each player has been to move, before this turn, by player.

    The package keeps the states of an agent's own turns. One agent may have both seats.
    """
    states = [squares(state) for state in agent.states]
    if len(states) == agent.move_count - 1:
        return {1: set(states[0::2]), 2: set(states[1::2])}
    given = (game.update_state(deepcopy(s), player, a) for s, a in zip(agent.states, agent.actions))
    seen = {player: set(states), 3 - player: {squares(state) for state in given}}
    if player == 2:
        present = game.state
        seen[1].add(squares(game.initial_state()))  # which also puts the game there
        game.state = present
    return seen


def best_without_repetition(graph, state, player, seen):
    """The moves worth playing where a player who gives the other a position of an earlier turn loses.

    These are a move that wins by force, or else all that do not lose by force, as far as the search sees; or the moves
    that hold out longest.
    """
    seen[player].add(squares(state))
    remaining = [move for move, _, _, _ in graph.moves(state, player)]
    search = Search(graph, seen)
    for depth in range(DEPTH):
        values = search.values(state, player, depth)
        if values is None:
            break
        winning = [move for move, value in values if value > 0]
        if winning:
            return winning[:1]
        open_moves = [move for move, value in values if value == 0]
        if not open_moves:
            break
        remaining = open_moves
        if len(remaining) == 1:
            break
    return remaining


class Search:
    """Looks for forced wins and losses; a value is 1, 0 (not known, or neither) or -1 for the player to move."""

    def __init__(self, graph, seen):
        self.graph = graph
        self.seen = seen
        self.positions = 0

    def values(self, state, player, depth):
        """Each move with its value, looking `depth` plies beyond it; None if that takes too many positions."""
        try:
            return [(move[0], self.value_of(player, move, depth)) for move in self.graph.moves(state, player)]
        except OverflowError:
            return None

    def value_of(self, player, move, depth):
        _, board, after, status = move
        if status:
            return {"win": 1, "lose": -1}.get(status, 0)
        if board in self.seen[3 - player]:
            return -1
        return -self.value(board, after, 3 - player, depth) if depth > 0 else 0

    def value(self, board, state, player, depth):
        self.positions += 1
        if self.positions > POSITIONS:
            raise OverflowError
        self.seen[player].add(board)
        best = -1
        try:
            for move in self.graph.moves(state, player):
                best = max(best, self.value_of(player, move, depth - 1))
                if best > 0:
                    break
        finally:
            self.seen[player].discard(board)
        return best


class Engine:
    """A `turnstone engine` for Mu Torere, over the Universal Game Interface."""

    def __init__(self):
        program = os.environ.get("TURNSTONE", "turnstone")
        agent = os.environ.get("TURNSTONE_AGENT", AGENT)
        command = [program, "engine", "mu_torere", "--agent", agent]
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, universal_newlines=True, bufsize=1)
        except OSError as error:
            raise RuntimeError(f"TURNSTONE names the program {program!r}: {error.strerror}") from None
        self.names = f"TURNSTONE={program!r} with TURNSTONE_AGENT={agent!r}"
        weakref.finalize(self, end, self.process)
        self.ask("isready", "readyok")

    def best(self, board, player):
        """The engine's move, as [start, end]."""
        return [int(square) for square in self.search(board, player)[0].split(",")]

    def expectation(self, board, player):
        """The expected result for the player to move, from -1000 to 1000."""
        words = self.search(board, player)[1].split()
        if "wdl" not in words:
            return 0  # an agent that does not search
        at = words.index("wdl")
        return int(words[at + 1]) - int(words[at + 3])

    def search(self, board, player):
        """What follows `bestmove`, and the line before it."""
        return self.ask(f"position fen {board} {player} 0\ngo", "bestmove")

    def ask(self, lines, answer):
        """What follows the next line that begins with this word, and the line before it."""
        try:
            self.process.stdin.write(lines + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, which the end of its output says too
        before = ""
        for line in self.process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == answer:
                return rest, before
            if rest.startswith("string error:"):
                raise ValueError(f"the engine refuses {lines!r}: {rest}")
            before = line
        raise RuntimeError(f"{self.names}: the engine has ended with status {self.process.wait()}")


def end(process):
    """Ends an engine. At the end of its input it leaves by itself."""
    try:
        process.stdin.close()
        process.wait(timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        process.kill()
        process.wait()
