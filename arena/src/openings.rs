//! Openings: distinct positions from a book or from random plies, optionally only those that a reference agent
//! evaluates as open.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use rand::RngExt;
use turnstone_base::files::read_text;
use turnstone_base::settings::{Given, Value};
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_base::text::entries;
use turnstone_env::{Action, ActionList, AnyState, DynGame};

use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, AgentSpec, PlayableGame, Search, SearchRequest};

/// Number of consecutive draws without a new opening after which drawing stops.
const BARREN: usize = 1000;

/// Source of openings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpeningSource {
    /// Uniformly random plies, between this minimum and maximum in number.
    Random([u16; 2]),
    /// File with one opening per line.
    Book(PathBuf),
}

/// Selects openings that a reference agent evaluates as open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OpeningFilter {
    /// The reference agent.
    pub reference: AgentSpec,
    /// Maximum absolute score of an opening that is kept: in the unit of the reference's static evaluation, or for
    /// networks, playouts and exact values the expected result in hundredths.
    pub bound: u32,
}

/// Opening: a position in which the game is not over, and the plies that lead to it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Opening {
    /// Plies of the opening.
    pub actions: Vec<Action>,
    /// Position after them.
    pub state: AnyState,
}

impl Opening {
    /// Text form of the plies, separated by spaces.
    pub(crate) fn text(&self, game: &dyn DynGame) -> String {
        game.line_texts(&game.start(), &self.actions).join(" ")
    }
}

/// Draws up to `count` openings that lead to distinct positions. There are fewer if the source has no more; random
/// drawing ends after a thousand consecutive draws without a new opening.
///
/// # Errors
/// The book cannot be read or has a fault, the reference cannot play, or there is no opening.
pub(crate) fn openings(
    game: &dyn PlayableGame,
    source: &OpeningSource,
    filter: Option<&OpeningFilter>,
    count: usize,
    seed: u64,
    stop: &Stop,
) -> Result<Vec<Opening>> {
    let mut judge = filter.map(|filter| Judge::new(game, filter, stop)).transpose()?;
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut barren = 0;
    let mut candidates: Box<dyn Iterator<Item = Opening>> = match source {
        OpeningSource::Random(plies) => {
            let mut rng = stream(seed, Purpose::Openings, [0, 0]);
            Box::new(std::iter::from_fn(move || random_opening(game, *plies, &mut rng)))
        }
        OpeningSource::Book(path) => Box::new(read_book(path, game)?.into_iter()),
    };
    while found.len() < count && barren < BARREN && !stop.is_raised() {
        let Some(opening) = candidates.next() else { break };
        barren += 1;
        let new = seen.insert(game.without_counters(&opening.state));
        let kept = new && judge.as_mut().map_or(Ok(true), |judge| judge.keeps(&opening.state))?;
        if kept && !stop.is_raised() {
            found.push(opening);
            barren = 0;
        }
    }
    ensure!(
        !found.is_empty() || stop.is_raised(),
        "{} has no opening {}{}",
        game.name(),
        source.words(),
        filter.map(OpeningFilter::words).unwrap_or_default()
    );
    Ok(found)
}

impl FromStr for OpeningSource {
    type Err = String;

    /// Parses a number of plies, a range of them, or the path of a file.
    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        match [least, most].map(str::parse::<u16>) {
            [Ok(least), Ok(most)] if least <= most && most <= 1000 => Ok(Self::Random([least, most])),
            [Ok(_), Ok(_)] => Err("the range must rise, up to 1000".into()),
            _ if Path::new(text).is_file() => Ok(Self::Book(text.into())),
            _ => Err(format!("expected {}: no such file", Self::expected())),
        }
    }
}

impl Value for OpeningSource {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        match given {
            Given::Whole(plies) => plies.to_string().parse().map(Some),
            _ => given.text().map(str::parse).transpose(),
        }
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Text(match self {
            Self::Random([least, most]) => format!("{least}-{most}"),
            Self::Book(path) => path.display().to_string(),
        }))
    }

    fn expected() -> String {
        "a number of plies, a range such as 2-6, or an opening book".to_owned()
    }
}

impl OpeningSource {
    /// Description for messages, such as `of 2 to 4 random plies`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Random([least, most]) if least == most => format!("of {least} random plies"),
            Self::Random([least, most]) => format!("of {least} to {most} random plies"),
            Self::Book(path) => format!("in {}", path.display()),
        }
    }
}

impl OpeningFilter {
    /// Description for messages, to follow that of the source.
    pub(crate) fn words(&self) -> String {
        format!(" that {} finds within {}", self.reference, self.bound)
    }
}

/// Reference agent of a filter.
struct Judge<'a> {
    filter: &'a OpeningFilter,
    search: Box<dyn Search>,
    stop: &'a Stop,
}

impl<'a> Judge<'a> {
    fn new(game: &dyn PlayableGame, filter: &'a OpeningFilter, stop: &'a Stop) -> Result<Self> {
        Ok(Self { filter, search: Agent::load(&filter.reference, game)?.search(game, 1)?, stop })
    }

    /// Whether the reference evaluates the position as open; false if it returns no score.
    fn keeps(&mut self, state: &AnyState) -> Result<bool> {
        self.search.new_game(0, state, stream(0, Purpose::Openings, [0, 1]));
        let request = SearchRequest::stopped_by(self.stop).with_reports();
        self.search.choose_within(0, state, request, &mut |_| ())?;
        let score = self.search.report(0).score;
        Ok(score.is_some_and(|score| score.score.unsigned_abs() <= self.filter.bound))
    }
}

/// Plays random plies from the start. Returns `None` if a hundred consecutive attempts ended the game.
fn random_opening(game: &dyn DynGame, [least, most]: [u16; 2], rng: &mut Stream) -> Option<Opening> {
    let mut legal = ActionList::new();
    for _ in 0..100 {
        let mut state = game.start();
        let mut actions = Vec::new();
        for _ in 0..rng.random_range(least..=most) {
            game.legal(&state, &mut legal);
            if legal.is_empty() {
                break;
            }
            let action = legal[rng.random_range(0..legal.len())];
            game.play(&mut state, action);
            actions.push(action);
        }
        if game.outcome(&state).is_none() {
            return Some(Opening { actions, state });
        }
    }
    None
}

/// Maximum length of a book in bytes.
const LONGEST_BOOK: u64 = 1 << 26;

/// Reads a book with the moves of an opening per line; `#` begins a comment, and empty lines are skipped.
pub(crate) fn read_book(path: &Path, game: &dyn DynGame) -> Result<Vec<Opening>> {
    let text = read_text(path, LONGEST_BOOK).with_context(|| format!("opening book {}", path.display()))?;
    let mut book = Vec::new();
    for (number, moves) in entries(&text) {
        let fault = || format!("opening book {}: line {number}", path.display());
        let mut state = game.start();
        let actions = game.play_text(&mut state, moves).with_context(fault)?;
        ensure!(game.outcome(&state).is_none(), "{}: the game is over after these moves", fault());
        book.push(Opening { actions, state });
    }
    Ok(book)
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::Erased;
    use turnstone_env::games::{Mancala, MuTorere};

    fn drawn(
        game: &dyn PlayableGame,
        source: &OpeningSource,
        filter: Option<&OpeningFilter>,
        count: usize,
    ) -> Result<Vec<Opening>> {
        openings(game, source, filter, count, 7, &Stop::default())
    }

    #[test]
    fn positions_are_distinct_and_small_games_run_out() {
        let found = drawn(
            &Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default()),
            &OpeningSource::Random([2, 4]),
            None,
            300,
        )
        .expect("many");
        let states: HashSet<_> = found.iter().map(|opening| opening.state.clone()).collect();
        assert_eq!((found.len(), states.len()), (300, 300));
        let game = Erased::<_, turnstone_games::MuTorere>::with_knowledge(MuTorere::default());
        let all = drawn(&game, &OpeningSource::Random([1, 1]), None, 50).expect("some");
        assert_eq!(all.len(), 4, "the legal first moves");
        // Moves there and back change the counter of plies but not the position.
        let all = drawn(&game, &OpeningSource::Random([0, 6]), None, 1000).expect("some");
        let positions: HashSet<_> = all.iter().map(|opening| game.without_counters(&opening.state)).collect();
        assert!(all.len() < 500 && positions.len() == all.len(), "{}", all.len());
    }

    #[test]
    fn a_filter_keeps_openings_within_its_bound() {
        let game = Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default());
        let filter = OpeningFilter { reference: "alphabeta:depth=3".parse().expect("valid"), bound: 1 };
        let found = drawn(&game, &OpeningSource::Random([2, 6]), Some(&filter), 30).expect("some");
        let stop = Stop::default();
        let mut judge = Judge::new(&game, &filter, &stop).expect("it plays");
        assert!(found.len() == 30 && found.iter().all(|o| judge.keeps(&o.state).expect("it judges")));
        let blind = OpeningFilter { reference: AgentSpec::random(), bound: 1 };
        let fault = drawn(&game, &OpeningSource::Random([2, 6]), Some(&blind), 1).expect_err("no score");
        assert_eq!(fault.to_string(), "mancala has no opening of 2 to 6 random plies that random finds within 1");
    }

    #[test]
    fn books_name_the_line_at_fault() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("book.txt");
        let game = Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default());
        let read = |text: &str| {
            std::fs::write(&path, text).expect("writable");
            drawn(&game, &OpeningSource::Book(path.clone()), None, 10)
        };
        // B4 ends in the store; the two orders of the last line's moves lead to one position.
        let book = read("# two openings\nB5 A3\n\nB2 A2 # a comment\nB5 A3\n").expect("sound");
        assert_eq!(book.iter().map(|o| o.text(&game)).collect::<Vec<_>>(), ["B5 A3", "B2 A2"]);
        let fault = format!("{:#}", read("B5\nB5 B5\n").expect_err("illegal"));
        assert!(fault.contains("book.txt: line 2: illegal action `B5`"), "{fault}");
        let fault = format!("{:#}", read("B5\n\u{0}x\n").expect_err("malformed"));
        assert!(fault.contains("line 2"), "{fault}");
        assert!(read("# nothing\n").expect_err("empty").to_string().contains("no opening in"));
    }
}
