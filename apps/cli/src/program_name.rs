//! The name by which the program was called, in hints that name commands of it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

/// Name, version and commit of this program, as its files record what wrote them: `turnstone 0.1.0 (ab12cd34 2026-11-22)`.
pub const PROGRAM: &str = concat!("turnstone ", env!("CARGO_PKG_VERSION"), " (", env!("TURNSTONE_COMMIT"), ")");

/// The name in hints as they are written.
const WRITTEN: &str = "turnstone";

static NAME: OnceLock<String> = OnceLock::new();

/// Sets the name from the path by which the program was called. The first call counts.
pub(crate) fn call_program(path: &Path) {
    if let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|name| !name.is_empty()) {
        let _ = NAME.set(name.to_owned());
    }
}

/// The text with this program's name in commands that it suggests: a program with a game of your own has another.
pub(crate) fn as_called(text: &str) -> Cow<'_, str> {
    renamed(text, NAME.get().map_or(WRITTEN, String::as_str))
}

/// Replaces the name where it begins a command: at the start of a line, in backticks, or after a colon, a semicolon or a
/// bracket, and before a lower-case word, an option or a placeholder.
fn renamed<'a>(text: &'a str, name: &str) -> Cow<'a, str> {
    if name == WRITTEN {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(WRITTEN) {
        let (before, after) = (&rest[..at], &rest[at + WRITTEN.len()..]);
        let begins = before.trim_end_matches(' ').chars().next_back().is_none_or(|c| "\n`:;(".contains(c));
        let mut next = after.chars();
        let goes_on =
            next.next() == Some(' ') && next.next().is_some_and(|c| c.is_ascii_lowercase() || "-<".contains(c));
        out.push_str(before);
        out.push_str(if begins && goes_on { name } else { WRITTEN });
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn commands_have_the_name_of_the_program() {
        let cases = [
            ("see `turnstone games`", "see `own games`"),
            ("continue with: turnstone train --resume runs/a", "continue with: own train --resume runs/a"),
            ("turnstone <command> --help", "own <command> --help"),
            ("a:  turnstone play x\nb: turnstone report y", "a:  own play x\nb: own report y"),
            ("/usr/share/turnstone play", "/usr/share/turnstone play"),
            ("FAIL config x; turnstone train would refuse it", "FAIL config x; own train would refuse it"),
            ("by turnstone 0.1.0", "by turnstone 0.1.0"),
            ("not a turnstone file: empty", "not a turnstone file: empty"),
            ("train it first (turnstone train a)", "train it first (own train a)"),
        ];
        for (written, called) in cases {
            assert_eq!(renamed(written, "own"), called);
            assert_eq!(renamed(written, "turnstone"), written);
        }
    }
}
