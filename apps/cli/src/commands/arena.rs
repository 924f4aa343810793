//! `turnstone arena`: matches, tournaments, and ratings on a ladder.

mod options;
mod plan;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::json;
use turnstone_base::files::atomic_write;
use turnstone_base::machine::cores;
use turnstone_base::terminal::{Reporter, print_stderr};
use turnstone_selfplay::{Games, TrainableGame};

use self::options::Options;
use self::plan::Plan;
use crate::args::{GameArgs, load_agent, thread_count};
use crate::called::PROGRAM;
use crate::cluster::{Cluster, ClusterArgs, Leader, Named, Work};
use crate::signals::stop_on_signals;
use turnstone_agents::{Agent, AgentSpec, PlayableGame};
use turnstone_arena::{
    Format, GameRecord, Journal, Ladder, OpeningSource, Remote, Running, Settings, Summary, Tournament,
    TournamentRecord, openings, openings_needed, read_ladder, report,
};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone arena {mancala} alphabeta:depth=6 mcts:sims=500 --games 100
      a match
  turnstone arena mancala alphabeta:depth=5 --ladder
      an agent's Elo")]
pub(crate) struct Arena {
    #[command(flatten)]
    game: GameArgs,
    /// Agents: two for a match, more for a tournament, one for --ladder. GAME may also be a .toml file, a tournament's
    /// or a run's config; its agents are used if none are given
    #[arg(value_name = "AGENT")]
    agents: Vec<AgentSpec>,
    #[command(flatten)]
    options: Options,
    /// Number of threads; it does not change the result [default: one per core]
    #[arg(long, value_parser = thread_count)]
    threads: Option<usize>,
    /// Rate one agent on the game's ladder, on which `random` has Elo 0
    #[arg(long, conflicts_with_all = ["format", "ladder_build"])]
    ladder: bool,
    /// Ladder written by --ladder-build to use instead of the game's; programs of `engine:` agents in it are started
    #[arg(long, value_name = "FILE", requires = "ladder")]
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
    pub(crate) fn run(&self, games: &Games, cluster: Option<Cluster>) -> Result<ExitCode> {
        let cluster = self.cluster.named(cluster)?;
        let (file, options) = (self.game.file(), self.options.clone());
        let plan = match file {
            Some(path) => Plan::read(path, &self.agents, &self.game.params(), options, games)?,
            None => Plan { game: self.game.game(games)?, agents: self.agents.clone(), options },
        };
        self.play(&*plan.game, &plan, cluster)
    }

    fn play(&self, game: &dyn TrainableGame, plan: &Plan, cluster: Option<Named<'_>>) -> Result<ExitCode> {
        if plan.agents.contains(&AgentSpec::Human) {
            bail!("a person cannot play a match; use `turnstone play`");
        }
        let reporter = Reporter::new(false);
        let ladder = self.rungs(game, &plan.agents, &reporter)?;
        let mut agents = plan.agents.iter().map(|spec| load_agent(spec, game)).collect::<Result<Vec<_>, _>>()?;
        let mut options = plan.options.clone();
        if let Some(ladder) = &ladder {
            agents.extend(ladder.agents(game)?);
            // A file's options are for its own matches; a ladder's ratings are valid for its own openings.
            options = self.options.clone().or(Options::of_ladder(ladder));
        }
        let new_ladder = self.new_ladder(&options)?;
        let mut settings = options.settings(agents.len())?;
        if self.ladder {
            settings.format = Format::Gauntlet;
        }
        options.odd_games(settings.games).into_iter().for_each(|note| reporter.line(&note));
        let stop = stop_on_signals()?;
        let tournament = prepare(game, &agents, settings, &options, stop)?;
        let record = match tournament {
            Some(tournament) => {
                let work = Work::of_agents(game, &agents.iter().collect::<Vec<_>>());
                let leader = cluster.map(|cluster| cluster.lead(&work, stop)).transpose()?;
                let remote = leader.as_deref().map(|leader| leader as &dyn Remote);
                let record = self.carry_out(&tournament, remote, &reporter, stop)?;
                leader.into_iter().for_each(Leader::finish);
                record
            }
            None => None,
        };
        let Some(record) = record else {
            let begun = self.out.as_ref().is_some_and(|folder| folder.exists());
            let advice = if begun { "; the same command with --resume goes on with it" } else { "" };
            print_stderr(format_args!("interrupted before its end{advice}"));
            return Ok(ExitCode::from(130));
        };
        let summary = Summary::new(&record, &self.anchors(&record, ladder.as_ref()));
        if let Some(folder) = &self.out {
            let files = save(game, &record, &summary, folder)?;
            let shown = folder.display();
            reporter.line(&format!("{shown}: {} (report.html opens in a browser)", files.join(", ")));
        }
        self.show(&record, &summary, ladder.as_ref());
        if let Some((path, plies)) = new_ladder {
            let text = Ladder::of(game, &record, plies)?.to_text(game);
            atomic_write(path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
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

    /// Path of the ladder to write, and the range of random plies of its openings.
    fn new_ladder(&self, options: &Options) -> Result<Option<(&Path, [u16; 2])>> {
        let Some(path) = self.ladder_build.as_deref() else { return Ok(None) };
        ensure!(!path.exists(), "{} exists already", path.display());
        let OpeningSource::Random(plies) = options.openings() else { bail!("a ladder has random openings") };
        Ok(Some((path, plies)))
    }

    /// Plays the games that are not on disk yet. Returns `None` if interrupted.
    fn carry_out(
        &self,
        tournament: &Tournament<'_>,
        remote: Option<&dyn Remote>,
        reporter: &Reporter,
        stop: &AtomicBool,
    ) -> Result<Option<TournamentRecord>> {
        let (journal, done) = match &self.out {
            Some(folder) if self.resume => {
                let (journal, done) = Journal::resume(folder, tournament.header())?;
                (Some(journal), done)
            }
            Some(folder) => (Some(Journal::create(folder, tournament.header())?), Vec::new()),
            None => (None, Vec::new()),
        };
        tournament.notes().iter().for_each(|note| reporter.line(note));
        let bar = reporter.bar("games", tournament.games() as u64);
        let agents = &tournament.header().agents;
        // The match of the game that has just ended; in a tournament several run at once.
        let progress = |game: &GameRecord| {
            let [a, b] = game.agents.map(|agent| shortened(&agents[agent]));
            bar.set_message(format!("{a} - {b}"));
            bar.inc(1);
        };
        let running = Running { remote, ..Running::new(self.threads.unwrap_or_else(cores), &progress, stop) };
        let record = tournament.play(journal.as_ref(), done, &running)?;
        bar.finish_and_clear();
        Ok(record)
    }

    /// Fixed ratings by agent: those of the ladder, or 0 for `random` when a ladder is built.
    fn anchors(&self, record: &TournamentRecord, ladder: Option<&Ladder>) -> Vec<Option<f64>> {
        let random =
            |spec: &String| (self.ladder_build.is_some() && *spec == AgentSpec::Random.to_string()).then_some(0.0);
        ladder.map_or_else(|| record.header.agents.iter().map(random).collect(), Ladder::anchors)
    }

    fn show(&self, record: &TournamentRecord, summary: &Summary, ladder: Option<&Ladder>) {
        let rating = ladder.map(|ladder| ladder.rate(record));
        if self.json {
            let mut object = report::json(record, summary);
            if let Some(rating) = &rating {
                object["ladder"] = json!(rating);
            }
            println!("{object}");
            return;
        }
        println!("{}", report::text(record, summary).trim_end());
        if let Some(rating) = rating {
            println!("\n{} on the ladder of {}: {rating}", record.header.agents[0], record.header.game);
        }
    }
}

/// Draws the openings. Returns `None` if interrupted.
fn prepare<'a>(
    game: &'a dyn PlayableGame,
    agents: &'a [Agent],
    settings: Settings,
    options: &Options,
    stop: &AtomicBool,
) -> Result<Option<Tournament<'a>>> {
    let (needed, seed) = (openings_needed(&settings), settings.seed);
    let openings = openings(game, &options.openings(), options.filter()?.as_ref(), needed, seed, stop)?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    let tournament = Tournament::new(game, agents.iter().collect(), settings, openings, options.tables())?;
    Ok(Some(tournament.played_by(PROGRAM)))
}

/// A spec cut to a length that leaves room for a bar.
fn shortened(spec: &str) -> String {
    const LONGEST: usize = 22;
    match spec.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &spec[..end]),
        None => spec.to_owned(),
    }
}

/// Writes the result in all formats and returns the names of the files.
fn save(
    game: &dyn PlayableGame,
    record: &TournamentRecord,
    summary: &Summary,
    folder: &Path,
) -> Result<Vec<&'static str>> {
    let files = [
        ("result.json", report::json(record, summary).to_string() + "\n"),
        ("games.csv", report::games_csv(record)),
        ("meetings.csv", report::meetings_csv(summary)),
        ("ratings.svg", report::ratings_svg(summary)),
        ("report.html", report::page(game, record, summary)?),
    ];
    for (name, text) in &files {
        let path = folder.join(name);
        atomic_write(&path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(files.into_iter().map(|(name, _)| name).collect())
}
