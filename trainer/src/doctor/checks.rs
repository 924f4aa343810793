//! The checks of the doctor, one function each, and their results.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use turnstone_base::machine::{self, cores};
use turnstone_base::times::duration;

use super::measure::Measured;
use super::memory::{self, Demand, bytes};
use super::plan::Plan;
use crate::config::Config;
use turnstone_agents::SearchKind;
use turnstone_models::{ComputeDevice, gpus};
use turnstone_selfplay::TrainableGame;

/// Share of the available memory above which there is a warning.
const MEMORY_SHARE: f64 = 0.6;
/// Share of the run's time in matches above which there is a warning.
const ARENA_SHARE: f64 = 0.25;
/// Share of the learner steps in the warm-up above which there is a warning.
const WARMUP_SHARE: f64 = 0.2;
/// Range of `learn.samples_per_position` without a warning.
const SAMPLES: std::ops::RangeInclusive<f64> = 1.0..=16.0;
/// Share of the machine's processor time in other programs above which there is a warning.
const BUSY_SHARE: f64 = 0.1;
/// Disk space in bytes above which there is a warning.
const DISK: f64 = 20e9;

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Level {
    /// No problem found.
    #[serde(rename = "ok")]
    Ok,
    /// The run works, but probably not as intended.
    #[serde(rename = "warn")]
    Warn,
    /// The run cannot work.
    #[serde(rename = "FAIL")]
    Fail,
}

/// Result of one check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// Severity.
    pub level: Level,
    /// Part of the config that was checked, e.g. `search`.
    pub what: &'static str,
    /// The finding, in one line.
    pub finding: String,
    /// Advice on how to correct it; absent for [`Level::Ok`].
    pub advice: Option<String>,
}

impl Check {
    fn ok(what: &'static str, finding: String) -> Self {
        Self { level: Level::Ok, what, finding, advice: None }
    }

    pub(super) fn warn(what: &'static str, finding: String, advice: impl Into<String>) -> Self {
        Self { level: Level::Warn, what, finding, advice: Some(advice.into()) }
    }

    pub(super) fn fail(what: &'static str, finding: String, advice: impl Into<String>) -> Self {
        Self { level: Level::Fail, what, finding, advice: Some(advice.into()) }
    }

    /// Formats the check as one line.
    #[must_use]
    pub fn line(&self) -> String {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "FAIL",
        };
        let advice = self.advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
        format!("{level:<5}{:<11}{}{advice}", self.what, self.finding)
    }
}

/// Summarises the config, which is valid at this point.
pub(super) fn config(game: &dyn TrainableGame, config: &Config) -> Result<Check> {
    let (parameters, iterations) = (memory::cost(game, config)?.parameters, config.run.iterations);
    let games = config.self_play.games_per_iteration;
    let params = game.params();
    let finding =
        format!("{} ({params}), {parameters} parameters, {iterations} iterations of {games} games", game.name());
    Ok(Check::ok("config", finding))
}

/// Checks that GPUs of the config can be used, and estimates the memory on them; `None` if it has none.
pub(super) fn devices(game: &dyn TrainableGame, config: &Config) -> Result<Option<Check>> {
    let [play, learn] = [config.self_play.device, config.learn.device];
    if [play, learn] == [ComputeDevice::Cpu; 2] {
        return Ok(None);
    }
    let demand = memory::OnGpu::of(game, config)?;
    // Both are there at once, since self-play overlaps with learning.
    let together =
        if play == learn { format!(", {} together", bytes(demand.self_play + demand.learning)) } else { String::new() };
    if let Err(fault) = play.check().and_then(|()| learn.check()) {
        let finding = format!(
            "self-play on {play} takes about {} there, learning on {learn} about {}{together}",
            bytes(demand.self_play),
            bytes(demand.learning)
        );
        let advice = format!("{fault}; --device cpu shows what the run takes on this processor");
        return Ok(Some(Check::fail("devices", finding, advice)));
    }
    let all = gpus()?;
    let model = |device: ComputeDevice| match device {
        ComputeDevice::Cpu => "the processor".to_owned(),
        ComputeDevice::Gpu(number) => all[number].model.clone(),
    };
    let finding = format!(
        "self-play on {play}: {}, about {}; learning on {learn}: {}, about {}{together}",
        model(play),
        bytes(demand.self_play),
        model(learn),
        bytes(demand.learning)
    );
    let software = |device| matches!(device, ComputeDevice::Gpu(number) if all[number].is_software);
    Ok(Some(if software(play) || software(learn) {
        let advice = "the GPU is software on the processor, far slower than device = \"cpu\"";
        Check::warn("devices", finding, advice)
    } else {
        Check::ok("devices", finding)
    }))
}

/// Checks whether there are enough simulations to compare the legal actions.
pub(super) fn search(config: &Config, measured: &Measured) -> Check {
    let (simulations, most, mean) =
        (config.search.simulations, measured.self_play.legal_most, measured.self_play.legal_mean);
    let finding = format!("{simulations} simulations for up to {most} legal actions ({mean:.1} on average)");
    match config.search.constants.method {
        SearchKind::Puct if f64::from(simulations) < 2.0 * mean => {
            let advice = "too few for PUCT to compare the actions: raise search.simulations or set method = \"gumbel\"";
            Check::warn("search", finding, advice)
        }
        SearchKind::Gumbel if simulations < 2 => {
            Check::warn("search", finding, "Gumbel search needs two simulations to compare actions")
        }
        _ => Check::ok("search", finding),
    }
}

/// Checks whether games, workers and openings let self-play fill its batches.
pub(super) fn self_play(config: &Config, measured: &Measured) -> Check {
    let play = &config.self_play;
    let (workers, seats) = (play.workers(), play.workers() * play.concurrent_games);
    let (rate, yielded) = (measured.self_play.positions_per_second, measured.self_play.positions_per_game);
    let batch = measured.self_play.mean_batch.map(|batch| format!(", mean batch {batch:.0}")).unwrap_or_default();
    let finding = format!(
        "{rate:.0} positions/s, {yielded:.0} positions a game, {workers} workers of {} games each{batch}",
        play.concurrent_games
    );
    if play.games_per_iteration < seats {
        let advice = format!(
            "an iteration has {} games for {seats} seats: raise games_per_iteration or lower concurrent_games",
            play.games_per_iteration
        );
        return Check::warn("self_play", finding, advice);
    }
    if workers > cores() {
        let advice = format!("this machine has {} cores: self_play.threads = 0 takes one worker per core", cores());
        return Check::warn("self_play", finding, advice);
    }
    if f64::from(play.opening_plies) > measured.self_play.positions_per_game {
        let advice = "random openings are longer than the rest of the game: lower opening_plies";
        return Check::warn("self_play", finding, advice);
    }
    Check::ok("self_play", finding)
}

/// Checks whether an iteration has enough positions for the learner's batches.
pub(super) fn data(config: &Config, measured: &Measured, plan: &Plan) -> Check {
    let (learn, first) = (&config.learn, plan.positions_per_iteration);
    let milliseconds = 1e3 * measured.seconds_per_step;
    let finding = format!(
        "{first:.0} positions an iteration make {} steps of {} ({milliseconds:.1} ms each), {} steps in all",
        plan.first_steps, learn.batch, plan.steps
    );
    if plan.steps == 0 {
        return Check::fail("learn", finding, "the run ends before its first step: lower batch or play more games");
    }
    if plan.first_steps == 0 || first < learn.batch as f64 {
        return Check::warn("learn", finding, "an iteration does not fill a batch: lower batch or play more games");
    }
    if !SAMPLES.contains(&learn.samples_per_position) {
        let samples = learn.samples_per_position;
        let advice =
            if samples < 1.0 { "most positions are never used for training" } else { "the network may overfit" };
        return Check::warn("learn", finding, format!("samples_per_position is {samples}: {advice}"));
    }
    if (learn.window as f64) < first {
        let advice =
            format!("learn.window = {} holds less than one iteration, so older positions are never used", learn.window);
        return Check::warn("learn", finding, advice);
    }
    Check::ok("learn", finding)
}

/// Checks whether the warm-up is short compared with the run.
pub(super) fn schedule(config: &Config, plan: &Plan) -> Check {
    let (warmup, steps) = (config.learn.warmup_steps, plan.steps);
    let finding = format!("{warmup} steps of warm-up of {steps}, window up to {} positions", plan.largest_window);
    if warmup as f64 > WARMUP_SHARE * steps as f64 {
        return Check::warn("schedule", finding, "most learning happens below the peak rate: lower learn.warmup_steps");
    }
    Check::ok("schedule", finding)
}

/// Checks the time spent in matches.
pub(super) fn arena(config: &Config, plan: &Plan) -> Check {
    let share = plan.shares()[2];
    let finding = format!("{} games of matches, {:.0} % of the time", plan.match_games, 100.0 * share);
    if config.arena.opponents.is_empty() && config.arena.ladder_games == 0 {
        return Check::warn("arena", finding, "strength is not measured: add arena.opponents");
    }
    if share > ARENA_SHARE {
        return Check::warn("arena", finding, "raise arena.every or take fewer games or weaker opponents");
    }
    Check::ok("arena", finding)
}

/// Checks whether the run fits into memory.
pub(super) fn memory(game: &dyn TrainableGame, config: &Config, measured: &Measured, plan: &Plan) -> Result<Check> {
    let demand = Demand::of(game, config, measured, plan)?;
    let available = machine::memory().map(|memory| memory.available as f64);
    let of = available.map_or("an unknown amount".into(), bytes);
    let finding = format!(
        "about {} of {of}: replay window {}, search {}, network {}",
        bytes(demand.all()),
        bytes(demand.replay),
        bytes(demand.search),
        bytes(demand.network)
    );
    let advice = "lower learn.max_window, self_play.concurrent_games or search.simulations";
    Ok(match available {
        Some(available) if demand.all() > available => Check::fail("memory", finding, advice),
        Some(available) if demand.all() > MEMORY_SHARE * available => Check::warn("memory", finding, advice),
        _ => Check::ok("memory", finding),
    })
}

/// Checks the size of the run folder.
pub(super) fn disk(game: &dyn TrainableGame, config: &Config, measured: &Measured, plan: &Plan) -> Result<Check> {
    let checkpoint = 4.0 * memory::cost(game, config)?.parameters as f64;
    let numbered = (plan.steps / config.run.checkpoint_steps).min(config.run.iterations) + 1;
    let replay = memory::position(game, measured) * plan.largest_window as f64;
    // Two for `latest` and `best`, four for the learner's state: weights, averages and two moments.
    let all = checkpoint * (numbered as f64 + 2.0 + 4.0) + replay;
    let each = bytes(checkpoint);
    let finding = format!("about {}: {numbered} numbered checkpoints of {each}, replay {}", bytes(all), bytes(replay));
    Ok(if all > DISK {
        Check::warn("disk", finding, "raise run.checkpoint_steps or lower learn.max_window")
    } else {
        Check::ok("disk", finding)
    })
}

/// Reports the projected duration of the run. `others` is the share of the machine that other programs used during the
/// measurement, where it is known.
pub(super) fn time(measured: &Measured, plan: &Plan, others: Option<f64>) -> Check {
    let whole = duration(Duration::try_from_secs_f64(plan.seconds()).unwrap_or(Duration::MAX));
    let [play, learn, arena] = plan.shares().map(|share| 100.0 * share);
    let finding = format!(
        "about {whole}: self-play {play:.0} %, learning {learn:.0} %, matches {arena:.0} %{}, from {}",
        overlapped(plan),
        basis(measured)
    );
    match others {
        Some(others) if others > BUSY_SHARE => {
            let share = 100.0 * others;
            let advice = format!(
                "the machine is busy: other programs used {share:.0} % of its processors while this was measured, so on a \
                 quiet machine the run is faster"
            );
            Check::warn("time", finding, advice)
        }
        _ => Check::ok("time", finding),
    }
}

fn overlapped(plan: &Plan) -> String {
    let saved = plan.overlap_saves_seconds;
    if saved <= 0.0 {
        return String::new();
    }
    format!(", some at once, which saves {}", duration(Duration::try_from_secs_f64(saved).unwrap_or(Duration::MAX)))
}

fn basis(measured: &Measured) -> String {
    let play = &measured.self_play;
    let games: usize = measured.matches.iter().map(|result| result.games).sum();
    let iterations = match play.iterations {
        0 => format!("{:.1} s of an iteration and a few whole games", play.seconds),
        1 => "1 iteration".into(),
        many => format!("{many} iterations"),
    };
    format!("{iterations}, {} steps and {games} match games of the untrained network", measured.steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{Level, SelfPlay};

    /// Speeds that no check objects to.
    fn ordinary() -> Measured {
        let self_play = SelfPlay {
            iterations: 1,
            seconds: 1.0,
            positions_per_second: 1000.0,
            positions_per_game: 30.0,
            legal_mean: 4.0,
            legal_most: 6,
            mean_batch: None,
        };
        Measured { self_play, steps: 10, seconds_per_step: 0.01, learner_share: 0.5, matches: Vec::new() }
    }

    fn examined(text: &str, change: impl FnOnce(&mut Measured)) -> Vec<(&'static str, Level)> {
        let config = Config::parse(&format!("[game]\nname = \"mancala\"\n{text}"), &turnstone_env::games::built_in())
            .expect("valid");
        let game = turnstone_env::Erased::knowing::<turnstone_games::Mancala>(turnstone_env::games::Mancala::default());
        let mut measured = ordinary();
        change(&mut measured);
        let plan = Plan::of(&config, &measured);
        let checks = [
            search(&config, &measured),
            self_play_check(&config, &measured),
            data(&config, &measured, &plan),
            schedule(&config, &plan),
            arena(&config, &plan),
            memory(&game, &config, &measured, &plan).expect("a network"),
            disk(&game, &config, &measured, &plan).expect("a network"),
        ];
        checks.into_iter().filter(|check| check.level != Level::Ok).map(|check| (check.what, check.level)).collect()
    }

    use super::self_play as self_play_check;

    #[test]
    fn a_busy_machine_is_named() {
        let measured = ordinary();
        let config = Config::parse("[game]\nname = \"mancala\"\n", &turnstone_env::games::built_in()).expect("valid");
        let plan = Plan::of(&config, &measured);
        let found = |others| time(&measured, &plan, others);
        assert_eq!((found(None).level, found(Some(0.05)).level), (Level::Ok, Level::Ok));
        let busy = found(Some(0.45));
        assert_eq!(busy.level, Level::Warn);
        assert!(busy.line().contains("other programs used 45 % of its processors"), "{}", busy.line());
        assert!(!busy.line().contains("at once"));
        let overlapped = time(&measured, &Plan { overlap_saves_seconds: 61.0, ..plan }, None);
        assert!(overlapped.line().contains("some at once, which saves 1 min 01 s"), "{}", overlapped.line());
    }

    #[test]
    fn each_slip_is_named() {
        let found = |text: &str| examined(text, |_| ());
        // The default config has 256 games per iteration and 64 concurrent games per worker.
        let threads = "[self_play]\nthreads = 1\n";
        assert_eq!(found(threads), []);
        let play = "[self_play]\nthreads = 1\ngames_per_iteration = 2\nconcurrent_games = 2\n";
        assert_eq!(found(&format!("{threads}[search]\nsimulations = 6\nmethod = \"puct\"")), [("search", Level::Warn)]);
        assert_eq!(found(&format!("{threads}[search]\nsimulations = 6\nmethod = \"gumbel\"")), []);
        assert_eq!(found("[self_play]\nthreads = 1\nconcurrent_games = 257"), [("self_play", Level::Warn)]);
        assert_eq!(found(&format!("{play}[learn]\nwarmup_steps = 1")), [("learn", Level::Warn)]);
        let short = format!("{play}[learn]\nwarmup_steps = 0\n[run]\niterations = 1");
        assert_eq!(found(&short), [("learn", Level::Fail)]);
        assert_eq!(found(&format!("{threads}[learn]\nsamples_per_position = 40")), [("learn", Level::Warn)]);
        assert_eq!(found(&format!("{threads}[learn]\nwindow = 100")), [("learn", Level::Warn)]);
        assert_eq!(found(&format!("{threads}[learn]\nwarmup_steps = 100000")), [("schedule", Level::Warn)]);
        assert_eq!(found(&format!("{threads}[arena]\nopponents = []")), [("arena", Level::Warn)]);
        let slow = |measured: &mut Measured| {
            let opponent = "random".into();
            measured.matches =
                vec![crate::doctor::MatchSpeed { opponent, planned: 200, games: 1, seconds_per_game: 100.0 }];
        };
        assert_eq!(examined(threads, slow), [("arena", Level::Warn)]);
        let huge = "[self_play]\nthreads = 1\n[learn]\nmax_window = 100000000\n[run]\niterations = 1000000000";
        let huge = found(huge);
        assert!(huge.contains(&("disk", Level::Warn)), "{huge:?}");
    }
}
