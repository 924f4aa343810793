//! The exact solution of Mu Torere: its known counts, and consistency with the rules.

use turnstone_env::games::MuTorere;
use turnstone_env::{ActionList, Game, Params};
use turnstone_exact::Solution;

/// Positions won, lost and drawn for the mover.
fn counts(game: &MuTorere, solution: &Solution<MuTorere>) -> [usize; 3] {
    let mut counts = [0; 3];
    for state in solution.states() {
        let value = f32::from(solution.value(state).expect("reachable")) * game.mover(state).sign();
        counts[if value > 0.0 { 0 } else { 1 + usize::from(value == 0.0) }] += 1;
    }
    counts
}

fn solved(traditional: bool) -> (MuTorere, Solution<MuTorere>) {
    let params = Params::new().with("max_plies", 0).with("hub_needs_neighbour", traditional);
    let game = MuTorere::with_params(&params).expect("valid");
    let solution = Solution::of(&game, 100_000).expect("small");
    (game, solution)
}

#[test]
fn the_known_counts() {
    let (game, solution) = solved(false);
    assert_eq!(counts(&game, &solution), [320, 160, 700]);
    assert_eq!(solution.value(&game.start()), Some(0));
    let (game, solution) = solved(true);
    assert_eq!(counts(&game, &solution), [208, 128, 844]);
    assert_eq!(solution.value(&game.start()), Some(0));
}

#[test]
fn every_value_is_the_best_of_its_successors() {
    let (game, solution) = solved(false);
    let mut legal = ActionList::new();
    for state in solution.states() {
        game.legal(state, &mut legal);
        let sign = game.mover(state).sign() as i8;
        let best = legal.iter().map(|&action| {
            let mut next = *state;
            game.play(&mut next, action);
            sign * solution.value(&next).expect("successors are reachable")
        });
        let expected = best.max().map_or_else(|| game.outcome(state).expect("over").value(), |best| sign * best);
        assert_eq!(solution.value(state), Some(expected), "{}", game.position_text(state));
    }
}

#[test]
fn too_many_positions_are_given_up() {
    assert!(Solution::of(&MuTorere::default(), 1000).is_none());
}
