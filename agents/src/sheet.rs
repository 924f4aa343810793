//! The sheet of a game: its sections, and its table of parameters.

use crate::playable_game::PlayableGame;

/// The text of a section of the game's sheet, without its heading; `None` if there is none.
#[must_use]
pub fn section(game: &dyn PlayableGame, heading: &str) -> Option<String> {
    let lines: Vec<&str> = lines_of(game, heading)?.collect();
    Some(plain(lines.join("\n").trim()))
}

/// The lines of a section of the game's sheet.
fn lines_of(game: &dyn PlayableGame, heading: &str) -> Option<impl Iterator<Item = &'static str>> {
    let mut lines = game.files().sheet?.lines();
    lines.find(|line| title(line).is_some_and(|title| title.eq_ignore_ascii_case(heading)))?;
    Some(lines.take_while(|line| title(line).is_none()))
}

/// A sentence of how to play, with what happens in the picture beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Lesson {
    /// The sentence.
    pub text: String,
    /// A position of the game with its default parameters, and an action that is played there.
    pub picture: Option<[String; 2]>,
}

/// How to play a game, in a few sentences, from the numbered list of that section of its sheet. A line
/// `<!-- position | action -->` before a sentence is its picture. Empty without such a section.
#[must_use]
pub fn lessons(game: &dyn PlayableGame) -> Vec<Lesson> {
    let (mut lessons, mut next) = (Vec::<Lesson>::new(), None);
    for line in lines_of(game, "How to play").into_iter().flatten() {
        if let Some(picture) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) {
            next = picture.split_once(" | ").map(|(position, action)| [position.to_owned(), action.to_owned()]);
        } else if let Some((_, text)) = line.split_once(". ").filter(|(number, _)| number.parse::<u8>().is_ok()) {
            lessons.push(Lesson { text: text.to_owned(), picture: next.take() });
        } else if let Some(last) = lessons.last_mut().filter(|_| !line.trim().is_empty()) {
            last.text += &format!(" {}", line.trim());
        }
    }
    lessons
}

/// A parameter of a game as the table of its sheet explains it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// Name, as in `stones=3`.
    pub name: String,
    /// Default value.
    pub default: String,
    /// Values that it can have; empty without a sheet.
    pub range: String,
    /// Its meaning; empty without a sheet.
    pub meaning: String,
}

/// The parameters of a game; without a sheet, their names and defaults alone.
#[must_use]
pub fn parameters(game: &dyn PlayableGame) -> Vec<Parameter> {
    let table = section(game, "Parameters").unwrap_or_default();
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim().strip_prefix('|')?.strip_suffix('|')?.split(" | ").map(str::trim).collect();
        let [name, default, range, meaning] = cells[..] else { return None };
        let text = |cell: &str| cell.replace('`', "");
        Some(Parameter { name: text(name), default: text(default), range: text(range), meaning: text(meaning) })
    });
    let rows: Vec<Parameter> = rows.collect();
    let defaults = game.default_params();
    let known = defaults.iter().map(|(name, default)| {
        let explained = rows.iter().find(|row| row.name == name).cloned();
        let (range, meaning) = explained.map_or_else(Default::default, |row| (row.range, row.meaning));
        Parameter { name: name.to_owned(), default: default.to_owned(), range, meaning }
    });
    known.collect()
}

fn title(line: &str) -> Option<&str> {
    line.strip_prefix("## ").map(str::trim)
}

/// The sheet as plain text: without its picture and with the texts of links only.
#[must_use]
pub fn plain(sheet: &str) -> String {
    let mut text = String::new();
    for line in sheet.lines().filter(|line| !line.starts_with('<')) {
        // An image takes an empty line with it.
        if !(line.is_empty() && text.ends_with("\n\n")) {
            text += &without_links(line);
            text.push('\n');
        }
    }
    text
}

/// `[text](target)` becomes `text`.
fn without_links(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("](") {
        let (Some(open), Some(close)) = (before.rfind('['), after.find(')')) else { break };
        text += &before[..open];
        text += &before[open + 1..];
        rest = &after[close + 1..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_their_texts() {
        assert_eq!(without_links("see [a](b.md), [`c`](d) and [e]"), "see a, `c` and [e]");
        assert_eq!(plain("# T\n\n<img>\n\ntext\n"), "# T\n\ntext\n");
    }
}
