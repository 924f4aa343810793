//! `turnstone arena`: a match between two agents.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use turnstone_env::with_game;

use crate::agents::{Agent, AgentSpec, Playable};
use crate::arena::{MatchResult, MatchSettings, Record, play_match};
use crate::cli::GameArgs;
use crate::config::cores;
use crate::progress::{Reporter, stop_on_signals};

#[derive(Args, Debug)]
pub(crate) struct Arena {
    #[command(flatten)]
    game: GameArgs,
    /// Agent A
    a: AgentSpec,
    /// Agent B
    b: AgentSpec,
    /// Games, in pairs from the same random opening with seats swapped
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    games: u32,
    /// Random plies of the openings: a number or a range, e.g. 2-6
    #[arg(long, value_name = "PLIES", default_value = "2-6", value_parser = parse_range)]
    openings: [u16; 2],
    /// Seed of openings and random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads; the result does not depend on them [default: one per core]
    #[arg(long)]
    threads: Option<usize>,
    /// Print one JSON object with all games
    #[arg(long)]
    json: bool,
}

fn parse_range(text: &str) -> Result<[u16; 2], String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let number = |s: &str| s.parse().map_err(|_| "expected a number of plies or a range such as 2-6".to_owned());
    let range = [number(least)?, number(most)?];
    if range[0] <= range[1] && range[1] <= 1000 { Ok(range) } else { Err("the range must rise, up to 1000".into()) }
}

impl Arena {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let any = self.game.game()?;
        with_game!(&any, |game| self.play(game))
    }

    fn play<G: Playable>(&self, game: &G) -> Result<ExitCode> {
        if [&self.a, &self.b].contains(&&AgentSpec::Human) {
            bail!("a person cannot play a match; use `turnstone play`");
        }
        let agents = [Agent::load(&self.a, game)?, Agent::load(&self.b, game)?];
        let settings = MatchSettings {
            games: self.games as usize,
            opening_plies: self.openings,
            seed: self.seed,
            threads: self.threads.unwrap_or_else(cores),
        };
        let stop = stop_on_signals()?;
        let reporter = Reporter::new(false);
        let bar = reporter.bar("match", settings.games.next_multiple_of(2) as u64);
        let result = play_match(game, [&agents[0], &agents[1]], &settings, &|| bar.inc(1), stop)?;
        bar.finish_and_clear();
        let Some(result) = result else {
            eprintln!("the match was interrupted before its end");
            return Ok(ExitCode::from(130));
        };
        if self.json {
            println!("{}", json!({ "game": G::NAME, "params": game.params(), "seed": self.seed, "match": result }));
        } else {
            print_table(&result);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_table(result: &MatchResult) {
    let [a, b] = &result.agents;
    println!("A: {a}\nB: {b}\n");
    println!("{:<14} {:>6} {:>6} {:>6} {:>6} {:>8}", "A plays", "games", "won", "drawn", "lost", "score");
    let line = |seat: &str, record: Record| {
        let Record { wins, draws, losses } = record;
        let games = record.games();
        let score = (wins as f64 + 0.5 * draws as f64) / games.max(1) as f64;
        println!("{seat:<14} {games:>6} {wins:>6} {draws:>6} {losses:>6} {:>6.1} %", 100.0 * score);
    };
    line("player 1", result.by_seat.first);
    line("player 2", result.by_seat.second);
    line("both", result.by_seat.total());
    println!("\nA: {}", result.summary());
    println!("intervals are 95 %, from the pairs of games; {} distinct games", result.distinct_games);
}
