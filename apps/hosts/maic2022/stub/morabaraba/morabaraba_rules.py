"""The contest's rules."""

import random
from copy import deepcopy

from core import Color
from morabaraba.morabaraba_action import MorabarabaAction, MorabarabaActionType
from morabaraba.morabaraba_board import MILLS

ADD, MOVE, STEAL, FLY = (MorabarabaActionType[name] for name in ("ADD", "MOVE", "STEAL", "FLY"))
FLY_LIMIT = 10
MAX_SCORE = 10


class MorabarabaRules:
    """What a player may do, and what happens then."""

    @staticmethod
    def get_effective_cell_moves(state, cell):
        beside = [mill[i + step] for mill in MILLS for i in range(3) for step in (-1, 1) if mill[i] == cell and 0 <= i + step <= 2]
        return sorted({to for to in beside if state.board.get_cell_color(to) == Color.empty})

    @staticmethod
    def stealables(player, board):
        pieces = board.get_player_pieces_on_board(Color(player))
        in_mills = {cell for mill in board.player_mills(player) for cell in mill}
        return [cell for cell in pieces if cell not in in_mills] or pieces

    @staticmethod
    def is_making_mill(board, player, cell):
        made = [mill for mill in board.player_mills(player) if cell in mill]
        return [bool(made), made]

    @staticmethod
    def get_player_actions(state, player):
        """The legal actions. Where a player flies, the state notes it for good."""
        board = state.board
        if state.mill:
            return [MorabarabaAction(STEAL, at=cell) for cell in MorabarabaRules.stealables(-player, board)]
        if state.in_hand[player] > 0:
            return [MorabarabaAction(ADD, to=cell) for cell in board.get_all_empty_cells()]
        pieces = board.get_player_pieces_on_board(Color(player))
        if len(pieces) > 3:
            reach = MorabarabaRules.get_effective_cell_moves
            actions = [MorabarabaAction(MOVE, at=at, to=to) for at in pieces for to in reach(state, at)]
        else:
            state.fly_case = True
            empty = board.get_all_empty_cells()
            actions = [MorabarabaAction(FLY, at=at, to=to) for at in pieces for to in empty]
        return [action for action in actions if not makes_forbidden_mill(state, player, action)]

    @staticmethod
    def is_legal_move(state, action, player):
        legal = MorabarabaRules.get_player_actions(state, player)
        return any(action.get_action_as_dict() == other.get_action_as_dict() for other in legal)

    @staticmethod
    def random_play(state, player):
        actions = MorabarabaRules.get_player_actions(state, player)
        return random.choice(actions) if actions else None

    @staticmethod
    def act(state, action, player):
        """Plays an action: the state, whether the game is over, and whether a shot follows. False if it is not legal."""
        if not MorabarabaRules.is_legal_move(state, action, player):
            return False
        if state.mill:
            state.board.cells[action.action["at"]] = Color.empty
            state.score[player] += 1
            state.boring_moves = 0
            state.mill = False
        else:
            settle(state, action, player)
            state.boring_moves += 1
            state.mill = MorabarabaRules.is_making_mill(state.board, player, action.action["to"])[0]
        state._latest_player = player
        state._latest_move = {"action_type": action.action_type.name, "action": action.action}
        state._next_player = player if state.mill else -player
        # Never set back, and a shot counts too.
        state.fly_moves += int(state.fly_case and not state.mill)
        return state, MorabarabaRules.is_end_game(state), state.mill

    @staticmethod
    def is_end_game(state):
        """Whether the game is over, also with a shot pending. Cows in hand do not count, once a player has none."""
        if not MorabarabaRules.get_player_actions(state, state._next_player):
            return True
        cows = [len(state.board.get_player_pieces_on_board(Color(side))) for side in (-1, 1)]
        few = 2 in cows and 0 in state.in_hand.values()
        quiet = state.boring_moves >= state.just_stop
        return quiet or few or state.fly_moves == FLY_LIMIT or max(state.score.values()) >= MAX_SCORE


def forbidden(player):
    return "player1_forbidden_mill" if player == -1 else "player2_forbidden_mill"


def settle(state, action, player):
    """Puts the cow of an ADD, MOVE or FLY on its cell and notes the mills that a MOVE or FLY broke."""
    cells = state.board.cells
    before = state.board.player_mills(player)
    cells[action.action["to"]] = Color(player)
    if action.action_type == ADD:
        state.in_hand[player] -= 1
        return
    cells[action.action["at"]] = Color.empty
    broken = [mill for mill in before if mill not in state.board.player_mills(player)]
    setattr(state, forbidden(player), [True, broken] if broken else [False, None])


def makes_forbidden_mill(state, player, action):
    is_any, mills = getattr(state, forbidden(player))
    if not is_any:
        return False
    after = deepcopy(state)
    settle(after, action, player)
    return any(mill in after.board.player_mills(player) for mill in mills)
