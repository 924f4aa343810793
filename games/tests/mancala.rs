//! Exact values of Mancala against plain alpha-beta through the rules, and the known values of its starts.

use std::sync::atomic::{AtomicU64, Ordering};

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Mancala;
use turnstone_env::games::mancala::State;
use turnstone_env::{Action, ActionList, Notation, Params, Rules, Side};
use turnstone_exact::{ExactValues, Progress, SharedSolver, Silent, SolveLimits};
use turnstone_games::mancala::{MancalaEndgames, MancalaSolver, MancalaValues};

fn game(params: &[(&str, &str)]) -> Mancala {
    let params = params.iter().fold(Params::new(), |params, (key, value)| params.with(*key, value));
    Mancala::default().with_params(&params).expect("valid parameters")
}

fn endgames(game: &Mancala, stones: usize, threads: usize) -> MancalaEndgames {
    MancalaEndgames::build(game, stones, threads, &Silent)
}

/// The margin by alpha-beta to the end, with nothing but the rules.
fn margin(game: &Mancala, state: &State, mut alpha: i16, mut beta: i16) -> i16 {
    if let Some(outcome) = game.outcome(state) {
        return outcome.margin;
    }
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let first = game.mover(state) == Side::First;
    for &action in &legal {
        let mut next = *state;
        game.play(&mut next, action);
        let margin = margin(game, &next, alpha, beta);
        if first {
            alpha = alpha.max(margin);
        } else {
            beta = beta.min(margin);
        }
        if alpha >= beta {
            break;
        }
    }
    if first { alpha } else { beta }
}

/// The legal actions after which the margin is the same.
fn keeping(game: &Mancala, state: &State, expected: i16) -> Vec<Action> {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let reaches = |&action: &Action| {
        let mut next = *state;
        game.play(&mut next, action);
        margin(game, &next, i16::MIN, i16::MAX) == expected
    };
    legal.iter().copied().filter(reaches).collect()
}

/// A position of random play with about this many stones left in play.
fn position(game: &Mancala, stones: u8, rng: &mut impl Rng) -> State {
    let mut legal = ActionList::new();
    loop {
        let mut state = game.start();
        while game.outcome(&state).is_none() {
            let in_play = Side::BOTH.iter().flat_map(|&side| game.row(&state, side)).sum::<u8>();
            if in_play <= stones {
                return state;
            }
            game.legal(&state, &mut legal);
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
    }
}

#[test]
fn the_known_values_of_the_starts() {
    let cases = [
        (vec![("empty_capture", "true")], [2, 10, 0]),
        (vec![("empty_capture", "false")], [2, 6, 2]),
        (vec![("end_rule", "either_side_empty")], [2, 10, 2]),
    ];
    for (params, expected) in cases {
        let endgames = endgames(&game(&params), 9, 2);
        let path = tempfile::tempdir().unwrap();
        let path = path.path().join("endgames.table");
        endgames.save(&path).unwrap();
        for (stones, expected) in (1..).zip(expected) {
            for (first_player, sign) in [("1", 1), ("2", -1)] {
                let stones = stones.to_string();
                let game = game(&[&params[..], &[("stones", &stones), ("first_player", first_player)]].concat());
                let endgames = MancalaEndgames::open(&game, &path).unwrap();
                assert_eq!(endgames.stones(), 9);
                let solver = MancalaSolver::new(&game, Some(endgames), 1 << 18);
                let found = solver.solve(&game, &game.start(), &SolveLimits::NONE);
                assert_eq!(found, Some(sign * expected), "{}", game.params());
            }
        }
    }
}

#[test]
fn the_known_value_of_the_full_start() {
    // The other rules take as long: 8 without empty captures, 10 when either empty row ends the game.
    let game = game(&[]);
    let solver = MancalaSolver::new(&game, Some(endgames(&game, 15, 2)), 1 << 23);
    assert_eq!(solver.solve(&game, &game.start(), &SolveLimits::NONE), Some(10));
}

#[test]
fn solver_and_plain_alpha_beta_agree() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for pits in 1..=7 {
        for (empty_capture, end_rule) in [("true", "mover_cannot_move"), ("false", "either_side_empty")] {
            let stones = ["5", "6", "6", "5", "4", "4", "4"][pits - 1];
            let pits = pits.to_string();
            let params =
                [("pits", &*pits), ("stones", stones), ("empty_capture", empty_capture), ("end_rule", end_rule)];
            let game = game(&params);
            for covered in [None, Some(0), Some(5)] {
                let endgames = covered.map(|covered| endgames(&game, covered, 1));
                let solver = MancalaSolver::new(&game, endgames, 64); // a table so small that much is forgotten
                for _ in 0..20 {
                    let state = position(&game, 11, &mut rng);
                    let expected = margin(&game, &state, i16::MIN, i16::MAX);
                    let found = solver.solve(&game, &state, &SolveLimits::NONE);
                    assert_eq!(found, Some(expected), "{} {}", game.params(), game.position_text(&state));
                    let value = solver.value(&game, &state, &SolveLimits::NONE);
                    assert_eq!(value, Some(expected.signum() as i8), "{}", game.position_text(&state));
                    let best = solver.best_margin(&game, &state, &SolveLimits::NONE);
                    let actions = keeping(&game, &state, expected);
                    assert_eq!(best, Some((expected, actions)), "{} {}", game.params(), game.position_text(&state));
                }
            }
        }
    }
}

#[test]
fn large_pits_agree_too() {
    // Laps: more than 2 * pits + 1 stones in a pit.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    for (pits, stones) in [("2", "30"), ("3", "21"), ("2", "63")] {
        let game = game(&[("pits", pits), ("stones", stones)]);
        let solver = MancalaSolver::new(&game, Some(endgames(&game, 8, 1)), 1 << 16);
        for _ in 0..20 {
            let state = position(&game, 26, &mut rng);
            let expected = margin(&game, &state, i16::MIN, i16::MAX);
            assert_eq!(
                solver.solve(&game, &state, &SolveLimits::NONE),
                Some(expected),
                "{}",
                game.position_text(&state)
            );
        }
    }
}

#[test]
fn every_entry_in_a_sample_is_the_best_of_its_successors() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for end_rule in ["mover_cannot_move", "either_side_empty"] {
        let game = game(&[("end_rule", end_rule)]);
        // Nothing but the table: not one node may be searched.
        let solver = MancalaSolver::new(&game, Some(endgames(&game, 12, 2)), 2);
        let truth = MancalaValues(SharedSolver::new(solver, SolveLimits::nodes(0)));
        let mut legal = ActionList::new();
        for _ in 0..3000 {
            let state = position(&game, rng.random_range(3..=12), &mut rng);
            game.legal(&state, &mut legal);
            let margins = legal.iter().map(|&action| {
                let mut next = state;
                game.play(&mut next, action);
                truth.margin(&game, &next).expect("covered")
            });
            let best = if game.mover(&state) == Side::First { margins.max() } else { margins.min() };
            assert_eq!(truth.margin(&game, &state), best, "{}", game.position_text(&state));
            assert_eq!(truth.value(&game, &state), best.map(|best| best.signum() as i8));
        }
        assert_eq!(truth.value(&game, &game.start()), None);
    }
}

/// Stops when this many positions are begun.
struct StopAt {
    left: AtomicU64,
}

impl Progress for StopAt {
    fn begin(&self, _: &str, _: u64) {}

    fn advance(&self, entries: u64) {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(entries), Ordering::Relaxed);
    }

    fn end(&self, _: &str, _: &str) {}

    fn stopped(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn threads_and_interruptions_leave_the_same_values() {
    let game = game(&[("pits", "4")]);
    let whole = endgames(&game, 12, 1);
    assert_eq!(MancalaEndgames::size(&game, 12), Some(125_970));
    let part = MancalaEndgames::build(&game, 12, 3, &StopAt { left: AtomicU64::new(80_000) });
    assert_eq!(part.stones(), 11);
    let [from_whole, from_part] = [whole, part].map(|table| MancalaSolver::new(&game, Some(table), 2));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    for _ in 0..500 {
        let state = position(&game, 11, &mut rng);
        let limits = SolveLimits::nodes(0);
        assert_eq!(from_whole.solve(&game, &state, &limits), from_part.solve(&game, &state, &limits));
    }
}

#[test]
fn a_table_grows_into_the_one_that_is_built_at_once() {
    let game = game(&[("pits", "4"), ("end_rule", "either_side_empty")]);
    let folder = tempfile::tempdir().unwrap();
    let files = ["small", "grown", "whole"].map(|name| folder.path().join(name));
    endgames(&game, 7, 1).save(&files[0]).unwrap();
    let small = MancalaEndgames::open(&game, &files[0]).unwrap();
    let grown = MancalaEndgames::extend(&game, Some(&small), 10, 2, &Silent);
    assert_eq!(grown.stones(), 10);
    grown.save(&files[1]).unwrap();
    endgames(&game, 10, 1).save(&files[2]).unwrap();
    assert!(std::fs::read(&files[1]).unwrap() == std::fs::read(&files[2]).unwrap(), "the files differ");
}

#[test]
fn threads_that_share_a_table_find_the_same() {
    let game = game(&[]);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let table = || Some(endgames(&game, 8, 2));
    let [alone, shared] = [1 << 16, 1 << 8].map(|entries| MancalaSolver::new(&game, table(), entries));
    let mut large = 0;
    for _ in 0..12 {
        let state = position(&game, 30, &mut rng);
        let expected = alone.best_margin(&game, &state, &SolveLimits::NONE);
        let found = shared.best_margin(&game, &state, &SolveLimits::NONE.with_threads(4));
        assert_eq!(found, expected, "{}", game.position_text(&state));
        large += usize::from(shared.nodes() > 200_000);
    }
    assert!(large > 2, "threads helped in {large} positions only");
}

#[test]
fn time_runs_out() {
    let game = game(&[]);
    let solver = MancalaSolver::new(&game, None, 1 << 10);
    let limits = SolveLimits::NONE.with_time(Some(std::time::Duration::from_millis(50))).with_threads(2);
    let begun = std::time::Instant::now();
    assert_eq!(solver.solve(&game, &game.start(), &limits), None);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn a_spent_budget_and_a_foreign_table_are_refused() {
    let game = game(&[]);
    let solver = MancalaSolver::new(&game, None, 1 << 10);
    assert_eq!(solver.solve(&game, &game.start(), &SolveLimits::nodes(1000)), None);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("endgames.table");
    endgames(&game, 4, 1).save(&path).unwrap();
    let other = self::game(&[("empty_capture", "false")]);
    let error = MancalaEndgames::open(&other, &path).unwrap_err().to_string();
    assert!(error.contains("params") && error.contains("rebuild"), "{error}");
}
