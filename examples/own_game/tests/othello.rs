//! The rules of Othello: the conformance suite, published move counts, and the known value of the game on 6x6.

use own_game::Othello;
use turnstone_agents::{Effort, Playable};
use turnstone_env::{Action, ActionList, Notation, Outcome, Params, Rules, Side, conformance, perft::perft, play_text};

fn othello(size: usize) -> Othello {
    Othello::default().with_params(&Params::new().with("size", size)).expect("one of its sizes")
}

#[test]
fn the_game_conforms() {
    for size in [4, 6, 8] {
        conformance::check(&othello(size), 300, 1);
    }
}

/// The numbers for 8x8 are those of many programs (<https://aartbik.blogspot.com/2009/02/perft-for-reversi.html>).
#[test]
fn move_counts() {
    let known = [4, 12, 56, 244, 1396, 8200, 55_092, 390_216, 3_005_288];
    for (depth, leaves) in (1..).zip(known) {
        assert_eq!(perft(&Othello::default(), &Othello::default().start(), depth), leaves, "depth {depth}");
    }
}

/// The result for the mover, with perfect play of both, if it is between the bounds.
fn margin(game: &Othello, state: &<Othello as Rules>::State, mut worst: i16, best: i16) -> i16 {
    let mover = game.mover(state);
    if game.outcome(state).is_some() {
        return if mover == Side::First { state.margin() } else { -state.margin() };
    }
    let (mut legal, mut next) = (ActionList::new(), Vec::new());
    game.legal(state, &mut legal);
    let mut replies = ActionList::new();
    for &action in &*legal {
        let mut after = *state;
        game.play(&mut after, action);
        game.legal(&after, &mut replies);
        next.push((replies.len(), after));
    }
    next.sort_by_key(|(replies, _)| *replies);
    for (_, after) in next {
        worst = worst.max(-margin(game, &after, -best, -worst));
        if worst >= best {
            break;
        }
    }
    worst
}

/// Perfect play on 6x6, which the second player wins by 20 to 16 (Joel Feinstein, 1993,
/// <https://www.maths.nottingham.ac.uk/plp/pmzjff/Othello/6x6sol.html>, whose columns are b to g and whose rows 2 to 7).
const PERFECT: &str = "c2 b4 c5 d2 e4 e3 d1 c1 b1 d5 d6 f4 b3 b2 f3 f2 e2 b6 a4 c6 a6 a2 b5 a5 e6 e5 a3 a1 f5 f6 e1 f1";

#[test]
fn the_second_player_wins_on_6x6() {
    let (game, mut state, mut placed) = (othello(6), othello(6).start(), 0);
    let solver = Othello::exact_values(&game, "".as_ref(), Effort::Full).expect("no file").expect("it has a solver");
    let solved = |state: &_| {
        let value = margin(&game, state, -36, 36);
        if game.mover(state) == Side::First { value } else { -value }
    };
    for text in PERFECT.split(' ') {
        let mut legal = ActionList::new();
        game.legal(&state, &mut legal);
        if *legal == [Action(36)] {
            play_text(&game, &mut state, "pass").expect("the only action");
        }
        if placed >= 18 && game.outcome(&state).is_none() {
            assert_eq!(solved(&state), -4, "after {placed} discs: {}", game.position_text(&state));
            assert_eq!(solver.value(&game, &state), Some(-1));
        }
        play_text(&game, &mut state, text).expect("legal");
        placed += 1;
    }
    assert_eq!(game.outcome(&state), Some(Outcome::by_margin(16 - 20)));
}

#[test]
fn texts_and_faults() {
    let game = othello(4);
    let mut state = game.start();
    assert_eq!(game.position_text(&state), "..../.OX./.XO./.... X");
    play_text(&game, &mut state, "b1").expect("legal");
    assert_eq!(game.position_text(&state), ".X../.XX./.XO./.... O");
    let drawing = "1 . X . .\n2 . X X .\n3 . X O .\n4 . . . .\n  a b c d\nwhite (O) to move\n";
    assert_eq!(game.board(&state, None).text(), drawing);
    let fault = |text| game.parse_position(text).expect_err("a fault").to_string();
    assert!(fault("..../.OX./.X../.... X").contains("middle"));
    assert!(fault("..../.OX./.XO./.... W").contains("X or O"));
    let fault = |size| game.with_params(&Params::new().with("size", size)).expect_err("no such board").to_string();
    assert!(fault(5).contains("must be even") && fault(10).contains("8"));
}
