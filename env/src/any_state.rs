//! States of any type, for code that is compiled once and not once per game.

use std::any::Any;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};

/// A position of some game. Two states are equal if they are of the same game and equal there.
pub struct AnyState(Box<dyn ErasedState>);

impl AnyState {
    /// Boxes a state.
    #[must_use]
    pub fn new<S: Copy + Eq + Hash + Debug + Send + Sync + 'static>(state: S) -> Self {
        Self(Box::new(state))
    }

    /// The state itself.
    ///
    /// # Panics
    /// If it is a state of another type: states must not be mixed between games.
    #[must_use]
    pub fn of<S: 'static>(&self) -> &S {
        self.0.as_any().downcast_ref().expect("a state belongs to the game that made it")
    }

    /// The state itself, to be changed.
    ///
    /// # Panics
    /// As [`AnyState::of`].
    pub fn of_mut<S: 'static>(&mut self) -> &mut S {
        self.0.as_any_mut().downcast_mut().expect("a state belongs to the game that made it")
    }
}

impl Clone for AnyState {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
    }
}

impl PartialEq for AnyState {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
    }
}

impl Eq for AnyState {}

impl Hash for AnyState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_into(hasher);
    }
}

impl Debug for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

trait ErasedState: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn boxed_clone(&self) -> Box<dyn ErasedState>;
    fn equals(&self, other: &dyn ErasedState) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<S: Copy + Eq + Hash + Debug + Send + Sync + 'static> ErasedState for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn ErasedState> {
        Box::new(*self)
    }

    fn equals(&self, other: &dyn ErasedState) -> bool {
        other.as_any().downcast_ref::<S>() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}
