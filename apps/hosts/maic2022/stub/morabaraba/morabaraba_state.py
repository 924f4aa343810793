"""The contest's state."""

from morabaraba.morabaraba_board import MorabarabaBoard


class MorabarabaState:
    """The board, and all that it does not show."""

    def __init__(self, boring_limit=50):
        self.board = MorabarabaBoard()
        self._next_player = -1
        self._latest_player = None
        self._latest_move = None
        self.score = {-1: 0, 1: 0}
        self.in_hand = {-1: 12, 1: 12}
        self.mill = False
        self.fly_case = False
        self.boring_moves = 0
        self.just_stop = boring_limit
        self.player1_forbidden_mill = [False, None]
        self.player2_forbidden_mill = [False, None]
        self.fly_moves = 0

    def get_board(self):
        return self.board

    def get_latest_player(self):
        return self._latest_player

    def get_latest_move(self):
        return self._latest_move

    def get_next_player(self):
        return self._next_player

    def get_player_info(self, player):
        on_board = 12 - self.in_hand[player] - self.score[-player]
        return {"in_hand": self.in_hand[player], "on_board": on_board, "score": self.score[player]}
