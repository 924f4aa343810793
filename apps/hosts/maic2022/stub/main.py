"""A stand-in for the contest's main program: loads players by their files and plays games, strictly.

    main.py -ai0 PLAYER.py -ai1 PLAYER.py -t SECONDS -g GAMES

The rules are the contest's, its end rules included, with 200 quiet plies as in its window. Where the contest plays at
random for a player, after an illegal action or without time left, this program ends with an error. Even games change the
seats, with the same players. It prints a line for every game: for each player the score, the seconds and the plies.
"""

import argparse
import importlib
import os
import random
import sys
import time
from copy import deepcopy

from core import Color
from morabaraba.morabaraba_rules import MorabarabaRules
from morabaraba.morabaraba_state import MorabarabaState


def load(path, number):
    folder, file = os.path.split(path)
    sys.path.append(folder)
    return importlib.import_module(file[: -len(".py")]).AI(Color(number))


def play(players, seconds):
    state = MorabarabaState(boring_limit=200)
    used, plies = {-1: 0.0, 1: 0.0}, {-1: 0, 1: 0}
    over = False
    while not over:
        player = state.get_next_player()
        start = time.perf_counter()
        action = players[player].play(deepcopy(state), seconds - used[player])
        used[player] += time.perf_counter() - start
        plies[player] += 1
        assert used[player] < seconds, f"{players[player].name} has used up its time after {plies[player]} plies"
        result = MorabarabaRules.act(state, action, player)
        assert result is not False, f"illegal action {action} of {players[player].name}"
        state, over, _ = result
        players[player].update_player_infos(state.get_player_info(player))
    return [f"{players[side].name} {state.score[side]} in {used[side]:.2f} s, {plies[side]} plies" for side in (-1, 1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-ai0", required=True)
    parser.add_argument("-ai1", required=True)
    parser.add_argument("-t", type=float, default=5.0)
    parser.add_argument("-g", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(1)
    paths = (arguments.ai0, arguments.ai1)
    for swapped in (False, True):
        dark, white = reversed(paths) if swapped else paths
        players = {-1: load(dark, -1), 1: load(white, 1)}
        for _ in range((arguments.g + (not swapped)) // 2):
            for player in players.values():
                player.reset_player_informations()
            print("; ".join(play(players, arguments.t)), flush=True)


main()
