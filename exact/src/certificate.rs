//! Certificates: files with an agent's move in every position that can arise against any opponent, and the result that they
//! guarantee.
//!
//! ```text
//! a JSON object in one line, with a checksum of its own as its last field
//! the agent's moves: for each position in which it is to move, in the order of a `Walk`, the place of its move among the
//! legal actions in increasing order, in as few bits as their number needs; the first move in the lowest bits
//! ```
//!
//! A checksum detects damage. Forgery is detected by the walk: whoever reads a certificate plays all moves of the opponent
//! and the moves of the file by the rules, and computes the result again.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_base::checksum::{crc32_text, seal_line, unseal_line};
use turnstone_env::{Params, Rules, Side};

use crate::walk::{Extent, IllegalMove, MoveReader, Walk};

const FORMAT: u64 = 1;

/// What a certificate says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The game's name.
    pub game: String,
    /// The game's version.
    pub version: u32,
    /// All parameters.
    pub params: Params,
    /// Number of the player that the agent is.
    pub seat: u8,
    /// The worst result that the agent comes to from the start: 1 for a win, 0 for a draw.
    pub result: i8,
    /// Number of positions that can arise.
    pub positions: u64,
    /// Number of those in which the agent is to move.
    pub decisions: u64,
    /// Spec of the agent.
    pub agent: String,
    /// Seed of its random choices.
    pub seed: u64,
    /// Checksum of its network's weights, and of the settings that came with them.
    pub network: Option<[String; 2]>,
    /// Checksum of its book of corrections.
    pub book: Option<String>,
    /// The parameters of the game that the agent was asked in, if they are others.
    pub asked: Option<Params>,
    /// The program that wrote it.
    pub program: String,
}

/// A claim with the moves that prove it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// Its claim.
    pub claim: Claim,
    /// The moves, as [`Moves::bytes`](crate::Moves::bytes).
    pub moves: Vec<u8>,
}

/// Why a certificate is refused.
#[derive(Debug, Error)]
pub enum CertificateFault {
    /// It is no certificate, or a damaged one.
    #[error("it is no certificate, or its first line is damaged")]
    Header,
    /// Its format has another version.
    #[error("its format is version {0}, this program reads {FORMAT}")]
    Version(u64),
    /// The moves do not fit their checksum.
    #[error("its moves do not match their checksum: it is damaged or was changed")]
    Checksum,
    /// It is of another game.
    #[error("it is for {game} version {version} ({params}), not for this game")]
    Game {
        /// The game.
        game: String,
        /// Its version.
        version: u32,
        /// Its parameters.
        params: Params,
    },
    /// The seat is not 1 or 2, or the result neither win nor draw.
    #[error("its claim is none: a seat is 1 or 2, a result 1 or 0")]
    Claim,
    /// A move is not legal.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    /// There are fewer or more moves than decisions.
    #[error("its moves are too {0}")]
    Length(&'static str),
    /// Positions or decisions are other in number.
    #[error("it says {said} {what}, but there are {found}")]
    Count {
        /// What was counted.
        what: &'static str,
        /// What the claim says.
        said: u64,
        /// What the walk has found, at least.
        found: u64,
    },
    /// The moves lead to another result.
    #[error("it says that the result is at least {said}, but it is {found}")]
    Result {
        /// What the claim says.
        said: i8,
        /// What the walk has found.
        found: i8,
    },
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    turnstone_certificate: u64,
    #[serde(flatten)]
    claim: serde_json::Map<String, serde_json::Value>,
    /// CRC-32 of the moves, in hexadecimal.
    checksum: String,
}

impl Certificate {
    /// The bytes of the file.
    ///
    /// # Panics
    /// Never: the claim has plain fields.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let serde_json::Value::Object(claim) = serde_json::to_value(&self.claim).expect("plain fields") else {
            unreachable!("a struct with named fields is an object")
        };
        let header = Header { turnstone_certificate: FORMAT, claim, checksum: crc32_text(&self.moves) };
        let mut bytes = seal_line(&serde_json::to_string(&header).expect("plain fields")).into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.moves);
        bytes
    }

    /// Reads the bytes of a file. What it says is not checked yet: see [`Certificate::check`].
    ///
    /// # Errors
    /// It is no certificate, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CertificateFault> {
        let mut parts = bytes.splitn(2, |&byte| byte == b'\n');
        let (first, moves) = (parts.next().unwrap_or_default(), parts.next().ok_or(CertificateFault::Header)?);
        let read =
            || -> Option<Header> { serde_json::from_str(&unseal_line(std::str::from_utf8(first).ok()?).ok()?).ok() };
        let header = read().ok_or(CertificateFault::Header)?;
        if header.turnstone_certificate != FORMAT {
            return Err(CertificateFault::Version(header.turnstone_certificate));
        }
        let claim = serde_json::from_value(header.claim.into()).map_err(|_| CertificateFault::Header)?;
        if header.checksum != crc32_text(moves) {
            return Err(CertificateFault::Checksum);
        }
        Ok(Self { claim, moves: moves.to_owned() })
    }

    /// Proves the claim again by the rules of the game, without the agent.
    ///
    /// # Errors
    /// The certificate is not of this game, or does not prove what it says.
    pub fn check<G: Rules>(&self, game: &G) -> Result<(), CertificateFault> {
        let Claim { version, ref params, seat, result, positions, decisions, .. } = self.claim;
        let spec = game.spec();
        if (&self.claim.game[..], version, params) != (spec.name, spec.version, &game.params()) {
            return Err(CertificateFault::Game { game: self.claim.game.clone(), version, params: params.clone() });
        }
        let seat = Side::from_number(seat).filter(|_| result == 0 || result == 1).ok_or(CertificateFault::Claim)?;
        let mut moves = MoveReader::new(&self.moves);
        let mut walk = Walk::new(game, seat, &[game.start()]);
        let most = usize::try_from(positions).unwrap_or(usize::MAX);
        let extent = walk.extend(most, &mut |_, legal| moves.next(legal.len()))?;
        let counted =
            |what, said, found| if said == found { Ok(()) } else { Err(CertificateFault::Count { what, said, found }) };
        match extent {
            Extent::Open => return Err(CertificateFault::Length("few")),
            Extent::Complete if !moves.is_at_end() => return Err(CertificateFault::Length("many")),
            Extent::Complete | Extent::Full => counted("positions", positions, walk.positions() as u64)?,
        }
        counted("decisions", decisions, walk.moves().count())?;
        let found = walk.of_starts(&walk.values())[0];
        if found == result { Ok(()) } else { Err(CertificateFault::Result { said: result, found }) }
    }
}

#[cfg(test)]
mod tests;
