//! `turnstone bench env`: random playouts and batched stepping of each game, on one thread.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use rand::SeedableRng;
use serde::Serialize;
use turnstone_base::streams::Stream;
use turnstone_env::{DynGame, VecEnv};
use turnstone_selfplay::Games;

use super::subject::Rows;
use crate::args::ParamArgs;

#[derive(Args, Debug)]
pub(crate) struct Env {
    /// Games to measure [default: all]
    games: Vec<String>,
    #[command(flatten)]
    params: ParamArgs,
    /// Seconds per measurement
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Games side by side in the VecEnv
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    envs: u32,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    game: &'static str,
    state_bytes: usize,
    /// Random plies per second, including the legal actions and the outcome of every state.
    plies_per_second: f64,
    /// Environment steps per second, including observations and masks.
    steps_per_second: f64,
}

impl Env {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let time = Duration::try_from_secs_f64(self.seconds)?;
        let all: Vec<String> = games.names().map(str::to_owned).collect();
        let names = if self.games.is_empty() { &all } else { &self.games };
        let params = self.params.params();
        let measured = names.iter().map(|name| games.make(name, &params)).collect::<Result<Vec<_>, _>>()?;
        let [state, plies, steps, ratio] = ["state", "playout plies/s", "VecEnv steps/s", "ratio"];
        let mut rows = Rows::new(self.json, &format!("one thread{state:>24}{plies:>18}{steps:>18}{ratio:>8}"));
        for game in &measured {
            let row = self.measure(&**game, time);
            let ratio = row.plies_per_second / row.steps_per_second;
            let [plies, steps] = [row.plies_per_second, row.steps_per_second].map(|rate| rate / 1e6);
            let line = format!("{:<26}{:>6} B{plies:>16.1} M{steps:>16.1} M{ratio:>8.1}", row.game, row.state_bytes);
            rows.add(row, &line);
        }
        rows.finish()
    }

    /// Measures both alternately in short slices, so that a change of the machine's speed affects them equally.
    fn measure(&self, game: &dyn DynGame, time: Duration) -> Row {
        const SLICES: u32 = 10;
        let mut rng = Stream::seed_from_u64(1);
        let mut envs = VecEnv::of(game, self.envs as usize, 1);
        envs.reset(Some(1));
        let mut actions = Vec::new();
        let (mut playouts, mut steps) = (Rate::default(), Rate::default());
        for _ in 0..SLICES {
            playouts.add(time / SLICES, || black_box(game.playout(&mut rng)).1);
            steps.add(time / SLICES, || {
                envs.sample(&mut actions);
                black_box(envs.step(&actions).expect("sampled actions are legal"));
                u64::from(self.envs)
            });
        }
        Row {
            game: game.name(),
            state_bytes: game.state_bytes(),
            plies_per_second: playouts.per_second(),
            steps_per_second: steps.per_second(),
        }
    }
}

/// A count and the time it took.
#[derive(Default)]
struct Rate {
    count: u64,
    time: Duration,
}

impl Rate {
    fn add(&mut self, time: Duration, mut work: impl FnMut() -> u64) {
        let start = Instant::now();
        while start.elapsed() < time {
            self.count += (0..8).map(|_| work()).sum::<u64>();
        }
        self.time += start.elapsed();
    }

    fn per_second(&self) -> f64 {
        self.count as f64 / self.time.as_secs_f64()
    }
}
