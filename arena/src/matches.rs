//! A match or tournament from its options to its files: openings, games, summary, ratings, reports.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, AgentSpec, PlayableGame};
use turnstone_base::files::atomic_write;
use turnstone_base::settings::Settings;

use super::journal::Journal;
use super::ladder::{Ladder, LadderRating};
use super::openings::{OpeningSource, openings};
use super::options::MatchOptions;
use super::record::{TournamentFormat, TournamentHeader, TournamentRecord};
use super::remote::check_portable;
use super::report;
use super::schedule::openings_needed;
use super::summary::{Meeting, Summary};
use super::tournament::{Running, Tournament};

/// Zero of the ratings of a match.
#[derive(Clone, Copy, Debug)]
pub enum RatingScale<'a> {
    /// The mean rating of the agents.
    Mean,
    /// The format of a ladder: the first agent is rated, and the others are the ladder's rungs.
    Ladder(&'a Ladder),
    /// The agent `random`, from which a new ladder begins.
    NewLadder,
}

/// A match or tournament whose openings are drawn.
pub struct Match<'a> {
    tournament: Tournament<'a>,
    scale: RatingScale<'a>,
    openings: OpeningSource,
    odd_games: Option<String>,
}

/// Folder of a match's files.
#[derive(Clone, Copy, Debug)]
pub struct MatchFolder<'a> {
    /// The folder.
    pub path: &'a Path,
    /// Whether to continue with the games in it; otherwise it must be new or empty.
    pub resume: bool,
}

impl MatchFolder<'_> {
    /// Checks, before the openings are drawn, that a match can be played in the folder.
    ///
    /// # Errors
    /// The folder is neither new nor empty, or there is nothing in it to resume.
    pub fn confirm(&self) -> Result<()> {
        Journal::confirm(self.path, self.resume)
    }
}

/// Result of a match.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchResult {
    /// Settings, openings and games.
    pub record: TournamentRecord,
    /// Their evaluation.
    pub summary: Summary,
    /// Rating of the first agent on the ladder, if there is one.
    pub rating: Option<LadderRating>,
}

impl<'a> Match<'a> {
    /// Draws the openings of a match between these agents. Returns `None` if `stop` was raised before the end.
    ///
    /// # Errors
    /// The options conflict or do not fit the number of agents, the openings cannot be drawn, an engine does not start,
    /// or there are no exact values to end games with.
    pub fn new(
        game: &'a dyn PlayableGame,
        agents: Vec<&'a Agent>,
        options: &MatchOptions,
        scale: RatingScale<'a>,
        stop: &Stop,
    ) -> Result<Option<Self>> {
        let mut options = options.clone();
        match scale {
            RatingScale::Mean => {}
            RatingScale::Ladder(ladder) => {
                options.format = Some(TournamentFormat::Gauntlet);
                options = options.or(&ladder.options());
            }
            RatingScale::NewLadder => {
                ensure!(agents.iter().any(|agent| agent.spec == AgentSpec::random()), NO_RANDOM);
                ensure!(matches!(options.openings(), OpeningSource::Random(_)), "a ladder has random openings");
            }
        }
        ensure!(
            options.clock.is_some() || options.out_of_time.is_none(),
            "a penalty for running out of time needs a clock"
        );
        let settings = options.tournament();
        let odd_games = options.odd_games(settings.games);
        let (source, filter) = (options.openings(), options.filter()?);
        let openings = openings(game, &source, filter.as_ref(), openings_needed(&settings), settings.seed, stop)?;
        if stop.is_raised() {
            return Ok(None);
        }
        let tournament = Tournament::new(game, agents, settings, openings)?;
        Ok(Some(Self { tournament, scale, openings: source, odd_games }))
    }

    /// Names the program that plays the match, with its version, for the records of it.
    #[must_use]
    pub fn played_by(self, program: &str) -> Self {
        Self { tournament: self.tournament.played_by(program), ..self }
    }

    /// Game, agents, settings and openings.
    #[must_use]
    pub fn header(&self) -> &TournamentHeader {
        self.tournament.header()
    }

    /// Number of games, unless the match ends early.
    #[must_use]
    pub fn games(&self) -> usize {
        self.tournament.games()
    }

    /// Remarks on the number of games, where it is not the one asked for.
    pub fn notes(&self) -> impl Iterator<Item = &String> {
        self.odd_games.iter().chain(self.tournament.notes())
    }

    /// Whether other machines can play it.
    #[must_use]
    pub fn is_portable(&self) -> bool {
        check_portable(self.tournament.agents(), &self.header().settings).is_ok()
    }

    /// Plays the games that are not in the folder yet and writes the result there in all formats. Returns `None` if
    /// `running.stop` was set before the end.
    ///
    /// # Errors
    /// An agent cannot play, or a file cannot be written or belongs to another match.
    pub fn play(&self, folder: Option<MatchFolder<'_>>, running: &Running<'_>) -> Result<Option<MatchResult>> {
        let open = |folder: MatchFolder<'_>| Journal::open(folder.path, folder.resume, self.header());
        let (journal, done) = folder.map(open).transpose()?.unzip();
        let Some(record) = self.tournament.play(journal.as_ref(), done.unwrap_or_default(), running)? else {
            return Ok(None);
        };
        let summary = Summary::new(&record, &self.anchors());
        let rating = matches!(self.scale, RatingScale::Ladder(_)).then(|| LadderRating::of_first(&summary));
        let result = MatchResult { record, summary, rating };
        if let Some(folder) = folder {
            result.save(self.tournament.game(), folder.path)?;
        }
        Ok(Some(result))
    }

    /// The ladder of the rated agents, of a match on [`RatingScale::NewLadder`].
    ///
    /// # Errors
    /// The match has another scale or openings from a book.
    pub fn new_ladder(&self, result: &MatchResult) -> Result<Ladder> {
        match (self.scale, &self.openings) {
            (RatingScale::NewLadder, OpeningSource::Random(plies)) => {
                Ladder::of(self.tournament.game(), &result.record, &result.summary, *plies)
            }
            _ => bail!(NO_RANDOM),
        }
    }

    /// The ratings that are known, by agent.
    fn anchors(&self) -> Vec<Option<f64>> {
        let agents = self.tournament.agents().iter();
        match self.scale {
            RatingScale::Mean => agents.map(|_| None).collect(),
            RatingScale::Ladder(ladder) => ladder.anchors(),
            RatingScale::NewLadder => agents.map(|agent| (agent.spec == AgentSpec::random()).then_some(0.0)).collect(),
        }
    }
}

const NO_RANDOM: &str = "a ladder needs the agent `random`, whose Elo is 0";

impl MatchResult {
    /// Names of the files with the result; the games are in a journal beside them.
    pub const FILES: [&str; 2] = ["result.json", "report.html"];

    /// Summary, record and rating as one JSON object.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let mut object = report::json(&self.record, &self.summary);
        if let Some(rating) = &self.rating {
            object["ladder"] = serde_json::json!(rating);
        }
        object
    }

    /// The agents with their results as a JSON object: names of `columns`, and `rows`.
    #[must_use]
    pub fn table(&self) -> serde_json::Value {
        report::agent_table(&self.summary)
    }

    /// The report as text for a terminal of 80 columns.
    #[must_use]
    pub fn text(&self) -> String {
        report::text(&self.record, &self.summary)
    }

    /// The report as an HTML page with all games on a board.
    ///
    /// # Errors
    /// A move of a game is not legal in this game.
    pub fn page(&self, game: &dyn PlayableGame) -> Result<String> {
        report::page(game, &self.record, &self.summary)
    }

    /// Results of the first two agents, from the point of view of the first.
    ///
    /// # Panics
    /// They have not met.
    #[must_use]
    pub fn meeting(&self) -> &Meeting {
        self.summary.meetings.first().expect("a match that ended has games")
    }

    /// Writes [`MatchResult::FILES`].
    fn save(&self, game: &dyn PlayableGame, folder: &Path) -> Result<()> {
        let texts = [report::json(&self.record, &self.summary).to_string() + "\n", self.page(game)?];
        for (name, text) in Self::FILES.iter().zip(&texts) {
            let path = folder.join(name);
            atomic_write(&path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(())
    }
}
