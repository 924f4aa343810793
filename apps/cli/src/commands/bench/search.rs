//! `turnstone bench search`: alpha-beta from the start of each game, on one thread.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use turnstone_agents::{ClassicalMethod, ClassicalSpec, PlayableGame, Threads};
use turnstone_search::classic::MAX_DEPTH;
use turnstone_selfplay::Games;

use super::subject::Rows;
use crate::args::ParamArgs;

/// Sizes of the transposition table in MiB; 0 is none.
const TABLES: [u32; 2] = [0, 64];
/// Time for which each search is repeated.
const TIME: Duration = Duration::from_secs(1);

#[derive(Args, Debug)]
pub(crate) struct Search {
    /// Name of a game [default: all games]
    game: Option<String>,
    #[command(flatten)]
    params: ParamArgs,
    /// Plies to look ahead
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_DEPTH)))]
    depth: u32,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    game: &'static str,
    heuristic: &'static str,
    depth: u32,
    /// Size of the transposition table in MiB; 0 without one.
    hash: u32,
    action: Option<String>,
    score: i32,
    /// Positions visited by one search.
    nodes: u64,
    /// Positions evaluated by one search.
    evaluated: u64,
    /// Mean duration of one search.
    seconds: f64,
    nodes_per_second: f64,
}

impl Search {
    pub(super) fn run(&self, games: &Games) -> Result<ExitCode> {
        let names: Vec<&str> = self.game.as_deref().map_or_else(|| games.names().collect(), |name| vec![name]);
        let columns =
            format!("{:<12} {:>6} {:>6} {:>12} {:>10} {:>10}", "game", "depth", "MiB", "nodes", "seconds", "Mnodes/s");
        let mut rows = Rows::new(self.json, &columns);
        for name in names {
            let game = games.make(name, &self.params.params())?;
            for hash in TABLES {
                let row = self.measure(&*game, hash);
                let Row { game, depth, nodes, seconds, .. } = row;
                let millions = row.nodes_per_second / 1e6;
                let line = format!("{game:<12} {depth:>6} {hash:>6} {nodes:>12} {seconds:>10.4} {millions:>10.1}");
                rows.add(row, &line);
            }
        }
        rows.finish()
    }

    fn measure(&self, game: &dyn PlayableGame, hash: u32) -> Row {
        let depth = self.depth;
        let spec = ClassicalSpec {
            method: ClassicalMethod::FixedDepth { depth, table: hash },
            heuristic: None,
            threads: Threads::default(),
        };
        let (mut time, mut searches, whole) = (Duration::ZERO, 0u32, Instant::now());
        let found = loop {
            let mut find = game.classical_search(&spec).expect("every game has a static evaluation");
            let start = Instant::now();
            let found = find(&game.start());
            time += start.elapsed();
            searches += 1;
            // Making a large table takes longer than a shallow search.
            if time >= TIME || whole.elapsed() >= 2 * TIME {
                break found;
            }
        };
        Row {
            game: game.name(),
            heuristic: game.heuristics()[0],
            depth,
            hash,
            action: found.action.map(|action| game.action_text(&game.start(), action)),
            score: found.score,
            nodes: found.stats.nodes,
            evaluated: found.stats.evaluated,
            seconds: time.as_secs_f64() / f64::from(searches),
            nodes_per_second: (found.stats.nodes * u64::from(searches)) as f64 / time.as_secs_f64(),
        }
    }
}
