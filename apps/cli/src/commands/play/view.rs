//! Texts for a person: names in the players' colours, lists of moves, what a search reports.

use anstyle::{AnsiColor, Style};
use turnstone_agents::SearchInfo;
use turnstone_base::terminal::terminal_size;
use turnstone_env::{AnyState, DynGame};

use crate::output::in_words;

const PLAYERS: [Style; 2] = [AnsiColor::Cyan.on_default().bold(), AnsiColor::Yellow.on_default().bold()];
const SOFT: Style = Style::new().dimmed();

/// A player's name in its colour.
pub(super) fn coloured(seat: usize, text: &str) -> String {
    format!("{0}{text}{0:#}", PLAYERS[seat])
}

/// Text of lesser weight.
pub(super) fn soft(text: &str) -> String {
    format!("{SOFT}{text}{SOFT:#}")
}

/// The legal moves with their numbers, in columns.
pub(super) fn numbered(game: &dyn DynGame, state: &AnyState) -> String {
    let moves = game.legal_display(state);
    let items: Vec<String> = moves.iter().zip(1..).map(|(text, n)| format!("#{n} {text}")).collect();
    let width = items.iter().map(|item| item.chars().count()).max().unwrap_or(0) + 2;
    let columns = terminal_size().map_or(80, |[columns, _]| columns) / width;
    let rows = items.chunks(columns.max(1));
    rows.map(|row| row.iter().map(|item| format!("{item:<width$}")).collect::<String>().trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// What a search reports, to follow the time: `, win 60 %, draw 6 %, loss 34 %, best c4 d3 b1`.
pub(super) fn best_line(game: &dyn DynGame, state: &AnyState, info: &SearchInfo) -> String {
    let score = info.score.map(|score| format!(", {}", in_words(score.win_draw_loss))).unwrap_or_default();
    let line: Vec<String> = game.line_display(state, &info.line).into_iter().take(8).collect();
    format!("{score}, best {}", line.join(" "))
}
