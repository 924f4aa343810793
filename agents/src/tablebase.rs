//! Exact values of a game's positions behind an object-safe trait.

use turnstone_env::{Action, AnyState, DynGame, Erased, Game, Side};
use turnstone_exact::{ExactValues, Unlimited};

/// A [`ExactValues`] of a game of any type.
pub trait DynExactValues: Send + Sync {
    /// [`ExactValues::value`].
    fn value(&self, state: &AnyState) -> Option<i8>;

    /// [`ExactValues::best_actions`].
    fn best_actions(&self, state: &AnyState) -> Option<Vec<Action>>;
}

/// A truth with its game.
pub(crate) struct Known<G: Game, T> {
    pub(crate) game: G,
    pub(crate) truth: T,
}

impl<G: Game> DynExactValues for Known<G, Box<dyn ExactValues<G>>> {
    fn value(&self, state: &AnyState) -> Option<i8> {
        self.truth.value(&self.game, state.of())
    }

    fn best_actions(&self, state: &AnyState) -> Option<Vec<Action>> {
        self.truth.best_actions(&self.game, state.of())
    }
}

/// Every position of a small game, without limits on its plies, with its exact value.
pub struct Enumeration {
    /// The positions, as those of the game with its limits; every one has a value.
    pub positions: Vec<AnyState>,
    /// Their values.
    pub truth: Box<dyn DynExactValues>,
    /// The value of the start for the first side.
    pub start: i8,
    /// What the positions are.
    pub counts: Counts,
}

/// How many positions of a game there are of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// All positions that can be reached.
    pub reachable: usize,
    /// Won for the first side.
    pub first: usize,
    /// Won for the second side.
    pub second: usize,
    /// Drawn by play without end.
    pub endless: usize,
    /// Positions in which the game is over.
    pub over: usize,
    /// Won for the player to move.
    pub mover: usize,
    /// Lost for the player to move.
    pub other: usize,
}

impl Enumeration {
    /// Solves a game of at most `most` positions; `None` if it has more.
    ///
    /// # Errors
    /// A limit on the game's plies cannot be switched off.
    pub(crate) fn of<G: Game>(game: &G, most: usize) -> Result<Option<Self>, turnstone_env::Error> {
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
            counts.endless += usize::from(value == 0 && !over);
            let for_mover = if endless.mover(state) == Side::First { value } else { -value };
            counts.mover += usize::from(for_mover > 0);
            counts.other += usize::from(for_mover < 0);
        }
        let start = solution.value(&endless.start()).expect("the start can be reached");
        let truth: Box<dyn ExactValues<G>> = Box::new(truth);
        let truth = Box::new(Known { game: game.clone(), truth });
        Ok(Some(Self { positions, truth, start, counts }))
    }
}
