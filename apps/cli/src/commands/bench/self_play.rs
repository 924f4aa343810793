//! `turnstone bench self-play`: positions per second of self-play as in training, and where the time goes.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use turnstone_base::machine::cores;
use turnstone_models::{ComputeDevice, Weights};
use turnstone_search::Stop;
use turnstone_selfplay::{Games, TrainableGame};

use super::inference::{bare_rate, observations};
use super::subject::{Limit, Rows, Subject, thread_counts};
use turnstone_agents::shape;
use turnstone_selfplay::{GameSettings, SelfPlayCounters, SelfPlayStats, Task};
use turnstone_trainer::config::{Config, SelfPlayConfig};

#[derive(Args, Debug)]
pub(crate) struct SelfPlay {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    limit: Limit,
    /// Numbers of worker threads [default: 1 and one per core]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Vec<u32>,
    /// Seconds per measurement; the iteration in progress is finished
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    threads: usize,
    /// Searched in this measurement.
    positions: u64,
    positions_per_second: f64,
    positions_per_second_and_core: f64,
    simulations_per_second: f64,
    evaluations_per_second: f64,
    /// Share of the workers' time spent in the network, including features and priors.
    inference_share: f64,
    /// Evaluations per second relative to the bare network with the same mean batch on the same threads.
    of_bare_inference: f64,
    /// Mean number of positions per batch.
    mean_batch: f64,
    /// Mean batch relative to the number of concurrent games.
    batch_fill: f64,
    /// Share of requested positions that were found in the cache.
    cache_hit_rate: f64,
    /// Share of requested positions that were already in the batch.
    merged_rate: f64,
    /// Bytes of the search tree per node, including edges.
    bytes_per_node: f64,
    /// Mean number of nodes of a tree at the end of its search.
    nodes_per_tree: f64,
}

impl SelfPlay {
    pub(super) fn run(&self, games: &Games) -> Result<ExitCode> {
        let time = Duration::try_from_secs_f64(self.seconds)?;
        let config = self.subject.config(games)?;
        let instructions = self.limit.apply(config.self_play.precision.is_quantised())?;
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        let heading = format!(
            "{}: {}, {instructions}; {} simulations, {} games per worker, cache {}",
            game.name(),
            config.net,
            config.search.simulations,
            config.self_play.concurrent_games,
            config.self_play.cached_positions
        );
        let mut rows = Rows::new(self.json, &heading);
        for threads in thread_counts(&self.threads) {
            let row = self.measure(&*game, &config, threads, time)?;
            let lines = row.lines();
            rows.add(row, &lines);
        }
        if let [one, .., all] = rows.all.as_slice() {
            let ratio = all.positions_per_second / one.positions_per_second;
            rows.say(&format!("{} threads: {ratio:.2} times the positions of {}", all.threads, one.threads));
        }
        rows.finish()
    }

    fn measure(&self, game: &dyn TrainableGame, config: &Config, threads: usize, time: Duration) -> Result<Row> {
        let weights = Weights::random(&config.net.layout(&shape(game.spec()))?, config.seed);
        let self_play = SelfPlayConfig { threads, ..config.self_play.clone() };
        let mut task = Task::new(GameSettings::new(&config.search, &self_play, config.seed, 0), &config.net, &weights);
        let mut stats = SelfPlayStats::default();
        let start = Instant::now();
        while start.elapsed() < time {
            task.settings.iteration += 1;
            let games = game.self_play(&task, &SelfPlayCounters::default(), &Stop::default())?;
            let games = games.expect("nothing stops it");
            stats.add(&games.stats);
        }
        let elapsed = start.elapsed();
        let on_gpu = config.self_play.device != ComputeDevice::Cpu;
        let bare = on_all(if on_gpu { 1 } else { threads }, || {
            let together = if on_gpu { 2.0 * threads as f64 } else { 1.0 };
            let batch = (together * stats.cache.mean_batch()).round().clamp(1.0, 8192.0) as usize;
            bare_rate(
                &config.net,
                &weights,
                &shape(game.spec()),
                &config.self_play,
                (batch, &observations(game, batch)),
                time / 5,
            )
        })?;
        Ok(Row::new(threads, config, elapsed, &stats, bare))
    }
}

/// Runs `measure` on `threads` threads at the same time and returns the sum of the results.
fn on_all(threads: usize, measure: impl Fn() -> Result<f64> + Sync) -> Result<f64> {
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(&measure)).collect();
        running.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
    })
}

impl Row {
    fn new(threads: usize, config: &Config, elapsed: Duration, work: &SelfPlayStats, bare: f64) -> Self {
        let per_second = |count: u64| count as f64 / elapsed.as_secs_f64();
        let cache = &work.cache;
        let mean_batch = cache.mean_batch();
        let [nodes, bytes] = work.tree.map(|sum| sum as f64);
        Self {
            threads,
            positions: work.positions,
            positions_per_second: per_second(work.positions),
            positions_per_second_and_core: per_second(work.positions) / threads.min(cores()) as f64,
            simulations_per_second: per_second(work.simulations),
            evaluations_per_second: per_second(cache.evaluations()),
            inference_share: work.inference.as_secs_f64() / work.time.as_secs_f64(),
            of_bare_inference: per_second(cache.evaluations()) / bare,
            mean_batch,
            batch_fill: mean_batch / config.self_play.concurrent_games as f64,
            cache_hit_rate: cache.hits as f64 / cache.requests.max(1) as f64,
            merged_rate: cache.merged as f64 / cache.requests.max(1) as f64,
            bytes_per_node: bytes / nodes,
            nodes_per_tree: nodes / work.positions as f64,
        }
    }

    /// The row for people, a line for each number.
    fn lines(&self) -> String {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let numbers = [
            ("positions/s", format!("{:.0}", self.positions_per_second)),
            ("positions/s per core", format!("{:.0}", self.positions_per_second_and_core)),
            ("simulations/s", format!("{:.0}", self.simulations_per_second)),
            ("evaluations/s", format!("{:.0}", self.evaluations_per_second)),
            ("of the bare network's rate", percent(self.of_bare_inference)),
            ("time in the network", percent(self.inference_share)),
            ("positions per batch", format!("{:.1}", self.mean_batch)),
            ("batch fill", percent(self.batch_fill)),
            ("answered by the cache", percent(self.cache_hit_rate)),
            ("merged in the batch", percent(self.merged_rate)),
            ("bytes per node", format!("{:.0}", self.bytes_per_node)),
            ("nodes per tree", format!("{:.0}", self.nodes_per_tree)),
        ];
        let heading = format!("{} thread{}", self.threads, if self.threads == 1 { "" } else { "s" });
        numbers.iter().fold(heading, |text, (what, value)| format!("{text}\n  {what:<34}{value:>14}"))
    }
}
