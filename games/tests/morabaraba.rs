//! The endgame of three cows against three, against plain search and its successors through the rules.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::Morabaraba;
use turnstone_env::games::morabaraba::State;
use turnstone_env::{ActionList, Notation, Params, Rules, Side};
use turnstone_exact::{ExactValues, Silent};
use turnstone_games::morabaraba::MorabarabaEndgames;

fn game(quiet_limit: u8, fly_limit: u8) -> Morabaraba {
    let params = Params::new().with("quiet_limit", quiet_limit).with("fly_limit", fly_limit);
    Morabaraba::default().with_params(&params).expect("valid")
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

/// Cows on random points, with this number of plies left; every third time the mover has a mill, so that bans come up.
fn position(game: &Morabaraba, cows: [usize; 2], left: u8, rng: &mut impl Rng) -> State {
    loop {
        let mut board = ['.'; 24];
        for (letter, count) in ['B', 'W'].into_iter().zip(cows) {
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
        let fly = if cows.contains(&3) { fly } else { 0 };
        let text = format!("{board} {mover} 0 0 - {} {fly} - -", quiet.max(fly));
        if let Ok(state) = game.parse_position(&text)
            && Side::BOTH.iter().zip(cows).all(|(&side, count)| state.cows(side).count_ones() as usize == count)
        {
            return state;
        }
    }
}

/// Builds the tables and reads them from their files.
fn endgames(game: &Morabaraba, cows: usize) -> MorabarabaEndgames {
    let folder = tempfile::tempdir().unwrap();
    assert!(MorabarabaEndgames::build(game, folder.path(), cows, 2, &Silent).unwrap());
    MorabarabaEndgames::open(game, folder.path()).unwrap()
}

#[test]
fn three_against_three() {
    let game = game(50, 10);
    let endgames = endgames(&game, 6);
    plain_search_agrees(&endgames, &game, [3, 3], &[300, 100, 12]);
    successors_agree(&endgames, &game, [3, 3], 300);
    assert_eq!(endgames.value(&game, &game.start()), None);
    for limits in [(0, 0), (7, 0), (50, 4)] {
        let game = self::game(limits.0, limits.1);
        successors_agree(&self::endgames(&game, 6), &game, [3, 3], 100);
    }
}

#[test]
fn four_against_three() {
    // With so low a limit plain search can follow the game beyond a shot.
    let short = game(50, 3);
    let built = endgames(&short, 7);
    plain_search_agrees(&built, &short, [4, 3], &[60, 20, 4]);
    plain_search_agrees(&built, &short, [3, 4], &[60, 20, 4]);
    for cows in [[4, 3], [3, 4]] {
        successors_agree(&built, &short, cows, 300);
    }
    let usual = game(50, 10);
    assert_eq!(built.value(&usual, &position(&usual, [4, 3], 10, &mut Xoshiro256PlusPlus::seed_from_u64(1))), None);
}

#[test]
fn four_against_three_without_limits() {
    // Endless play is a draw, and the four win by blocks too.
    let game = game(0, 0);
    let endgames = endgames(&game, 7);
    for cows in [[4, 3], [3, 4]] {
        successors_agree(&endgames, &game, cows, 150);
    }
}

/// Alpha-beta through the rules, with one ply left, two, three: as many positions of each as `counts` says.
fn plain_search_agrees(endgames: &MorabarabaEndgames, game: &Morabaraba, cows: [usize; 2], counts: &[usize]) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    for (left, &count) in (1..).zip(counts) {
        for _ in 0..count {
            let state = position(game, cows, left, &mut rng);
            assert_eq!(endgames.value(game, &state), Some(value(game, &state)), "{}", game.position_text(&state));
        }
    }
}

/// Along random games every value is the best of the successors' values; with bans, which play brings about.
fn successors_agree(endgames: &MorabarabaEndgames, game: &Morabaraba, cows: [usize; 2], games: usize) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut legal, mut bans, mut decided) = (ActionList::new(), 0, 0);
    for _ in 0..games {
        let mut state = position(game, cows, 255, &mut rng);
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
    assert!(bans > games / 30 && decided > games / 6, "{bans} bans, {decided} decided");
}
