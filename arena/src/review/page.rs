//! HTML page of a review: the graph and the moves beside a board, and the moments to look at with better lines.

use anyhow::Result;
use turnstone_agents::review::{CURVE_ENDS, CURVE_SIZE, Mark, PlayerTotals, ReviewedMove, Source, curve};
use turnstone_env::DynGame;

use super::record::Review;
use crate::page::{Boards, Line, Page, Section, escaped, title};
use crate::saved_games::Replay;

impl Review {
    /// Renders the review of this game as an HTML document, which loads nothing else.
    ///
    /// # Errors
    /// A move of the review is not legal in the game.
    pub fn page(&self, game: &dyn DynGame, replay: &Replay) -> Result<String> {
        let name = title(&self.game);
        let mut boards = Boards::default();
        let mut parts = vec![self.game_part(game, replay, &mut boards)];
        parts.extend(self.moments_part(game, replay, &mut boards)?);
        parts.push(self.moves_part());
        parts[0].html += &boards.element();
        let page = Page {
            title: &format!("{name}: a game reviewed by Turnstone"),
            header: &self.header(&name),
            parts: &parts,
            footer: &format!("{} · rules of {} version {}", self.program, self.game, self.version),
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

    fn game_part(&self, game: &dyn DynGame, replay: &Replay, boards: &mut Boards) -> Section {
        let start = "value for player 1".to_owned();
        let line = Line {
            opening: self.moves.iter().take_while(|played| played.opening).count(),
            marks: self.marks(),
            notes: std::iter::once(start).chain(self.moves.iter().map(in_words)).collect(),
            graph: self.curve(),
            ..Line::new(game, replay, boards)
        };
        let html = format!("<article class=\"card game replay\" id=\"viewer\">{}</article>\n", line.element());
        let lead = "Value for player 1 after every move. Choose a move or a place of the graph; the arrow keys step.";
        Section { id: "game", heading: "Game", lead: lead.into(), html }
    }

    fn marks(&self) -> Vec<&'static str> {
        self.moves.iter().map(|played| played.mark.map_or("", Mark::symbol)).collect()
    }

    /// Graph of the values, with the marked moves as dots.
    fn curve(&self) -> String {
        let first = self.moves.first().map(|first| first.value);
        let values: Vec<f32> = first
            .into_iter()
            .chain(self.moves.iter().map(|played| played.value_after))
            .map(|value| value as f32)
            .collect();
        let ([width, height], [left, right]) = (CURVE_SIZE, CURVE_ENDS);
        format!(
            r#"<svg class="curve" viewBox="0 0 {width} {height}" data-plot="{left} {right} 0 {height}" role="img" aria-label="value for player 1 after every move">{}</svg>"#,
            curve(&values, &self.marks(), ["player 1 wins", "player 2 wins"], 0)
        )
    }

    /// The moments with their boards and better lines; `None` if there are none.
    fn moments_part(&self, game: &dyn DynGame, replay: &Replay, boards: &mut Boards) -> Result<Option<Section>> {
        let mut html = String::new();
        for &ply in &self.moments {
            let Some(played) = self.moves.get(ply - 1) else { continue };
            let better = Replay::new(game, replay.positions[ply - 1].clone(), &played.best)?;
            let better = Line { at: 1, ..Line::new(game, &better, boards) };
            let after =
                game.draw_svg(&replay.positions[ply], Some((&replay.positions[ply - 1], replay.actions[ply - 1])));
            html += &moment(played, &after, &better);
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

/// A player's losses, in large figures.
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
fn moment(played: &ReviewedMove, after: &str, better: &Line) -> String {
    let mark = played.mark.map(symbol).unwrap_or_default();
    let (what, heading) = match played.mark {
        Some(Mark::Only) => ("the only move that kept the value".to_owned(), "Continuation"),
        _ => (format!("lost {:.2} of a point, by {}", played.loss, source_words(played)), "Better"),
    };
    let (ply, player, text) = (played.ply, played.player, escaped(&played.shown));
    format!(
        r##"<article class="card game moment">
<h3>Ply {ply}, player {player}: {text}{mark}</h3>
<p class="note">{what}. <a href="#game" data-ply="{ply}">See it in the game</a></p>
<div><p class="head">Played: <b>{text}</b>{mark}</p><div class="board">{after}</div></div>
<div class="replay"><p class="head">{heading}: <b>{}</b></p>{}</div>
</article>
"##,
        escaped(played.best_shown.first().map_or("", String::as_str)),
        better.element()
    )
}

fn row(played: &ReviewedMove) -> String {
    let mark = played.mark.map(symbol).unwrap_or_default();
    let better = played.best_shown.first().filter(|best| played.loss > 0.0 && **best != played.shown);
    let source = if played.opening { "opening" } else { played.source.name() };
    format!(
        "<tr data-ply=\"{0}\" tabindex=\"0\"><td>{0}</td><td>{1}</td><td class=\"name\">{2}{mark}</td><td>{3:+.2}</td><td>{4:.2}</td><td class=\"name\">{5}</td><td>{source}</td></tr>",
        played.ply,
        played.player,
        escaped(&played.shown),
        played.value_after,
        played.loss,
        better.map(|better| escaped(better)).unwrap_or_default()
    )
}

/// The findings about a move, in a line.
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
    format!(r#"<em class="mark" data-mark="{0}">{0}</em>"#, mark.symbol())
}
