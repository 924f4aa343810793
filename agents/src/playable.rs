//! What agents need to know about a game besides its rules.

use std::path::Path;
use std::str::FromStr;

use turnstone_env::{Notation, Rules};
use turnstone_exact::{ExactValues, Searched, SolveLimits, TableError};
use turnstone_search::classic::{Heuristic, WinLoss};

use crate::solving::{SolveError, SolveHost, SolveOptions, no_tables, result_text, start_text};
use crate::tablebase::Enumeration;

/// What is known about a game besides its rules: static evaluations, exact values and files. Everything is optional.
///
/// A type of rules can implement it for itself, with `type Game = Self`. Where the rules are another crate's, a type
/// without values stands for the knowledge.
///
/// ```
/// use turnstone_agents::{Playable, row};
/// use turnstone_env::games;
///
/// struct Mancala;
///
/// impl Playable for Mancala {
///     type Game = games::Mancala;
/// }
///
/// let list: turnstone_env::Games<_> = [row::<Mancala>()].into_iter().collect();
/// assert_eq!(list.names().collect::<Vec<_>>(), ["mancala"]);
/// ```
pub trait Playable: 'static {
    /// The rules.
    type Game: Notation;

    /// Static evaluations, the default first: unless a game has others, [`WinLoss`] alone.
    #[must_use]
    fn heuristics() -> Vec<Box<dyn Heuristic<Self::Game>>> {
        vec![Box::new(WinLoss)]
    }

    /// Exact values, with table files in the folder `tables`. `None` if there are none for the game's parameters. A game
    /// without a solver of its own can have `effort.searched(game)`.
    ///
    /// # Errors
    /// A table is missing or damaged; the message names the command that builds it.
    fn exact_values(
        _game: &Self::Game,
        _tables: &Path,
        _effort: Effort,
    ) -> Result<Option<Box<dyn ExactValues<Self::Game>>>, TableError> {
        Ok(None)
    }

    /// Solves the game, or a position of it, as `turnstone solve` does: builds the tables and prints the result. Returns
    /// whether it was finished; otherwise it was asked to stop.
    ///
    /// By default a small game is enumerated, and others are asked for their [exact values](Self::exact_values).
    ///
    /// # Errors
    /// The game has no solution within the limits, or a table cannot be written.
    fn solve(
        game: &Self::Game,
        position: Option<&<Self::Game as Rules>::State>,
        options: &SolveOptions<'_>,
        host: &dyn SolveHost,
    ) -> Result<bool, SolveError> {
        let name = game.spec().name;
        options.confirm_used(name, true, false)?;
        if options.tables_only {
            return Ok(no_tables(name, host));
        }
        solve_in_memory::<Self>(game, position, options, host).map(|()| true)
    }

    /// The part of the game that a position belongs to, as its sheet defines them. For reports only.
    #[must_use]
    fn phase(_game: &Self::Game, _state: &<Self::Game as Rules>::State) -> Phase {
        Phase::Midgame
    }

    /// The position as if it had just come up: counters of ply limits that exact values ignore are 0.
    #[must_use]
    fn without_counters(state: &<Self::Game as Rules>::State) -> <Self::Game as Rules>::State {
        *state
    }

    /// Files shipped with the game.
    #[must_use]
    fn files() -> GameFiles {
        GameFiles::default()
    }
}

/// A part of a game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Phase {
    /// The beginning.
    Opening,
    /// The middle; all of a game whose phases are not defined.
    Midgame,
    /// The end.
    Endgame,
}

impl FromStr for Phase {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|phase| phase.name() == name);
        found.ok_or_else(|| format!("the phase is `{name}`, but must be opening, midgame or endgame"))
    }
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Self; 3] = [Self::Opening, Self::Midgame, Self::Endgame];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Midgame => "midgame",
            Self::Endgame => "endgame",
        }
    }

    /// The phase by how many parts of the game, of as many as a game chooses, are still left: from three on the opening, two the
    /// midgame, fewer the endgame.
    #[must_use]
    pub fn by_parts_left(parts: usize) -> Self {
        match parts {
            0 | 1 => Self::Endgame,
            2 => Self::Midgame,
            _ => Self::Opening,
        }
    }
}

/// Kind of exact values.
#[derive(Clone, Copy, Debug)]
pub enum Effort {
    /// All positions that a search of some seconds covers.
    Full,
    /// For play and reviews. Searches are short, so fewer positions are covered, and whether
    /// one is covered does not depend on earlier queries. A query takes milliseconds, except where the whole game is
    /// covered: there the first queries may take up to half a minute.
    Quick,
    /// For a player that searches as long as the limits allow, without limits as long as the game's solver takes to cover
    /// a position, or gives up after some seconds. A limit of nodes makes the answers of two calls equal, and the number
    /// of threads is ignored then.
    Patient(SolveLimits),
}

/// Maximum number of nodes per position where nothing else limits a search: [`Effort::Full`] some seconds,
/// [`Effort::Quick`] milliseconds, [`Effort::Patient`] about a second.
const NODES: [u64; 3] = [5_000_000, 20_000, 1_000_000];

impl Effort {
    /// The limits of a search whose nodes take a microsecond or less.
    #[must_use]
    pub fn limits(self) -> SolveLimits {
        let [full, quick, patient] = NODES;
        match self {
            Self::Full => SolveLimits::nodes(full),
            Self::Quick => SolveLimits::nodes(quick),
            Self::Patient(limits) if limits.nodes == u64::MAX && limits.time.is_none() => SolveLimits::nodes(patient),
            Self::Patient(limits) => limits,
        }
    }

    /// Exact values of the positions that alpha-beta decides within [`Effort::limits`].
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use turnstone_agents::exact::{ExactValues, TableError};
    /// use turnstone_agents::{Effort, Playable};
    /// use turnstone_env::games;
    ///
    /// struct Konane;
    ///
    /// impl Playable for Konane {
    ///     type Game = games::Konane;
    ///
    ///     fn exact_values(
    ///         game: &Self::Game,
    ///         _: &Path,
    ///         effort: Effort,
    ///     ) -> Result<Option<Box<dyn ExactValues<Self::Game>>>, TableError> {
    ///         Ok(Some(effort.searched(game)))
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn searched<G: Notation>(self, game: &G) -> Box<dyn ExactValues<G>> {
        Box::new(Searched::new(game, self.limits()))
    }
}

/// Files shipped with a game, compiled into the program.
#[derive(Clone, Copy, Default, Debug)]
pub struct GameFiles {
    /// Ladder of agents with known ratings, as written by `arena --ladder-build`, and perhaps [`levels`](crate::levels).
    pub ladder: Option<&'static str>,
    /// Truth set of positions with exact values, as written by `grade --save`.
    pub truth_set: Option<&'static str>,
    /// Checkpoint of the agent `az:pretrained`.
    pub pretrained: Option<&'static [u8]>,
    /// Book of corrections `az:pretrained,book=pretrained`, as written by `certify --repair`.
    pub book: Option<&'static str>,
    /// Certificates of agents, as written by `certify --out`.
    pub certificates: &'static [&'static [u8]],
    /// Sheet of the game in Markdown, with sections `## Rules`, `## Parameters` (a table) and the like, which `rules`
    /// and `games` print.
    pub sheet: Option<&'static str>,
}

/// Enumerates a small game and prints its counts; asks a larger one, or one with ply limits that cannot be switched off,
/// for its exact values.
fn solve_in_memory<K: Playable + ?Sized>(
    game: &K::Game,
    position: Option<&<K::Game as Rules>::State>,
    options: &SolveOptions<'_>,
    host: &dyn SolveHost,
) -> Result<(), SolveError> {
    let (name, most) = (game.spec().name, options.most_positions);
    let enumerated = Enumeration::of(game, most);
    if let Ok(Some(all)) = enumerated {
        options.confirm_used(name, false, false)?;
        if position.is_some() {
            return Err(SolveError::fault(format!("{name} is solved whole, so no position can be given")));
        }
        for (kind, count) in all.counts.by_kind() {
            host.answer(&format!("{kind:<26} {count:>9}"));
        }
        host.answer(&format!("{name}: {}", start_text(all.start)));
        return Ok(());
    }
    let limited = options.nodes.is_some() || options.time.is_some();
    let effort = if limited { Effort::Patient(options.limits()) } else { Effort::Full };
    let Some(truth) = K::exact_values(game, options.tables, effort)? else {
        let fault = |_| format!("{name} has more than {most} positions, too many to enumerate");
        return Err(SolveError::Fault(enumerated.map_or_else(|error| error.to_string(), fault)));
    };
    let state = position.copied().unwrap_or_else(|| game.start());
    let unsolved = || match limited {
        true => SolveError::unsolved(),
        false => SolveError::fault(format!("the solver of {name} gave up; --nodes or --time let it go further")),
    };
    let value = truth.value(game, &state).ok_or_else(unsolved)?;
    host.answer(&format!("{}: {}", game.position_text(&state), result_text(value.into())));
    Ok(())
}
