//! Object-safe interface to the exact values of a game.

use turnstone_env::{Action, AnyState, DynGame, Erased, Notation, Rules, Side};
use turnstone_exact::{ExactValues, Unlimited};

/// Object-safe interface to [`ExactValues`].
pub trait DynExactValues: Send + Sync {
    /// [`ExactValues::value`].
    fn value(&self, state: &AnyState) -> Option<i8>;

    /// [`ExactValues::best_actions`].
    fn best_actions(&self, state: &AnyState) -> Option<Vec<Action>>;

    /// [`ExactValues::optimal_actions`].
    fn optimal_actions(&self, state: &AnyState) -> Option<Vec<Action>>;
}

/// Exact values together with their game.
pub(crate) struct ErasedValues<G: Rules, T> {
    pub(crate) game: G,
    pub(crate) truth: T,
}

impl<G: Rules> DynExactValues for ErasedValues<G, Box<dyn ExactValues<G>>> {
    fn value(&self, state: &AnyState) -> Option<i8> {
        self.truth.value(&self.game, state.of())
    }

    fn best_actions(&self, state: &AnyState) -> Option<Vec<Action>> {
        self.truth.best_actions(&self.game, state.of())
    }

    fn optimal_actions(&self, state: &AnyState) -> Option<Vec<Action>> {
        self.truth.optimal_actions(&self.game, state.of())
    }
}

/// All positions of a small game, without limits on its plies, with their exact values.
pub struct Enumeration {
    /// All reachable positions, as states of the game with its limits.
    pub positions: Vec<AnyState>,
    /// Exact values of the positions.
    pub truth: Box<dyn DynExactValues>,
    /// Value of the initial position for the first side.
    pub start: i8,
    /// Number of positions of each kind.
    pub counts: Counts,
}

/// Number of positions of a game by kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// All reachable positions.
    pub reachable: usize,
    /// Positions won for the first side.
    pub first: usize,
    /// Positions won for the second side.
    pub second: usize,
    /// Draws that come about by the rules.
    pub drawn: usize,
    /// Draws by infinite play.
    pub endless: usize,
    /// Positions in which the game is over.
    pub over: usize,
    /// Positions won for the mover.
    pub mover: usize,
    /// Positions lost for the mover.
    pub other: usize,
}

impl Counts {
    /// Each kind in words, with its number of positions.
    pub(crate) fn by_kind(&self) -> [(&'static str, usize); 8] {
        [
            ("reachable positions", self.reachable),
            ("won for player 1", self.first),
            ("won for player 2", self.second),
            ("draws by the rules", self.drawn),
            ("draws by infinite play", self.endless),
            ("positions that are over", self.over),
            ("won for the player to move", self.mover),
            ("lost for the player to move", self.other),
        ]
    }
}

impl Enumeration {
    /// Solves a game of at most `most` positions; returns `None` if it has more.
    ///
    /// # Errors
    /// The game has a ply limit that cannot be switched off.
    pub(crate) fn of<G: Notation>(game: &G, most: usize) -> Result<Option<Self>, turnstone_env::Error> {
        let Some(truth) = Unlimited::of(game, most)? else { return Ok(None) };
        let (endless, solution) = (truth.game(), truth.solution());
        let erased = Erased::new(game.clone());
        let mut positions = Vec::new();
        let mut counts = Counts { reachable: solution.states().len(), ..Counts::default() };
        for state in solution.states() {
            positions.push(erased.parse_position(&endless.position_text(state))?);
            let over = endless.outcome(state).is_some();
            counts.over += usize::from(over);
            let Some(value) = solution.value(state) else { continue };
            counts.first += usize::from(value > 0);
            counts.second += usize::from(value < 0);
            let is_endless = solution.is_endless(state) == Some(true);
            counts.endless += usize::from(is_endless);
            counts.drawn += usize::from(value == 0 && !is_endless);
            let for_mover = if endless.mover(state) == Side::First { value } else { -value };
            counts.mover += usize::from(for_mover > 0);
            counts.other += usize::from(for_mover < 0);
        }
        let start = solution.value(&endless.start()).expect("the start can be reached");
        let truth: Box<dyn ExactValues<G>> = Box::new(truth);
        let truth = Box::new(ErasedValues { game: game.clone(), truth });
        Ok(Some(Self { positions, truth, start, counts }))
    }
}
