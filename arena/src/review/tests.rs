//! Reviews of games against exact values by a minimax search of the tests' own.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use turnstone_agents::exact::Silent;
use turnstone_agents::review::{Mark, ReviewedMove, Source};
use turnstone_agents::{Agent, DynExactValues, Effort, PlayableGame};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::games::Mancala;
use turnstone_env::{AnyState, DynGame, Params};
use turnstone_games::built_in;
use turnstone_games::mancala::MancalaEndgames;

use super::*;

/// Values of positions for the first side by plain minimax.
#[derive(Default)]
struct Minimax(HashMap<String, i8>);

impl Minimax {
    fn value(&mut self, game: &dyn DynGame, state: &AnyState) -> i8 {
        if let Some(outcome) = game.outcome(state) {
            return outcome.value();
        }
        let text = game.position_text(state);
        if let Some(&value) = self.0.get(&text) {
            return value;
        }
        let values: Vec<i8> = self.after_each(game, state).into_iter().map(|(_, value)| value).collect();
        let best = if game.mover(state).number() == 1 { values.iter().max() } else { values.iter().min() };
        let value = *best.expect("a running game has legal actions");
        self.0.insert(text, value);
        value
    }

    /// The legal actions with the values after them.
    fn after_each(&mut self, game: &dyn DynGame, state: &AnyState) -> Vec<(String, i8)> {
        let after = |action: Action| {
            let mut after = state.clone();
            game.play(&mut after, action);
            (game.action_text(state, action), self.value(game, &after))
        };
        game.legal_actions(state).iter().copied().map(after).collect()
    }
}

fn make(name: &str, params: &[(&str, &str)]) -> Arc<dyn PlayableGame> {
    let params = params.iter().fold(Params::new(), |params, (key, value)| params.with(*key, value));
    built_in().make(name, &params).expect("valid parameters")
}

fn agent(game: &dyn PlayableGame, spec: &str) -> Agent {
    Agent::load(&spec.parse().expect("a spec"), game).expect("it can play")
}

fn saved(moves: Vec<String>) -> SavedGame {
    let params = Params::new();
    SavedGame { game: None, params, players: None, start: None, moves, opening_plies: 0, ending: None }
}

/// A game of random moves.
fn random_game(game: &dyn DynGame, seed: u64) -> SavedGame {
    let (mut state, mut rng, mut moves) = (game.start(), stream(seed, Purpose::Play, [0, 0]), Vec::new());
    while game.outcome(&state).is_none() {
        let legal = game.legal_actions(&state);
        let action = legal[rng.random_range(0..legal.len())];
        moves.push(game.action_text(&state, action));
        game.play(&mut state, action);
    }
    saved(moves)
}

fn reviewed(
    game: &dyn PlayableGame,
    played: &SavedGame,
    agent: &Agent,
    truth: Option<&dyn DynExactValues>,
    threads: usize,
) -> Result<Review> {
    let (stop, replay) = (Stop::default(), played.replay(game)?);
    let steps = std::sync::atomic::AtomicU64::new(0);
    let progress = |done| {
        steps.fetch_add(done, std::sync::atomic::Ordering::Relaxed);
    };
    let reviewing = Reviewing { agent, truth, threads, program: "a test", progress: &progress, stop: &stop };
    let review = reviewing.review(game, played, &replay)?.expect("it was not stopped");
    let (expected, is_over) = (
        Reviewing::steps(truth.is_some(), replay.actions.len()),
        game.outcome(replay.positions.last().expect("a position")).is_some(),
    );
    assert!(!is_over || steps.into_inner() == expected, "the bar is filled");
    Ok(review)
}

/// Checks a move whose loss is certain against minimax, and returns its mark.
fn check(game: &dyn DynGame, minimax: &mut Minimax, played: &ReviewedMove) -> Option<Mark> {
    let state = game.parse_position(&played.position).expect("its own text");
    let value = minimax.value(game, &state);
    let after = minimax.after_each(game, &state);
    let reached = after.iter().find(|(text, _)| *text == played.played).expect("legal").1;
    let sign = if played.player == 1 { 1.0 } else { -1.0 };
    let loss = sign * f64::from(value - reached) / 2.0;
    assert_eq!((played.loss, played.value, played.value_after), (loss, value.into(), reached.into()), "{played:?}");
    let keepers = after.iter().filter(|&&(_, other)| other == value).count();
    let expected = match loss {
        1.0 => Some(Mark::Blunder),
        0.5 => Some(Mark::Mistake),
        _ => (keepers == 1 && after.len() > 1).then_some(Mark::Only),
    };
    if played.source == Source::Exact {
        assert_eq!(played.mark, expected, "{played:?}");
        let mut state = state;
        for text in played.best.iter().take(if loss > 0.0 { usize::MAX } else { 1 }) {
            let action = game.parse_action(&state, text).expect("an action");
            game.try_play(&mut state, action).expect("legal");
            assert_eq!(minimax.value(game, &state), value, "the better line keeps the value: {played:?}");
        }
    } else if loss > 0.0 {
        assert_eq!(played.mark, expected, "{played:?}");
    }
    expected
}

#[test]
fn marks_of_ten_games_agree_with_exact_losses() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let small = [("pits", "3"), ("stones", "2")];
    let rules = make("mancala", &small);
    let mancala: &Mancala = rules.inner().downcast_ref().expect("Mancala");
    let file = folder.path().join(MancalaEndgames::file_name(mancala));
    MancalaEndgames::build(mancala, 12, 1, &Silent).save(&file).expect("writable");
    let games = [("mancala", &small[..], 4), ("konane", &[("size", "4")], 3), ("mu_torere", &[("max_plies", "14")], 3)];
    let (mut marks, mut twice) = (Vec::new(), 0);
    for (name, params, count) in games {
        let game = make(name, params);
        let truth = game.exact_values(folder.path(), Effort::Full).expect("its table").expect("it has exact values");
        let mut minimax = Minimax::default();
        for seed in 0..count {
            let played = random_game(&*game, seed);
            let review =
                reviewed(&*game, &played, &agent(&*game, "mcts:sims=8"), Some(&*truth), 1).expect("a legal game");
            assert_eq!(review.moves.len(), played.moves.len());
            for reviewed in &review.moves {
                assert_eq!(reviewed.source, Source::Exact);
                marks.extend(check(&*game, &mut minimax, reviewed));
            }
            twice += review.moves.windows(2).filter(|pair| pair[0].player == pair[1].player).count();
            assert!((1..=3).contains(&review.moments.len()) || review.moves.iter().all(|played| played.mark.is_none()));
        }
    }
    for mark in [Mark::Blunder, Mark::Mistake, Mark::Only] {
        assert!(marks.contains(&mark), "the games show every mark: {marks:?}");
    }
    assert!(twice > 0, "some player moves twice in a row");
}

#[test]
fn proofs_of_the_search_agree_with_exact_losses() {
    let game = make("konane", &[("size", "4")]);
    let (mut minimax, mut certain, mut lost) = (Minimax::default(), 0, 0);
    for seed in 0..4 {
        let played = random_game(&*game, seed);
        let review = reviewed(&*game, &played, &agent(&*game, "mcts:sims=400"), None, 1).expect("a legal game");
        for reviewed in review.moves.iter().filter(|reviewed| reviewed.source == Source::Proof) {
            check(&*game, &mut minimax, reviewed);
            certain += 1;
            lost += usize::from(reviewed.loss > 0.0);
        }
        assert!(review.moves.iter().all(|reviewed| reviewed.source != Source::Exact));
    }
    assert!(certain > 4 && lost > 0, "{certain} proofs, {lost} losses");
}

/// A move that throws a won game away is found by an estimate, and so is the only move that wins it.
#[test]
fn a_search_marks_what_it_has_not_proven() {
    let game = make("mu_torere", &[]);
    let network = agent(&*game, "az:pretrained,sims=100");
    let truth = game.exact_values(Path::new(""), Effort::Full).expect("no table").expect("it is small");
    let (mut faults, mut agreed) = (0, 0);
    for seed in 0..6 {
        let played = random_game(&*game, seed);
        let by_search = reviewed(&*game, &played, &network, None, 1).expect("a legal game");
        let exactly = reviewed(&*game, &played, &network, Some(&*truth), 1).expect("a legal game");
        for (found, known) in by_search.moves.iter().zip(&exactly.moves) {
            let is_fault = known.loss > 0.0;
            faults += usize::from(is_fault);
            agreed += usize::from(is_fault && found.loss >= 0.2);
            let is_called_fault = found.loss > 0.0 && found.mark.is_some();
            assert!(is_fault || !is_called_fault || found.loss < 0.5, "{found:?}");
        }
        assert_eq!(reviewed(&*game, &played, &network, None, 3).expect("a legal game"), by_search, "threads");
    }
    assert!(faults > 0 && agreed * 10 >= faults * 8, "{agreed} of {faults} faults are seen");
}

#[test]
fn any_agent_with_an_evaluation_reviews_and_faults_are_named() {
    let game = make("mancala", &[("pits", "4")]);
    let mut played = random_game(&*game, 1);
    played.opening_plies = 3;
    for spec in ["alphabeta:depth=3", "mcts:sims=20", "az:pretrained,sims=4"] {
        let Ok(reviewer) = Agent::load(&spec.parse().expect("a spec"), &*game) else { continue };
        let review = reviewed(&*game, &played, &reviewer, None, 1).expect("a legal game");
        for reviewed in &review.moves {
            assert!((0.0..=1.0).contains(&reviewed.loss) && (-1.0..=1.0).contains(&reviewed.value), "{reviewed:?}");
            let position = game.parse_position(&reviewed.position).expect("its own text");
            game.play_text(&mut position.clone(), &reviewed.best.join(" ")).expect("legal");
            assert_eq!(reviewed.loss > 0.0, reviewed.best[0] != reviewed.played, "{reviewed:?}");
            assert!(!reviewed.opening || reviewed.mark.is_none());
        }
        assert_eq!(review.moves.iter().filter(|reviewed| reviewed.opening).count(), 3);
        let counted: usize = review.totals.iter().map(|totals| totals.moves).sum();
        assert_eq!(counted + 3, review.moves.len());
        let text = review.text(&|plies| format!("on from {plies}"));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(review.moments.iter().all(|ply| text.contains(&format!("on from {}\n", ply - 1))), "{text}");
        let page = review.page(&*game, &played.replay(&*game).expect("legal")).expect("a page");
        assert_eq!(page.matches("moment\">").count(), review.moments.len());
        for outside in ["src=", "href=\"http", "url(", "@import", "NaN"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
    let fault = |played: &SavedGame, spec: &str| {
        let error = reviewed(&*game, played, &agent(&*game, spec), None, 1).expect_err("a fault");
        format!("{error:#}")
    };
    assert_eq!(fault(&saved(Vec::new()), "mcts:sims=2"), "the game has no moves to review");
    assert_eq!(fault(&played, "random"), "agent `random` gives no evaluation of a position");
    assert!(fault(&played, "human").contains("a person can only `play`"));
}

#[test]
fn a_game_is_lost_from_the_start_if_the_first_own_move_comes_too_late() {
    let game = make("mu_torere", &[]);
    let mut review =
        reviewed(&*game, &random_game(&*game, 1), &agent(&*game, "alphabeta:depth=1"), None, 1).expect("valid");
    let other = |played: &ReviewedMove| played.player == 2;
    let second = review.moves.iter().position(other).expect("a move of player 2");
    for (value, source, expected) in [
        (1.0, Source::Exact, Some(Source::Exact)),
        (1.0, Source::Proof, Some(Source::Proof)),
        (0.0, Source::Exact, None),
        (-1.0, Source::Exact, None),
        (0.95, Source::Search, Some(Source::Search)),
        (0.8, Source::Search, None),
    ] {
        (review.moves[second].value, review.moves[second].source) = (value, source);
        assert_eq!(review.lost_from_the_start(Side::Second), expected, "{value}");
    }
    // The next move is the first of its own.
    review.moves[second].opening = true;
    let next = review.moves.iter().rposition(other).expect("another");
    (review.moves[second].value, review.moves[next].value) = (0.0, 1.0);
    let between = review.moves[second + 1..next].iter_mut().filter(|played| played.player == 2);
    between.for_each(|played| (played.value, played.source) = (1.0, Source::Exact));
    assert_eq!(review.lost_from_the_start(Side::Second), Some(review.moves[second + 2].source));
}
