//! Text of people and other programs: line breaks, byte-order marks, what may be printed, slips of the pen.

use std::borrow::Cow;
use std::path::Path;

/// A text without a byte-order mark at its start and with `\n` alone as line break, in place of `\r\n`.
///
/// ```
/// use turnstone_base::text::plain;
///
/// assert_eq!(plain("\u{feff}seed = 3\r\n"), "seed = 3\n");
/// ```
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    let text = without_mark(text);
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// A text without a byte-order mark at its start, which Windows programs write.
#[must_use]
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The lines of a list with their numbers from 1: without blank lines, surrounding white space and comments. A `#` at the
/// start of a line or after white space begins a comment.
///
/// ```
/// use turnstone_base::text::entries;
///
/// let lines: Vec<_> = entries("# openings\nB5 A1 # a trap\r\n\n  C#3 \n").collect();
/// assert_eq!(lines, [(2, "B5 A1"), (4, "C#3")]);
/// ```
pub fn entries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(without_mark(text).lines()).filter_map(|(number, line)| {
        let starts_comment = |&(at, _): &(usize, &str)| line[..at].chars().next_back().is_none_or(char::is_whitespace);
        let end = line.match_indices('#').find(starts_comment).map_or(line.len(), |(at, _)| at);
        let entry = line[..end].trim();
        (!entry.is_empty()).then_some((number, entry))
    })
}

/// Whether a character can change how a terminal or page shows the text around it: control characters, and the marks that
/// reverse the direction of text (Unicode Standard Annex 9), with which one text can pass for another.
#[must_use]
pub fn is_deceptive(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text with its deceptive characters, except line breaks and tabs, as escapes such as `\u{1b}`.
///
/// ```
/// use turnstone_base::text::printable;
///
/// assert_eq!(printable("a\u{1b}[2Jb\u{202e}c\n"), "a\\u{1b}[2Jb\\u{202e}c\n");
/// ```
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            _ if is_deceptive(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    shown
}

/// The candidate nearest to `name` by edit distance, if it is near enough to be a likely slip.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // A name that is much longer, perhaps a megabyte of a foreign file, is not compared.
    let length = name.chars().count();
    candidates
        .into_iter()
        .filter(|candidate| length <= 1 + candidate.chars().count() + candidate.len() / 3)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= 1 + candidate.len() / 3)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// Hint after an unknown name: the nearest known one, or else all of them.
///
/// ```
/// use turnstone_base::text::{advice, nearest};
///
/// let known = ["konane", "mancala"];
/// assert_eq!(advice(nearest("mancla", known).as_deref(), &known), " (did you mean `mancala`?)");
/// assert_eq!(advice(nearest("go", known).as_deref(), &known), "; known are konane, mancala");
/// ```
#[must_use]
pub fn advice(nearest: Option<&str>, known: &[impl AsRef<str>]) -> String {
    match (nearest, known) {
        (Some(nearest), _) => format!(" (did you mean `{nearest}`?)"),
        (None, []) => "; there are none".to_owned(),
        (None, known) => format!("; known are {}", known.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")),
    }
}

/// A word as this system's shells take it. A POSIX shell: between single quotes if it contains more than letters, digits and
/// `/._-:,=+`. Windows, both of whose shells know double quotes only: between these if it contains more than those and `\`.
///
/// ```
/// use turnstone_base::text::shell_word;
///
/// assert_eq!(shell_word("az:runs/a,sims=20"), "az:runs/a,sims=20");
/// # #[cfg(unix)]
/// assert_eq!(shell_word(""), "''");
/// ```
#[must_use]
pub fn shell_word(word: &str) -> String {
    quoted(word, cfg!(windows))
}

fn quoted(word: &str, windows: bool) -> String {
    let plain = if windows { "/._-:,=+\\" } else { "/._-:,=+" };
    if !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || plain.contains(letter)) {
        word.to_owned()
    } else if windows {
        // No name of a file contains a double quote. A backslash before one would quote it.
        let end = "\\".repeat(word.len() - word.trim_end_matches('\\').len());
        format!("\"{word}{end}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A path as an argument of a command, quoted for a shell. A path that begins with a dash is no option.
///
/// ```
/// use turnstone_base::text::shell_path;
///
/// assert_eq!(shell_path("runs/a".as_ref()), "runs/a");
/// # #[cfg(unix)]
/// assert_eq!(shell_path("-my runs/it's".as_ref()), r"'./-my runs/it'\''s'");
/// ```
#[must_use]
pub fn shell_path(path: &Path) -> String {
    let text = path.display().to_string();
    shell_word(&if text.starts_with('-') { format!("./{text}") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_the_shell_asks() {
        let both = |word: &str| [quoted(word, false), quoted(word, true)];
        assert_eq!(both("az:runs/a,sims=20"), ["az:runs/a,sims=20"; 2]);
        assert_eq!(both(""), ["''", "\"\""]);
        assert_eq!(both(r"C:\runs\a"), [r"'C:\runs\a'", r"C:\runs\a"]);
        assert_eq!(both(r"my runs\"), [r"'my runs\'", r#""my runs\\""#]);
        assert_eq!(both("it's"), [r"'it'\''s'", r#""it's""#]);
    }
}
