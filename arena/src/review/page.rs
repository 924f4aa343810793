//! HTML page of a review: the graph and the moves beside a board, and the moments to look at with better lines.

use std::fmt::Write;

use anyhow::Result;
use serde_json::{Value, json};
use turnstone_env::{AnyState, DynGame};

use super::record::{Mark, PlayerTotals, Review, ReviewedMove, Source};
use crate::page::{Boards, Chart, Form, Page, Scale, Section, Series, data, escaped, title};
use crate::saved_games::Replay;

impl Review {
    /// Renders the review of this game as an HTML document, which loads nothing else.
    ///
    /// # Errors
    /// A move of the review is not legal in the game.
    pub fn page(&self, game: &dyn DynGame, replay: &Replay) -> Result<String> {
        let name = title(&self.game);
        let mut boards = Boards::default();
        let mut lines = Vec::new();
        let mut parts = vec![self.game_part(game, replay)];
        if let Some(part) = self.moments_part(game, replay, &mut boards, &mut lines)? {
            parts.push(part);
        }
        parts.push(self.moves_part());
        let moves: Vec<String> = self.moves.iter().map(in_words).collect();
        let ends = [Chart::x_ends(), Chart::y_ends()];
        let drawn = drawings(game, &replay.positions[0], replay);
        let all = json!({ "boards": boards.pack(drawn), "moves": moves, "lines": lines, "x": ends[0], "y": ends[1] });
        let last = parts.last_mut().expect("there are parts");
        last.html += &(boards.element() + &data(Some("review"), &all));
        let page = Page {
            title: &format!("{name}: a game reviewed by Turnstone"),
            header: &self.header(&name),
            parts: &parts,
            footer: &format!("{} · rules of {} version {}", self.program, self.game, self.version),
            script: include_str!("page.js"),
        };
        Ok(page.html())
    }

    fn header(&self, name: &str) -> String {
        let params: Vec<String> = self.params.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let source = if self.exact { "exact values where they are known, else by " } else { "" };
        let tiles: String = (0..2).map(|seat| tile(seat, &self.players[seat], &self.totals[seat])).collect();
        format!(
            "<p class=\"brand\">Turnstone · review</p>\n<h1>{name}: {}</h1>\n<p class=\"sub\">{} moves, reviewed by {source}{}<br>{}</p>\n<div class=\"tiles headline\">{tiles}</div>\n",
            escaped(&self.ending),
            self.moves.len(),
            escaped(&self.agent),
            escaped(&params.join(", "))
        )
    }

    fn game_part(&self, game: &dyn DynGame, replay: &Replay) -> Section {
        let first = game.draw_svg(&replay.positions[0], None);
        let items: String = self.moves.iter().map(item).collect();
        let html = format!(
            r#"<article class="card game" id="viewer">
<div class="table">
<div class="board">{first}</div>
{}</div>
<div class="side">
<p class="now"><b class="ply">Start</b> <span class="numbers">value for player 1</span></p>
{}
<ol class="moves" tabindex="0" aria-label="moves">{items}</ol>
</div>
</article>
"#,
            controls(self.moves.len()),
            self.chart()
        );
        let lead = "Value for player 1 after every move: 1 is won, 0 even, −1 lost. Choose a move or a place of the graph; the arrow keys step.";
        Section { id: "game", heading: "Game", lead: lead.into(), html }
    }

    /// Graph of the values, with the marked moves as dots.
    fn chart(&self) -> String {
        let first = self.moves.first().map(|first| (0.0, first.value));
        let values = first.into_iter().chain(self.moves.iter().map(|played| (played.ply as f64, played.value_after)));
        let chart = Chart {
            title: "value for player 1 after every move",
            unit: "value",
            x_unit: "ply",
            form: Form::Lines,
            x_range: None,
            y: Some(Scale::fixed(-1.0, 1.0, 0.5)),
            series: vec![Series::new("player 1", values)],
        };
        let ([left, right], [top, bottom]) = (Chart::x_ends(), Chart::y_ends());
        let mut shapes = format!(r#"<path class="axis" d="M{left} {:.1}H{right}"/>"#, (top + bottom) / 2.0);
        for played in &self.moves {
            let Some(mark) = played.mark else { continue };
            let x = left + (right - left) * played.ply as f64 / self.moves.len() as f64;
            let y = bottom - (bottom - top) * (played.value_after + 1.0) / 2.0;
            write!(shapes, r#"<circle class="spot {}" cx="{x:.1}" cy="{y:.1}" r="4.5"/>"#, colour(mark))
                .expect("a string");
        }
        chart.svg(&(shapes + &format!(r#"<path class="cursor" d="M{left} {top}V{bottom}"/>"#)))
    }

    /// The moments with their boards, and their better lines for the page's script; `None` if there are none.
    fn moments_part(
        &self,
        game: &dyn DynGame,
        replay: &Replay,
        boards: &mut Boards,
        lines: &mut Vec<Value>,
    ) -> Result<Option<Section>> {
        let mut html = String::new();
        for &ply in &self.moments {
            let Some(played) = self.moves.get(ply - 1) else { continue };
            let line = Line::new(game, &replay.positions[ply - 1], &played.best)?;
            let after =
                game.draw_svg(&replay.positions[ply], Some((&replay.positions[ply - 1], replay.actions[ply - 1])));
            html += &moment(played, &after, &line);
            lines.push(boards.pack(line.boards).into());
        }
        let lead = "The moves that lost most. Step through the better line at the right.".into();
        Ok((!html.is_empty()).then_some(Section { id: "moments", heading: "Moments to look at", lead, html }))
    }

    fn moves_part(&self) -> Section {
        let rows: String = self.moves.iter().map(row).collect();
        let html = format!(
            "<div class=\"card\"><div class=\"scroll rows\" tabindex=\"0\" role=\"region\" aria-label=\"Moves\"><table><thead><tr><th>ply</th><th>player</th><th class=\"name\">move</th><th>value</th><th>loss</th><th class=\"name\">better</th><th>source</th></tr></thead><tbody>{rows}</tbody></table></div></div>\n"
        );
        let lead = "Loss in expected points, a win being 1 and a draw ½. By the estimate of a search, ?! stands from 0.05, ? from 0.10, ?? from 0.20; by exact values or proofs, ? for half a point and ?? for a whole one. ! is the only move that kept the value.";
        Section { id: "moves", heading: "Moves", lead: lead.into(), html }
    }
}

/// A line of play with its boards.
struct Line {
    texts: Vec<String>,
    movers: Vec<usize>,
    boards: Vec<String>,
}

impl Line {
    fn new(game: &dyn DynGame, from: &AnyState, texts: &[String]) -> Result<Self> {
        let mut state = from.clone();
        let mut line = Self { texts: texts.to_vec(), movers: Vec::new(), boards: vec![game.draw_svg(from, None)] };
        for text in texts {
            line.movers.push(game.mover(&state).index());
            let action = game.parse_action(&state, text)?;
            let before = state.clone();
            game.try_play(&mut state, action)?;
            line.boards.push(game.draw_svg(&state, Some((&before, action))));
        }
        Ok(line)
    }
}

fn drawings<'a>(game: &'a dyn DynGame, first: &'a AnyState, replay: &'a Replay) -> impl Iterator<Item = String> + 'a {
    let plies = replay.positions.windows(2).zip(&replay.actions);
    let after = plies.map(|(pair, &action)| game.draw_svg(&pair[1], Some((&pair[0], action))));
    std::iter::once(game.draw_svg(first, None)).chain(after)
}

/// What a player has lost, in large figures.
fn tile(seat: usize, player: &str, totals: &PlayerTotals) -> String {
    let head = if player.is_empty() { String::new() } else { format!(": {}", escaped(player)) };
    let marks = [
        (totals.blunders, Mark::Blunder),
        (totals.mistakes, Mark::Mistake),
        (totals.inaccuracies, Mark::Inaccuracy),
        (totals.only_moves, Mark::Only),
    ];
    let marks: Vec<String> = marks.iter().map(|&(count, mark)| format!("{count} {}", symbol(mark))).collect();
    format!(
        "<div class=\"tile\"><span class=\"against\">player {}{head}</span><b>{:.3}</b><span>mean loss of {} moves, in points</span><span>{}</span></div>",
        seat + 1,
        totals.mean_loss,
        totals.moves,
        marks.join(" &nbsp; ")
    )
}

/// A moment: the board after the move that was played, and the better line to step through.
fn moment(played: &ReviewedMove, after: &str, line: &Line) -> String {
    let mark = played.mark.map(symbol).unwrap_or_default();
    let what = match played.mark {
        Some(Mark::Only) => "the only move that kept the value".to_owned(),
        _ => format!("lost {:.2} of a point, by {}", played.loss, source_words(played)),
    };
    let heading = if played.mark == Some(Mark::Only) { "Continuation" } else { "Better" };
    let items: String = line
        .texts
        .iter()
        .zip(&line.movers)
        .map(|(text, mover)| format!("<li class=\"p{}\">{}</li>", mover + 1, escaped(text)))
        .collect();
    let (text, ply, player) = (escaped(&played.played), played.ply, played.player);
    let first = line.boards.get(1).map_or("", String::as_str);
    format!(
        r##"<article class="card game moment">
<h3>Ply {ply}, player {player}: {text}{mark}</h3>
<p class="note">{what}. <a href="#game" data-ply="{ply}">See it in the game</a></p>
<div><p class="head">Played: <b>{text}</b>{mark}</p><div class="board">{after}</div></div>
<div class="better"><p class="head">{heading}: <b>{}</b></p><div class="board">{first}</div>
{}<ol class="moves" aria-label="better line">{items}</ol></div>
</article>
"##,
        escaped(line.texts.first().map_or("", String::as_str)),
        controls(line.texts.len())
    )
}

/// Buttons and slider of a board.
fn controls(plies: usize) -> String {
    format!(
        r#"<div class="controls" hidden>
<button type="button" class="back" aria-label="previous ply">&#9664;</button>
<input type="range" min="0" max="{plies}" value="0" aria-label="ply">
<button type="button" class="on" aria-label="next ply">&#9654;</button>
<button type="button" class="run">play</button>
</div>
"#
    )
}

/// A move of the list beside the board.
fn item(played: &ReviewedMove) -> String {
    let book = if played.opening { " book" } else { "" };
    let (player, text, mark) = (played.player, escaped(&played.played), played.mark.map(symbol).unwrap_or_default());
    format!(r#"<li class="p{player}{book}" title="{}">{text}{mark}</li>"#, escaped(&in_words(played)))
}

fn row(played: &ReviewedMove) -> String {
    let mark = played.mark.map(symbol).unwrap_or_default();
    let better = played.best.first().filter(|best| played.loss > 0.0 && **best != played.played);
    let source = if played.opening { "opening" } else { played.source.name() };
    format!(
        "<tr data-ply=\"{0}\" tabindex=\"0\"><td>{0}</td><td>{1}</td><td class=\"name\">{2}{mark}</td><td>{3:+.2}</td><td>{4:.2}</td><td class=\"name\">{5}</td><td>{source}</td></tr>",
        played.ply,
        played.player,
        escaped(&played.played),
        played.value_after,
        played.loss,
        better.map(|better| escaped(better)).unwrap_or_default()
    )
}

/// What is found about a move, in a line.
fn in_words(played: &ReviewedMove) -> String {
    let value = format!("value for player 1 {:+.2}", played.value_after);
    if played.opening {
        return format!("{value}, a move of the opening");
    }
    let mark = played.mark.map(|mark| format!(", {}", mark.words())).unwrap_or_default();
    format!("{value}, loss {:.2} by {}{mark}", played.loss, source_words(played))
}

fn source_words(played: &ReviewedMove) -> &'static str {
    match played.source {
        Source::Exact => "exact values",
        Source::Proof => "a proof of the search",
        Source::Search => "the search's estimate",
    }
}

fn symbol(mark: Mark) -> String {
    format!(r#"<em class="mark {}">{}</em>"#, colour(mark), mark.symbol())
}

/// Class of the page's style sheet.
fn colour(mark: Mark) -> &'static str {
    match mark {
        Mark::Blunder => "c5",
        Mark::Mistake => "c2",
        Mark::Inaccuracy => "c4",
        Mark::Only => "c3",
    }
}
