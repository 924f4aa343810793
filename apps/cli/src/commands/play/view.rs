//! The board as a person sees it: the players' stones in colours, what the last move changed marked.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use turnstone_agents::SearchInfo;
use turnstone_base::terminal::terminal_size;
use turnstone_env::{AnyState, DynGame};

const PLAYERS: [Style; 2] = [AnsiColor::Cyan.on_default().bold(), AnsiColor::Yellow.on_default().bold()];
const CHANGED: Style = Style::new().invert();
const SOFT: Style = Style::new().dimmed();

/// A player's name in its colour.
pub(super) fn coloured(seat: usize, text: &str) -> String {
    format!("{0}{text}{0:#}", PLAYERS[seat])
}

/// Text of lesser weight.
pub(super) fn soft(text: &str) -> String {
    format!("{SOFT}{text}{SOFT:#}")
}

/// The board, with escape sequences for the output to keep or to drop. What differs from the board `before` is shown
/// inverted.
pub(super) fn board(game: &dyn DynGame, state: &AnyState, before: Option<&AnyState>, flipped: bool) -> String {
    let draw = |state: &AnyState| if flipped { game.draw_flipped(state) } else { game.draw(state) };
    let stones = game.belongings().map(|text| stone(&text));
    painted(&draw(state), before.map(draw).as_deref(), stones)
}

/// The character that stands for a player's stones: what its belongings begin with, if that is no longer word.
fn stone(belongings: &str) -> Option<char> {
    let mut letters = belongings.chars();
    let first = letters.next()?;
    letters.next().is_none_or(|next| !next.is_alphanumeric()).then_some(first)
}

/// Colours stones, and marks single characters and numbers that differ from the text before.
fn painted(now: &str, before: Option<&str>, stones: [Option<char>; 2]) -> String {
    let earlier: Vec<Vec<char>> = before.unwrap_or_default().lines().map(|line| line.chars().collect()).collect();
    let counts = stones == [None, None];
    let mut text = String::new();
    for (row, line) in now.lines().enumerate() {
        let letters: Vec<char> = line.chars().collect();
        let mut column = 0;
        for token in letters.chunk_by(|a, b| a.is_alphanumeric() && b.is_alphanumeric()) {
            let end = column + token.len();
            let seat = stones.iter().position(|stone| token.len() == 1 && *stone == Some(token[0]));
            let cell = seat.is_some() || token == ['.'] || (counts && token.iter().all(char::is_ascii_digit));
            // A count of two digits begins a column earlier than one of one digit.
            let from = column.saturating_sub(1);
            let was = earlier.get(row).map(|line| line.get(from..end).unwrap_or_default());
            let changed = cell && was.is_some_and(|was| was != &letters[from..end] && differs(was, token));
            let style = seat.map_or(Style::new(), |seat| PLAYERS[seat]);
            let style = if changed { style | CHANGED.get_effects() } else { style };
            let token: String = token.iter().collect();
            write!(text, "{style}{token}{style:#}").expect("writing to a string cannot fail");
            column = end;
        }
        text.push('\n');
    }
    text
}

/// Whether the last characters before were not this token alone.
fn differs(was: &[char], token: &[char]) -> bool {
    let alone = was.len() == token.len() || !was[was.len() - token.len() - 1].is_ascii_digit();
    !was.ends_with(token) || !alone
}

/// The legal moves with their numbers, in columns.
pub(super) fn numbered(game: &dyn DynGame, state: &AnyState) -> String {
    let moves = game.legal_texts(state);
    let items: Vec<String> = moves.iter().zip(1..).map(|(text, n)| format!("#{n} {text}")).collect();
    let width = items.iter().map(|item| item.chars().count()).max().unwrap_or(0) + 2;
    let columns = terminal_size().map_or(80, |[columns, _]| columns) / width;
    let rows = items.chunks(columns.max(1));
    rows.map(|row| row.iter().map(|item| format!("{item:<width$}")).collect::<String>().trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// `win 60 %, draw 6 %, loss 34 %`.
pub(super) fn in_words(win_draw_loss: [f32; 3]) -> String {
    let [win, draw, loss] = win_draw_loss.map(|p| 100.0 * p);
    format!("win {win:.0} %, draw {draw:.0} %, loss {loss:.0} %")
}

/// What a search reports, to follow the time: `, win 60 %, draw 6 %, loss 34 %, best c4 d3 b1`.
pub(super) fn best_line(game: &dyn DynGame, state: &AnyState, info: &SearchInfo) -> String {
    let score = info.score.map(|score| format!(", {}", in_words(score.win_draw_loss))).unwrap_or_default();
    let line: Vec<String> = game.line_texts(state, &info.line).into_iter().take(8).collect();
    format!("{score}, best {}", line.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::{Params, games};

    #[test]
    fn stones_are_coloured_and_changes_marked() {
        let painted = painted("W--. B5\n", Some(".--. B5\n"), [Some('W'), Some('B')]);
        let white = PLAYERS[0] | CHANGED.get_effects();
        assert_eq!(painted, format!("{white}W{white:#}--. B5\n"));
    }

    #[test]
    fn counts_are_marked_whole() {
        let painted = painted(" 10  9  1 12", Some("  9  9  1  2"), [None, None]);
        assert_eq!(painted, format!(" {CHANGED}10{CHANGED:#}  9  1 {CHANGED}12{CHANGED:#}\n"));
        let painted = super::painted("  9", Some(" 19"), [None, None]);
        assert_eq!(painted, format!("  {CHANGED}9{CHANGED:#}\n"));
    }

    #[test]
    fn without_its_colours_a_board_is_the_game_s_own_text() {
        for name in games::NAMES {
            let game = games::built_in().make(name, &Params::new()).expect("a game");
            let start = game.start();
            let mut state = start.clone();
            game.play(&mut state, game.legal_actions(&start)[0]);
            for flipped in [false, true] {
                let shown = board(&*game, &state, Some(&start), flipped);
                let plain = anstream::adapter::strip_str(&shown).to_string();
                assert_eq!(plain, if flipped { game.draw_flipped(&state) } else { game.draw(&state) });
                assert!(shown.contains(&CHANGED.to_string()) || shown.contains("\x1b[7m"), "{name}: {shown:?}");
            }
        }
    }
}
