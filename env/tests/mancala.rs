//! Mancala's sowing and planes beside their plain definitions, on boards of all sizes.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Mancala;
use turnstone_env::{Action, ActionList, Notation, Params, Rules, Side};

/// Pits in sowing order and store of each side.
type Board = [(Vec<u8>, u8); 2];

fn board(game: &Mancala, state: &<Mancala as Rules>::State) -> Board {
    Side::BOTH.map(|side| (game.row(state, side).to_vec(), game.store(state, side)))
}

/// Sows stone by stone, and returns the mover after that.
fn play(board: &mut Board, mover: Side, mut pit: usize, empty_capture: bool) -> Side {
    let (own, pits) = (mover.index(), board[0].0.len());
    let mut stones = std::mem::take(&mut board[own].0[pit]);
    let mut row = own;
    while stones > 0 {
        pit += 1;
        if pit > pits || (pit == pits && row != own) {
            (row, pit) = (1 - row, 0);
        }
        let place = if pit < pits { &mut board[row].0[pit] } else { &mut board[row].1 };
        *place += 1;
        stones -= 1;
    }
    if row == own && pit == pits {
        return mover;
    }
    let opposite = pits.wrapping_sub(1 + pit);
    if row == own && board[own].0[pit] == 1 && (empty_capture || board[1 - own].0[opposite] > 0) {
        let taken = std::mem::take(&mut board[own].0[pit]) + std::mem::take(&mut board[1 - own].0[opposite]);
        board[own].1 += taken;
    }
    mover.other()
}

fn collect(board: &mut Board) {
    for (row, store) in board {
        *store += row.iter().sum::<u8>();
        row.fill(0);
    }
}

#[test]
fn sowing_and_planes_are_those_of_their_definitions() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut legal = ActionList::new();
    for (pits, stones) in [(1, 20), (2, 9), (3, 4), (4, 7), (5, 25), (6, 4), (6, 20), (7, 3), (7, 18)] {
        for game in 0..40 {
            let empty_capture = game % 2 == 0;
            let params = Params::new().with("pits", pits).with("stones", stones).with("empty_capture", empty_capture);
            let game = Mancala::default().with_params(&params).expect("valid");
            let mut state = game.start();
            loop {
                check_planes(&game, &state);
                game.legal(&state, &mut legal);
                if legal.is_empty() {
                    break;
                }
                let action = legal[rng.next_u32() as usize % legal.len()];
                let (mut expected, mover) = (board(&game, &state), game.mover(&state));
                let mover = play(&mut expected, mover, pit(&game, mover, action), empty_capture);
                if expected[mover.index()].0.iter().all(|&stones| stones == 0) {
                    collect(&mut expected);
                }
                let text = format!("{} after {}", game.position_text(&state), game.action_text(&state, action));
                game.play(&mut state, action);
                assert_eq!((board(&game, &state), game.mover(&state)), (expected, mover), "{text}");
            }
        }
    }
}

/// The pit of an action in its side's sowing order.
fn pit(game: &Mancala, mover: Side, action: Action) -> usize {
    match mover {
        Side::First => action.index(),
        Side::Second => 2 * game.pits() - 1 - action.index(),
    }
}

fn check_planes(game: &Mancala, state: &<Mancala as Rules>::State) {
    let mut features = vec![f32::NAN; game.spec().features()];
    game.observe(state, &mut features);
    let (mover, points) = (game.mover(state), 2 * game.pits());
    let mut counts = game.row(state, mover).to_vec();
    counts.extend(game.row(state, mover.other()).iter().rev());
    let plane = |of: &dyn Fn(u8) -> f32| counts.iter().map(|&count| of(count)).collect::<Vec<_>>();
    let mut expected = plane(&|count| f32::from(count) / 16.0);
    (1..=13).for_each(|k| expected.extend(plane(&|count| if count >= k { 1.0 } else { 0.0 })));
    assert_eq!(features[..14 * points], expected, "{}", game.position_text(state));
}

/// A policy vector is seen by the mover: the pit that the mover calls its own first has the same index for both.
#[test]
fn a_policy_vector_is_turned_to_the_mover() {
    let spec = Mancala::default().spec().clone();
    let indices = |mover| (0..12).map(|action| spec.policy_index(mover, Action(action))).collect::<Vec<_>>();
    assert_eq!(indices(Side::First), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(indices(Side::Second), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
}
