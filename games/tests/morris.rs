//! The strong solution of Morris: whole for three pieces, by samples for more.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_agents::{Effort, Playable};
use turnstone_env::games::Morris;
use turnstone_env::{ActionList, Notation, Params, Rules, Side};
use turnstone_exact::{ExactValues, Progress, Silent, Solution, TableError};
use turnstone_games::morris::{MorrisTable, solver};
use turnstone_search::classic::{AlphaBeta, WIN_BAND, WON, WinLoss};

type State = <Morris as Rules>::State;

fn game(pieces: u8) -> Morris {
    Morris::default().with_params(&Params::new().with("pieces", pieces).with("no_progress_limit", 0)).unwrap()
}

fn solved(game: &Morris, folder: &Path) -> MorrisTable {
    let path = folder.join(MorrisTable::file_name(game));
    assert!(solver::solve(game, &path, 2, &Silent).unwrap(), "nobody stopped it");
    MorrisTable::open(game, &path).unwrap()
}

fn known(game: &Morris, folder: &Path) -> Result<Option<Box<dyn ExactValues<Morris>>>, TableError> {
    turnstone_games::Morris::exact_values(game, folder, Effort::Full)
}

/// A state from random play, or any position that the rules' text admits: few random games see endgames.
fn random_state(game: &Morris, rng: &mut impl Rng) -> State {
    let pieces = game.start().in_hand(Side::First);
    if rng.random_bool(0.5) {
        let mut state = game.start();
        let mut legal = ActionList::new();
        for _ in 0..rng.random_range(0..8 * pieces) {
            game.legal(&state, &mut legal);
            if legal.is_empty() {
                break;
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
        return state;
    }
    loop {
        let in_hand = if rng.random_bool(0.5) { 0 } else { rng.random_range(0..=2 * pieces) };
        let removing = rng.random_bool(0.2);
        let mover = usize::from(if in_hand == 0 { rng.random_bool(0.5) } else { (in_hand % 2 == 1) != removing });
        let hands = [in_hand / 2, in_hand.div_ceil(2)];
        let mut board = ['x'; 18];
        for (hand, letter) in hands.into_iter().zip(['W', 'B']) {
            for _ in 0..rng.random_range(0..=pieces - hand) {
                board[rng.random_range(0..18)] = letter;
            }
        }
        let board: String = board.into_iter().collect();
        let (mover, removing) = (["W", "B"][mover], if removing { "x" } else { "-" });
        let text = format!("{board} {mover} {} {} {removing} 0", hands[0], hands[1]);
        if let Ok(state) = game.parse_position(&text) {
            return state;
        }
    }
}

/// The value is the best of the successors'; the distance is one turn more than the nearest win or the farthest loss.
fn check(game: &Morris, table: &MorrisTable, state: &State) {
    let text = game.position_text(state);
    let value = table.value(game, state).unwrap_or_else(|| panic!("not covered: {text}"));
    let distance = table.distance(game, state);
    if let Some(outcome) = game.outcome(state) {
        assert_eq!(value, outcome.value(), "{text}");
        assert_eq!(distance, Some(0), "{text}");
        return;
    }
    let sign = if game.mover(state) == Side::First { 1 } else { -1 };
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let after = legal.iter().map(|&action| {
        let mut after = *state;
        game.play(&mut after, action);
        let value = table.value(game, &after).unwrap_or_else(|| panic!("not covered: {}", game.position_text(&after)));
        let turn = u32::from(game.mover(&after) != game.mover(state) || game.outcome(&after).is_some());
        (sign * value, table.distance(game, &after).map(|turns| turns + turn))
    });
    let after: Vec<(i8, Option<u32>)> = after.collect();
    let best = after.iter().map(|&(value, _)| value).max().unwrap();
    assert_eq!(sign * value, best, "{text}");
    if state.in_hand(Side::First) + state.in_hand(Side::Second) == 0 {
        let turns = after.iter().filter(|&&(value, _)| value == best).map(|&(_, turns)| turns);
        match best {
            0 => assert_eq!(distance, None, "{text}"),
            1 => assert_eq!(distance, turns.map(|turns| turns.expect("kept")).min(), "{text}"),
            _ => assert_eq!(distance, turns.map(|turns| turns.expect("kept")).max(), "{text}"),
        }
    }
}

#[test]
fn three_pieces_agree_with_the_enumeration_of_all_positions() {
    let game = game(3);
    let folder = tempfile::tempdir().unwrap();
    let table = solved(&game, folder.path());
    let solution = Solution::of(&game, 5_000_000).unwrap();
    assert_eq!(solution.states().len(), 841_153);
    for (number, state) in solution.states().iter().enumerate() {
        assert_eq!(table.value(&game, state), solution.value(state), "{}", game.position_text(state));
        if number % 8 == 0 {
            check(&game, &table, state);
        }
    }
}

#[test]
fn four_and_five_pieces_are_consistent() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for pieces in [4, 5] {
        let game = game(pieces);
        let table = solved(&game, folder.path());
        assert_eq!(table.value(&game, &game.start()), Some(0));
        for _ in 0..100_000 {
            check(&game, &table, &random_state(&game, &mut rng));
        }
        for _ in 0..1000 {
            win(&game, &table, random_state(&game, &mut rng), &mut rng);
        }
    }
}

/// Against any defence the optimal actions win within the distance.
fn win(game: &Morris, table: &MorrisTable, mut state: State, rng: &mut impl Rng) {
    let value = table.value(game, &state).unwrap();
    let Some(distance) = table.distance(game, &state) else { return };
    let mut turns = 0;
    let mut legal = ActionList::new();
    while game.outcome(&state).is_none() {
        let mover = game.mover(&state);
        game.legal(&state, &mut legal);
        let wins = (value > 0) == (mover == Side::First);
        let actions = if wins { table.optimal_actions(game, &state).unwrap() } else { legal.to_vec() };
        assert!(actions.iter().all(|&action| legal.contains(action)));
        game.play(&mut state, actions[rng.random_range(0..actions.len())]);
        turns += u32::from(game.mover(&state) != mover);
    }
    assert_eq!(game.outcome(&state).unwrap().value(), value);
    assert!(turns <= distance, "{turns} turns instead of {distance}");
}

/// A win of three turns lies within six plies, and no win of more than four turns within four.
#[test]
fn alpha_beta_finds_the_same_near_wins() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let game = game(4);
    let table = solved(&game, folder.path());
    let (mut near, mut far) = (0, 0);
    while near < 100 || far < 100 {
        let state = random_state(&game, &mut rng);
        let value = i32::from(table.value(&game, &state).unwrap());
        let mut search = AlphaBeta::new(&game, WinLoss).with_table(1 << 22);
        match table.distance(&game, &state) {
            Some(turns @ 1..=3) if near < 100 => {
                near += 1;
                let score = search.search(&state, 2 * turns).score;
                assert!(score * value > WON - WIN_BAND, "{score} at {}", game.position_text(&state));
            }
            Some(0..=4) => {}
            None if value != 0 => {} // the opening has no distances
            _ if far < 100 => {
                far += 1;
                assert_eq!(search.search(&state, 4).score, 0, "{}", game.position_text(&state));
            }
            _ => {}
        }
    }
}

#[test]
fn other_parameters_and_missing_tables_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(solved(&game(3), folder.path()));
    let table = folder.path().join(MorrisTable::file_name(&game(3)));
    let error = MorrisTable::open(&game(4), &table).unwrap_err().to_string();
    assert!(error.contains("its params is `pieces=3` instead of `pieces=4`; rebuild it with"), "{error}");
    assert!(known(&game(4), folder.path()).is_err());
    // The limit is no part of the table, and states of the game with it are covered.
    let limited = Morris::default().with_params(&Params::new().with("pieces", 3)).unwrap();
    let (limited_truth, truth) = (known(&limited, folder.path()).unwrap(), known(&game(3), folder.path()).unwrap());
    let board = "WWxxxxWxxxxxxxBBBx B 0 0 -";
    let late = limited.parse_position(&format!("{board} 57")).unwrap();
    let early = game(3).parse_position(&format!("{board} 0")).unwrap();
    let value = limited_truth.unwrap().value(&limited, &late);
    assert_eq!(value, truth.unwrap().value(&game(3), &early));
    assert!(value.is_some());
}

/// Stops a solver after this many layers.
struct StopAfter(AtomicU32);

impl Progress for StopAfter {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self, _: &str, _: &str) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
    fn stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn an_interrupted_solver_goes_on_where_it_was() {
    let game = game(4);
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.table");
    assert!(solver::solve(&game, &whole, 1, &Silent).unwrap());
    let path = folder.path().join("broken.table");
    for layers in [2, 1, 3] {
        assert!(!solver::solve(&game, &path, 2, &StopAfter(AtomicU32::new(layers))).unwrap());
        assert!(!path.exists());
    }
    let layers = folder.path().join("broken.partial");
    assert_eq!(std::fs::read_dir(&layers).unwrap().count(), 6);
    // A damaged layer is solved again.
    let layer = layers.join("midgame-4-3.table");
    let mut bytes = std::fs::read(&layer).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&layer, bytes).unwrap();
    assert!(solver::solve(&game, &path, 2, &Silent).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&whole).unwrap());
    assert!(!layers.exists());
}

/// Six pieces; with `TABLES=full` eight, which takes half a minute on two cores. Set `TURNSTONE_TABLES` to the folder of a
/// table that `turnstone solve morris` has written to check that one.
#[test]
fn many_pieces_are_consistent_and_a_draw() {
    let is_full = std::env::var_os("TABLES").is_some_and(|size| size == "full");
    let game = game(if is_full || std::env::var_os("TURNSTONE_TABLES").is_some() { 8 } else { 6 });
    let (name, folder) = (MorrisTable::file_name(&game), tempfile::tempdir().unwrap());
    let table = match std::env::var_os("TURNSTONE_TABLES") {
        Some(tables) => MorrisTable::open(&game, &Path::new(&tables).join(name)).unwrap(),
        None => solved(&game, folder.path()),
    };
    assert_eq!(table.value(&game, &game.start()), Some(0));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    for _ in 0..200_000 {
        check(&game, &table, &random_state(&game, &mut rng));
    }
}
