"""Games and positions."""

import copy
import pickle
import random

import numpy as np
import pytest

import turnstone_rl as turnstone

GAMES = turnstone.games()


def random_states(game, count, seed=0):
    """Positions of random games, finished ones included."""
    rng, states = random.Random(seed), []
    while len(states) < count:
        state = turnstone.State(game)
        while True:
            states.append(state)
            if state.is_over:
                break
            state = state.play(rng.choice(state.legal_actions()))
    return states[:count]


def test_there_are_five_games():
    assert GAMES == ["mu_torere", "mancala", "morris", "konane", "morabaraba"]


@pytest.mark.parametrize("name", GAMES)
def test_a_game_describes_itself(name):
    game = turnstone.Game(name)
    assert game.name == name and game.version >= 1 and game == turnstone.Game(name, **game.params)
    assert game.observation_shape[0] == len(game.plane_names)
    assert sum(count for _, count in game.action_blocks) == game.num_actions
    for action in range(game.num_actions):
        assert game.action_index(game.action_text(action)) == action
    assert hash(game) == hash(turnstone.Game(name)) and pickle.loads(pickle.dumps(game)) == game


@pytest.mark.parametrize("name", GAMES)
def test_states_are_values(name):
    game = turnstone.Game(name)
    for state in random_states(game, 150):
        again = turnstone.State(game, state.text())
        assert again == state and hash(again) == hash(state) and str(state) == state.text()
        loaded = pickle.loads(pickle.dumps(state))
        assert loaded == state and loaded.last_action == state.last_action
        assert copy.copy(state) is state and copy.deepcopy([state])[0] is state
        legal = state.legal_actions()
        assert state.legal_moves() == [game.action_text(action) for action in legal]
        assert np.flatnonzero(state.legal_mask()).tolist() == legal
        indices = sorted(game.policy_index(state.to_play, action) for action in legal)
        assert np.flatnonzero(state.policy_mask()).tolist() == indices
        observation = state.observation()
        assert observation.shape == game.observation_shape and observation.dtype == np.float32
        outcome = state.outcome()
        assert (outcome is None) == bool(legal) != state.is_over
        if outcome is not None:
            assert outcome.rewards[0] == -outcome.rewards[1] == state.returns(0) == -state.returns(1)
            assert outcome.winner == (None if outcome.rewards[0] == 0 else outcome.rewards.index(1))
        assert state.svg().startswith("<svg ") and state._repr_svg_() == state.svg() and state.board()


def test_playing_leaves_the_state_as_it_was():
    start = turnstone.State("mancala")
    after = start.play("B5")
    assert start == turnstone.State("mancala") and start.to_play == 0
    assert after.text() == "4,4,4,0,5,5/1 4,4,4,4,4,5/0 2" and after.to_play == 1
    assert start.play("B4 B2") == start.play("B4").play("B2"), "B4 ends in the store: the same player moves again"
    assert start.play("B4").to_play == 0
    assert start.play(np.int64(3)) == start.play(3) == start.play("B5")


@pytest.mark.parametrize("name", GAMES)
def test_symmetries_commute_with_observations_and_play(name):
    game = turnstone.Game(name)
    planes = game.observation_shape[0]
    for state in random_states(game, 60, seed=1):
        images = state.symmetries()
        assert len(images) == game.num_symmetries and images[0] == state
        for number, image in enumerate(images):
            assert state.symmetry(number) == image
            cells = game.symmetry_cells[number]
            gathered = state.observation().reshape(planes, -1)[:, cells].reshape(game.observation_shape)
            assert np.array_equal(gathered, image.observation())
            gathered = state.legal_mask()[game.symmetry_actions[number]]
            assert np.array_equal(gathered, image.legal_mask())


def test_parameters():
    assert turnstone.State("mancala", stones=3).text().startswith("3,3,3")
    assert turnstone.Game("mancala", empty_capture=False).params["empty_capture"] is False
    assert "stones=3" in repr(turnstone.Game("mancala", stones=3))
    with pytest.raises(TypeError, match="keyword argument 'stone' .did you mean 'stones'"):
        turnstone.Game("mancala", stone=3)
    with pytest.raises(ValueError, match="must be an integer from"):
        turnstone.Game("mancala", stones=0)
    with pytest.raises(ValueError, match="did you mean `mancala`"):
        turnstone.Game("mancla")
    with pytest.raises(TypeError, match="stones must be a bool, a number or a str"):
        turnstone.Game("mancala", stones=[3])


def test_wrong_actions_are_named():
    start = turnstone.State("mu_torere")
    for wrong in (-1, 10**30, 32, 1 << 16):
        with pytest.raises((turnstone.IllegalActionError, OverflowError, TypeError)):
            start.play(wrong)
    with pytest.raises(turnstone.IllegalActionError, match="illegal action `1,4`; legal: 0,4 2,4 6,4 8,4"):
        start.play("1,4")
    with pytest.raises(turnstone.IllegalActionError, match="action 32: the actions of mu_torere are 0 to 31"):
        start.play(32)
    with pytest.raises(ValueError, match="action `z`"):
        start.play("z")
    with pytest.raises(TypeError, match="an action is an integer or a text"):
        start.play(1.5)
    over = next(state for state in random_states("mu_torere", 5000) if state.is_over)
    with pytest.raises(turnstone.IllegalActionError, match="the game is over"):
        over.play(0)


def test_a_foreign_pickle_is_refused():
    state = turnstone.State("mancala")
    restore, arguments = state.__reduce__()
    name, version, params, text, last = arguments
    for wrong, fault in [
        (("chess", version, params, text, last), "unknown game"),
        ((name, version + 1, params, text, last), "version"),
        ((name, version, {"stones": -1}, text, last), "stones"),
        ((name, version, params, "9,9,9/0 1", last), "position"),
        ((name, version, params, text, (text, 10_000)), "action 10000"),
        ((name, version, 7, text, last), "dict"),
    ]:
        with pytest.raises((ValueError, TypeError), match=fault):
            restore(*wrong)


def test_pictures():
    pixels = turnstone._turnstone._rasterize(turnstone.State("konane").svg())
    assert pixels.ndim == 3 and pixels.shape[2] == 3 and pixels.dtype == np.uint8 and np.unique(pixels).size > 20
    double = turnstone._turnstone._rasterize(turnstone.State("konane").svg(), 2.0)
    assert double.shape[0] in range(2 * pixels.shape[0] - 2, 2 * pixels.shape[0] + 3)
    with pytest.raises(ValueError):
        turnstone._turnstone._rasterize("<svg")
    with pytest.raises(ValueError, match="pixels is not between"):
        turnstone._turnstone._rasterize(turnstone.State("konane").svg(), 1e9)
