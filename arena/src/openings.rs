//! Openings: from a book or random plies, no position twice, and if wished only those that a reference finds open.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use rand::RngExt;
use turnstone_env::{Action, ActionList, AnyState, DynGame};

use turnstone_agents::streams::{Purpose, Stream, stream};
use turnstone_agents::{Agent, AgentSpec, PlayableGame, Player, SearchInfo, SearchRequest};

/// Draws in a row without a new opening after which there seem to be no more.
const BARREN: usize = 1000;

/// Where openings come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpeningSource {
    /// Fewest and most uniformly random plies.
    Random([u16; 2]),
    /// A file with an opening per line.
    Book(PathBuf),
}

/// Keeps openings whose outcome is open, as a reference agent sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpeningFilter {
    /// The agent that is asked.
    pub reference: AgentSpec,
    /// The greatest score, for either side, of an opening that is kept: in the reference heuristic's units, or for
    /// networks, playouts and exact truths the expected result in hundredths.
    pub bound: u32,
}

/// An opening: a running position and how it came up.
#[derive(Clone, PartialEq, Debug)]
pub struct Opening {
    /// Its plies.
    pub actions: Vec<Action>,
    /// Where they lead.
    pub state: AnyState,
}

impl Opening {
    /// Its moves, separated by spaces.
    pub fn text(&self, game: &dyn DynGame) -> String {
        let moves: Vec<String> = self.actions.iter().map(|&action| game.action_text(action)).collect();
        moves.join(" ")
    }
}

/// Up to `count` openings, no two of which lead to the same position. There are fewer if the source has no more:
/// random draws end after a thousand in a row that bring nothing new.
///
/// # Errors
/// The book cannot be read or has a fault, the reference cannot play, or not one opening is found.
pub fn openings(
    game: &dyn PlayableGame,
    source: &OpeningSource,
    filter: Option<&OpeningFilter>,
    count: usize,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<Opening>> {
    let mut judge = filter.map(|filter| Judge::new(game, filter)).transpose()?;
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
    while found.len() < count && barren < BARREN && !stop.load(Ordering::Relaxed) {
        let Some(opening) = candidates.next() else { break };
        barren += 1;
        let new = seen.insert(game.without_counters(&opening.state));
        if new && judge.as_mut().map_or(Ok(true), |judge| judge.keeps(&opening.state))? {
            found.push(opening);
            barren = 0;
        }
    }
    ensure!(
        !found.is_empty() || stop.load(Ordering::Relaxed),
        "{} has no opening {}{}",
        game.name(),
        source.words(),
        filter.map(OpeningFilter::words).unwrap_or_default()
    );
    Ok(found)
}

impl OpeningSource {
    /// A few words for people.
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
    /// A few words for people, to follow those of the source.
    #[must_use]
    pub fn words(&self) -> String {
        format!(" that {} finds within {}", self.reference, self.bound)
    }
}

/// The reference of a filter at work.
struct Judge<'a> {
    filter: &'a OpeningFilter,
    player: Box<dyn Player>,
}

impl<'a> Judge<'a> {
    fn new(game: &dyn PlayableGame, filter: &'a OpeningFilter) -> Result<Self> {
        Ok(Self { filter, player: Agent::load(&filter.reference, game)?.player(game)? })
    }

    /// Whether the reference finds the position open. What it has no opinion of is not.
    fn keeps(&mut self, state: &AnyState) -> Result<bool> {
        let mut rng = stream(0, Purpose::Openings, [0, 1]);
        let mut score = None;
        let mut hear = |info: &SearchInfo| score = info.score;
        let mut request = SearchRequest { report: Some(&mut hear), ..SearchRequest::default() };
        self.player.new_game(state, &mut rng);
        self.player.search(state, &mut request, &mut rng)?;
        Ok(score.is_some_and(|score| score.score.unsigned_abs() <= self.filter.bound))
    }
}

/// A running position after random plies. `None` if a hundred attempts in a row have ended the game.
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

/// The openings of a book: a line of moves each; empty lines and what follows `#` do not count.
fn read_book(path: &Path, game: &dyn DynGame) -> Result<Vec<Opening>> {
    let text = fs::read_to_string(path).with_context(|| format!("opening book {}", path.display()))?;
    let mut book = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let moves = line.split('#').next().unwrap_or_default().trim();
        if moves.is_empty() {
            continue;
        }
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

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn drawn(
        game: &dyn PlayableGame,
        source: &OpeningSource,
        filter: Option<&OpeningFilter>,
        count: usize,
    ) -> Result<Vec<Opening>> {
        openings(game, source, filter, count, 7, &GO_ON)
    }

    #[test]
    fn no_position_comes_twice_and_small_games_run_out() {
        let found = drawn(&Erased::new(Mancala::default()), &OpeningSource::Random([2, 4]), None, 300).expect("many");
        let states: HashSet<_> = found.iter().map(|opening| opening.state.clone()).collect();
        assert_eq!((found.len(), states.len()), (300, 300));
        let game = Erased::new(MuTorere::default());
        let all = drawn(&game, &OpeningSource::Random([1, 1]), None, 50).expect("some");
        assert_eq!(all.len(), 4, "only so many first moves");
        // Two plies and back: the counter of plies differs, the position does not.
        let all = drawn(&game, &OpeningSource::Random([0, 6]), None, 1000).expect("some");
        let positions: HashSet<_> = all.iter().map(|opening| game.without_counters(&opening.state)).collect();
        assert!(all.len() < 500 && positions.len() == all.len(), "{}", all.len());
    }

    #[test]
    fn a_filter_keeps_what_its_reference_finds_open() {
        let game = Erased::new(Mancala::default());
        let filter = OpeningFilter { reference: "alphabeta:depth=3".parse().expect("valid"), bound: 1 };
        let found = drawn(&game, &OpeningSource::Random([2, 6]), Some(&filter), 30).expect("some");
        let mut judge = Judge::new(&game, &filter).expect("it plays");
        assert!(found.len() == 30 && found.iter().all(|o| judge.keeps(&o.state).expect("it judges")));
        let blind = OpeningFilter { reference: AgentSpec::Random, bound: 1 };
        let fault = drawn(&game, &OpeningSource::Random([2, 6]), Some(&blind), 1).expect_err("no opinion");
        assert_eq!(fault.to_string(), "mancala has no opening of 2 to 6 random plies that random finds within 1");
    }

    #[test]
    fn books_name_the_line_at_fault() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("book.txt");
        let game = Erased::new(Mancala::default());
        let read = |text: &str| {
            fs::write(&path, text).expect("writable");
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
