//! `turnstone grade`: an agent's moves against the exact solution of its game.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use turnstone_env::{ActionList, with_game};
use turnstone_search::classic::Classical;
use turnstone_search::exact::{Endless, Solution};

use crate::agents::{Agent, AgentSpec};
use crate::cli::GameArgs;
use crate::streams::{Purpose, stream};

/// Games with more reachable positions than this are not solved here.
pub(crate) const MOST_POSITIONS: usize = 5_000_000;

#[derive(Args, Debug)]
pub(crate) struct Grade {
    #[command(flatten)]
    game: GameArgs,
    /// The agent to be graded
    #[arg(long)]
    agent: AgentSpec,
    /// Seed of random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Moves of an agent that keep the exact value of the position.
#[derive(Clone, Copy, Default, Serialize)]
struct Kept {
    positions: usize,
    kept: usize,
}

#[derive(Default, Serialize)]
struct Report {
    /// Reachable positions that are not over.
    all: Kept,
    /// Those in which at least one legal move loses value.
    critical: Kept,
    /// Up to ten positions in which value was lost.
    errors: Vec<String>,
}

impl Grade {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let any = self.game.game()?;
        with_game!(&any, |game| self.grade(game))
    }

    fn grade<G: Classical>(&self, game: &G) -> Result<ExitCode> {
        let Some(truth) = Endless::of(game, MOST_POSITIONS)? else {
            bail!("{} has more than {MOST_POSITIONS} positions, too many to solve", G::NAME);
        };
        let report = self.compare(game, truth.game(), truth.solution())?;
        if self.json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            println!("{} in every reachable position, with infinite play a draw", self.agent);
            for (name, Kept { positions, kept }) in [("all", report.all), ("critical", report.critical)] {
                let share = 100.0 * kept as f64 / positions.max(1) as f64;
                println!("{name:<9} {kept:>7} of {positions:>7} moves keep the value: {share:.2} %");
            }
            report.errors.iter().for_each(|position| println!("value lost at {position}"));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn compare<G: Classical>(&self, game: &G, endless: &G, solution: &Solution<G>) -> Result<Report> {
        let mut player = Agent::load(&self.agent, game)?.player(game)?;
        let mut report = Report::default();
        let mut legal = ActionList::new();
        for (number, state) in solution.states().iter().enumerate() {
            endless.legal(state, &mut legal);
            if legal.is_empty() {
                continue;
            }
            let value = solution.value(state);
            let keeps = |action| {
                let mut after = *state;
                endless.play(&mut after, action);
                solution.value(&after) == value
            };
            let text = endless.position_text(state);
            let seen = game.parse_position(&text)?;
            let mut rng = stream(self.seed, Purpose::Play, [number as u64, 0]);
            player.new_game(game, &seen, &mut rng);
            let kept = keeps(player.choose(game, &seen, &mut rng));
            report.all.count(kept);
            if !legal.iter().all(|&action| keeps(action)) {
                report.critical.count(kept);
            }
            if !kept && report.errors.len() < 10 {
                report.errors.push(text);
            }
        }
        Ok(report)
    }
}

impl Kept {
    fn count(&mut self, kept: bool) {
        self.positions += 1;
        self.kept += usize::from(kept);
    }
}
