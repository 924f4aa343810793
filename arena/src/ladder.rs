//! Ladders: agents with known ratings per game, which put all runs on one Elo scale. The rating of `random` is 0.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use turnstone_env::{DynGame, Params};

use super::openings::OpeningSource;
use super::options::MatchOptions;
use super::record::{TournamentRecord, TournamentSettings};
use super::summary::{AgentResult, Summary};
use turnstone_agents::{Agent, AgentSpec, PlayableGame};
use turnstone_statistics::Estimate;

/// Default number of games against each rung.
const RATING_GAMES: usize = 100;

/// Ladder of a game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// Name of the game.
    pub game: String,
    /// Version of the game.
    pub version: u32,
    /// Parameters of the game.
    pub params: Params,
    /// Minimum and maximum number of random plies of the openings.
    pub openings: [u16; 2],
    /// Games between every two rungs when the ladder was built.
    pub games: usize,
    /// Seed of those games.
    pub seed: u64,
    /// The rungs, in the order in which they were named when the ladder was built, which affects their random streams.
    pub rungs: Vec<Rung>,
    /// Levels by number, with Elo and the ends of its 95 % interval; they are opponents of people, and no rungs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, (AgentSpec, i32, i32, i32)>,
}

/// Agent with a known rating.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Spec of the agent.
    pub agent: AgentSpec,
    /// Elo rating, relative to `random`.
    pub elo: f64,
    /// Half the width of the rating's 95 % interval, in Elo.
    pub reach: f64,
}

/// Rating of an agent on a ladder.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LadderRating {
    /// Elo rating on the ladder's scale.
    pub elo: f64,
    /// 95 % interval of the rating, with the rungs' ratings taken as exact.
    pub interval: [f64; 2],
    /// Score against all rungs together, 0..=1.
    pub score: f64,
    /// Number of games played.
    pub games: usize,
}

impl Ladder {
    /// The ladder shipped with this game.
    ///
    /// # Errors
    /// There is none, or it is for another version or other parameters of the game.
    pub fn shipped(game: &dyn PlayableGame) -> Result<Self> {
        let Some(text) = game.files().ladder else { bail!("no ladder comes with {}", game.name()) };
        Self::parse(text, game).with_context(|| format!("the ladder of {}", game.name()))
    }

    /// Parses a ladder of this game.
    ///
    /// # Errors
    /// The text is malformed, has no rungs, or a rung twice, that cannot play or without a finite rating, or is of
    /// another game, version or parameters; the message has one line.
    pub fn parse(text: &str, game: &dyn DynGame) -> Result<Self> {
        let ladder: Self = toml::from_str(text).map_err(|error| anyhow!(in_one_line(text, &error)))?;
        if ladder.game != game.name() || ladder.version != game.version() || ladder.params != game.params() {
            let Self { game, version, params, .. } = ladder;
            bail!("it is for {game} version {version} ({params}), not for this game");
        }
        ensure!(!ladder.rungs.is_empty(), "it has no rungs");
        for (i, rung) in ladder.rungs.iter().enumerate() {
            let Rung { agent, elo, reach } = rung;
            ensure!(!agent.is_human(), "rung `{agent}` cannot play a match");
            ensure!(elo.is_finite() && reach.is_finite() && *reach >= 0.0, "rung `{agent}` has no finite rating");
            ensure!(ladder.rungs[..i].iter().all(|other| other.agent != *agent), "rung `{agent}` comes twice");
        }
        let [least, most] = ladder.openings;
        ensure!(least <= most && most <= 1000, "openings must be a minimum and a maximum of at most 1000 plies");
        Ok(ladder)
    }

    /// The ladder for rating this agent: without the rung that is the agent itself, against which it would tell nothing new.
    ///
    /// # Errors
    /// No rung is left.
    pub fn for_agent(mut self, agent: &AgentSpec) -> Result<Self> {
        self.rungs.retain(|rung| rung.agent != *agent);
        ensure!(!self.rungs.is_empty(), "`{agent}` is the only rung of the ladder, so there is none to play");
        Ok(self)
    }

    /// Creates the ladder from a round robin of its rungs, in whose summary the rating of `random` is 0.
    ///
    /// # Errors
    /// A spec is malformed.
    pub(super) fn of(
        game: &dyn DynGame,
        record: &TournamentRecord,
        summary: &Summary,
        openings: [u16; 2],
    ) -> Result<Self> {
        let rung = |standing: &AgentResult| -> Result<Rung> {
            let (elo, [_, high]) = (standing.rating, standing.rating_interval);
            Ok(Rung { agent: standing.agent.parse()?, elo: elo.round(), reach: (high - elo).ceil() })
        };
        let rungs = summary.agents.iter().map(rung).collect::<Result<_>>()?;
        let TournamentSettings { games, seed, .. } = record.header.settings;
        let (name, params) = (game.name().to_owned(), game.params());
        Ok(Self { game: name, version: game.version(), params, openings, games, seed, rungs, levels: BTreeMap::new() })
    }

    /// Text of the ladder's file; its first line is the command that rebuilds it.
    #[must_use]
    pub fn to_text(&self, of: &dyn DynGame) -> String {
        let agents: Vec<String> = self.rungs.iter().map(|rung| rung.agent.to_string()).collect();
        let Self { game, games, seed, openings: [least, most], .. } = self;
        let usual = of.default_params();
        let changed = self.params.iter().filter(|param| usual.iter().all(|other| other != *param));
        let params: String = changed.map(|(key, value)| format!(" --param {key}={value}")).collect();
        format!(
            "# turnstone arena {game}{params} {} --games {games} --seed {seed} --openings {least}-{most} --ladder-build FILE\n{}",
            agents.join(" "),
            toml::to_string(self).expect("plain fields")
        )
    }

    /// Loads the agents of the rungs.
    ///
    /// # Errors
    /// An agent cannot be loaded.
    pub fn agents(&self, game: &dyn PlayableGame) -> Result<Vec<Agent>> {
        let load = |rung: &Rung| Ok(Agent::load(&rung.agent, game)?);
        self.rungs.iter().map(load).collect()
    }

    /// Anchors of a gauntlet against the rungs: none for its first agent, and the ratings of the rungs.
    pub(super) fn anchors(&self) -> Vec<Option<f64>> {
        std::iter::once(None).chain(self.rungs.iter().map(|rung| Some(rung.elo))).collect()
    }

    /// Options for rating an agent on the ladder.
    pub(super) fn options(&self) -> MatchOptions {
        MatchOptions {
            games: Some(RATING_GAMES),
            openings: Some(OpeningSource::Random(self.openings)),
            ..MatchOptions::default()
        }
    }
}

impl LadderRating {
    /// The rating of the first agent of a gauntlet against the rungs, which are the anchors of the summary.
    pub(super) fn of_first(summary: &Summary) -> Self {
        let AgentResult { rating, rating_interval, score, .. } = summary.agents[0];
        Self { elo: rating, interval: rating_interval, score, games: summary.games }
    }

    /// The rating with its interval.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate { value: self.elo, interval: self.interval }
    }
}

impl std::fmt::Display for LadderRating {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { elo, interval: [low, high], score, games } = self;
        write!(f, "Elo {elo:.0} [{low:.0}, {high:.0}], {:.1} % of {games} games", 100.0 * score)
    }
}

/// A fault of a text in TOML, with its line.
#[must_use]
pub fn in_one_line(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| line_at(text, span.start));
    format!("line {line}: {}", error.message().replace('\n', ", "))
}

/// The number, from 1, of the line with this byte of a text.
#[must_use]
pub fn line_at(text: &str, byte: usize) -> usize {
    text[..byte.min(text.len())].matches('\n').count() + 1
}

/// Maximum length of a ladder's file in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a ladder of this game from a file.
///
/// # Errors
/// The file cannot be read, or as [`Ladder::parse`].
pub fn read_ladder(path: &Path, game: &dyn DynGame) -> Result<Ladder> {
    let named = || format!("ladder {}", path.display());
    Ladder::parse(&turnstone_base::files::read_text(path, LONGEST).with_context(named)?, game).with_context(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ending, GameRecord, TournamentFormat, TournamentHeader};
    use turnstone_env::Erased;
    use turnstone_env::games::Mancala;
    use turnstone_games::built_in;

    #[test]
    fn every_shipped_ladder_begins_with_random() {
        for game in built_in().defaults() {
            let name = game.name();
            let ladder = Ladder::shipped(&*game).expect("sound");
            ladder.agents(&*game).expect("its agents need no file");
            let [random, others @ ..] = &ladder.rungs[..] else { panic!("{name} has rungs") };
            assert_eq!((&random.agent, random.elo, random.reach), (&AgentSpec::random(), 0.0, 0.0));
            assert!(others.len() >= 4 && others.iter().all(|rung| rung.elo > 100.0), "{name}");
            // The levels that agents read from the same text.
            let levels = turnstone_agents::levels(&*game).expect("sound").into_iter();
            let levels = levels.map(|level| {
                (level.number.to_string(), (level.agent, level.elo, level.interval[0], level.interval[1]))
            });
            assert_eq!(ladder.levels, levels.collect());
        }
    }

    #[test]
    fn faults_of_a_ladder_are_named() {
        let game = Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default());
        let sound = Ladder::shipped(&game).expect("sound").to_text(&game);
        assert_eq!(Ladder::parse(&sound, &game).expect("it comes back").to_text(&game), sound);
        let fault = |from: &str, to: &str| {
            assert!(sound.contains(from), "{from}");
            format!("{:#}", Ladder::parse(&sound.replacen(from, to, 1), &game).expect_err("a fault"))
        };
        assert!(fault("stones = \"4\"", "stones = \"3\"").contains("not for this game"));
        assert!(fault("game = \"mancala\"", "game = \"mancla\"").contains("not for this game"));
        assert!(fault("agent = \"random\"", "agent = \"rando\"").contains("did you mean `random`"));
        assert!(fault("agent = \"random\"", "agent = \"human\"").contains("`human` cannot play"));
        assert!(fault("elo = 0.0", "elo = nan").contains("no finite rating"));
        assert!(fault("seed = ", "sed = ").contains("line "));
        assert!(
            fault("[[rungs]]\nagent = \"random\"", "[[rungs]]\nagent = \"alphabeta:depth=1\"").contains("comes twice")
        );
        assert!(format!("{:#}", Ladder::parse("[[", &game).expect_err("no TOML")).starts_with("line 1: "));
        let only_header = &sound[..sound.find("[[rungs]]").expect("rungs")];
        assert!(!format!("{:#}", Ladder::parse(only_header, &game).expect_err("no rungs")).contains('\n'));
    }

    #[test]
    fn an_agent_is_rated_between_weaker_and_stronger_rungs() {
        let rung = |agent: &str, elo| Rung { agent: agent.parse().expect("valid"), elo, reach: 10.0 };
        let game = Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default());
        let mut ladder = Ladder::shipped(&game).expect("sound");
        ladder.rungs = vec![rung("random", 0.0), rung("alphabeta:depth=1", 400.0)];
        let record = |results: [i8; 4]| {
            let agents = [[0, 1], [1, 0], [0, 2], [2, 0]];
            let games = (0..400).map(|i| GameRecord {
                number: i,
                agents: agents[i % 4],
                opening: i / 4,
                opening_plies: 0,
                moves: Vec::new(),
                result: results[i % 4],
                ending: Ending::Rules,
                incidents: Vec::new(),
            });
            let header = TournamentHeader {
                turnstone_arena: 1,
                program: None,
                game: "mancala".into(),
                version: 1,
                params: Params::new(),
                agents: vec!["x".into(), "random".into(), "alphabeta:depth=1".into()],
                networks: vec![None; 3],
                settings: TournamentSettings::plain(TournamentFormat::Gauntlet, 200, 0),
                openings: Vec::new(),
            };
            TournamentRecord { header, notes: Vec::new(), games: games.collect() }
        };
        // Wins every game against the first rung and one of two against the second.
        let rate = |results| LadderRating::of_first(&Summary::new(&record(results), &ladder.anchors()));
        let rating = rate([1, -1, 1, 1]);
        assert!((380.0..480.0).contains(&rating.elo), "{rating:?}");
        assert!(rating.interval[0] < rating.elo && rating.elo < rating.interval[1], "{rating:?}");
        assert_eq!((rating.games, rating.score), (400, 0.75));
        assert!(rate([-1, 1, -1, 1]).elo < 0.0);
    }
}
