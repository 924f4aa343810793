"""A player that plays at random."""

from morabaraba.morabaraba_player import MorabarabaPlayer
from morabaraba.morabaraba_rules import MorabarabaRules


class AI(MorabarabaPlayer):
    """The contest's own example."""

    name = "Random"

    def play(self, state, remain_time):
        return MorabarabaRules.random_play(state, self.color.value)
