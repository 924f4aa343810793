//! Truth sets: text files of positions with their exact values.
//!
//! The first line is a JSON header (format, game, version, parameters, checksum). Each further line is a position: `<position> ;
//! <value> ; <action>=<value> ...` with the value of the position and those of its legal actions, all for the first
//! side: 1, 0 or -1.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_base::checksum::crc32_text;
use turnstone_base::files::read_text;
use turnstone_env::{DynGame, Params};

/// Maximum length of a file in bytes.
const LONGEST: u64 = 1 << 28;

const FORMAT: u32 = 1;

/// Error of reading a truth set.
#[derive(Debug, Error)]
#[error("truth set {}: {fault}", path.display())]
pub struct TruthSetError {
    path: PathBuf,
    fault: String,
}

/// Positions of one game with their exact values.
#[derive(Clone, PartialEq, Debug)]
pub struct TruthSet {
    header: TruthHeader,
    /// Positions with their values.
    pub positions: Vec<TruthPosition>,
}

/// A position and its exact values for the first side: 1, 0 or -1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TruthPosition {
    /// Text form of the position.
    pub text: String,
    /// Value of the position.
    pub value: i8,
    /// Text form and value of each legal action.
    pub actions: Vec<(String, i8)>,
}

impl TruthPosition {
    /// Whether some legal action gives the value away.
    #[must_use]
    pub fn is_critical(&self) -> bool {
        self.actions.iter().any(|&(_, value)| value != self.value)
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TruthHeader {
    turnstone_truth: u32,
    game: String,
    version: u32,
    params: Params,
    /// CRC-32 of all text after the header's line, in hexadecimal.
    checksum: String,
}

impl TruthSet {
    /// Creates an empty set for this game.
    pub fn new(game: &dyn DynGame) -> Self {
        let header = TruthHeader {
            turnstone_truth: FORMAT,
            game: game.name().to_owned(),
            version: game.version(),
            params: game.params(),
            checksum: crc32_text(b""),
        };
        Self { header, positions: Vec::new() }
    }

    /// Reads a truth set of this game.
    ///
    /// # Errors
    /// The file cannot be read, is malformed, or belongs to another game, version or parameters.
    pub fn read(path: &Path, game: &dyn DynGame) -> Result<Self, TruthSetError> {
        let error = |fault: String| TruthSetError { path: path.to_owned(), fault };
        let text = read_text(path, LONGEST).map_err(|e| error(e.to_string()))?;
        Self::parse(&text, game).map_err(error)
    }

    /// Parses a truth set of this game.
    ///
    /// # Errors
    /// The text is malformed, or belongs to another game, version or parameters; the message has one line.
    pub fn parse(text: &str, game: &dyn DynGame) -> Result<Self, String> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let lines = rest.lines();
        let no_header = |e: serde_json::Error| format!("its first line is no header of a truth set: {e}");
        let named: serde_json::Value = serde_json::from_str(first).map_err(no_header)?;
        // Another version may have other fields.
        match named.get("turnstone_truth").and_then(serde_json::Value::as_u64) {
            Some(version) if version != u64::from(FORMAT) => {
                return Err(format!("its format is version {version}, this program reads {FORMAT}"));
            }
            _ => {}
        }
        let mut header: TruthHeader = serde_json::from_value(named).map_err(no_header)?;
        if header.checksum != crc32_text(rest.as_bytes()) {
            return Err("its checksum does not fit its contents: it is damaged or was changed".into());
        }
        let expected = Self::new(game);
        header.checksum.clone_from(&expected.header.checksum);
        if header != expected.header {
            let TruthHeader { game, version, params, .. } = header;
            return Err(format!("it is for {game} version {version} ({params}), not for this game"));
        }
        let position = |(number, line): (usize, &str)| {
            parse_line(line)
                .ok_or_else(|| format!("line {}: expected `position ; value ; action=value ...`", number + 2))
        };
        let positions = lines.enumerate().map(position).collect::<Result<_, _>>()?;
        Ok(Self { header, positions })
    }

    /// Text of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for TruthPosition { text: position, value, actions } in &self.positions {
            let actions: Vec<String> = actions.iter().map(|(action, value)| format!("{action}={value}")).collect();
            writeln!(text, "{position} ; {value} ; {}", actions.join(" ")).expect("strings can be written to");
        }
        let header = TruthHeader { checksum: crc32_text(text.as_bytes()), ..self.header.clone() };
        serde_json::to_string(&header).expect("a header of plain fields can be written") + "\n" + &text
    }
}

fn parse_line(line: &str) -> Option<TruthPosition> {
    let value = |text: &str| text.parse::<i8>().ok().filter(|value| (-1..=1).contains(value));
    let mut fields = line.split(" ; ");
    let (text, result, actions) = (fields.next()?, fields.next()?, fields.next()?);
    let action = |text: &str| {
        let (action, result) = text.rsplit_once('=')?;
        Some((action.to_owned(), value(result)?))
    };
    let actions = actions.split_whitespace().map(action).collect::<Option<Vec<_>>>()?;
    let whole = fields.next().is_none() && !actions.is_empty();
    whole.then_some(TruthPosition { text: text.to_owned(), value: value(result)?, actions })
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::Erased;
    use turnstone_env::games::Mancala;

    /// Every flipped bit is noticed.
    #[test]
    fn no_flipped_bit_is_passed_over() {
        let game = Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default());
        let mut set = TruthSet::new(&game);
        let text = game.position_text(&game.start());
        set.positions = vec![TruthPosition { text, value: 1, actions: vec![("B2".into(), -1), ("B3".into(), 0)] }];
        let text = set.to_text();
        assert_eq!(TruthSet::parse(&text, &game).as_ref(), Ok(&set));
        for bit in 0..8 * text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(damaged) = String::from_utf8(bytes) {
                let read = TruthSet::parse(&damaged, &game);
                assert!(read.is_err() || read.as_ref() == Ok(&set) && damaged.lines().nth(1) == text.lines().nth(1));
            }
        }
    }

    #[test]
    fn sets_round_trip_and_faults_are_named() {
        let game = Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default());
        let mut set = TruthSet::new(&game);
        set.positions.push(TruthPosition {
            text: game.position_text(&game.start()),
            value: 1,
            actions: vec![("B2".into(), -1), ("B4".into(), 1)],
        });
        let text = set.to_text();
        assert_eq!(TruthSet::parse(&text, &game).as_ref(), Ok(&set));
        let checksum = crc32_text(text.split_once('\n').expect("a header").1.as_bytes());
        // With the checksum of the changed text, so that other faults show.
        let fault = |text: String| {
            let (header, rest) = text.split_once('\n').unwrap_or_default();
            let header = header.replace(&checksum, &crc32_text(rest.as_bytes()));
            TruthSet::parse(&format!("{header}\n{rest}"), &game).expect_err("a fault")
        };
        assert!(fault(String::new()).contains("no header"));
        assert!(fault(text.replace("\"stones\":\"4\"", "\"stones\":\"3\"")).contains("not for this game"));
        let other = text.replace("\"turnstone_truth\":1", "\"turnstone_truth\":2").replace("\"params\"", "\"rules\"");
        assert_eq!(fault(other), "its format is version 2, this program reads 1");
        assert!(fault(text.replace(" ; 1 ;", " ; 2 ;")).contains("line 2"));
        assert!(fault(text.replace("B2=-1", "B2")).contains("line 2"));
    }
}
