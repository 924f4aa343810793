//! The boards of many games in little room: a page's script draws them again.
//!
//! A drawing differs from the one before in a few lines, and the same lines come and go in all games. So a board is
//! written as what changes: how many lines stay, how many go, which run of new lines comes. Runs are told once a page.

use std::collections::HashMap;

use serde_json::json;

use super::frame::data;

/// The runs of lines of a page's boards.
#[derive(Clone, Default, Debug)]
pub(crate) struct Boards {
    runs: Vec<String>,
    /// Numbers of the runs, from 1.
    numbers: HashMap<String, usize>,
}

impl Boards {
    /// The boards of a game, given as SVG documents, in a form for the page's script. Titles, which tell every position,
    /// are left out.
    pub(crate) fn pack(&mut self, boards: impl IntoIterator<Item = String>) -> String {
        let mut before = String::new();
        let mut packed: Vec<String> = Vec::new();
        for board in boards {
            let (old, new) = (lines(&before), lines(&board));
            packed.push(self.change(&old, &new));
            before = board;
        }
        packed.join(" ")
    }

    /// What the page's script needs to draw them: an element of the page.
    pub(crate) fn element(&self) -> String {
        data(Some("runs"), &json!(self.runs))
    }

    /// The change from one drawing to the next, as triples of numbers: lines that stay, lines that go, run that comes or
    /// 0. The lines after the last triple stay.
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
            let run = if come == 0 { 0 } else { self.number(new[..come].join("\n")) };
            [same, gone, run].into_iter().for_each(|number| write_number(&mut text, number));
            (old, new) = (&old[gone..], &new[come..]);
        }
    }

    fn number(&mut self, run: String) -> usize {
        let next = self.runs.len() + 1;
        *self.numbers.entry(run).or_insert_with_key(|run| {
            self.runs.push(run.clone());
            next
        })
    }
}

fn lines(board: &str) -> Vec<&str> {
    board.lines().filter(|line| !line.starts_with("<title>")).collect()
}

/// Digits to base 45, the least first, with 45 added to all but the last. They are written as the characters from `#` on
/// without `<` and `\`, which mean something in a page or in JSON.
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

    /// As the page's script does it.
    fn unpacked(packed: &str, boards: &Boards) -> Vec<String> {
        let mut lines: Vec<&str> = Vec::new();
        let mut drawn = Vec::new();
        for change in packed.split(' ') {
            let (mut next, mut from, mut rest) = (Vec::new(), 0, change.bytes());
            while let Some([same, gone, run]) = number(&mut rest)
                .map(|same| [Some(same), number(&mut rest), number(&mut rest)].map(|n| n.expect("three numbers")))
            {
                next.extend(&lines[from..from + same]);
                from += same + gone;
                next.extend(run.checked_sub(1).into_iter().flat_map(|run| boards.runs[run].lines()));
            }
            next.extend(&lines[from..]);
            lines = next;
            drawn.push(lines.join("\n"));
        }
        drawn
    }

    fn number(text: &mut impl Iterator<Item = u8>) -> Option<usize> {
        let (mut number, mut unit) = (0, 1);
        loop {
            let code = text.next()?;
            let digit = usize::from(code - b'#' - u8::from(code > b'<') - u8::from(code > b'\\'));
            number += digit % 45 * unit;
            unit *= 45;
            if digit < 45 {
                return Some(number);
            }
        }
    }

    #[test]
    fn numbers_come_back() {
        for value in (0..5000).chain([123_456_789]) {
            let mut text = String::new();
            write_number(&mut text, value);
            assert!(!text.contains(['<', '\\', '"', ' ']), "{text}");
            assert_eq!(number(&mut text.bytes()), Some(value));
        }
    }

    #[test]
    fn boards_come_back_without_their_titles() {
        let games = [
            vec!["a\nb\nc", "a\nx\ny\nc", "a\nx\ny\nc", "c", "c\nd", "<title>t</title>\nb"],
            vec!["a\nb\nc", "c\na"],
            vec![],
        ];
        let mut boards = Boards::default();
        for game in games {
            let packed = boards.pack(game.iter().map(|&board| board.to_owned()));
            let drawn = unpacked(&packed, &boards);
            let game: Vec<String> = game.iter().map(|board| lines(board).join("\n")).collect();
            assert_eq!(if game.is_empty() { Vec::new() } else { drawn }, game);
        }
        assert_eq!(boards.runs[0], "a\nb\nc");
        assert_eq!(boards.runs.len(), boards.numbers.len());
    }
}
