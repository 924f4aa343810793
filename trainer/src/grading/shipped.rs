//! The truth sets that come with the program, one per game that is too large to be graded in every position.

use turnstone_env::Game;

use super::TruthSet;

const SETS: [(&str, &str); 0] = [];

/// The truth set that comes with this game; `None` if there is none, or none for its parameters.
///
/// # Errors
/// The set in the program is damaged, which its tests rule out.
pub fn shipped<G: Game>(game: &G) -> anyhow::Result<Option<TruthSet>> {
    let Some((_, text)) = SETS.iter().find(|(name, _)| *name == G::NAME) else { return Ok(None) };
    let default = G::with_params(&turnstone_env::Params::new())?;
    if default.params() != game.params() {
        return Ok(None);
    }
    TruthSet::parse(text, game).map(Some).map_err(anyhow::Error::msg)
}
