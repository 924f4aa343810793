//! The identity of a table.

use std::fmt::{self, Display};

use turnstone_env::{Game, Params};

/// The game, parameters and kind of a table. A file with another identity is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableIdentity {
    /// The game's name.
    pub game: String,
    /// The game's [`Game::VERSION`].
    pub version: u32,
    /// The parameters that the table depends on, as text.
    pub params: String,
    /// What kind of table, with the solver's own version: `strong solution 1`.
    pub kind: String,
}

impl TableIdentity {
    /// The identity of a table of `G`; `params` holds what the table depends on, and nothing else.
    #[must_use]
    pub fn of<G: Game>(params: &Params, kind: &str) -> Self {
        Self { game: G::NAME.to_owned(), version: G::VERSION, params: params.to_string(), kind: kind.to_owned() }
    }

    /// The usual name of such a table's file: `morris-pieces8.table`.
    #[must_use]
    pub fn file_name(&self) -> String {
        let params = self.params.replace('=', "").replace(' ', "-");
        format!("{}-{params}.table", self.game)
    }

    /// Its fields by name, as the directory lists them.
    pub(super) fn lines(&self) -> [(&'static str, String); 4] {
        [
            ("game", self.game.clone()),
            ("version", self.version.to_string()),
            ("params", self.params.clone()),
            ("kind", self.kind.clone()),
        ]
    }
}

impl Display for TableIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}), {}", self.game, self.version, self.params, self.kind)
    }
}
