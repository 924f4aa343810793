//! Grading of agents against exact values: share of moves that keep the value, and accuracy of the network's value
//! head.

mod truth_set;
mod shipped;
mod report;

pub use report::{Calibration, Grade, Share};
pub use shipped::{MOST_POSITIONS, known, shipped};
pub use truth_set::{TruthPosition, TruthSet, TruthSetError};

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rand::RngExt;
use turnstone_agents::streams::{Purpose, Stream, stream};
use turnstone_agents::{Agent, DynExactValues, PlayableGame, Player, PlayerFault};
use turnstone_env::{Action, ActionList, AnyState, DynGame};

/// An agent's move in one position of a truth set.
struct Answer {
    phase: &'static str,
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
/// Returns `None` if `stop` was set before the end.
///
/// # Errors
/// The agent cannot play or fails, or a line of the set is not of this game.
pub fn grade(
    game: &dyn PlayableGame,
    agent: &Agent,
    set: &TruthSet,
    seed: u64,
    threads: usize,
    progress: &(dyn Fn() + Sync),
    stop: &AtomicBool,
) -> anyhow::Result<Option<Grade>> {
    let answers = Mutex::new(Vec::with_capacity(set.positions.len()));
    let next = AtomicUsize::new(0);
    let work = || -> anyhow::Result<()> {
        let mut player = agent.player(game)?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= set.positions.len() || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let mut rng = stream(seed, Purpose::Play, [number as u64, 0]);
            let answer = ask(game, &mut *player, &set.positions[number], &mut rng)?;
            answers.lock().expect("no thread panics while it holds the list").push((number, answer));
            progress();
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    let mut answers = answers.into_inner().expect("all threads have ended well");
    // Sorted, as floating-point sums depend on the order of their terms.
    answers.sort_unstable_by_key(|&(number, _)| number);
    let answers: Vec<Answer> = answers.into_iter().map(|(_, answer)| answer).collect();
    Ok((answers.len() == set.positions.len()).then(|| summarise(&answers)))
}

fn ask(
    game: &dyn DynGame,
    player: &mut dyn Player,
    position: &TruthPosition,
    rng: &mut Stream,
) -> anyhow::Result<Answer> {
    let state = game.parse_position(&position.text)?;
    let sign = game.mover(&state).sign() as i8;
    player.new_game(&state, rng);
    let prediction = player.predict(&state);
    let chosen = game.action_text(player.choose(&state, rng)?);
    let value = |text: &str| position.actions.iter().find(|(action, _)| action == text).map(|&(_, value)| value);
    let reached = value(&chosen).ok_or_else(|| {
        anyhow::anyhow!("position `{}`: the truth set has no value for the legal action {chosen}", position.text)
    })?;
    Ok(Answer {
        phase: game.phase(&state),
        value: sign * position.value,
        reached: sign * reached,
        critical: position.actions.iter().any(|&(_, value)| value != position.value),
        prediction,
    })
}

fn summarise(answers: &[Answer]) -> Grade {
    let share = |wanted: &dyn Fn(&Answer) -> bool| {
        let chosen = answers.iter().filter(|answer| wanted(answer));
        Share::of(chosen.map(|answer| answer.reached >= answer.value))
    };
    let mut phases = BTreeMap::new();
    for phase in ["opening", "midgame", "endgame"] {
        let grade = [share(&|a| a.phase == phase), share(&|a| a.phase == phase && a.critical)];
        if grade[0].positions > 0 {
            phases.insert(phase.to_owned(), grade);
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

/// Settings for drawing a truth set.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Number of positions.
    pub count: usize,
    /// Restricts the positions to this phase of the game.
    pub phase: Option<String>,
    /// Seed of the games.
    pub seed: u64,
}

/// Draws positions from games in which both sides play the agent's moves, mixed with uniformly random ones at a rate
/// that varies between games, so that play ranges from strong to weak. A position is taken once, with its counters
/// reset, and only if exact values cover it and all positions that its actions lead to. Stops early if the games yield
/// no new positions any more.
///
/// # Errors
/// The agent cannot play, or fails.
pub fn sample(
    game: &dyn PlayableGame,
    truth: &dyn DynExactValues,
    agent: &Agent,
    sampling: &Sampling,
    progress: &dyn Fn(),
    stop: &AtomicBool,
) -> anyhow::Result<TruthSet> {
    /// Number of consecutive games without a new position after which sampling stops.
    const BARREN: u32 = 2000;
    let mut set = TruthSet::new(game);
    let mut seen = std::collections::HashSet::new();
    let mut player = agent.player(game)?;
    let mut barren = 0;
    for number in 0.. {
        if set.positions.len() >= sampling.count || barren >= BARREN || stop.load(Ordering::Relaxed) {
            break;
        }
        let mut rng = stream(sampling.seed, Purpose::Openings, [number, 1]);
        let mut line = mixed_game(game, &mut *player, &mut rng)?;
        line.retain(|state| sampling.phase.as_ref().is_none_or(|phase| game.phase(state) == phase));
        // At most four positions per game, so that no game dominates the set.
        let before = set.positions.len();
        for _ in 0..line.len().min(4) {
            let state = game.without_counters(&line[rng.random_range(0..line.len())]);
            if set.positions.len() < sampling.count && seen.insert(state.clone()) {
                set.positions.extend(valued(game, truth, &state));
            }
        }
        let found = set.positions.len() - before;
        barren = if found == 0 { barren + 1 } else { 0 };
        (0..found).for_each(|_| progress());
    }
    Ok(set)
}

/// Plays a game with a share of random moves and returns its positions, without the final one.
fn mixed_game(game: &dyn DynGame, player: &mut dyn Player, rng: &mut Stream) -> Result<Vec<AnyState>, PlayerFault> {
    let random_share = rng.random_range(0.05..0.8);
    let mut legal = ActionList::new();
    let mut state = game.start();
    let mut line = Vec::new();
    player.new_game(&state, rng);
    while game.outcome(&state).is_none() {
        line.push(state.clone());
        game.legal(&state, &mut legal);
        let action = if rng.random_bool(random_share) {
            legal[rng.random_range(0..legal.len())]
        } else {
            player.choose(&state, rng)?
        };
        game.play(&mut state, action);
        player.played(action);
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
        let value = truth.value(&game.without_counters(&after))?;
        Some((game.action_text(action), value))
    };
    let actions = legal.iter().map(value_after).collect::<Option<Vec<_>>>()?;
    Some(TruthPosition { text: game.position_text(state), value: truth.value(state)?, actions })
}
