//! The solver against minimax.

use super::*;
use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::{Notation, play_text};

const BUDGET: SolveLimits = SolveLimits::nodes(50_000_000);

/// Running positions after this many random plies.
fn random_positions(plies: u32) -> impl Iterator<Item = State> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(u64::from(plies));
    let mut legal = ActionList::new();
    let mut game = move || {
        let mut state = ConnectFour.start();
        for _ in 0..plies {
            ConnectFour.legal(&state, &mut legal);
            let action = *legal.get(rng.random_range(0..legal.len().max(1)))?;
            ConnectFour.play(&mut state, action);
        }
        ConnectFour.outcome(&state).is_none().then_some(state)
    };
    (0..).filter_map(move |_| game())
}

fn children(state: &State) -> Vec<State> {
    let mut legal = ActionList::new();
    ConnectFour.legal(state, &mut legal);
    let after = |&action: &Action| {
        let mut after = *state;
        ConnectFour.play(&mut after, action);
        after
    };
    legal.iter().map(after).collect()
}

/// The score by the rules alone.
fn minimax(state: &State) -> i32 {
    let discs = state.occupied().count_ones() as i32;
    match ConnectFour.outcome(state) {
        Some(outcome) => i32::from(outcome.value_for(state.mover())) * (END - discs),
        None => children(state).iter().map(|child| -minimax(child)).max().expect("the game is not over"),
    }
}

#[test]
fn scores_are_those_of_minimax() {
    let mut solver = Solver::new(1 << 16);
    let mut seen = [0; 3];
    for (plies, count) in [(30, 20), (33, 100), (36, 200), (40, 200)] {
        for state in random_positions(plies).take(count) {
            let (score, text) = (minimax(&state), ConnectFour.position_text(&state));
            assert_eq!(solver.score(&state, &BUDGET), Some(score), "{text}");
            assert_eq!(solver.value(&state, &BUDGET), Some(score.signum() as i8), "{text}");
            seen[(score.signum() + 1) as usize] += 1;
        }
    }
    assert!(seen.iter().all(|&positions| positions >= 50), "losses, draws and wins: {seen:?}");
}

#[test]
fn a_score_is_the_best_of_the_scores_after_each_ply() {
    let mut solver = Solver::new(1 << 18);
    for state in random_positions(20).take(20) {
        let children = children(&state);
        let best = children.iter().map(|child| -solver.score(child, &BUDGET).expect("in the budget")).max();
        assert_eq!(solver.score(&state, &BUDGET), best, "{}", ConnectFour.position_text(&state));
        let value = children.iter().map(|child| -solver.value(child, &BUDGET).expect("in the budget")).max();
        assert_eq!(solver.value(&state, &BUDGET), value, "{}", ConnectFour.position_text(&state));
    }
}

#[test]
fn the_values_of_actions_are_those_of_the_positions_after_them() {
    let (mut solver, mut other) = (Solver::new(1 << 16), Solver::new(1 << 16));
    for state in random_positions(22).take(50) {
        solver.value(&state, &BUDGET).expect("in the budget"); // leaves bounds in the table
        let values = solver.action_values(&state);
        let children = children(&state);
        assert_eq!(values.len(), children.len());
        for ((action, value), child) in values.into_iter().zip(&children) {
            let expected = -other.value(child, &BUDGET).expect("in the budget");
            assert_eq!(value, expected, "{} of {}", action.0, ConnectFour.position_text(&state));
        }
    }
}

/// Bounds hold, and the rule about rows decides many positions that the discs so far do not.
#[test]
fn bounds_without_search_contain_the_score() {
    let mut decided = [0; 2];
    for (plies, count) in [(30, 30), (31, 60), (33, 1000), (34, 2000), (36, 2000)] {
        for state in random_positions(plies).take(count) {
            let position = Position::of(&state);
            if position.wins_at_once() || position.safe_landings() == 0 {
                continue;
            }
            let (score, (lower, upper)) = (minimax(&state), position.bounds());
            assert!((lower..=upper).contains(&score), "{score}\n{}", ConnectFour.board(&state, None).text());
            decided[usize::from(state.mover() == Side::First)] += u32::from(lower >= 1 || upper <= -1);
        }
    }
    assert!(decided.iter().all(|&positions| positions >= 10), "won by the rule: {decided:?}");
}

/// All positions that are reached from this one in this many plies or fewer.
fn descendants(state: &State, plies: u32, found: &mut Vec<State>) {
    found.push(*state);
    if plies > 0 {
        children(state).iter().for_each(|child| descendants(child, plies - 1, found));
    }
}

#[test]
fn mirror_images_share_a_key_and_are_met_only_where_they_can_be() {
    let mirror = &ConnectFour.spec().symmetries[1];
    let mut outcomes = [0; 2];
    for state in [3, 5, 8].into_iter().flat_map(|plies| random_positions(plies).take(20)) {
        let image = ConnectFour.permuted(&state, mirror);
        assert_eq!(Position::of(&state).mirror_key(), Position::of(&image).mirror_key());
        assert!([&state, &image].iter().any(|state| Position::of(state).mirror_key() == Position::of(state).key()));
        let mut reached = Vec::new();
        descendants(&state, 4, &mut reached);
        let all: HashSet<State> = reached.iter().copied().collect();
        let pairs = reached.iter().any(|state| all.contains(&ConnectFour.permuted(state, mirror)));
        let possible = Position::of(&state).leads_to_mirror_images();
        assert!(possible || !pairs, "{}", ConnectFour.board(&state, None).text());
        outcomes[usize::from(possible)] += 1;
    }
    assert!(outcomes.iter().all(|&positions| positions >= 5), "without and with: {outcomes:?}");
}

#[test]
fn the_table_changes_no_score() {
    let (mut solver, mut without) = (Solver::new(1 << 16), Solver::new(1));
    for state in random_positions(22).take(300) {
        let score = solver.score(&state, &BUDGET).expect("in the budget");
        assert_eq!(without.score(&state, &BUDGET), Some(score), "{}", ConnectFour.position_text(&state));
        let value = solver.value(&state, &BUDGET).expect("in the budget");
        assert_eq!(i32::from(value), score.signum(), "{}", ConnectFour.position_text(&state));
    }
}

#[test]
fn values_are_for_the_first_side_and_distances_count_plies() {
    let truth = SolvedValues::from(Effort::Full);
    let after = |moves| {
        let mut state = ConnectFour.start();
        play_text(&ConnectFour, &mut state, moves).expect("legal");
        (truth.value(&ConnectFour, &state), truth.distance(&ConnectFour, &state))
    };
    assert_eq!(after("1 7 2 7 3 7"), (Some(1), Some(1))); // X wins with 4
    assert_eq!(after("1 4 1 5 2 6"), (Some(-1), Some(2))); // O threatens 3 and 7
    assert_eq!(after("1 7 2 7 3 7 4"), (Some(1), Some(0)));
}

#[test]
fn optimal_play_ends_as_the_value_and_the_distance_say() {
    let truth = SolvedValues::from(Effort::Quick);
    for mut state in random_positions(31).take(100) {
        let text = ConnectFour.position_text(&state);
        let value = truth.value(&ConnectFour, &state).expect("covered");
        let distance = truth.distance(&ConnectFour, &state);
        let mut plies = 0;
        while ConnectFour.outcome(&state).is_none() {
            let best = truth.optimal_actions(&ConnectFour, &state).expect("covered");
            ConnectFour.play(&mut state, best[best.len() / 2]);
            plies += 1;
        }
        assert_eq!(ConnectFour.outcome(&state).map(|outcome| outcome.value()), Some(value), "{text}");
        assert_eq!(distance, (value != 0).then_some(plies), "{text}");
    }
}

#[test]
fn every_limit_ends_a_search() {
    let mut solver = Solver::new(1 << 10);
    let start = ConnectFour.start();
    assert_eq!(solver.score(&start, &SolveLimits::nodes(1000)), None);
    let late = random_positions(36).next().expect("there are some");
    assert!(solver.score(&late, &SolveLimits::nodes(1000)).is_some());
    assert_eq!(solver.score(&start, &SolveLimits::NONE.with_time(Some(Duration::from_millis(50)))), None);
    solver.stop.raise();
    assert_eq!(solver.score(&start, &SolveLimits::NONE), None);
}
