//! Measures the speed of self-play, learner steps and matches on this machine by running each for a limited time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;
use turnstone_base::machine::cores;
use turnstone_base::streams::{Purpose, stream};
use turnstone_models::{ComputeDevice, GpuInference, Learner};

use super::load::Ticks;
use crate::config::{Config, SearchConfig, SelfPlayConfig};
use crate::learn::{BatchMaker, learning_rate};
use turnstone_agents::{Agent, LoadedNetwork};
use turnstone_agents::{checkpoint_info, shape};
use turnstone_arena::{GameRecord, Match, MatchOptions, OpeningSource, RatingScale, Running};
use turnstone_selfplay::TrainableGame;
use turnstone_selfplay::replay::Window;
use turnstone_selfplay::{GameSettings, Progress, SelfPlayGames, Task};

/// Shares of the time for self-play and learning; matches get the rest.
const SELF_PLAY_SHARE: f64 = 0.5;
const LEARNING_SHARE: f64 = 0.2;
/// Number of games of the short iteration that is played if no whole one ends in time, and number of simulations if the
/// short one does not end in time either.
const FEW_GAMES: usize = 32;
const FEW_SIMULATIONS: u32 = 8;
/// Number of match games that a thread plays side by side. A run plays more, so its matches are somewhat faster.
const AT_ONCE: usize = 6;

/// Speeds measured with the untrained network.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measured {
    /// Speed and yield of self-play.
    pub self_play: SelfPlay,
    /// Number of learner steps measured.
    pub steps: u64,
    /// Mean seconds per learner step.
    pub seconds_per_step: f64,
    /// Share of the machine's cores that a learner step keeps busy, 0..=1; 1 where the system does not tell.
    pub learner_share: f64,
    /// Speed of matches against each opponent.
    pub matches: Vec<MatchSpeed>,
}

/// Speed and yield of self-play.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SelfPlay {
    /// Number of whole iterations played. If 0, positions per game and legal actions are measured in a few whole games,
    /// with few simulations if the run's own number takes too long; then the speed, too, if the search is very slow.
    pub iterations: u64,
    /// Duration of the measurement in seconds.
    pub seconds: f64,
    /// Positions searched per second.
    pub positions_per_second: f64,
    /// Mean number of positions per game, those of random openings left out.
    pub positions_per_game: f64,
    /// Mean number of legal actions per position.
    pub legal_mean: f64,
    /// Maximum number of legal actions in a position.
    pub legal_most: usize,
    /// Mean number of positions per evaluator batch; absent if no whole iteration was played.
    pub mean_batch: Option<f64>,
}

/// Speed of matches against one opponent.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MatchSpeed {
    /// The opponent's spec.
    pub opponent: String,
    /// Number of games against it in the whole run.
    pub planned: u64,
    /// Number of games finished in the measurement.
    pub games: usize,
    /// Wall-clock seconds per game with all threads in use.
    pub seconds_per_game: f64,
}

/// Measures for about `time`. Each opponent comes with the number of games that the run plays against it. Returns
/// `None` if `stop` was set before the end.
///
/// # Errors
/// The network cannot be built or trained, or an opponent cannot play.
pub(super) fn measure(
    game: &dyn TrainableGame,
    config: &Config,
    opponents: &[(Agent, u64)],
    time: Duration,
    stop: &AtomicBool,
) -> Result<Option<Measured>> {
    let spec = game.spec();
    let mut learner = Learner::new(shape(spec), &config.net, &config.learn.optimiser(), config.seed)?;
    let Some((self_play, window)) = play(game, config, &learner, time.mul_f64(SELF_PLAY_SHARE), stop)? else {
        return Ok(None);
    };
    let info = checkpoint_info(game, &config.net, &config.search.settings(), 0);
    let network = LoadedNetwork::new(info, learner.averaged().clone());
    let (steps, seconds_per_step, learner_share) =
        learn(game, config, &mut learner, &window, time.mul_f64(LEARNING_SHARE), stop)?;
    let agent = Agent::from_network(network, "untrained", config.arena.simulations, config.arena.method);
    let agent = agent.on(config.self_play.device);
    let share = (1.0 - SELF_PLAY_SHARE - LEARNING_SHARE) / opponents.len().max(1) as f64;
    let mut matches = Vec::new();
    for (opponent, planned) in opponents {
        matches.push(play_some(game, config, [&agent, opponent], *planned, time.mul_f64(share), stop)?);
    }
    let interrupted = stop.load(Ordering::Relaxed);
    Ok((!interrupted).then_some(Measured { self_play, steps, seconds_per_step, learner_share, matches }))
}

/// Plays iterations of self-play with the run's settings and the untrained network.
// long because each way out of time needs the figures of the one before
fn play(
    game: &dyn TrainableGame,
    config: &Config,
    learner: &Learner,
    time: Duration,
    stop: &AtomicBool,
) -> Result<Option<(SelfPlay, Window)>> {
    let task = |iteration, search: &SearchConfig, simulations, self_play: &SelfPlayConfig| {
        let settings = GameSettings { simulations, ..GameSettings::new(search, self_play, config.seed, iteration) };
        Task::new(settings, &config.net, learner.averaged())
    };
    // If the number of simulations grows during the run, that of its middle.
    let planned = config.search.simulations_at(0.5);
    warm_up(game, config, learner)?;
    let (start, progress) = (Instant::now(), Progress::default());
    let mut whole: Vec<SelfPlayGames> = Vec::new();
    while let Some(left) = time.checked_sub(start.elapsed()) {
        let iteration = whole.len() as u64 + 1;
        let task = task(iteration, &config.search, planned, &config.self_play);
        match within(left, stop, |over| game.self_play(&task, &progress, over))? {
            Some(games) => whole.push(games),
            None => break,
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let searched = progress.positions.load(Ordering::Relaxed);
    let mut positions_per_second = searched as f64 / seconds;
    let iterations = whole.len() as u64;
    if whole.is_empty() {
        // No iteration ended in time, and unfinished games would bias the figures. Play a few whole games with the
        // run's number of simulations or, if these do not end in time either, with few simulations.
        let few = SelfPlayConfig {
            games_per_iteration: config.self_play.games_per_iteration.min(FEW_GAMES),
            ..config.self_play.clone()
        };
        let own = task(1, &config.search, planned, &few);
        let mut games = within(time, stop, |over| game.self_play(&own, &Progress::default(), over))?;
        if games.is_none() {
            let simulations = planned.min(FEW_SIMULATIONS);
            let search = SearchConfig { simulations, final_simulations: 0, ..config.search.clone() };
            let start = Instant::now();
            games = game.self_play(&task(1, &search, simulations, &few), &Progress::default(), stop)?;
            let seats = config.self_play.workers() * config.self_play.concurrent_games;
            if let Some(games) = games.as_ref().filter(|_| searched < 2 * seats as u64) {
                // Most games have not reached their second move: scale the speed by the number of simulations.
                let share = f64::from(simulations + 1) / f64::from(planned + 1);
                positions_per_second = share * games.stats.positions as f64 / start.elapsed().as_secs_f64();
            }
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        whole.extend(games);
    }
    let sum = |figure: fn(&SelfPlayGames) -> u64| whole.iter().map(figure).sum::<u64>() as f64;
    let shards = || whole.iter().map(|games| &games.shard);
    let legal = || shards().flat_map(|shard| (0..shard.len()).map(|i| shard.position(i).policy_indices.len()));
    let positions = sum(|games| games.shard.len() as u64);
    let self_play = SelfPlay {
        iterations,
        seconds,
        positions_per_second,
        positions_per_game: positions / sum(|games| games.ends.len() as u64),
        legal_mean: legal().sum::<usize>() as f64 / positions,
        legal_most: legal().max().unwrap_or(0),
        mean_batch: (iterations > 0)
            .then(|| sum(|games| games.stats.cache.evaluations()) / sum(|games| games.stats.cache.batches).max(1.0)),
    };
    let mut window = Window::default();
    for games in whole {
        window.push(games.shard.into(), usize::MAX);
    }
    Ok(Some((self_play, window)))
}

/// Lets a GPU compile the kernels of self-play, which takes the time of many batches at the start of a run, and none later.
fn warm_up(game: &dyn TrainableGame, config: &Config, learner: &Learner) -> Result<()> {
    let ComputeDevice::Gpu(number) = config.self_play.device else { return Ok(()) };
    let (shape, with) = (shape(game.spec()), (number, config.self_play.precision));
    let most = config.self_play.gpu_batch();
    Ok(GpuInference::new(learner.averaged(), &config.net, &shape, with, most)?.warm_up()?)
}

/// Takes learner steps on the window and returns their number, the mean seconds of one, and the share of the machine's
/// cores that they keep busy. The first step is a warm-up
/// and does not count; at least one more is taken.
fn learn(
    game: &dyn TrainableGame,
    config: &Config,
    learner: &mut Learner,
    window: &Window,
    time: Duration,
    stop: &AtomicBool,
) -> Result<(u64, f64, f64)> {
    let spec = game.spec();
    let mut maker = BatchMaker::new(spec, &config.learn);
    let (mut start, mut ticks) = (Instant::now(), None);
    let mut steps = 0;
    while steps < 2 || (start.elapsed() < time && !stop.load(Ordering::Relaxed)) {
        let batch = maker.draw(window, &mut stream(config.seed, Purpose::Learn, [steps, 0]));
        learner.step(batch, learning_rate(&config.learn, steps, 0.0))?;
        steps += 1;
        if steps == 1 {
            (start, ticks) = (Instant::now(), Ticks::now());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let share = ticks.zip(Ticks::now()).map_or(1.0, |(before, now)| now.own_since(before));
    Ok((steps - 1, seconds / (steps - 1) as f64, share))
}

/// Plays games of a match with the run's settings. Games in progress when the time is up are finished.
fn play_some(
    game: &dyn TrainableGame,
    config: &Config,
    agents: [&Agent; 2],
    planned: u64,
    time: Duration,
    stop: &AtomicBool,
) -> Result<MatchSpeed> {
    let options = MatchOptions {
        games: Some(config.arena.final_games),
        openings: Some(OpeningSource::Random(config.arena.opening_plies)),
        seed: Some(config.seed),
        ..MatchOptions::default()
    };
    let (games, start) = (AtomicUsize::new(0), Instant::now());
    let count = |_: &GameRecord| {
        games.fetch_add(1, Ordering::Relaxed);
    };
    within(time, stop, |over| {
        // Few games at once, as those in progress are finished when the time is up.
        let running = Running { enough: Some(over), at_once: AT_ONCE, ..Running::new(cores(), &count, stop) };
        let matches = Match::new(game, agents.to_vec(), &options, RatingScale::Mean, stop)?;
        matches.map_or(Ok(None), |matches| matches.play(None, &running))
    })?;
    let games = games.into_inner();
    let seconds_per_game = start.elapsed().as_secs_f64() / games.max(1) as f64;
    Ok(MatchSpeed { opponent: agents[1].spec.to_string(), planned, games, seconds_per_game })
}

/// Runs `work` with a flag that is set when the time is up or `stop` is set, upon which `work` has to return early.
fn within<T>(time: Duration, stop: &AtomicBool, work: impl FnOnce(&AtomicBool) -> T) -> T {
    let (start, over, done) = (Instant::now(), AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) && start.elapsed() < time && !stop.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
            over.store(true, Ordering::Relaxed);
        });
        let result = work(&over);
        done.store(true, Ordering::Relaxed);
        result
    })
}
