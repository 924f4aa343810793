//! `turnstone arena`: matches, tournaments, and ratings on a ladder.

mod options;
mod contest;
mod checkpoints;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::{Result, bail, ensure};
use clap::Args;
use turnstone_base::machine::cores;
use turnstone_base::terminal::{Reporter, print_stderr};
use turnstone_search::Stop;
use turnstone_selfplay::{Games, TrainableGame};

use self::checkpoints::{expanded, of_run};
use self::contest::Contest;
use self::options::OptionArgs;
use crate::args::{GameArgs, thread_count};
use crate::cluster::{ClusterArgs, Leader, Work};
use crate::output::{confirm_writable, print_json, print_text, write_file};
use crate::program_name::PROGRAM;
use crate::signals::stop_on_signals;
use turnstone_agents::{Agent, AgentSpec};
use turnstone_arena::{
    Efforts, GameRecord, Ladder, Match, MatchFolder, MatchResult, RatingScale, Remote, Running, Standings, read_ladder,
};

/// Number of lines with standings, where there is no bar.
const LINES: usize = 10;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone arena {mancala} alphabeta:depth=6 mcts:sims=500 --games 100
      a match
  turnstone arena mancala alphabeta:depth=5 --ladder
      an agent's Elo
  turnstone arena mancala random --checkpoints runs/mancala --every 4
      every fourth checkpoint of a run")]
pub(crate) struct Arena {
    #[command(flatten)]
    game: GameArgs,
    /// Agents: two for a match, more for a tournament, one for --ladder; `*` in the name of a checkpoint stands for all
    /// such files. GAME may also be a .toml file, a tournament's
    /// or a run's config; its agents are used if none are given
    #[arg(value_name = "AGENT")]
    agents: Vec<AgentSpec>,
    /// Add the numbered checkpoints of a run
    #[arg(long, value_name = "RUN", conflicts_with = "ladder")]
    checkpoints: Option<PathBuf>,
    /// Of those, every n-th, counted from the newest
    #[arg(long, value_name = "N", default_value = "1", requires = "checkpoints")]
    every: NonZeroUsize,
    /// Simulations per move of those
    #[arg(long, value_name = "SIMS", default_value = "100", requires = "checkpoints")]
    sims: u32,
    #[command(flatten)]
    options: OptionArgs,
    /// Number of threads; it does not change the result [default: one per core]
    #[arg(long, value_parser = thread_count, conflicts_with = "cluster")]
    threads: Option<usize>,
    /// Rate one agent on the game's ladder, on which `random` has Elo 0
    #[arg(long, conflicts_with_all = ["format", "ladder_build"])]
    ladder: bool,
    /// Ladder written by --ladder-build to use instead of the game's; programs of `engine:` agents in it are started
    #[arg(long, value_name = "FILE", requires = "ladder", conflicts_with_all = ["format", "ladder_build"])]
    ladder_file: Option<PathBuf>,
    /// Rate the agents, including `random`, and write them to a new ladder
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    ladder_build: Option<PathBuf>,
    /// Write every game to a new folder as soon as it ends, and finally the result in all formats
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Continue an interrupted command from the games in the folder
    #[arg(long, requires = "out")]
    resume: bool,
    /// Print one JSON object with all games
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cluster: ClusterArgs,
}

impl Arena {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let cluster = self.cluster.named()?;
        let (options, mut agents) = (self.options.0.clone(), expanded(&self.agents)?);
        if let Some(run) = &self.checkpoints {
            agents.extend(of_run(run, self.every.get(), self.sims)?);
        }
        let contest = match self.game.file() {
            Some(path) => Contest::read(path, &agents, &self.game.params(), options, games)?,
            None => {
                let game = self.game.game_of(&agents.iter().collect::<Vec<_>>(), games)?;
                Contest { game, agents, options }
            }
        };
        if contest.agents.iter().any(AgentSpec::is_human) {
            bail!("a person cannot play a match; use `turnstone play`");
        }
        if let Some(path) = &self.ladder_build {
            ensure!(!path.exists(), "{} exists already", path.display());
            confirm_writable(path)?;
        }
        if let Some(path) = &self.out {
            MatchFolder { path, resume: self.resume }.confirm()?;
        }
        self.play(&*contest.game, &contest, cluster)
    }

    fn play(&self, game: &dyn TrainableGame, contest: &Contest, cluster: Option<&ClusterArgs>) -> Result<ExitCode> {
        let reporter = Reporter::new(false);
        let ladder = self.rungs(game, &contest.agents, &reporter)?;
        let mut agents = contest.agents.iter().map(|spec| Agent::load(spec, game)).collect::<Result<Vec<_>, _>>()?;
        // A file's options are for its own matches, not for the ladder's.
        let (scale, options) = match &ladder {
            Some(ladder) => (RatingScale::Ladder(ladder), &self.options.0),
            None if self.ladder_build.is_some() => (RatingScale::NewLadder, &contest.options),
            None => (RatingScale::Mean, &contest.options),
        };
        if let Some(ladder) = &ladder {
            agents.extend(ladder.agents(game)?);
        }
        let agents: Vec<&Agent> = agents.iter().collect();
        let stop = stop_on_signals()?;
        let Some(drawn) = Match::new(game, agents.clone(), options, scale, stop)? else {
            return Ok(self.interrupted());
        };
        let drawn = drawn.played_by(PROGRAM);
        let work = Work::of_agents(game, &agents);
        let leader = cluster.map(|cluster| cluster.lead(&work, stop)).transpose()?;
        let remote = leader.as_deref().map(|leader| leader as &dyn Remote);
        let result = self.play_games(&drawn, remote, &reporter, stop)?;
        leader.into_iter().for_each(Leader::finish);
        let Some(result) = result else { return Ok(self.interrupted()) };
        self.print(&result, &reporter);
        if let Some(path) = &self.ladder_build {
            write_file(path, &drawn.new_ladder(&result)?.to_text(game))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The ladder that the one agent is rated on, without the agent itself.
    fn rungs(&self, game: &dyn TrainableGame, agents: &[AgentSpec], reporter: &Reporter) -> Result<Option<Ladder>> {
        let whole = match &self.ladder_file {
            Some(path) => read_ladder(path, game)?,
            None if self.ladder => Ladder::shipped(game)?,
            None => return Ok(None),
        };
        let [agent] = agents else { bail!("a ladder rates one agent, not {}", agents.len()) };
        let own = whole.rungs.iter().find(|rung| rung.agent == *agent).map(|rung| rung.elo);
        let others = whole.for_agent(agent)?;
        if let Some(elo) = own {
            reporter.line(&format!("{agent} is a rung itself, with Elo {elo:.0}: it plays the others"));
        }
        Ok(Some(others))
    }

    /// Plays the games that are not in the folder yet. Returns `None` if interrupted.
    fn play_games(
        &self,
        drawn: &Match<'_>,
        remote: Option<&dyn Remote>,
        reporter: &Reporter,
        stop: &Stop,
    ) -> Result<Option<MatchResult>> {
        drawn.notes().for_each(|note| reporter.line(note));
        let (standings, efforts, all) = (Standings::new(drawn.header()), Efforts::new(drawn.header()), drawn.games());
        let bar = reporter.watched_bar(all as u64);
        let in_turn = Mutex::new(());
        let progress = |game: &GameRecord| {
            let _turn = in_turn.lock();
            let games = standings.add(game);
            if reporter.shows_bars() {
                bar.set_message(standings.to_string());
                bar.inc(1);
            } else if !self.json && LINES * games / all > LINES * (games - 1) / all && games < all {
                reporter.line(&format!("{games} of {all} games: {standings}"));
            }
        };
        let running = Running {
            remote,
            efforts: Some(&efforts),
            ..Running::new(self.threads.unwrap_or_else(cores), &progress, stop)
        };
        let folder = self.out.as_deref().map(|path| MatchFolder { path, resume: self.resume });
        let result = drawn.play(folder, &running)?;
        bar.finish_and_clear();
        if result.is_some() && !self.json {
            efforts.lines().iter().for_each(|line| reporter.line(line));
        }
        Ok(result)
    }

    fn print(&self, result: &MatchResult, reporter: &Reporter) {
        if let Some(folder) = &self.out {
            let (folder, files) = (folder.display(), MatchResult::FILES.join(", "));
            reporter.line(&format!("{folder}: {files} (report.html opens in a browser)"));
        }
        if self.json {
            print_json(&result.json());
            return;
        }
        print_text(&result.text());
        if let Some(rating) = &result.rating {
            let header = &result.record.header;
            print_text(&format!("\n{} on the ladder of {}: {rating}", header.agents[0], header.game));
        }
    }

    /// Says how to continue.
    fn interrupted(&self) -> ExitCode {
        let begun = self.out.as_ref().is_some_and(|folder| folder.exists());
        let advice = if begun { "; the same command with --resume continues it" } else { "" };
        print_stderr(format_args!("interrupted before its end{advice}"));
        ExitCode::from(130)
    }
}
