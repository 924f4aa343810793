"""The contest's class of players."""


class MorabarabaPlayer:
    """What an AI extends."""

    name = "Dark"

    def __init__(self, color):
        self.color = color
        self.pieces_in_hand = 12

    def play(self, state, remain_time):
        raise NotImplementedError

    def update_player_infos(self, infos):
        self.in_hand = infos["in_hand"]
        self.score = infos["score"]

    def reset_player_informations(self):
        self.in_hand = 12
        self.score = 0
