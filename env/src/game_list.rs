//! Lists of games by name, to which a program may add its own.

use std::fmt::{self, Debug};
use std::sync::Arc;

use crate::dynamic::{DynGame, Erased};
use crate::error::Error;
use crate::notation::Notation;
use crate::params::Params;

/// A list of games by name, `T` being what a game is looked at as: [`dyn DynGame`](DynGame), or a trait of another crate
/// that adds to it.
pub struct Games<T: ?Sized> {
    rows: Vec<Row<T>>,
    /// Games that are made by name and not listed.
    families: Vec<Row<T>>,
}

/// A game's row in a list: its name, and how it is made from its parameters.
pub struct Row<T: ?Sized> {
    name: &'static str,
    make: Arc<Make<T>>,
}

/// Makes a game from its parameters.
type Make<T> = dyn Fn(&Params) -> Result<Arc<T>, Error> + Send + Sync;

impl<T: ?Sized + 'static> Row<T> {
    /// The row of the game with this name that `make` makes.
    pub fn new(name: &'static str, make: impl Fn(&Params) -> Result<Arc<T>, Error> + Send + Sync + 'static) -> Self {
        Self { name, make: Arc::new(make) }
    }

    /// The row of a game, with `K` for what is known about it. `as_any` turns it into a `T`: `|game| game`.
    #[must_use]
    pub fn with_knowledge<G: Notation + Default, K: 'static>(as_any: fn(Arc<Erased<G, K>>) -> Arc<T>) -> Self {
        let make =
            move |params: &Params| Ok(as_any(Arc::new(Erased::with_knowledge(G::default().with_params(params)?))));
        Self::new(G::default().spec().name, make)
    }
}

impl<T: ?Sized> Clone for Row<T> {
    fn clone(&self) -> Self {
        Self { name: self.name, make: Arc::clone(&self.make) }
    }
}

impl<T: ?Sized> Clone for Games<T> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), families: self.families.clone() }
    }
}

impl<T: ?Sized> Debug for Games<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl<T: ?Sized> FromIterator<Row<T>> for Games<T> {
    fn from_iter<I: IntoIterator<Item = Row<T>>>(rows: I) -> Self {
        rows.into_iter().fold(Self { rows: Vec::new(), families: Vec::new() }, Self::with)
    }
}

impl<T: ?Sized> Games<T> {
    /// The list with one more game. A game of the same name is replaced, so that a program can bring its own version.
    #[must_use]
    pub fn with(mut self, row: Row<T>) -> Self {
        match self.rows.iter_mut().find(|other| other.name == row.name) {
            Some(other) => *other = row,
            None => self.rows.push(row),
        }
        self
    }

    /// The list with a family of games, such as those of another library, which [`Games::names`] does not name. Its row takes
    /// the parameter `game`, and `NAME:TEXT` is the game with `game=TEXT`.
    #[must_use]
    pub fn with_family(mut self, row: Row<T>) -> Self {
        self.families.push(row);
        self
    }

    /// The names of the games, in the order of the list.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.rows.iter().map(|row| row.name)
    }

    /// The game of this name with these parameters; absent ones take their defaults.
    ///
    /// # Errors
    /// An unknown name or parameter, or a parameter value out of its range.
    pub fn make(&self, name: &str, params: &Params) -> Result<Arc<T>, Error> {
        if let Some(row) = self.rows.iter().chain(&self.families).find(|row| row.name == name) {
            return (row.make)(params);
        }
        let (family, game) = name.split_once(':').unwrap_or_default();
        match self.families.iter().find(|row| row.name == family) {
            Some(row) => match params.iter().find(|&(key, value)| key == "game" && value != game) {
                None => (row.make)(&params.clone().with("game", game)),
                Some((key, value)) => Err(Error::ParamValue {
                    game: row.name,
                    key: key.to_owned(),
                    value: value.to_string(),
                    fault: format!("the name says {game}"),
                }),
            },
            None => Err(Error::UnknownGame { name: name.to_owned(), known: self.names().map(str::to_owned).collect() }),
        }
    }

    /// Every game of the list with its default parameters.
    pub fn defaults(&self) -> impl Iterator<Item = Arc<T>> + '_ {
        self.rows.iter().map(|row| (row.make)(&Params::new()).expect("the defaults are valid"))
    }
}

impl Row<dyn DynGame> {
    /// The row of a game.
    #[must_use]
    pub fn of<G: Notation + Default>() -> Self {
        Self::with_knowledge::<G, ()>(|game| game)
    }
}
