"""Games of OpenSpiel by their strings: `turnstone.open_spiel`."""

import copy
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

import turnstone_rl as turnstone  # noqa: E402

# Small enough for some games each within seconds.
GAMES = """
amazons(board_size=6) antichess breakthrough(columns=6,rows=6) checkers clobber connect_four cursor_go(board_size=3,max_cursor_moves=20)
dots_and_boxes go(board_size=4) gomoku(size=6) havannah(board_size=3) hex(board_size=4) lines_of_action(max_game_length=60) mancala
misere(game=tic_tac_toe()) mnk(k=3,m=4,n=4) nim nine_mens_morris othello pentago quoridor(board_size=3) tic_tac_toe twixt(board_size=6)
ultimate_tic_tac_toe y(board_size=5)
""".split()

needs_program = pytest.mark.skipif(not turnstone._turnstone._PROGRAM, reason="built without the program")


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_checked_and_trained_and_played_and_exported(name, tmp_path):
    try:
        pyspiel.load_game(name)
    except pyspiel.SpielError:
        pytest.skip(f"this OpenSpiel has no {name}")
    game = turnstone.open_spiel(name)
    turnstone.check_game(game, games=2)
    if not turnstone._turnstone._PROGRAM:
        return
    config = {
        "game": {"name": f"open_spiel:{name}"},
        "net": {"kind": "residual_mlp", "blocks": 1, "width": 8},
        "search": {"simulations": 2},
        "self_play": {"games_per_iteration": 2, "concurrent_games": 2, "threads": 1},
        "learn": {"batch": 8, "threads": 1},
        "arena": {"opponents": ["random"], "final_games": 2},
        "run": {"iterations": 1},
    }
    run = turnstone.train(config, run=tmp_path / "run", progress=False)
    assert turnstone.load(run.checkpoint).game == game
    match = turnstone.arena(game, [run.agent(sims=2), "random"], games=2, threads=1)
    assert len(match.games) == 2
    export = ["turnstone", "export", str(run.run), "--format", "onnx", "--out", str(tmp_path / "onnx")]
    assert turnstone._turnstone._main(export) == 0
    assert (tmp_path / "onnx/model.onnx").is_file()


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello", "go(board_size=3)", "mnk(k=3,m=4,n=4)"])
def test_symmetries_hold(name):
    game = turnstone.open_spiel(name)
    assert game.num_symmetries == {"connect_four": 2, "othello": 4}.get(name, 8)
    turnstone.check_game(game, games=10)


@pytest.mark.parametrize("name", ["tic_tac_toe", "chess", "oware", "y(board_size=4)", "quoridor(board_size=3)"])
def test_a_game_is_that_of_open_spiel(name):
    game, rng = turnstone.open_spiel(name), random.Random(5)
    ours, theirs = turnstone.State(game), pyspiel.load_game(name).new_initial_state()
    while not theirs.is_terminal() and not ours.is_over:
        assert ours.legal_actions() == theirs.legal_actions() and ours.to_play == theirs.current_player()
        tensor = np.array(theirs.observation_tensor(theirs.current_player()), np.float32)
        seen = ours.observation().reshape(-1)
        assert np.array_equal(seen[: len(tensor)], tensor)
        points = game.observation_shape[1] * game.observation_shape[2]
        assert (seen[len(tensor) : len(tensor) + points] == ours.to_play).all()
        action = rng.choice(theirs.legal_actions())
        assert ours.play(game_text(ours, theirs, action)) == ours.play(action)
        ours, theirs = ours.play(action), theirs.child(action)
        assert turnstone.State(game, ours.text()) == ours
    if theirs.is_terminal():
        assert ours.returns(0) == np.sign(theirs.returns()[0])


def game_text(ours, theirs, action):
    """The text of a legal action, which is OpenSpiel's where that has no spaces."""
    text = ours.legal_moves()[ours.legal_actions().index(action)]
    expected = theirs.action_to_string(theirs.current_player(), action)
    assert text == expected or " " in expected
    return text


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        # A pawn that has just gone two steps, and one that went earlier.
        ("chess", "a4 d5 Nf3 d4 Ng1 h6 e4", "a3 d5 a4 d4 e3 h6 e4"),
        # A piece that must go on jumping.
        (
            "checkers(rows=8,columns=4)",
            "178,78,216,54,152,95,141,162,101,203,30,226,78,202,52,240,222,176,241",
            "178,78,152,95,163,52,202,95,240,30,178,52,216,141,202,222,226,241,176",
        ),
    ],
)
def test_what_the_tensor_does_not_show_is_seen_in_the_legal_actions(name, first, second):
    game = turnstone.open_spiel(name)
    states = []
    for moves in (first, second):
        if "," in moves:
            states.append(turnstone.State(game, moves))
        else:
            states.append(turnstone.State(game).play(moves))
    assert states[0].legal_actions() != states[1].legal_actions()
    assert not np.array_equal(states[0].observation(), states[1].observation())


def test_the_parameter_is_the_string():
    game = turnstone.open_spiel("hex(board_size=3)")
    assert turnstone.Game("open_spiel", game="hex(board_size=3)") == game
    assert turnstone.Game("open_spiel", params={"game": "hex(board_size=3)"}) == game
    with pytest.raises(ValueError, match="name one of OpenSpiel's games, as in open_spiel:breakthrough"):
        turnstone.State("open_spiel")
    with pytest.raises(ValueError, match="the name says hex"):
        turnstone.State("open_spiel:hex(board_size=3)", params={"game": "hex(board_size=4)"})


def test_a_state_is_found_again_when_it_is_no_longer_kept():
    game = turnstone.open_spiel("checkers")
    rng, states = random.Random(1), [turnstone.State(game)]
    while not states[-1].is_over:
        states.append(states[-1].play(rng.choice(states[-1].legal_actions())))
    for state in states:
        kept = game.parse_position(state.text())
        made = game.from_key(game.key(kept))
        assert made.state.history() == kept.state.history() and game.key(made) == game.key(kept)
        assert game.expand([made]) == game.expand([kept])
        assert np.array_equal(game.observation_many([made]), game.observation_many([kept]))


def test_a_game_without_room_for_another_move_is_truncated():
    game = turnstone.open_spiel("go(board_size=9,max_game_length=100000)")
    state, rng = turnstone.State(game), random.Random(3)
    while not state.is_over:
        moves = [action for action in state.legal_actions() if action != 81] or [81]
        state = state.play(rng.choice(moves))
    assert state.outcome().truncated and state.outcome().winner is None
    assert turnstone.State(game, state.text()) == state


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kuhn_poker", "has chance"),
        ("matrix_rps", "not move in turns"),
        ("phantom_ttt", "hidden information"),
        ("quoridor(players=3)", "3 players"),
        ("chess(chess960=True)", "has chance"),
        ("go(board_size=25)", "board size up to 19"),
        ("cliff_walking", "1 player,"),
        ("hexx", "Unknown game"),
        ("hex(bord_size=5)", "bord_size"),
        ("y(board_size=19", "y"),
    ],
)
def test_other_games_are_refused(name, reason):
    with pytest.raises(ValueError, match="^[^\n]*$") as refused:
        turnstone.open_spiel(name)
    assert reason in str(refused.value) and str(refused.value).startswith(f"{name}: ")
    with pytest.raises(ValueError, match="^open_spiel: parameter `game` = [^\n]*$"):
        turnstone.State(f"open_spiel:{name}")


def test_a_name_is_accepted_everywhere():
    name = "open_spiel:hex(board_size=3)"
    game = turnstone.open_spiel("hex(board_size=3)")
    assert turnstone.State(name).game == game == turnstone.Game("open_spiel", params={"game": "hex(board_size=3)"})
    assert turnstone.Game("open_spiel:breakthrough(rows=6,columns=6)") == turnstone.open_spiel(
        "breakthrough(columns=6,rows=6)"
    )
    assert "open_spiel" not in turnstone.games()
    assert turnstone.Agent(name, "alphabeta:depth=2").act(turnstone.State(game)) in range(9)
    assert turnstone.VecEnv(name, 3).game == game
    near_the_end = turnstone.State(game).play("a1 b1 a2 b2")
    assert turnstone.Search(name, "uniform", simulations=50).run(near_the_end).move_text == "a3", "which wins"
    state = turnstone.State(game).play("4")
    for copied in (copy.copy(state), pickle.loads(pickle.dumps(state))):
        assert copied == state and copied.game == game


@needs_program
def test_the_program_trains_a_game_by_its_name(tmp_path):
    small = ["run.iterations=1", "self_play.games_per_iteration=4", "search.simulations=2", "arena.final_games=2", "net.blocks=1"]
    command = [sys.executable, "-m", "turnstone_rl", "train", "open_spiel:tic_tac_toe"]
    command += [part for each in small for part in ("--set", each)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs/open_spiel_tic_tac_toe/latest.safetensors").is_file()
    match = [sys.executable, "-m", "turnstone_rl", "arena", "open_spiel:tic_tac_toe", "random", "mcts:sims=20", "--games", "2"]
    subprocess.run(match, check=True, capture_output=True, cwd=tmp_path)
