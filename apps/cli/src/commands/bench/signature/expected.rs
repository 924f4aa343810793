//! The file of expected checksums, and the comparison with computed ones.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The checksum of one part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// Name of the part, followed after a dot by what its bits depend on.
    pub(super) key: String,
    /// The checksum; `None` if this machine cannot compute it.
    pub(super) value: Option<u32>,
}

/// The lines `KEY HEX` of a file; `#` begins a comment.
pub(super) struct Expected {
    file: PathBuf,
    values: Vec<(String, u32)>,
}

/// Result of a comparison.
pub(super) struct Comparison {
    /// One line for each difference and for each value that could not be compared.
    pub(super) notes: Vec<String>,
    /// Whether a value differs or is missing.
    pub(super) differs: bool,
}

impl Expected {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        Self::parse(file, &text)
    }

    fn parse(file: &Path, text: &str) -> Result<Self> {
        let mut values: Vec<(String, u32)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let mut words = line.split('#').next().unwrap_or("").split_whitespace();
            let Some(key) = words.next() else { continue };
            let value = words.next().and_then(|hex| u32::from_str_radix(hex, 16).ok());
            let (Some(value), None) = (value, words.next()) else {
                bail!("{}: line {number}: expected a key and a hexadecimal number of 32 bits", file.display());
            };
            if values.iter().any(|(other, _)| other == key) {
                bail!("{}: line {number}: `{key}` is given twice", file.display());
            }
            values.push((key.to_owned(), value));
        }
        Ok(Self { file: file.to_owned(), values })
    }

    /// Compares lines with the file's. A part that the file has for other machines only is noted, but not compared.
    pub(super) fn compare(&self, lines: &[Line]) -> Comparison {
        let file = self.file.display();
        let mut comparison = Comparison { notes: Vec::new(), differs: false };
        let mut note = |differs, note: String| {
            comparison.differs |= differs;
            comparison.notes.push(note);
        };
        for Line { key, value } in lines {
            let Some(found) = value else { continue };
            let known = self.values.iter().any(|(other, _)| part(other) == part(key));
            match self.values.iter().find(|(other, _)| other == key) {
                Some((_, expected)) if expected == found => {}
                Some((_, expected)) => {
                    note(true, format!("differs: {key}: expected {expected:08x}, found {found:08x}"));
                }
                None if known && key.contains('.') => {
                    note(false, format!("not compared: {key}: {file} has values of other machines only"));
                }
                None => note(true, format!("missing: {key}: {file} has no value for it, found {found:08x}")),
            }
        }
        for (key, _) in &self.values {
            match lines.iter().find(|line| line.key == *key) {
                Some(Line { value: Some(_), .. }) => {}
                None if !lines.iter().any(|line| part(&line.key) == part(key)) => {
                    note(true, format!("unknown: {key}: no part of the signature has this name"));
                }
                _ => note(false, format!("skipped: {key}: this machine cannot compute it")),
            }
        }
        comparison
    }
}

/// The part of a key before the first dot.
fn part(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(file: &str, lines: &[(&str, Option<u32>)]) -> (Vec<String>, bool) {
        let expected = Expected::parse(Path::new("f"), file).expect("well-formed");
        let lines: Vec<Line> = lines.iter().map(|&(key, value)| Line { key: key.to_owned(), value }).collect();
        let comparison = expected.compare(&lines);
        (comparison.notes, comparison.differs)
    }

    #[test]
    fn differences_are_named_and_what_cannot_be_compared_is_skipped() {
        let file = "# made by hand\nrules 0000000a\nnet.a 0b # on a\nnet.b 0c\n";
        let equal = [("rules", Some(10)), ("net.a", Some(11)), ("net.b", None)];
        let skipped = "skipped: net.b: this machine cannot compute it".to_owned();
        assert_eq!(compared(file, &equal), (vec![skipped.clone()], false));
        let (notes, differs) = compared(file, &[("rules", Some(11)), equal[1], equal[2]]);
        assert_eq!(notes, ["differs: rules: expected 0000000a, found 0000000b", &skipped]);
        assert!(differs);
        let (notes, differs) = compared(file, &[equal[0], ("net.c", Some(1))]);
        assert_eq!(notes[0], "not compared: net.c: f has values of other machines only");
        assert!(notes.len() == 3 && !differs, "{notes:?}");
        let (notes, differs) = compared(file, &[equal[0], equal[1], equal[2], ("search", Some(1))]);
        assert_eq!(notes[0], "missing: search: f has no value for it, found 00000001");
        assert!(differs);
        let (notes, differs) = compared("rules a\nruls b", &equal[..1]);
        assert_eq!(notes, ["unknown: ruls: no part of the signature has this name"]);
        assert!(differs);
        let (notes, differs) = compared("rules.a a", &equal[..1]);
        assert!(differs && notes.len() == 2, "a value that every machine has must be there: {notes:?}");
    }

    #[test]
    fn faults_of_the_file_name_the_line() {
        let fault = |text: &str| Expected::parse(Path::new("f"), text).err().expect("a fault").to_string();
        let expected = "f: line 2: expected a key and a hexadecimal number of 32 bits";
        for line in ["rules", "rules x", "rules 1 2", "rules 123456789"] {
            assert_eq!(fault(&format!("\n{line}\n")), expected);
        }
        assert_eq!(fault("a 1\na 2"), "f: line 2: `a` is given twice");
    }
}
