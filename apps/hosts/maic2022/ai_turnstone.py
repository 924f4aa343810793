"""A player for MAIC 2022 (Morabaraba) that lets `turnstone engine` choose its actions.

It needs the contest's modules and the standard library only. From the environment it takes
TURNSTONE          the program (`turnstone`, found on the PATH)
TURNSTONE_AGENT    the agent (`alphabeta`)
TURNSTONE_SECONDS  most seconds for an action (10); less where the time left asks for it

The engine is started with the player and ends with it, or with the process. Every action is the engine's: where there is
no engine, the player raises EngineError and does not play on.
"""

import os
import queue
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

# Own plies still expected, at any point of a game. Of 294 games at 5 s half had 67 plies or fewer, one in ten over 136.
EXPECTED = 40

# What is kept for plies of a fixed depth: a share of the game's time, or what LONGEST own plies take without their
# searches if that is more. A ply is taken to need OVERHEAD seconds at first; each has this weight in what is measured.
KEPT = 1 / 10
LONGEST = 200
OVERHEAD = 0.003
WEIGHT = 1 / 10

# The fewest seconds worth a search by time.
LEAST = 0.004

# The search for which there is always time: 0.1 ms with `alphabeta`, 1 ms with `az:pretrained`.
SMALL = "go depth 2"

# An engine that does not answer is given up after this share of the time left, at least PATIENT seconds. The first
# failure of a game has the engine started again, the second ends the game.
PATIENCE = 1 / 4
PATIENT = 1.0
FAILURES = 2

# Seconds that the engine may take to start before the first game: no clock runs then.
STARTING = 30.0

# The limits of the rules that the engine plays by: plies without a shot, and in flight.
QUIET_LIMIT = 50
FLY_LIMIT = 10

POINTS = "a1 a4 a7 b2 b4 b6 c3 c4 c5 d1 d2 d3 d5 d6 d7 e3 e4 e5 f2 f4 f6 g1 g4 g7".split()
NAMES = {(int(name[1]) - 1, ord(name[0]) - ord("a")): name for name in POINTS}


class EngineError(RuntimeError):
    """The engine cannot be started, does not answer, or answers with no legal action."""


class Engine:
    """A `turnstone engine` for Morabaraba, over the Universal Game Interface."""

    def __init__(self, patience):
        command = [PROGRAM, "engine", "morabaraba", "--agent", AGENT]
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, universal_newlines=True, bufsize=1)
        except OSError as error:
            raise EngineError(f"TURNSTONE names the program {PROGRAM!r}: {error.strerror}") from None
        self.close = weakref.finalize(self, end, self.process)
        self.lines = queue.Queue()
        threading.Thread(target=collect, args=(self.process.stdout, self.lines), daemon=True).start()
        try:
            self.send("ugi", "uginewgame", "isready")
            self.wait_for("readyok", patience)
        except EngineError as error:
            self.kill()
            raise EngineError(f"TURNSTONE={PROGRAM!r} with TURNSTONE_AGENT={AGENT!r}: {error}") from None

    def send(self, *lines):
        try:
            self.process.stdin.write("".join(line + "\n" for line in lines))
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise EngineError("the engine has ended") from None

    def wait_for(self, word, patience):
        """What follows the next line that begins with this word, within `patience` seconds."""
        deadline = time.perf_counter() + patience
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.perf_counter()))
            except queue.Empty:
                raise EngineError(f"the engine sends no `{word}` within {patience:.2f} s") from None
            if line is None:
                raise EngineError("the engine has ended")
            first, _, rest = line.strip().partition(" ")
            if first == word:
                return rest
            if rest.startswith("string error:"):
                raise EngineError(rest)

    def best(self, position, go, patience):
        """The engine's action in a position, by its text, after this `go` command."""
        self.send(f"position fen {position}", go)
        return self.wait_for("bestmove", patience)

    def kill(self):
        self.process.kill()
        self.close()


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
        self.engine = Engine(STARTING)
        self.new_game()

    def reset_player_informations(self):
        """Called by the contest before a new game."""
        super().reset_player_informations()
        self.new_game()
        try:
            self.engine.send("uginewgame")
        except EngineError:
            self.engine = Engine(STARTING)

    def new_game(self):
        self.plies = 0
        self.failures = 0
        self.total = None
        self.left = self.searched = 0.0
        self.overhead = OVERHEAD

    def play(self, state, remain_time):
        """The action for the player's next ply; a shot is a ply of its own."""
        legal = {text(action): action for action in MorabarabaRules.get_player_actions(state, self.position)}
        go = self.budget(remain_time)
        self.plies += 1
        if len(legal) <= 1:
            self.searched = 0.0
            return next(iter(legal.values()), None)
        position = describe(state, self.position, self.color)
        patience = max(PATIENT, PATIENCE * remain_time)
        while True:
            try:
                return legal[self.ask(position, go, legal, patience)]
            except EngineError as error:
                self.failures += 1
                self.engine.kill()
                if self.failures >= FAILURES:
                    raise EngineError(f"{error} (position {position})") from None
                print(f"ai_turnstone: {error}; it is started again", file=sys.stderr)
                self.engine = Engine(patience)
                go = SMALL

    def budget(self, remain_time):
        """The `go` command for this ply: a part of the time left, or a fixed depth where that is next to nothing."""
        if self.total is None:
            self.total = remain_time
        else:
            beside_search = self.left - remain_time - self.searched
            self.overhead += WEIGHT * (max(0.0, beside_search) - self.overhead)
        kept = max(KEPT * self.total, (LONGEST - self.plies) * self.overhead)
        share = (remain_time - kept) / EXPECTED
        self.left, self.searched = remain_time, min(MOST, share) if share >= LEAST else 0.0
        return f"go movetime {int(1000 * self.searched)}" if self.searched else SMALL

    def ask(self, position, go, legal, patience):
        """The text of the engine's action, which is one of the legal ones."""
        chosen = self.engine.best(position, go, patience)
        if chosen not in legal:
            raise EngineError(f"the engine plays {chosen}, which is not legal here")
        return chosen


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
