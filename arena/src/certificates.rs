//! Claims that the certificates shipped with a game prove.

use turnstone_agents::exact::Certificate;
use turnstone_agents::{Agent, Book, Network, PlayableGame};

/// Says of an agent what the certificates that come with the game prove: that it cannot be beaten from the start.
///
/// A search above 0 simulations plays other moves where it has kept its tree, so only networks alone are meant.
pub(crate) fn proven(game: &dyn PlayableGame, agent: &Agent) -> Option<String> {
    let network = agent.spec.settings::<Network>().filter(|network| network.sims == Some(0))?;
    let (spec, sums) = (agent.spec.to_string(), agent.network()?.checksums());
    let claims = game.files().certificates.iter().filter_map(|bytes| Certificate::from_bytes(bytes).ok());
    let claims = claims.map(|certificate| certificate.claim).filter(|claim| {
        (&claim.game[..], claim.version, &claim.params) == (game.name(), game.version(), &game.params())
            && (&claim.agent, claim.network.as_ref()) == (&spec, Some(&sums))
            && claim.asked.is_none()
            && claim.book == network.book.as_deref().and_then(|book| Book::checksum(book, game.files().book).ok())
    });
    let seats: Vec<String> = claims.map(|claim| format!("player {}", claim.seat)).collect();
    (!seats.is_empty()).then(|| format!("{spec} cannot be beaten from the start as {}", seats.join(" or ")))
}
