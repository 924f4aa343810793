//! Grading of agents against exact values: share of moves that keep the value, and accuracy of the network's value
//! head.

mod truth_set;
mod shipped;
mod report;
mod remote;

pub use remote::{answers_to, grade_remotely};
pub use report::{Calibration, Grade, Share};
pub use shipped::{MOST_POSITIONS, known, shipped};
pub use truth_set::{TruthPosition, TruthSet, TruthSetError};
use turnstone_base::streams::{Purpose, Stream, stream};

use std::collections::BTreeMap;

use rand::RngExt;
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, Chosen, DynExactValues, Phase, PlayableGame, PlayerFault, Search, SearchRequest};
use turnstone_env::{Action, ActionList, AnyState, DynGame};

use crate::asking::{MOST_AT_ONCE, ask_on_threads};

/// An agent's move in one position of a truth set.
struct Answer {
    phase: Phase,
    /// Value of the position for the mover.
    value: i8,
    /// Value for the mover after the agent's move.
    reached: i8,
    /// Whether at least one legal action loses value.
    critical: bool,
    /// Probabilities of win, draw and loss for the mover, predicted by the network without search, if there is one.
    prediction: Option<[f32; 3]>,
}

/// Grades an agent by its move in every position of the set. The grade does not depend on the number of threads.
/// Returns `None` if `stop` was raised before the end.
///
/// # Errors
/// The agent cannot play or fails, or a line of the set is not for this game.
pub fn grade(
    game: &dyn PlayableGame,
    agent: &Agent,
    set: &TruthSet,
    seed: u64,
    threads: usize,
    progress: &(dyn Fn() + Sync),
    stop: &Stop,
) -> anyhow::Result<Option<Grade>> {
    let answers = ask_on_threads(
        (0..threads.max(1)).map(|_| || agent.search(game, MOST_AT_ONCE).map_err(anyhow::Error::new)),
        set.positions.len(),
        &SearchRequest::stopped_by(stop),
        &|number| question(game, number, &set.positions[number].text, seed),
        &|number, state, chosen, search, _| {
            let (action, prediction) = answered(game, state, chosen, search)?;
            let answer = answer(game, &set.positions[number], state, action, prediction)?;
            progress();
            Ok(answer)
        },
    )?;
    Ok(answers.map(|answers| summarise(&answers)))
}

/// A position in which an agent is asked for a move, by its number.
fn question(game: &dyn DynGame, number: usize, text: &str, seed: u64) -> anyhow::Result<(AnyState, Stream)> {
    Ok((game.parse_position(text)?, stream(seed, Purpose::Play, [number as u64, 0])))
}

/// An agent's move in a position, and its network's prediction if there is one.
fn answered(
    game: &dyn DynGame,
    state: &AnyState,
    chosen: Chosen,
    search: &mut dyn Search,
) -> anyhow::Result<(Action, Option<[f32; 3]>)> {
    let prediction = search.predict(state)?;
    Ok((chosen?, prediction.map(|found| found.evaluation.win_draw_loss(game.mover(state)))))
}

/// Values of an action in a position of the set, and of the position.
fn answer(
    game: &dyn PlayableGame,
    position: &TruthPosition,
    state: &AnyState,
    chosen: Action,
    prediction: Option<[f32; 3]>,
) -> anyhow::Result<Answer> {
    let sign = game.mover(state).sign() as i8;
    let chosen = game.action_text(state, chosen);
    let value = |text: &str| position.actions.iter().find(|(action, _)| action == text).map(|&(_, value)| value);
    let reached = value(&chosen).ok_or_else(|| {
        anyhow::anyhow!("position `{}`: the truth set has no value for the legal action {chosen}", position.text)
    })?;
    Ok(Answer {
        phase: game.phase(state),
        value: sign * position.value,
        reached: sign * reached,
        critical: position.is_critical(),
        prediction,
    })
}

fn summarise(answers: &[Answer]) -> Grade {
    let share = |wanted: &dyn Fn(&Answer) -> bool| {
        let chosen = answers.iter().filter(|answer| wanted(answer));
        Share::of(chosen.map(|answer| answer.reached >= answer.value))
    };
    let mut phases = BTreeMap::new();
    for phase in Phase::ALL {
        let grade = [share(&|a| a.phase == phase), share(&|a| a.phase == phase && a.critical)];
        if grade[0].positions > 0 {
            phases.insert(phase.name().to_owned(), grade);
        }
    }
    let predictions: Vec<([f32; 3], i8)> = answers.iter().filter_map(|a| Some((a.prediction?, a.value))).collect();
    Grade {
        all: share(&|_| true),
        critical: share(&|answer| answer.critical),
        phases,
        regret: report::mean_with_interval(answers.iter().map(|a| f64::from(a.value - a.reached))),
        value_head: (!predictions.is_empty()).then(|| Calibration::of(&predictions)),
    }
}

/// The agent that plays the games that positions are drawn from.
const SAMPLER: &str = "alphabeta:depth=4";

/// Settings for drawing a truth set.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Number of positions.
    pub count: usize,
    /// Restricts the positions to this phase of the game.
    pub phase: Option<Phase>,
    /// Restricts the positions to critical ones, in which some move gives the value away.
    pub critical: bool,
    /// Seed of the games.
    pub seed: u64,
    /// Positions that the games begin with, chosen at random; if there are none, the start of the game.
    pub starts: Vec<AnyState>,
}

/// Draws positions from games of `SAMPLER` against itself, mixed with uniformly random moves at a rate
/// that varies between games, so that play ranges from strong to weak. A position is taken once, with its counters
/// reset, and only if exact values cover it and all positions that its actions lead to. Stops early if the games yield
/// no new positions any more.
///
/// # Errors
/// The agent cannot play this game, or fails, or there is no such position.
pub fn sample(
    game: &dyn PlayableGame,
    truth: &dyn DynExactValues,
    sampling: &Sampling,
    progress: &dyn Fn(),
    stop: &Stop,
) -> anyhow::Result<TruthSet> {
    /// Number of consecutive games without a new position after which sampling stops.
    const BARREN: u32 = 2000;
    /// Number of positions of one game at most, so that no game dominates the set.
    const MOST: usize = 4;
    /// Number of positions that are looked at for as many critical ones.
    const TRIES: usize = 16;
    let mut set = TruthSet::new(game);
    let mut seen = std::collections::HashSet::new();
    let mut player = Agent::load(&SAMPLER.parse()?, game)?.search(game, 1)?;
    let mut barren = 0;
    for number in 0.. {
        if set.positions.len() >= sampling.count || barren >= BARREN || stop.is_raised() {
            break;
        }
        let mut rng = stream(sampling.seed, Purpose::Openings, [number, 1]);
        let start = match &sampling.starts[..] {
            [] => game.start(),
            starts => starts[rng.random_range(0..starts.len())].clone(),
        };
        let mut line = mixed_game(game, start, &mut *player, &mut rng)?;
        line.retain(|state| sampling.phase.is_none_or(|phase| game.phase(state) == phase));
        let before = set.positions.len();
        for _ in 0..line.len().min(if sampling.critical { TRIES } else { MOST }) {
            let state = game.without_counters(&line[rng.random_range(0..line.len())]);
            if set.positions.len() < sampling.count.min(before + MOST) && seen.insert(state.clone()) {
                let wanted = |position: &TruthPosition| !sampling.critical || position.is_critical();
                set.positions.extend(valued(game, truth, &state).filter(wanted));
            }
        }
        let found = set.positions.len() - before;
        barren = if found == 0 { barren + 1 } else { 0 };
        (0..found).for_each(|_| progress());
    }
    if set.positions.is_empty() && sampling.count > 0 {
        let of_phase = sampling.phase.map_or(String::new(), |phase| format!(" of the {}", phase.name()));
        let critical = if sampling.critical { "critical " } else { "" };
        let why = if stop.is_raised() { "before the interruption" } else { "whose exact value is known" };
        anyhow::bail!("found no {critical}position{of_phase} {why}");
    }
    Ok(set)
}

/// Plays a game with a share of random moves and returns its positions, without the final one.
fn mixed_game(
    game: &dyn DynGame,
    mut state: AnyState,
    player: &mut dyn Search,
    rng: &mut Stream,
) -> Result<Vec<AnyState>, PlayerFault> {
    let random_share = rng.random_range(0.05..0.8);
    let mut legal = ActionList::new();
    let mut line = Vec::new();
    player.new_game(0, &state, rng.clone());
    while game.outcome(&state).is_none() {
        line.push(state.clone());
        game.legal(&state, &mut legal);
        let action = if rng.random_bool(random_share) {
            legal[rng.random_range(0..legal.len())]
        } else {
            player.choose(0, &state)?
        };
        game.play(&mut state, action);
        player.played(0, action);
    }
    Ok(line)
}

/// A position with its value and those of its actions; `None` if exact values do not cover all of them.
pub fn valued(game: &dyn DynGame, truth: &dyn DynExactValues, state: &AnyState) -> Option<TruthPosition> {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    let value_after = |&action: &Action| {
        let mut after = state.clone();
        game.play(&mut after, action);
        let value = truth.value(&after)?;
        Some((game.action_text(state, action), value))
    };
    let actions = legal.iter().map(value_after).collect::<Option<Vec<_>>>()?;
    Some(TruthPosition { text: game.position_text(state), value: truth.value(state)?, actions })
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_agents::Effort;
    use turnstone_env::Params;

    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn difficult_positions_are_drawn() {
        let game = turnstone_games::built_in().make("mu_torere", &Params::new()).expect("a game");
        let truth = game.exact_values(std::path::Path::new(""), Effort::Full).expect("no table").expect("it is small");
        let drawn = |critical| {
            let sampling = Sampling { count: 60, phase: None, critical, seed: 3, starts: vec![] };
            sample(&*game, &*truth, &sampling, &|| (), &Stop::default()).expect("it plays").positions
        };
        let none = Sampling { count: 5, phase: Some(Phase::Opening), critical: false, seed: 3, starts: vec![] };
        let fault = sample(&*game, &*truth, &none, &|| (), &Stop::default()).expect_err("all are of the midgame");
        assert_eq!(fault.to_string(), "found no position of the opening whose exact value is known");
        let losing_moves = |position: &TruthPosition| {
            let sign = game.mover(&game.parse_position(&position.text).expect("a position")).sign() as i8;
            let best = position.actions.iter().map(|&(_, value)| sign * value).max().expect("a move");
            (best, position.actions.iter().filter(|&&(_, value)| sign * value < best).count())
        };
        assert!(drawn(false).iter().any(|position| losing_moves(position).1 == 0));
        let positions = drawn(true);
        assert!(positions.len() > 10, "{}", positions.len());
        for position in &positions {
            let (best, losing) = losing_moves(position);
            let sign = game.mover(&game.parse_position(&position.text).expect("a position")).sign() as i8;
            assert!(losing > 0, "{}", position.text);
            assert_eq!(best, sign * position.value, "{}", position.text);
        }
    }

    #[test]
    fn a_grade_is_that_of_positions_asked_one_by_one() {
        let game = turnstone_games::built_in().make("mancala", &Params::new()).expect("a game");
        let mut set = known(&*game).expect("sound").expect("it comes with exact values");
        set.positions.truncate(70);
        let (stop, asked) = (Stop::default(), AtomicUsize::new(0));
        let count = || {
            asked.fetch_add(1, Ordering::Relaxed);
        };
        for spec in ["az:pretrained,sims=16", "az:pretrained,sims=0", "alphabeta:depth=2"] {
            let agent = Agent::load(&spec.parse().expect("a spec"), &*game).expect("it plays this game");
            let mut search = agent.search(&*game, 1).expect("a search");
            let mut one_by_one = Vec::new();
            for (number, position) in (0..).zip(&set.positions) {
                let state = game.parse_position(&position.text).expect("a position");
                search.new_game(0, &state, stream(5, Purpose::Play, [number, 0]));
                let prediction = search.predict(&state).expect("no GPU");
                let prediction = prediction.map(|found| found.evaluation.win_draw_loss(game.mover(&state)));
                let chosen = search.choose(0, &state).expect("a move");
                one_by_one.push(answer(&*game, position, &state, chosen, prediction).expect("an answer"));
            }
            let expected = summarise(&one_by_one);
            assert!(expected.all.value() > 0.5 && expected.value_head.is_some() == spec.starts_with("az"), "{spec}");
            for threads in [1, 3] {
                let graded = grade(&*game, &agent, &set, 5, threads, &count, &stop).expect("it answers");
                assert_eq!(graded.expect("nothing stops it"), expected, "{spec}, {threads} threads");
            }
        }
        assert_eq!(asked.load(Ordering::Relaxed), 6 * 70);
        stop.raise();
        let agent = Agent::load(&"az:pretrained,sims=16".parse().expect("a spec"), &*game).expect("it plays");
        assert!(grade(&*game, &agent, &set, 5, 2, &|| (), &stop).expect("no fault").is_none());
    }
}
