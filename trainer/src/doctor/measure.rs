//! Measures the speed of self-play, learner steps and matches on this machine by running each for a limited time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::Result;
use serde::Serialize;
use turnstone_base::machine::cores;
use turnstone_base::streams::{Purpose, stream};
use turnstone_models::{ComputeDevice, GpuInference, Learner};
use turnstone_search::Stop;

use crate::config::{Config, SelfPlayConfig};
use crate::learn::{BatchMaker, learning_rate};
use turnstone_agents::{Agent, LoadedNetwork};
use turnstone_agents::{checkpoint_info, shape};
use turnstone_arena::{GameRecord, Match, RatingScale, Running};
use turnstone_selfplay::TrainableGame;
use turnstone_selfplay::replay::Window;
use turnstone_selfplay::{GameSettings, SelfPlayCounters, SelfPlayGames, Task};

/// Shares of the time for self-play and learning; matches get the rest.
const SELF_PLAY_SHARE: f64 = 0.5;
const LEARNING_SHARE: f64 = 0.2;
/// Numbers of games and of simulations of the short iteration that tells how long games are.
const FEW_GAMES: usize = 32;
const FEW_SIMULATIONS: u32 = 8;
/// Number of match games that a thread plays side by side. A run plays more, so its matches are somewhat faster.
const AT_ONCE: usize = 6;

/// Speeds measured with the untrained network.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measured {
    /// Positions searched per second in self-play.
    pub positions_per_second: f64,
    /// Mean number of positions per game, those of random openings left out.
    pub positions_per_game: f64,
    /// Mean number of legal actions per position.
    pub legal_mean: f64,
    /// Mean seconds per learner step.
    pub seconds_per_step: f64,
    /// Speed of matches against each opponent.
    pub matches: Vec<MatchSpeed>,
}

/// Speed of matches against one opponent.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MatchSpeed {
    /// The opponent's spec.
    pub opponent: String,
    /// Number of games against it in the whole run.
    pub planned: u64,
    /// Wall-clock seconds per game with all threads in use.
    pub seconds_per_game: f64,
}

/// Measures for about `time`. Each opponent comes with the number of games that the run plays against it. Returns
/// `None` if `stop` was raised before the end.
///
/// # Errors
/// The network cannot be built or trained, or an opponent cannot play.
pub(super) fn measure(
    game: &dyn TrainableGame,
    config: &Config,
    opponents: &[(Agent, u64)],
    time: Duration,
    stop: &Stop,
) -> Result<Option<Measured>> {
    let mut learner = Learner::new(shape(game.spec()), &config.net, &config.learn.optimiser(), config.seed)?;
    let played = play(game, config, &learner, time.mul_f64(SELF_PLAY_SHARE), stop)?;
    let Some((games, positions_per_second)) = played else { return Ok(None) };
    let legal = (0..games.shard.len()).map(|i| games.shard.position(i).policy_indices.len()).sum::<usize>();
    let positions = games.shard.len() as f64;
    let (positions_per_game, legal_mean) = (positions / games.ends.len() as f64, legal as f64 / positions);

    let info = checkpoint_info(game, &config.net, &config.search.at_play(), 0);
    let network = LoadedNetwork::new(info, learner.averaged().clone());
    let mut window = Window::default();
    window.push(games.shard.into(), usize::MAX);
    let seconds_per_step = learn(game, config, &mut learner, &window, time.mul_f64(LEARNING_SHARE), stop)?;

    let agent = Agent::from_network(network, "untrained", config.arena.simulations, config.arena.method);
    let agent = agent.on(config.self_play.device);
    let share = (1.0 - SELF_PLAY_SHARE - LEARNING_SHARE) / opponents.len().max(1) as f64;
    let mut matches = Vec::new();
    for (opponent, planned) in opponents {
        let seconds_per_game = play_match(game, config, [&agent, opponent], time.mul_f64(share), stop)?;
        matches.push(MatchSpeed { opponent: opponent.spec.to_string(), planned: *planned, seconds_per_game });
    }
    let measured = Measured { positions_per_second, positions_per_game, legal_mean, seconds_per_step, matches };
    Ok((!stop.is_raised()).then_some(measured))
}

/// Plays a few whole games with few simulations, then a part of an iteration with the run's settings. Returns the few games,
/// and the positions per second of the iteration.
fn play(
    game: &dyn TrainableGame,
    config: &Config,
    learner: &Learner,
    time: Duration,
    stop: &Stop,
) -> Result<Option<(SelfPlayGames, f64)>> {
    if let ComputeDevice::Gpu(number) = config.self_play.device {
        // Kernels are compiled at the start of a run.
        let (precision, most) = (config.self_play.precision, config.self_play.gpu_batch());
        let shape = shape(game.spec());
        GpuInference::new(learner.averaged(), &config.net, &shape, number, precision, most)?.warm_up()?;
    }
    let task = |games_per_iteration, simulations| {
        let self_play = SelfPlayConfig { games_per_iteration, ..config.self_play.clone() };
        let settings = GameSettings::new(&config.search, &self_play, config.seed, 1);
        Task::new(GameSettings { simulations, ..settings }, &config.net, learner.averaged())
    };
    // If the number of simulations grows during the run, that of its middle.
    let planned = config.search.simulations_at(0.5);
    let (few, games) = (planned.min(FEW_SIMULATIONS), config.self_play.games_per_iteration);
    let start = Instant::now();
    let played = game.self_play(&task(games.min(FEW_GAMES), few), &SelfPlayCounters::default(), stop)?;
    let Some(played) = played else { return Ok(None) };
    let estimate =
        f64::from(few + 1) / f64::from(planned + 1) * played.stats.positions as f64 / start.elapsed().as_secs_f64();

    let (start, progress) = (Instant::now(), SelfPlayCounters::default());
    within(time, stop, |over| game.self_play(&task(games, planned), &progress, over))?;
    let (seconds, searched) = (start.elapsed().as_secs_f64(), progress.positions.load(Ordering::Relaxed));
    // Before most games have reached their second move, the few games tell more.
    let seats = (config.self_play.workers() * config.self_play.concurrent_games) as u64;
    let rate = if searched < 2 * seats { estimate } else { searched as f64 / seconds };
    Ok((!stop.is_raised()).then_some((played, rate)))
}

/// Takes learner steps on the window and returns the mean seconds of one. The first step is a warm-up and does not count; at
/// least one more is taken.
fn learn(
    game: &dyn TrainableGame,
    config: &Config,
    learner: &mut Learner,
    window: &Window,
    time: Duration,
    stop: &Stop,
) -> Result<f64> {
    let mut maker = BatchMaker::new(game.spec(), &config.learn);
    let (mut start, mut steps) = (Instant::now(), 0);
    while steps < 2 || (start.elapsed() < time && !stop.is_raised()) {
        let batch = maker.draw(window, &mut stream(config.seed, Purpose::Learn, [steps, 0]))?;
        learner.step(batch, learning_rate(&config.learn, steps, 0.0))?;
        steps += 1;
        if steps == 1 {
            start = Instant::now();
        }
    }
    Ok(start.elapsed().as_secs_f64() / (steps - 1) as f64)
}

/// Plays games of a match with the run's settings and returns the seconds of one. Games in progress when the time is up are
/// finished.
fn play_match(
    game: &dyn TrainableGame,
    config: &Config,
    agents: [&Agent; 2],
    time: Duration,
    stop: &Stop,
) -> Result<f64> {
    let options = config.arena.match_options(config.arena.final_games, config.seed);
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
    let seconds = start.elapsed().as_secs_f64();
    Ok(seconds / games.into_inner().max(1) as f64)
}

/// Runs `work` with a flag that is set when the time is up or `stop` is raised, upon which `work` has to return early.
fn within<T>(time: Duration, stop: &Stop, work: impl FnOnce(&Stop) -> T) -> T {
    let (start, over, done) = (Instant::now(), Stop::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) && start.elapsed() < time && !stop.is_raised() {
                thread::sleep(Duration::from_millis(5));
            }
            over.raise();
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
        assert_eq!(ticks(100, 50, 30).others_since(ticks(100, 50, 30)), 0.0);
        assert_eq!(Ticks::parse("cpu  1 x", &process(1)), None);
        assert_eq!(Ticks::parse(&machine(1, 1), "no brackets"), None);
    }
}
