//! Walks against a brute-force search of a few lines, and forged certificates.

use std::collections::HashMap;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{Konane, Mancala, MuTorere};
use turnstone_env::toy::Toy;
use turnstone_env::{Params, without_limits};

use super::*;
use crate::reachable::Solution;

/// An agent: the place of its move.
type Agent<'a, G> = &'a dyn Fn(&<G as Rules>::State, &[Action]) -> usize;

/// Agents of all kinds: the first move, the last, and two that depend on all of the position.
fn agents<S: std::hash::Hash>() -> [fn(&S, &[Action]) -> usize; 4] {
    [
        |_, _| 0,
        |_, legal| legal.len() - 1,
        |state, legal| hash(state) as usize % legal.len(),
        |state, legal| hash(&(state, 1)) as usize % legal.len(),
    ]
}

fn walked<G: Rules>(game: &G, seat: Side, agent: Agent<'_, G>) -> Walk<G> {
    let mut walk = Walk::new(game, seat, &[game.start()]);
    assert_eq!(walk.extend(1_000_000, &mut |state, legal| Some(agent(state, legal))), Ok(Extent::Complete));
    walk
}

/// The worst result for the agent within so many plies, a draw if there is none.
fn brute_force<G: Rules>(
    game: &G,
    seat: Side,
    agent: Agent<'_, G>,
    state: G::State,
    plies: u32,
    known: &mut HashMap<(G::State, u32), i8>,
) -> i8 {
    if let Some(outcome) = game.outcome(&state) {
        return outcome.value_for(seat);
    }
    if let Some(&value) = known.get(&(state, plies)) {
        return value;
    }
    let mut legal = ActionList::new();
    game.legal(&state, &mut legal);
    let agents = [legal[if game.mover(&state) == seat { agent(&state, &legal) } else { 0 }]];
    let played = if game.mover(&state) == seat { &agents[..] } else { &legal[..] };
    let after = |&action: &Action| {
        let mut next = state;
        game.play(&mut next, action);
        next
    };
    let worst = match plies {
        0 => 0,
        _ => played.iter().map(|a| brute_force(game, seat, agent, after(a), plies - 1, known)).min().expect("a move"),
    };
    known.insert((state, plies), worst);
    worst
}

/// Compares walks with the search, and returns how often each result came about.
fn compare<G: Rules>(game: &G, plies: u32) -> [usize; 3] {
    let mut results = [0; 3];
    for (seat, agent) in Side::BOTH.into_iter().flat_map(|seat| agents().map(|agent| (seat, agent))) {
        let walk = walked(game, seat, &agent);
        let values = walk.values();
        let mut known = HashMap::new();
        for (&state, value) in walk.positions.iter().zip(&values).step_by(1 + values.len() / 60) {
            let worst = brute_force(game, seat, &agent, state, plies, &mut known);
            assert_eq!(*value, worst, "{seat} of {game:?} from {state:?}");
        }
        let worst = values[0];
        results[(worst + 1) as usize] += 1;
        assert_eq!(walk.refutation(&values, 0).is_some(), worst == -1);
        if let Some(line) = walk.refutation(&values, 0) {
            check_refutation(game, seat, &agent, &line);
            if let Some(shorter) = (line.len() as u32).checked_sub(1) {
                assert!(brute_force(game, seat, &agent, game.start(), shorter, &mut HashMap::new()) > -1);
            }
        }
    }
    results
}

/// Checks that a line is legal, that the agent plays its moves of it, and that it loses.
fn check_refutation<G: Rules>(game: &G, seat: Side, agent: Agent<'_, G>, line: &[Action]) {
    let (mut state, mut legal) = (game.start(), ActionList::new());
    for &action in line {
        game.legal(&state, &mut legal);
        assert!(legal.contains(action));
        assert!(game.mover(&state) != seat || legal[agent(&state, &legal)] == action);
        game.play(&mut state, action);
    }
    assert_eq!(game.outcome(&state).map(|outcome| outcome.value_for(seat)), Some(-1));
}

/// On random trees, whose players may move several times in a row, and on small variants of games, one of which goes on for
/// ever.
#[test]
fn the_worst_result_is_that_of_brute_force() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut seen = [0; 3];
    for _ in 0..100 {
        let results = compare(&Toy::random(&mut rng, 6, 3, 1), 10);
        seen = [0, 1, 2].map(|at| seen[at] + results[at]);
    }
    assert!(seen.iter().all(|&results| results > 20), "{seen:?}");
    let small = |params: &[(&str, u8)]| params.iter().fold(Params::new(), |all, &(key, value)| all.with(key, value));
    let mancala = Mancala::default().with_params(&small(&[("pits", 3), ("stones", 2)])).expect("small");
    let konane = Konane::default().with_params(&small(&[("size", 4)])).expect("small");
    let endless = without_limits(&MuTorere::default()).expect("it can be 0");
    assert_ne!(compare(&mancala, 60)[0], 0);
    assert_ne!(compare(&konane, 20)[0], 0);
    assert_ne!(compare(&MuTorere::default(), 101)[0], 0);
    assert_ne!(compare(&endless, 200)[0], 0);
}

/// An agent that keeps the value of every position comes to the value of the game at worst; where play goes on for ever, that
/// is a draw and no win.
#[test]
fn perfect_agents_come_to_the_value_of_the_game() {
    fn check<G: Rules>(game: &G, value: i8) {
        let truth = Solution::of(game, 100_000).expect("small");
        assert_eq!(truth.value(&game.start()), Some(value));
        for seat in Side::BOTH {
            let sign = seat.sign() as i8;
            // The shortest win, or the longest loss, so that it makes progress.
            let rank = |state: &G::State, action: &Action| {
                let mut next = *state;
                game.play(&mut next, *action);
                let value = sign * truth.value(&next).expect("it is reachable");
                (value, -i64::from(value) * i64::from(truth.plies_to_end(&next).unwrap_or(0)))
            };
            let best = |state: &G::State, legal: &[Action]| {
                (0..legal.len()).max_by_key(|&place| rank(state, &legal[place])).expect("a move")
            };
            let walk = walked(game, seat, &best);
            assert_eq!(walk.values()[0], sign * value, "{seat} of {game:?}");
        }
    }
    check(&without_limits(&MuTorere::default()).expect("it can be 0"), 0);
    let konane = Konane::default().with_params(&Params::new().with("size", 4)).expect("small");
    check(&konane, -1);
    let mancala = Mancala::default().with_params(&Params::new().with("pits", 3).with("stones", 2)).expect("small");
    let value = Solution::of(&mancala, 100_000).expect("small").value(&mancala.start()).expect("the start");
    check(&mancala, value);
}

#[test]
fn an_escape_leads_to_safety() {
    let game = without_limits(&MuTorere::default()).expect("it can be 0");
    let truth = Solution::of(&game, 10_000).expect("small");
    let mut escapes = 0;
    for (seat, seed) in Side::BOTH.into_iter().flat_map(|seat| (0..30).map(move |seed| (seat, seed))) {
        // It keeps the value but for some positions.
        let agent = |state: &_, legal: &[Action]| {
            let keeps = |action: &Action| {
                let mut next = *state;
                game.play(&mut next, *action);
                truth.value(&next) == truth.value(state)
            };
            let errs = hash(&(state, seed)).is_multiple_of(20);
            legal.iter().position(|action| keeps(action) != errs).unwrap_or(0)
        };
        let walk = walked(&game, seat, &agent);
        let values = walk.values();
        let Some(line) = walk.refutation(&values, 0) else { continue };
        let Some((ply, better)) = walk.last_escape(&values, 0, &line) else { continue };
        let mut state = game.start();
        line[..ply].iter().for_each(|&action| game.play(&mut state, action));
        assert_eq!(game.mover(&state), seat);
        game.play(&mut state, better);
        assert!(brute_force(&game, seat, &agent, state, 200, &mut HashMap::new()) >= 0);
        escapes += 1;
    }
    assert!(escapes > 5, "{escapes}");
}

#[test]
fn walks_end_where_they_may_and_go_on() {
    let game = MuTorere::default();
    let agent = agents::<turnstone_env::games::mu_torere::State>()[2];
    let whole = walked(&game, Side::First, &agent);
    let mut walk = Walk::new(&game, Side::First, &[game.start()]);
    assert_eq!(walk.extend(50, &mut |state, legal| Some(agent(state, legal))), Ok(Extent::Full));
    assert!((50..60).contains(&walk.positions()) && walk.frontier() > 0);
    let mut left = 20;
    let extent = walk.extend(usize::MAX, &mut |state, legal| {
        left -= 1;
        (left >= 0).then(|| agent(state, legal))
    });
    assert_eq!(extent, Ok(Extent::Open));
    assert_eq!(walk.questions(1).next().map(|state| game.mover(state)), Some(Side::First));
    // Asked in lots, in the order of `questions`.
    while walk.frontier() > 0 {
        let asked: Vec<_> = walk.questions(7).copied().collect();
        let mut answers = asked.iter();
        let extent = walk.extend(usize::MAX, &mut |state, legal| {
            answers.next().inspect(|asked| assert_eq!(*asked, state)).map(|_| agent(state, legal))
        });
        assert!(extent.is_ok());
    }
    assert_eq!((walk.moves(), walk.positions()), (whole.moves(), whole.positions()));
    let mut replayed = Walk::new(&game, Side::First, &[game.start()]);
    let mut moves = MoveReader::new(whole.moves().bytes());
    assert_eq!(replayed.extend(usize::MAX, &mut |_, legal| moves.next(legal.len())), Ok(Extent::Complete));
    assert!(moves.is_at_end() && replayed.values() == whole.values());
    let illegal = Walk::new(&game, Side::First, &[game.start()]).extend(10, &mut |_, legal| Some(legal.len()));
    assert_eq!(illegal, Err(IllegalMove(1)));
}

#[test]
fn the_beginning_of_a_move_at_the_end_is_read_as_no_other() {
    let mut moves = MoveReader::new(&[0b1101_1101]);
    assert_eq!([moves.next(8), moves.next(8)], [Some(5), Some(3)]);
    assert_eq!([moves.next(8), moves.next(2), moves.next(1)], [None, None, Some(0)]);
}

/// Every opening has the result of a walk from it alone.
#[test]
fn several_starts_are_walked_at_once() {
    let game = Konane::default().with_params(&Params::new().with("size", 4)).expect("small");
    let mut starts = vec![game.start()];
    let mut legal = ActionList::new();
    for at in 0..30 {
        let mut state = starts[at / 2];
        game.legal(&state, &mut legal);
        if let Some(&action) = legal.get(at % legal.len().max(1)) {
            game.play(&mut state, action);
        }
        starts.push(state);
    }
    let mut results = [0; 3];
    for agent in agents() {
        let all = |starts: &[_]| {
            let mut walk = Walk::new(&game, Side::Second, starts);
            assert!(walk.extend(usize::MAX, &mut |state, legal| Some(agent(state, legal))).is_ok());
            walk.of_starts(&walk.values())
        };
        for (start, value) in starts.iter().zip(all(&starts)) {
            assert_eq!(all(&[*start]), [value]);
            results[(value + 1) as usize] += 1;
        }
    }
    assert!(results[0] > 0 && results[2] > 0, "{results:?}");
}
