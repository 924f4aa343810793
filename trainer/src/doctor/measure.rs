//! Measures the speed of self-play, learner steps and matches on this machine by running each for a limited time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::Result;
use serde::Serialize;
use turnstone_base::machine::cores;
use turnstone_base::streams::{Purpose, stream};
use turnstone_models::{ComputeDevice, GpuInference, Learner};

use crate::config::{Config, SelfPlayConfig};
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
fn play(
    game: &dyn TrainableGame,
    config: &Config,
    learner: &Learner,
    time: Duration,
    stop: &AtomicBool,
) -> Result<Option<(SelfPlay, Window)>> {
    let untrained = Untrained { game, config, learner, stop };
    // If the number of simulations grows during the run, that of its middle.
    let planned = config.search.simulations_at(0.5);
    warm_up(game, config, learner)?;
    let (start, progress, mut played) = (Instant::now(), Progress::default(), Vec::new());
    while let Some(left) = time.checked_sub(start.elapsed()) {
        let task = untrained.task(played.len() as u64 + 1, config.self_play.games_per_iteration, planned);
        match within(left, stop, |over| game.self_play(&task, &progress, over))? {
            Some(games) => played.push(games),
            None => break,
        }
    }
    let (seconds, searched) = (start.elapsed().as_secs_f64(), progress.positions.load(Ordering::Relaxed));
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let (iterations, mut positions_per_second) = (played.len() as u64, searched as f64 / seconds);
    if played.is_empty() {
        // No iteration ended in time, and unfinished games would bias the figures.
        let Some((games, of_few)) = untrained.few_games(planned, time)? else { return Ok(None) };
        let seats = config.self_play.workers() * config.self_play.concurrent_games;
        // Where most games have not reached their second move.
        positions_per_second = of_few.filter(|_| searched < 2 * seats as u64).unwrap_or(positions_per_second);
        played.push(games);
    }
    let self_play = yielded(&played, iterations, seconds, positions_per_second);
    let mut window = Window::default();
    played.into_iter().for_each(|games| window.push(games.shard.into(), usize::MAX));
    Ok(Some((self_play, window)))
}

/// Self-play with the untrained network.
struct Untrained<'a> {
    game: &'a dyn TrainableGame,
    config: &'a Config,
    learner: &'a Learner,
    stop: &'a AtomicBool,
}

impl Untrained<'_> {
    fn task(&self, iteration: u64, games_per_iteration: usize, simulations: u32) -> Task {
        let Config { search, self_play, net, seed, .. } = self.config;
        let self_play = SelfPlayConfig { games_per_iteration, ..self_play.clone() };
        let settings = GameSettings { simulations, ..GameSettings::new(search, &self_play, *seed, iteration) };
        Task::new(settings, net, self.learner.averaged())
    }

    /// Plays a few whole games with the run's number of simulations or, if they do not end in time, with few; then it returns
    /// also how many positions per second the run's number would give. Returns `None` if stopped.
    fn few_games(&self, planned: u32, time: Duration) -> Result<Option<(SelfPlayGames, Option<f64>)>> {
        let games = self.config.self_play.games_per_iteration.min(FEW_GAMES);
        let play = |simulations, over: &AtomicBool| {
            self.game.self_play(&self.task(1, games, simulations), &Progress::default(), over)
        };
        if let Some(games) = within(time, self.stop, |over| play(planned, over))? {
            return Ok(Some((games, None)));
        }
        let (start, simulations) = (Instant::now(), planned.min(FEW_SIMULATIONS));
        let Some(games) = play(simulations, self.stop)? else { return Ok(None) };
        let share = f64::from(simulations + 1) / f64::from(planned + 1);
        let rate = share * games.stats.positions as f64 / start.elapsed().as_secs_f64();
        Ok(Some((games, Some(rate))))
    }
}

/// What self-play has yielded.
fn yielded(played: &[SelfPlayGames], iterations: u64, seconds: f64, positions_per_second: f64) -> SelfPlay {
    let sum = |figure: fn(&SelfPlayGames) -> u64| played.iter().map(figure).sum::<u64>() as f64;
    let shards = played.iter().map(|games| &games.shard);
    let legal = shards.flat_map(|shard| (0..shard.len()).map(|i| shard.position(i).policy_indices.len()));
    let positions = sum(|games| games.shard.len() as u64);
    SelfPlay {
        iterations,
        seconds,
        positions_per_second,
        positions_per_game: positions / sum(|games| games.ends.len() as u64),
        legal_mean: legal.clone().sum::<usize>() as f64 / positions,
        legal_most: legal.max().unwrap_or(0),
        mean_batch: (iterations > 0)
            .then(|| sum(|games| games.stats.cache.evaluations()) / sum(|games| games.stats.cache.batches).max(1.0)),
    }
}

/// Lets a GPU compile the kernels of self-play, which takes the time of many batches at the start of a run, and none later.
fn warm_up(game: &dyn TrainableGame, config: &Config, learner: &Learner) -> Result<()> {
    let ComputeDevice::Gpu(number) = config.self_play.device else { return Ok(()) };
    let (shape, with) = (shape(game.spec()), (number, config.self_play.precision));
    let most = config.self_play.gpu_batch();
    Ok(GpuInference::new(learner.averaged(), &config.net, &shape, with, most)?.warm_up()?)
}

/// Takes learner steps on the window and returns their number, the mean seconds of one, and the share of the machine's
/// cores that they keep busy. The first step is a warm-up and does not count; at least one more is taken.
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

/// Processor time since the start, in clock ticks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ticks {
    /// Of the whole machine, idle time included.
    all: u64,
    /// Of the whole machine, without idle time.
    busy: u64,
    /// Of this process.
    own: u64,
}

impl Ticks {
    /// The ticks until now; `None` where the system does not tell.
    pub(super) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?, &fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Reads the first line of `/proc/stat` (user, nice, system, idle, iowait, irq, softirq, steal, ...) and the fields
    /// utime and stime of `/proc/self/stat`, the twelfth and thirteenth after the program's name in brackets.
    fn parse(machine: &str, process: &str) -> Option<Self> {
        let line = machine.lines().next()?.strip_prefix("cpu ")?;
        let fields: Vec<u64> =
            line.split_whitespace().take(8).map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let all = fields.iter().sum();
        let idle = fields.get(3)? + fields.get(4)?;
        let after_name = process.rsplit_once(')')?.1;
        let own = after_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok());
        Some(Self { all, busy: all - idle, own: own.sum::<Option<u64>>()? })
    }

    /// Share of the machine's processor time since `earlier` that went to this process; 1 if no tick has passed.
    pub(super) fn own_since(self, earlier: Self) -> f64 {
        let [all, own] = [self.all - earlier.all, self.own - earlier.own];
        if all == 0 { 1.0 } else { (own as f64 / all as f64).min(1.0) }
    }

    /// Share of the machine's processor time since `earlier` that went to other programs.
    pub(super) fn others_since(self, earlier: Self) -> f64 {
        let [all, busy, own] = [self.all - earlier.all, self.busy - earlier.busy, self.own - earlier.own];
        if all == 0 { 0.0 } else { busy.saturating_sub(own) as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_are_what_is_neither_idle_nor_own() {
        let machine = |user: u64, idle: u64| format!("cpu  {user} 10 20 {idle} 5 1 2 3 0 0\ncpu0 1 2 3\n");
        let process = |user: u64| format!("12 (a b) c) S 1 2 3 4 5 6 7 8 9 10 {user} 7 0 0 20\n");
        let ticks = |user, idle, own| Ticks::parse(&machine(user, idle), &process(own)).expect("well-formed");
        assert_eq!(ticks(100, 50, 30), Ticks { all: 191, busy: 136, own: 37 });
        // 100 ticks of the machine: 60 of this process, 30 of others, 10 idle.
        let share = ticks(190, 60, 90).others_since(ticks(100, 50, 30));
        assert!((share - 0.3).abs() < 1e-9, "{share}");
        let own = ticks(190, 60, 90).own_since(ticks(100, 50, 30));
        assert!((own - 0.6).abs() < 1e-9, "{own}");
        assert_eq!(ticks(100, 50, 30).own_since(ticks(100, 50, 30)), 1.0);
        assert_eq!(ticks(100, 50, 30).others_since(ticks(100, 50, 30)), 0.0);
        assert_eq!(Ticks::parse("cpu  1 x", &process(1)), None);
        assert_eq!(Ticks::parse(&machine(1, 1), "no brackets"), None);
    }
}
