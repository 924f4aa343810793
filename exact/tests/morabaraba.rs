//! The endgame of three cows against three, against plain search and its successors through the rules.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Morabaraba;
use turnstone_env::games::morabaraba::State;
use turnstone_env::{ActionList, Game, Params, Side};
use turnstone_exact::{ExactValues, MorabarabaEndgames, Silent};

fn game(quiet_limit: u8, fly_limit: u8) -> Morabaraba {
    let params = Params::new().with("quiet_limit", quiet_limit).with("fly_limit", fly_limit);
    Morabaraba::with_params(&params).expect("valid")
}

/// The value for the first side by alpha-beta to the end, with nothing but the rules.
fn value(game: &Morabaraba, state: &State) -> i8 {
    if let Some(outcome) = game.outcome(state) {
        return outcome.value();
    }
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let sign = if game.mover(state) == Side::First { 1 } else { -1 };
    let mut best = -1;
    for &action in &legal {
        let mut next = *state;
        game.play(&mut next, action);
        best = best.max(sign * value(game, &next));
        if best == 1 {
            break;
        }
    }
    sign * best
}

/// Three cows against three on random points; every third time the mover has a mill, so that bans come up.
fn position(game: &Morabaraba, left: u8, rng: &mut impl Rng) -> State {
    loop {
        let mut board = ['.'; 24];
        for (letter, count) in [('B', 3), ('W', 3)] {
            for _ in 0..count {
                board[rng.random_range(0..24)] = letter;
            }
        }
        if rng.random_range(0..3) == 0 {
            board[..3].fill('B');
        }
        let board: String = board.iter().collect();
        let mover = if rng.random_bool(0.5) { 'B' } else { 'W' };
        let (quiet, fly) = (game.quiet_limit().saturating_sub(left), game.fly_limit().saturating_sub(left));
        let text = format!("{board} {mover} 0 0 - {} {fly} - -", quiet.max(fly));
        if let Ok(state) = game.parse_position(&text)
            && Side::BOTH.iter().all(|&side| state.cows(side).count_ones() == 3)
        {
            return state;
        }
    }
}

#[test]
fn the_endgame_of_three_against_three() {
    let built = MorabarabaEndgames::build(&Silent);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(MorabarabaEndgames::file_name());
    built.save(&path).unwrap();
    let endgames = MorabarabaEndgames::open(&path).unwrap();
    plain_search_agrees(&endgames);
    for limits in [(50, 10), (0, 0), (7, 0), (50, 4)] {
        successors_agree(&endgames, &game(limits.0, limits.1));
    }
    let game = game(50, 10);
    assert_eq!(endgames.value(&game, &game.start()), None);
}

fn plain_search_agrees(endgames: &MorabarabaEndgames) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let game = game(50, 10);
    for left in 1..=3 {
        for _ in 0..[300, 100, 12][left - 1] {
            let state = position(&game, left as u8, &mut rng);
            assert_eq!(endgames.value(&game, &state), Some(value(&game, &state)), "{}", game.position_text(&state));
        }
    }
}

/// Along random games every value is the best of the successors' values; with bans, which play brings about.
fn successors_agree(endgames: &MorabarabaEndgames, game: &Morabaraba) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut legal, mut bans, mut decided) = (ActionList::new(), 0, 0);
    for _ in 0..300 {
        let mut state = position(game, 255, &mut rng);
        for _ in 0..20 {
            if game.outcome(&state).is_some() {
                break;
            }
            game.legal(&state, &mut legal);
            let sign = if game.mover(&state) == Side::First { 1 } else { -1 };
            let values: Vec<i8> = (legal.iter())
                .map(|&action| {
                    let mut next = state;
                    game.play(&mut next, action);
                    sign * endgames.value(game, &next).expect("covered")
                })
                .collect();
            let best = *values.iter().max().expect("a running game");
            assert_eq!(endgames.value(game, &state), Some(sign * best), "{}", game.position_text(&state));
            bans += Side::BOTH.iter().filter(|&&side| state.banned_mills(side).next().is_some()).count();
            decided += usize::from(best != 0);
            // Play that keeps the value as a rule lasts longer than random play.
            let kept: Vec<usize> = (0..legal.len()).filter(|&i| values[i] == best).collect();
            game.play(&mut state, legal[kept[rng.random_range(0..kept.len())]]);
        }
    }
    assert!(bans > 10 && decided > 50, "{bans} bans, {decided} decided");
}
