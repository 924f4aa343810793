//! `turnstone review`: what each move of a saved game has lost, and better lines from there.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use turnstone_agents::review::Source;
use turnstone_agents::{AgentSpec, DynExactValues, Effort, PlayableGame};
use turnstone_arena::LostGame;
use turnstone_arena::review::{Review as Reviewed, Reviewing};
use turnstone_base::machine::cores;
use turnstone_base::terminal::{Reporter, print_stderr};
use turnstone_base::text::{shell_path, shell_word};
use turnstone_exact::SolveLimits;
use turnstone_selfplay::Games;

use crate::args::{NamedFile, load_adviser, param_options, parse_param, thread_count};
use crate::output::{confirm_writable, print_json, print_prose, print_text, write_page};
use crate::program_name::{PROGRAM, as_called};
use crate::signals::stop_on_signals;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone review game.json
      a game that was saved at the prompt of `play`
  turnstone review game.json --html review.html
      a page with graph, boards and better lines
  turnstone review cup/games.jsonl --number 17 --exact
      a game of a match, by exact values where they are known
  turnstone review cup/games.jsonl --lost
      the games that the first agent of a match has lost, with a review of one
  turnstone review moves.txt mancala
      a text file with the moves of a game

Marks: ?! ? ?? for moves that lose 0.05, 0.10, 0.20 of a point by the search's estimate; by exact values, ? for half a \
point and ?? for a whole one. ! is the only move that kept the value. A win is a point, a draw half a point.")]
pub(crate) struct Review {
    /// Saved game: of `play` or the page, `games.jsonl` of a match, or a text with the moves of a game in each line
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the game, for a text of moves [default: that of the saved game]
    game: Option<String>,
    /// Set a parameter of the game; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = parse_param, requires = "game")]
    params: Vec<(String, String)>,
    /// Number of the game in a file with several: as in the match, otherwise from 0
    #[arg(long, value_name = "N")]
    number: Option<usize>,
    /// List the games of a match that its first agent has lost, and review the first of them
    #[arg(long, conflicts_with_all = ["number", "lost_by", "json"])]
    lost: bool,
    /// The same of another agent of the match
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["number", "json"])]
    lost_by: Option<AgentSpec>,
    /// Agent that searches every position [default: az:pretrained,sims=200 where it fits the game, else alphabeta:depth=4]
    #[arg(long, value_name = "AGENT")]
    agent: Option<AgentSpec>,
    /// Use exact values where they are known (see `turnstone solve`), and the agent elsewhere
    #[arg(long)]
    exact: bool,
    /// Maximum number of nodes of a search for an exact value (Mancala and Konane) [default: 10000]
    #[arg(long, value_name = "N", requires = "exact")]
    nodes: Option<u64>,
    /// Folder with tables of exact values
    #[arg(long, value_name = "FOLDER", default_value = "tables", requires = "exact")]
    tables: PathBuf,
    /// Write the review as one HTML page as well
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Number of threads. It does not change the review [default: one per core]
    #[arg(long, value_parser = thread_count)]
    threads: Option<usize>,
}

impl Review {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let lost = self.lost_games()?;
        let first = match &lost[..] {
            [] if self.lost || self.lost_by.is_some() => {
                print_text("it has lost no game");
                return Ok(ExitCode::SUCCESS);
            }
            lost => lost.first(),
        };
        let number = first.map_or(self.number, |game| Some(game.number));
        let file = NamedFile::read(&self.file, number)?;
        let game = file.game(self.game.as_deref(), &self.params, games)?;
        let game: &dyn PlayableGame = &*game;
        let replay = file.replay(game)?;
        if let Some(path) = &self.html {
            confirm_writable(path)?;
        }
        let agent = load_adviser(self.agent.as_ref(), game)?;
        let truth = if self.exact { Some(self.exact_values(game)?) } else { None };
        let (reporter, stop) = (Reporter::new(false), stop_on_signals()?);
        let bar = reporter.bar("reviewing", Reviewing::steps(self.exact, replay.actions.len()));
        let reviewing = Reviewing {
            agent: &agent,
            truth: truth.as_deref(),
            threads: self.threads.unwrap_or_else(cores),
            program: PROGRAM,
            progress: &|steps| bar.inc(steps),
            stop,
        };
        let review = reviewing.review(game, &file.saved, &replay).with_context(|| self.file.display().to_string())?;
        bar.finish_and_clear();
        let Some(review) = review else {
            print_stderr("the review was interrupted before its end");
            return Ok(ExitCode::from(130));
        };
        if let Some(path) = &self.html {
            write_page(path, &review.page(game, &replay)?, &reporter)?;
        }
        match self.json {
            true => print_json(&json!(review)),
            false => {
                if let Some(first) = first {
                    print_prose(&self.lost_text(&lost, first, &review));
                }
                print_text(&review.text(&|plies| self.play_on(game, &review, number, plies)));
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The games that are asked for with `--lost` and `--lost-by`.
    fn lost_games(&self) -> Result<Vec<LostGame>> {
        let agent = self.lost_by.as_ref().map(ToString::to_string);
        if self.lost || agent.is_some() { LostGame::read(&self.file, agent.as_deref()) } else { Ok(Vec::new()) }
    }

    /// The list of lost games, and whether the reviewed one was lost before a move of the agent's own.
    fn lost_text(&self, lost: &[LostGame], first: &LostGame, review: &Reviewed) -> String {
        let game = |LostGame { number, side, plies, ending }: &LostGame| {
            format!("game {number}, as {side}, {plies} plies, {}\n", ending.words())
        };
        let list: String = lost.iter().map(game).collect();
        let others = format!("turnstone review {} --number N", shell_path(&self.file));
        let early = match review.lost_from_the_start(first.side) {
            Some(Source::Search) => ": by the search's estimate lost before its first own move",
            Some(_) => ": lost before its first own move",
            None => "",
        };
        let (count, number) = (lost.len(), first.number);
        let games = if count == 1 { "game" } else { "games" };
        let head = format!("{count} lost {games}; to review another: {others}");
        format!("{}\n{list}\nreview of game {number}{early}", as_called(&head))
    }

    fn exact_values(&self, game: &dyn PlayableGame) -> Result<Box<dyn DynExactValues>> {
        let effort = self.nodes.map_or(Effort::Quick, |nodes| Effort::Patient(SolveLimits::nodes(nodes)));
        match game.exact_values(&self.tables, effort)? {
            Some(truth) => Ok(truth),
            None => bail!("{} has no exact values with these parameters", game.name()),
        }
    }

    /// The command that plays on after this many plies, for the player to move.
    fn play_on(&self, game: &dyn PlayableGame, review: &Reviewed, number: Option<usize>, plies: usize) -> String {
        let named = self.game.as_ref().map(|name| format!(" {name}{}", param_options(game))).unwrap_or_default();
        let number = number.map(|number| format!(" --number {number}")).unwrap_or_default();
        let mover = review.moves.get(plies).map_or(1, |played| played.player);
        let (file, opponent) = (shell_path(&self.file), 3 - mover);
        let agent = shell_word(&review.agent);
        as_called(&format!("turnstone play{named} --from {file}{number} --ply {plies} --p{opponent} {agent}"))
            .into_owned()
    }
}
