//! Books of corrections: moves that a network's agent plays in some positions instead of its own.
//!
//! The first line is a JSON header; each further line is a position and its move: `<position> ; <move>`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use turnstone_base::checksum::crc32_text;
use turnstone_base::files::read_text;
use turnstone_env::{Action, AnyState, DynGame, Params};

use crate::network::{LoadedNetwork, PRETRAINED};

const FORMAT: u32 = 1;

/// Longest file to read.
const LONGEST: u64 = 1 << 30;

/// Corrections of the moves of one network in one game.
#[derive(Clone, PartialEq, Debug)]
pub struct Book {
    header: Header,
    /// The positions with their moves, none twice.
    pub moves: Vec<(AnyState, Action)>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    turnstone_book: u32,
    game: String,
    version: u32,
    params: Params,
    /// [`LoadedNetwork::checksums`].
    network: [String; 2],
    /// Whether positions are without the counts that limits on plies need.
    endless: bool,
    /// CRC-32 of all text after the header's line, in hexadecimal.
    checksum: String,
}

impl Book {
    /// A book without moves. If it is `endless`, the counts that limits on plies need do not matter to its positions.
    #[must_use]
    pub fn new(game: &dyn DynGame, network: &LoadedNetwork, endless: bool) -> Self {
        let header = Header {
            turnstone_book: FORMAT,
            game: game.name().to_owned(),
            version: game.version(),
            params: game.params(),
            network: network.checksums(),
            endless,
            checksum: crc32_text(b""),
        };
        Self { header, moves: Vec::new() }
    }

    /// Whether the counts that limits on plies need do not matter.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        self.header.endless
    }

    /// Reads a book of this game and network: a file, or `pretrained` for the [one](crate::GameFiles::book) that comes with the
    /// game.
    ///
    /// # Errors
    /// The file cannot be read, is malformed, or belongs to another game or network; one line, which names the file.
    pub fn read(
        path: &Path,
        shipped: Option<&'static str>,
        game: &dyn DynGame,
        network: &LoadedNetwork,
    ) -> Result<Self, String> {
        // A page has none, and so has no code that reads one.
        if cfg!(target_family = "wasm") {
            return Err(format!("{}: no book can be read here", path.display()));
        }
        let book = Self::text(path, shipped).and_then(|text| Self::parse(&text, game, network));
        book.map_err(|fault| format!("{}: {fault}", path.display()))
    }

    /// Checksum of the text of such a book.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn checksum(path: &Path, shipped: Option<&'static str>) -> Result<String, String> {
        Self::text(path, shipped).map(|text| crc32_text(text.as_bytes()))
    }

    fn text(path: &Path, shipped: Option<&'static str>) -> Result<Cow<'static, str>, String> {
        if path.as_os_str() == PRETRAINED {
            return shipped.map(Cow::Borrowed).ok_or_else(|| "no book comes with this game".to_owned());
        }
        read_text(path, LONGEST).map(Cow::Owned).map_err(|error| error.to_string())
    }

    /// Parses a book of this game and network.
    ///
    /// # Errors
    /// The text is malformed, or belongs to another game or network; one line.
    pub fn parse(text: &str, game: &dyn DynGame, network: &LoadedNetwork) -> Result<Self, String> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let no_header = |error: serde_json::Error| format!("its first line is no header of a book: {error}");
        let named: serde_json::Value = serde_json::from_str(first).map_err(no_header)?;
        match named.get("turnstone_book").and_then(serde_json::Value::as_u64) {
            Some(version) if version != u64::from(FORMAT) => {
                return Err(format!("its format is version {version}, this program reads {FORMAT}"));
            }
            _ => {}
        }
        let header: Header = serde_json::from_value(named).map_err(no_header)?;
        if header.checksum != crc32_text(rest.as_bytes()) {
            return Err("its checksum does not fit its contents: it is damaged or was changed".into());
        }
        let expected = Self::new(game, network, header.endless).header;
        if header.network != expected.network {
            return Err("it is a book of another network".into());
        }
        if (Header { checksum: expected.checksum.clone(), ..header.clone() }) != expected {
            let Header { game, version, params, .. } = header;
            return Err(format!("it is for {game} version {version} ({params}), not for this game"));
        }
        let mut moves = HashMap::new();
        for (number, line) in (2..).zip(rest.lines()) {
            let read = || {
                let (position, action) = line.split_once(" ; ").ok_or("expected `position ; move`")?;
                let state = game.parse_position(position).map_err(|error| error.to_string())?;
                let action = game.parse_action(&state, action).map_err(|error| error.to_string())?;
                game.try_play(&mut state.clone(), action).map_err(|error| error.to_string())?;
                Ok((state, action))
            };
            let (state, action) = read().map_err(|fault: String| format!("line {number}: {fault}"))?;
            if moves.insert(state, action).is_some() {
                return Err(format!("line {number}: the position has a move already"));
            }
        }
        Ok(Self { header, moves: moves.into_iter().collect() })
    }

    /// Text of the file.
    ///
    /// # Panics
    /// Never: the header has plain fields.
    #[must_use]
    pub fn to_text(&self, game: &dyn DynGame) -> String {
        let mut lines: Vec<String> = Vec::with_capacity(self.moves.len());
        for (state, action) in &self.moves {
            lines.push(format!("{} ; {}", game.position_text(state), game.action_text(state, *action)));
        }
        lines.sort_unstable();
        let mut text = String::new();
        lines.iter().for_each(|line| writeln!(text, "{line}").expect("strings can be written to"));
        let header = Header { checksum: crc32_text(text.as_bytes()), ..self.header.clone() };
        serde_json::to_string(&header).expect("plain fields") + "\n" + &text
    }
}
