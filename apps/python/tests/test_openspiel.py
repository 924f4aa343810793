"""Mancala against OpenSpiel's, along random games."""

import random

import pytest

pyspiel = pytest.importorskip("pyspiel")

import turnstone_rl as turnstone  # noqa: E402

GAMES = 1000


def test_a_thousand_random_games():
    rng = random.Random(2)
    game = turnstone.Game("mancala", empty_capture=False, end_rule="either_side_empty")
    theirs_game = pyspiel.load_game("mancala")
    order = our_actions(game)
    plies = 0
    for _ in range(GAMES):
        ours, theirs = turnstone.State(game), theirs_game.new_initial_state()
        while not theirs.is_terminal():
            assert not ours.is_over and ours.to_play == theirs.current_player()
            legal = theirs.legal_actions()
            assert sorted(order[action] for action in legal) == ours.legal_actions()
            action = rng.choice(legal)
            ours, plies = ours.play(order[action]), plies + 1
            theirs.apply_action(action)
            if theirs.is_terminal():
                break  # there the last stones stay in their pits, here they go to their owner's store
            assert stones(ours) == stones_of_theirs(theirs, game, order), (str(ours), str(theirs))
        outcome = ours.outcome()
        assert outcome is not None and not outcome.truncated
        assert list(outcome.rewards) == [int(value) for value in theirs.returns()]
        assert outcome.margin == final_margin(theirs)
    assert plies > 20 * GAMES


def our_actions(game):
    """Our action for each of theirs: their pits 1 to 6 are player 0's in sowing order, 8 to 13 player 1's."""
    labels = [f"B{pit}" for pit in range(2, 8)] + [f"A{pit}" for pit in range(7, 1, -1)]
    return dict(zip([*range(1, 7), *range(8, 14)], map(game.action_index, labels)))


def stones(state):
    """The numbers of stones by label, with the two stores."""
    own, other, _ = state.text().split(" ")
    counts = {}
    for row, name, text in ((own, "B", "first"), (other, "A", "second")):
        numbers, store = row.split("/")
        counts.update({f"{name}{pit}": int(number) for pit, number in zip(range(2, 8), numbers.split(","))})
        counts[text] = int(store)
    return counts


def stones_of_theirs(state, game, order):
    board = [int(number) for number in state.observation_tensor(0)]
    counts = {game.action_text(ours): board[theirs] for theirs, ours in order.items()}
    return {**counts, "first": board[7], "second": board[0]}


def final_margin(state):
    board = [int(number) for number in state.observation_tensor(0)]
    return sum(board[1:8]) - (sum(board[8:14]) + board[0])
