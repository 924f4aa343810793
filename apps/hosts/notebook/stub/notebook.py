"""The notebook's game of Mu Torere, for the tests: games of `turnstone_agent` against a random agent, from both seats.

    notebook.py GAMES [repeated]

Prints how many the agent has won, and the results of four games against itself. With `repeated` these are played under
`check_repeated_states`, and so are four against the same agent in ignorance of that rule.
"""

import random
import sys

from Game import Agent, Board, Game
from turnstone_agent import turnstone_agent

RING = [0, 1, 2, 5, 8, 7, 6, 3]


def initial_state():
    state = Board(3, 3)
    for square in range(9):
        state[square] = 0 if square == 4 else 1 + square % 2
    return state


def adjacent_squares(square):
    if square == 4:
        return RING
    place = RING.index(square)
    return [RING[place - 1], RING[(place + 1) % 8], 4]


def valid_moves(state, player):
    moves = []
    for end in range(9):
        near = adjacent_squares(end)
        opponent = any(state[square] == 3 - player for square in near)
        starts = [square for square in near if state[square] == player and state[end] == 0]
        moves += [[start, end] for start in starts if start == 4 or opponent]
    return sorted(moves)


def update_state(state, player, move):
    start, end = move
    state[start] = 0
    state[end] = player
    return state


def win_status(state, player):
    return None if valid_moves(state, 3 - player) else "win"


random.seed(1)
random_agent = Agent(lambda state, player: random.choice(valid_moves(state, player)))
games = int(sys.argv[1])
g = Game(number_of_games=games // 2)
g.check_repeated_states = "repeated" in sys.argv
won = g.run(turnstone_agent(g), random_agent).count(1)
won += g.run(random_agent, turnstone_agent(g)).count(2)
print(f"won {won} of {games}")
g.number_of_games = 2
both = turnstone_agent(g)
print(*g.run(both, both), *g.run(turnstone_agent(g), turnstone_agent(g)))
if g.check_repeated_states:
    plain_game = Game()
    ignorant = turnstone_agent(plain_game)
    print(*g.run(turnstone_agent(g), ignorant), *g.run(ignorant, turnstone_agent(g)))
