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

/// Share of the machine's processor time in other programs above which there is a warning.
const BUSY_SHARE: f64 = 0.1;

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
    /// A warning with the advice of the first slip that the config has, if it has one.
    fn of<'a>(what: &'static str, finding: String, slips: impl IntoIterator<Item = (bool, &'a str)>) -> Self {
        let slip = slips.into_iter().find(|(is_slip, _)| *is_slip);
        match slip {
            Some((_, advice)) => Self::warn(what, finding, advice),
            None => Self { level: Level::Ok, what, finding, advice: None },
        }
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
    Ok(Check::of("config", finding, []))
}

/// Checks that the GPUs of the config can be used; `None` if it has none.
pub(super) fn devices(config: &Config) -> Result<Option<Check>> {
    let [play, learn] = [config.self_play.device, config.learn.device];
    if [play, learn] == [ComputeDevice::Cpu; 2] {
        return Ok(None);
    }
    let finding = format!("self-play on {play}, learning on {learn}");
    if let Err(fault) = play.check().and_then(|()| learn.check()) {
        let advice = format!("{fault}; --device cpu shows what the run takes on this processor");
        return Ok(Some(Check::fail("devices", finding, advice)));
    }
    let all = gpus()?;
    let is_software = |device| matches!(device, ComputeDevice::Gpu(number) if all[number].is_software);
    let advice = "the GPU is software on the processor, far slower than device = \"cpu\"";
    Ok(Some(Check::of("devices", finding, [(is_software(play) || is_software(learn), advice)])))
}

/// Checks whether there are enough simulations to compare the legal actions.
pub(super) fn search(config: &Config, measured: &Measured) -> Check {
    let (simulations, legal) = (config.search.simulations, measured.legal_mean);
    let finding = format!("{simulations} simulations for {legal:.1} legal actions on average");
    let least = match config.search.constants.method {
        SearchKind::Puct => 2.0 * legal,
        SearchKind::Gumbel => 2.0,
    };
    let advice = "too few to compare the actions: raise search.simulations, or set method = \"gumbel\"";
    Check::of("search", finding, [(f64::from(simulations) < least, advice)])
}

/// Checks whether games, workers and openings let self-play fill its batches.
pub(super) fn self_play(config: &Config, measured: &Measured) -> Check {
    let (play, length) = (&config.self_play, measured.positions_per_game);
    let (workers, concurrent) = (play.workers(), play.concurrent_games);
    let rate = measured.positions_per_second;
    let finding =
        format!("{rate:.0} positions/s, {length:.0} positions a game, {workers} workers of {concurrent} games each");
    let slips = [
        (
            play.games_per_iteration < workers * concurrent,
            "an iteration has fewer games than that: raise games_per_iteration or lower concurrent_games",
        ),
        (workers > cores(), "the machine has fewer cores: self_play.threads = 0 takes one worker per core"),
        (
            f64::from(play.opening_plies) > length,
            "random openings are longer than the rest of the game: lower opening_plies",
        ),
    ];
    Check::of("self_play", finding, slips)
}

/// Checks whether the learner has enough positions for its batches, and time after its warm-up.
pub(super) fn learn(config: &Config, measured: &Measured, plan: &Plan) -> Check {
    let (learn, first) = (&config.learn, plan.positions_per_iteration);
    let (steps, milliseconds) = (plan.steps, 1e3 * measured.seconds_per_step);
    let finding = format!("{first:.0} positions an iteration; {steps} steps of {milliseconds:.1} ms in all");
    if steps == 0 {
        return Check::fail("learn", finding, "the run ends before its first step: lower batch or play more games");
    }
    let samples = learn.samples_per_position;
    let slips = [
        (first < learn.batch as f64, "an iteration does not fill a batch: lower batch or play more games"),
        (samples < 1.0, "samples_per_position is below 1: most positions are never used for training"),
        (samples > 16.0, "samples_per_position is above 16: the network may overfit"),
        ((learn.window as f64) < first, "learn.window holds less than one iteration: older positions are never used"),
        (
            learn.warmup_steps as f64 > 0.2 * steps as f64,
            "a fifth of the learning or more is below the peak rate: lower learn.warmup_steps",
        ),
    ];
    Check::of("learn", finding, slips)
}

/// Checks the time spent in matches.
pub(super) fn arena(config: &Config, plan: &Plan) -> Check {
    let share = plan.arena_seconds / plan.seconds();
    let finding = format!("{} games of matches, {:.0} % of the time", plan.match_games, 100.0 * share);
    let is_measured = !config.arena.opponents.is_empty() || config.arena.ladder_games > 0;
    let slips = [
        (!is_measured, "strength is not measured: add arena.opponents"),
        (share > 0.25, "raise arena.every or take fewer games or weaker opponents"),
    ];
    Check::of("arena", finding, slips)
}

/// Checks whether the run fits into memory.
pub(super) fn memory(game: &dyn TrainableGame, config: &Config, measured: &Measured, plan: &Plan) -> Result<Check> {
    let demand = Demand::of(game, config, measured, plan)?;
    let available = machine::memory().map(|memory| memory.available as f64);
    let of = available.map_or("an unknown amount".into(), bytes);
    let [all, replay, search, network] = [demand.all(), demand.replay, demand.search, demand.network].map(bytes);
    let finding = format!("about {all} of {of}: replay window {replay}, search {search}, network {network}");
    let advice = "lower learn.max_window, self_play.concurrent_games or search.simulations";
    if available.is_some_and(|available| demand.all() > available) {
        return Ok(Check::fail("memory", finding, advice));
    }
    Ok(Check::of("memory", finding, [(available.is_some_and(|available| demand.all() > 0.6 * available), advice)]))
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
    Ok(Check::of("disk", finding, [(all > 20e9, "raise run.checkpoint_steps or lower learn.max_window")]))
}

/// Reports the projected duration of the run. `others` is the share of the machine that other programs used during the
/// measurement, where it is known.
pub(super) fn time(config: &Config, plan: &Plan, others: Option<f64>) -> Check {
    let parts = [plan.self_play_seconds, plan.learn_seconds, plan.arena_seconds];
    let [play, learn, arena] = parts.map(|part| 100.0 * part / plan.seconds());
    let whole = duration(Duration::try_from_secs_f64(plan.seconds()).unwrap_or(Duration::MAX));
    let overlap = if !config.run.overlap { "" } else { " or less, as learning overlaps with self-play" };
    let finding = format!("about {whole}{overlap}: self-play {play:.0} %, learning {learn:.0} %, matches {arena:.0} %");
    let share = 100.0 * others.unwrap_or(0.0);
    let busy = format!(
        "the machine is busy: other programs used {share:.0} % of its processors while this was measured, so on a quiet \
         machine the run is faster"
    );
    Check::of("time", finding, [(share > 100.0 * BUSY_SHARE, &*busy)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::MatchSpeed;

    /// What the checks find beside speeds that none of them objects to.
    fn found(text: &str, matches: &[MatchSpeed]) -> Vec<(&'static str, Level)> {
        let text = format!("[game]\nname = \"mancala\"\n{text}");
        let config = Config::parse(&text, &turnstone_env::games::built_in()).expect("valid");
        let game = turnstone_env::Erased::<_, turnstone_games::Mancala>::with_knowledge(
            turnstone_env::games::Mancala::default(),
        );
        let measured = Measured {
            positions_per_second: 1000.0,
            positions_per_game: 30.0,
            legal_mean: 4.0,
            seconds_per_step: 0.01,
            matches: matches.to_vec(),
        };
        let plan = Plan::of(&config, &measured);
        let checks = [
            search(&config, &measured),
            self_play(&config, &measured),
            learn(&config, &measured, &plan),
            arena(&config, &plan),
            memory(&game, &config, &measured, &plan).expect("a network"),
            disk(&game, &config, &measured, &plan).expect("a network"),
            time(&config, &plan, Some(0.05)),
        ];
        checks.into_iter().filter(|check| check.level != Level::Ok).map(|check| (check.what, check.level)).collect()
    }

    #[test]
    fn a_busy_machine_is_named() {
        let config = Config::parse("[game]\nname = \"mancala\"\n", &turnstone_env::games::built_in()).expect("valid");
        let plan = Plan {
            positions_per_iteration: 1.0,
            steps: 1,
            largest_window: 1,
            match_games: 0,
            self_play_seconds: 61.0,
            learn_seconds: 0.0,
            arena_seconds: 0.0,
        };
        assert_eq!(time(&config, &plan, None).level, Level::Ok);
        let busy = time(&config, &plan, Some(0.45));
        assert_eq!(busy.level, Level::Warn);
        assert!(busy.line().contains("about 1 min 01 s") && busy.line().contains("used 45 % of"), "{}", busy.line());
    }

    #[test]
    fn each_slip_is_named() {
        let warned = |text: &str| found(&format!("[self_play]\nthreads = 1\n{text}"), &[]);
        assert_eq!(warned(""), []);
        assert_eq!(warned("[search]\nsimulations = 6\nmethod = \"puct\""), [("search", Level::Warn)]);
        assert_eq!(warned("[search]\nsimulations = 6\nmethod = \"gumbel\""), []);
        assert_eq!(warned("concurrent_games = 257"), [("self_play", Level::Warn)]);
        assert_eq!(warned("opening_plies = 31"), [("self_play", Level::Warn)]);
        let few = "games_per_iteration = 2\nconcurrent_games = 2\n[learn]\nwarmup_steps = 0\n";
        assert_eq!(warned(few), [("learn", Level::Warn)]);
        assert_eq!(warned(&format!("{few}[run]\niterations = 1")), [("learn", Level::Fail)]);
        for slip in ["samples_per_position = 40", "window = 100", "warmup_steps = 100000"] {
            assert_eq!(warned(&format!("[learn]\n{slip}")), [("learn", Level::Warn)], "{slip}");
        }
        assert_eq!(warned("[arena]\nopponents = []"), [("arena", Level::Warn)]);
        let slow = MatchSpeed { opponent: "random".into(), planned: 200, seconds_per_game: 100.0 };
        assert_eq!(found("[self_play]\nthreads = 1", &[slow]), [("arena", Level::Warn)]);
        let huge = warned("[learn]\nmax_window = 100000000\n[run]\niterations = 1000000000");
        assert!(huge.contains(&("disk", Level::Warn)), "{huge:?}");
    }
}
