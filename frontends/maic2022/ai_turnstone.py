"""A player for MAIC 2022 (Morabaraba) that lets `turnstone engine` choose its actions.

It needs the contest's modules and the standard library only. From the environment it takes
TURNSTONE          the program (`turnstone`, found on the PATH)
TURNSTONE_AGENT    the agent (`alphabeta`)
TURNSTONE_SECONDS  most seconds for an action (10); less where the time left asks for it

The engine is started with the player and ends with it, or with the process. Whatever goes wrong there, the player still
returns a legal action and says why on standard error.
"""

import os
import queue
import random
import subprocess
import sys
import threading
import time
import weakref

from morabaraba.morabaraba_player import MorabarabaPlayer
from morabaraba.morabaraba_rules import MorabarabaRules

PROGRAM = os.environ.get("TURNSTONE", "turnstone")
AGENT = os.environ.get("TURNSTONE_AGENT", "alphabeta")
MOST = float(os.environ.get("TURNSTONE_SECONDS", "10"))

# The share of the time left that an action may take, the time that is kept back, and the least that is worth asking the
# engine for, in seconds.
SHARE = 1 / 30
KEPT = 0.15
LEAST = 0.002

# The share of the time left after which an engine that does not answer is given up, and how often in a game.
PATIENCE = 1 / 4
FAILURES = 2

# How long the engine may take to start before the first game, in seconds: no clock runs then.
STARTING = 30.0

# The limits of the rules that the engine plays by: plies without a shot, and in flight.
QUIET_LIMIT = 50
FLY_LIMIT = 10

POINTS = "a1 a4 a7 b2 b4 b6 c3 c4 c5 d1 d2 d3 d5 d6 d7 e3 e4 e5 f2 f4 f6 g1 g4 g7".split()
NAMES = {(int(name[1]) - 1, ord(name[0]) - ord("a")): name for name in POINTS}


class EngineError(Exception):
    """The engine does not answer, or not as it should."""


class Engine:
    """A `turnstone engine` for Morabaraba, over the Universal Game Interface."""

    def __init__(self, patience):
        command = [PROGRAM, "engine", "morabaraba", "--agent", AGENT]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, universal_newlines=True, bufsize=1)
        self.close = weakref.finalize(self, end, self.process)
        self.lines = queue.Queue()
        threading.Thread(target=collect, args=(self.process.stdout, self.lines), daemon=True).start()
        self.send("ugi", "uginewgame", "isready")
        self.wait_for("readyok", patience)

    def send(self, *lines):
        try:
            self.process.stdin.write("".join(line + "\n" for line in lines))
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise EngineError("the engine has gone") from error

    def wait_for(self, word, patience):
        """What follows the next line that begins with this word, within so many seconds."""
        deadline = time.perf_counter() + patience
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.perf_counter()))
            except queue.Empty:
                raise EngineError(f"the engine sends no `{word}` in time") from None
            if line is None:
                raise EngineError("the engine has ended")
            first, _, rest = line.strip().partition(" ")
            if first == word:
                return rest
            if rest.startswith("string error:"):
                raise EngineError(rest)

    def best(self, position, seconds, patience):
        """The engine's action in a position, by its text, after so many seconds."""
        self.send(f"position fen {position}", f"go movetime {int(1000 * seconds)}")
        return self.wait_for("bestmove", patience)


def end(process):
    """Ends an engine, politely if it listens. Holds no reference to the Engine, which may be gone."""
    try:
        process.stdin.write("quit\n")
        process.stdin.close()
        process.wait(timeout=0.5)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        process.kill()
        process.wait()


def collect(stream, lines):
    """Puts an engine's lines into a queue, and None after the last."""
    for line in stream:
        lines.put(line)
    lines.put(None)


class AI(MorabarabaPlayer):
    """The contest's player."""

    name = "Turnstone"

    def __init__(self, color):
        super().__init__(color)
        self.position = color.value
        self.engine = None
        self.failures = 0
        self.start(STARTING)

    def reset_player_informations(self):
        """Called by the contest before a new game."""
        super().reset_player_informations()
        self.failures = 0
        if self.engine is None:
            self.start(STARTING)
        else:
            try:
                self.engine.send("uginewgame")
            except EngineError as error:
                self.give_up(error)

    def play(self, state, remain_time):
        """The action for the player's next ply; a shot is a ply of its own."""
        legal = {text(action): action for action in MorabarabaRules.get_player_actions(state, self.position)}
        if not legal:
            return None
        chosen = None
        seconds = min(MOST, SHARE * (remain_time - KEPT))
        if len(legal) > 1 and seconds >= LEAST:
            chosen = self.ask(describe(state, self.position, self.color), seconds, PATIENCE * remain_time)
        if chosen is not None and chosen not in legal:
            complain(f"{chosen} is not legal here")
        return legal.get(chosen) or random.choice(list(legal.values()))

    def ask(self, position, seconds, patience):
        """The engine's action, or None if there is none to be had in time."""
        try:
            if self.engine is None and self.failures < FAILURES:
                self.start(patience / 2)
            if self.engine is not None:
                return self.engine.best(position, seconds, patience)
        except EngineError as error:
            self.give_up(f"{error} ({position})")
        return None

    def start(self, patience):
        try:
            self.engine = Engine(patience)
        except (OSError, EngineError) as error:
            self.failures += 1
            complain(error)

    def give_up(self, reason):
        self.failures += 1
        complain(reason)
        self.engine.process.kill()
        self.engine.close()
        self.engine = None


def complain(reason):
    print(f"ai_turnstone: {reason}", file=sys.stderr)


def text(action):
    """An action of the contest in the engine's notation."""
    cells = {key: NAMES[int(x), int(y)] for key, (x, y) in action.get_action_as_dict()["action"].items()}
    if action.action_type.name == "STEAL":
        return "x" + cells["at"]
    return "-".join(cells[key] for key in ("at", "to") if key in cells)


def describe(state, player, color):
    """A state of the contest in the engine's notation."""
    pieces = {side: state.get_board().get_player_pieces_on_board(type(color)(side)) for side in (-1, 1)}
    owner = {NAMES[int(x), int(y)]: "B" if side == -1 else "W" for side in pieces for x, y in pieces[side]}
    board = "".join(owner.get(name, ".") for name in POINTS)
    hands = state.in_hand
    placing = hands[-1] > 0 or hands[1] > 0
    quiet, fly = counts(state, pieces, placing)
    shooting = "x" if state.mill else "-"
    banned = " ".join("-" if placing else forbidden(state, side) for side in (-1, 1))
    mover = "B" if player == -1 else "W"
    return f"{board} {mover} {hands[-1]} {hands[1]} {shooting} {quiet} {fly} {banned}"


def counts(state, pieces, placing):
    """The counts of plies without a shot and in flight, as the engine has them.

    The contest's limits can be other ones: what matters is how many plies are left until the end.
    """
    quiet, fly = state.boring_moves, 0
    if not placing:
        if any(len(cows) == 3 for cows in pieces.values()):
            fly = min(getattr(state, "fly_moves", 0), FLY_LIMIT - 1)
        nobody_shot = len(pieces[-1]) + len(pieces[1]) == 24
        least = 24 if nobody_shot else max(fly, int(state.mill))
        quiet = max(least, min(quiet - (state.just_stop - QUIET_LIMIT), QUIET_LIMIT - 1))
    return quiet, fly


def forbidden(state, side):
    """The mills that a side has just broken and may not form by its next move."""
    attribute = "player1_forbidden_mill" if side == -1 else "player2_forbidden_mill"
    is_any, mills = getattr(state, attribute, (False, None))
    names = ["".join(sorted(NAMES[int(x), int(y)] for x, y in mill)) for mill in mills or []]
    return ",".join(names) if is_any and names else "-"
