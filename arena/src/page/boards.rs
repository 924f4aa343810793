//! Compact encoding of the boards of many games, which are drawn by a script in the page.
//!
//! Consecutive drawings differ in few lines, the same runs of lines recur in all games, and many lines differ only in
//! the position of a shape. A board is therefore encoded as its changes to the one before: numbers of lines that stay
//! and that go, and the run of new lines; a run as the numbers of its lines; and a line as a template with two values.

use std::collections::HashMap;

use serde_json::json;

use super::frame::data;

/// Tables of the templates, lines and runs used by the boards of a page.
#[derive(Clone, Default, Debug)]
pub struct Boards {
    templates: Numbered,
    lines: Numbered,
    runs: Numbered,
}

/// Distinct texts, numbered from 0.
#[derive(Clone, Default, Debug)]
struct Numbered {
    texts: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Numbered {
    fn number(&mut self, text: String) -> usize {
        let next = self.texts.len();
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }
}

impl Boards {
    /// Encodes the boards of a game, given as SVG documents, for the page's script. Omits their titles, which differ in
    /// every position.
    pub(super) fn pack(&mut self, boards: impl IntoIterator<Item = String>) -> String {
        let mut before = String::new();
        let mut packed: Vec<String> = Vec::new();
        for board in boards {
            let (old, new) = (lines(&before), lines(&board));
            packed.push(self.change(&old, &new));
            before = board;
        }
        packed.join(" ")
    }

    /// Element of the page with the tables that the script needs.
    #[must_use]
    pub fn element(&self) -> String {
        let parts = json!({ "templates": self.templates.texts, "lines": self.lines.texts, "runs": self.runs.texts });
        data(Some("boards"), &parts)
    }

    /// Change from one drawing to the next, as triples of numbers: lines that stay, lines that go, and the number of
    /// the run that replaces them plus 1, or 0 for none. The lines after the last triple stay.
    fn change(&mut self, mut old: &[&str], mut new: &[&str]) -> String {
        let mut text = String::new();
        loop {
            let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
            (old, new) = (&old[same..], &new[same..]);
            if old.is_empty() && new.is_empty() {
                return text;
            }
            let meeting = (0..new.len()).find_map(|come| Some((old.iter().position(|line| *line == new[come])?, come)));
            let (gone, come) = meeting.unwrap_or((old.len(), new.len()));
            let run = if come == 0 { 0 } else { 1 + self.run(&new[..come]) };
            [same, gone, run].into_iter().for_each(|number| write_number(&mut text, number));
            (old, new) = (&old[gone..], &new[come..]);
        }
    }

    fn run(&mut self, lines: &[&str]) -> usize {
        let mut run = String::new();
        lines.iter().for_each(|line| write_number(&mut run, self.line(line)));
        self.runs.number(run)
    }

    /// Number of a line, encoded as `template|value|value|text` with the values of its first two attributes and the
    /// content of its element. Line breaks in the template mark their positions.
    fn line(&mut self, line: &str) -> usize {
        let parts: Vec<&str> = line.splitn(5, '"').collect();
        let short = match parts[..] {
            [before, one, between, two, after] if !line.contains('|') => {
                let (tag, text, end) = match (after.find('>'), after.rfind("</")) {
                    (Some(open), Some(close)) if open < close => {
                        (&after[..=open], &after[open + 1..close], &after[close..])
                    }
                    _ => (after, "", ""),
                };
                let template = format!("{before}\"\n\"{between}\"\n\"{tag}\n{end}");
                format!("{}|{one}|{two}|{text}", self.templates.number(template))
            }
            _ => self.templates.number(line.to_owned()).to_string(),
        };
        self.lines.number(short)
    }
}

fn lines(board: &str) -> Vec<&str> {
    board.lines().filter(|line| !line.starts_with("<title>")).collect()
}

/// Appends a number in base 45, least significant digit first, with 45 added to all digits but the last. The digits are
/// the characters from `#` on without `<` and `\`, which are special in HTML and in JSON.
fn write_number(text: &mut String, mut number: usize) {
    loop {
        let (digit, more) = ((number % 45) as u8, number >= 45);
        let code = b'#' + digit + if more { 45 } else { 0 };
        let code = code + u8::from(code >= b'<');
        text.push(char::from(code + u8::from(code >= b'\\')));
        number /= 45;
        if !more {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes a game as the page's script does.
    fn unpacked(packed: &str, boards: &Boards) -> Vec<String> {
        let line = |number: usize| {
            let mut values = boards.lines.texts[number].split('|');
            let template =
                &boards.templates.texts[values.next().expect("a number").parse::<usize>().expect("a number")];
            let parts = template.split('\n').enumerate();
            parts
                .map(|(i, part)| if i == 0 { part.into() } else { values.next().expect("a value").to_owned() + part })
                .collect()
        };
        let mut lines: Vec<String> = Vec::new();
        let mut drawn = Vec::new();
        for change in packed.split(' ') {
            let (mut next, mut from) = (Vec::new(), 0);
            for triple in numbers(change).chunks(3) {
                let [same, gone, run] = *triple else { panic!("{packed}") };
                next.extend_from_slice(&lines[from..from + same]);
                from += same + gone;
                let run = run.checked_sub(1).map(|run| numbers(&boards.runs.texts[run])).unwrap_or_default();
                next.extend(run.into_iter().map(line));
            }
            next.extend_from_slice(&lines[from..]);
            lines = next;
            drawn.push(lines.join("\n"));
        }
        drawn
    }

    fn numbers(text: &str) -> Vec<usize> {
        let (mut numbers, mut number, mut unit) = (Vec::new(), 0, 1);
        for code in text.bytes() {
            let digit = usize::from(code - b'#' - u8::from(code > b'<') - u8::from(code > b'\\'));
            number += digit % 45 * unit;
            unit *= 45;
            if digit < 45 {
                numbers.push(number);
                (number, unit) = (0, 1);
            }
        }
        numbers
    }

    #[test]
    fn numbers_round_trip() {
        for value in (0..5000).chain([123_456_789]) {
            let mut text = String::new();
            write_number(&mut text, value);
            assert!(!text.contains(['<', '\\', '"', ' ']), "{text}");
            assert_eq!(numbers(&text), [value]);
        }
    }

    #[test]
    fn boards_round_trip_without_their_titles() {
        let shape = r#"<i x="1" y="2" z="3"/>"#;
        let moved = r#"<i x="5" y="2" z="3"/>"#;
        let odd = r#"<i x="|" y="2" z="3"/>"#;
        let text = r#"<t x="1" y="2">4 <b>5</b></t>"#;
        let games = [
            vec!["a\nb\nc", "a\nx\ny\nc", "a\nx\ny\nc", "c", "c\nd", "<title>t</title>\nb"],
            vec!["a\nb\nc", "c\na", shape, moved, odd, text, "a x=\"1\" y"],
        ];
        let mut boards = Boards::default();
        for game in games {
            let packed = boards.pack(game.iter().map(|&board| board.to_owned()));
            let plain: Vec<String> = game.iter().map(|board| lines(board).join("\n")).collect();
            assert_eq!(unpacked(&packed, &boards), plain);
        }
        let texts = &boards.templates.texts;
        assert_eq!(texts.iter().filter(|text| text.starts_with("<i")).count(), 2, "{texts:?}");
    }
}
