//! Sample games of the newest checkpoint against itself, which the page replays.

use std::fmt::Write;

use serde_json::json;
use turnstone_agents::{SearchKind, SearchSettings};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Side;
use turnstone_models::NetworkError;
use turnstone_search::Evaluation;

use crate::config::Config;
use turnstone_agents::LoadedNetwork;
use turnstone_arena::page::{Boards, Chart, Form, Series, data, escaped};
use turnstone_selfplay::TrainableGame;
use turnstone_selfplay::{SamplePly, Sampling};

/// Number of sample games in a report.
pub(super) const GAMES: u64 = 3;
/// Maximum number of plies of a sample game.
const MOST_PLIES: usize = 300;
/// Number of initial plies that are sampled from the search's policy in all games but the first.
const VARIED_PLIES: usize = 8;

/// A game of a network against itself.
pub(super) struct SampleGame {
    how: String,
    moves: Vec<(Side, String)>,
    /// The boards before the first and after every move, as SVG documents.
    boards: Vec<String>,
    /// Probabilities of win, draw and loss for player 1 in each of these positions, as estimated by the search; the
    /// outcome in the last position of a finished game.
    values: Vec<[f32; 3]>,
    ending: String,
}

/// Plays game `number` (from 0). The result depends only on the network, the config and the number of simulations.
///
/// # Errors
/// The network cannot be built.
pub(super) fn play(
    game: &dyn TrainableGame,
    network: &LoadedNetwork,
    config: &Config,
    simulations: u32,
    number: u64,
) -> Result<SampleGame, NetworkError> {
    let varied = if number == 0 { 0 } else { VARIED_PLIES };
    let search = SearchSettings { method: config.arena.method, ..network.search_settings() };
    let sampling = Sampling { search, simulations, varied_plies: varied, most_plies: MOST_PLIES };
    let plies = game.sample_game(network, &sampling, &mut stream(config.seed, Purpose::Sample, [number, 0]))?;
    let mut state = game.start();
    let mut boards = vec![game.draw_svg(&state, None)];
    let (mut moves, mut values) = (Vec::new(), Vec::new());
    for SamplePly { value, action } in plies {
        values.push(value);
        moves.push((game.mover(&state), game.action_text(&state, action)));
        let before = state.clone();
        game.play(&mut state, action);
        boards.push(game.draw_svg(&state, Some((&before, action))));
    }
    let outcome = game.outcome(&state);
    values.push(match &outcome {
        Some(outcome) => Evaluation::exact(outcome.value()).win_draw_loss(Side::First),
        None => values.last().copied().unwrap_or([0.0, 1.0, 0.0]),
    });
    let ending = match outcome {
        Some(_) => game.spec().status(outcome, Side::First),
        None => "unfinished".into(),
    };
    let how = match varied {
        0 => format!("the best move of {simulations} simulations in every position"),
        _ => format!("{simulations} simulations; the first {varied} plies sampled from the search's policy"),
    };
    let how = if config.arena.method == SearchKind::Gumbel { format!("{how}, Gumbel search") } else { how };
    Ok(SampleGame { how, moves, boards, values, ending })
}

impl SampleGame {
    /// Renders the game as a card of the page and adds its boards to the page's. `number` counts from 1.
    pub(super) fn card(&self, number: u64, boards: &mut Boards) -> String {
        let plies = self.moves.len();
        let (how, ending) = (escaped(&self.how), escaped(&self.ending));
        let last = &self.boards[plies];
        let numbers = in_words(self.values[plies]);
        let (bar, chart, moves, data) = (bar(self.values[plies]), self.chart(), self.move_list(), self.data(boards));
        format!(
            r#"<article class="card game" id="game-{number}">
<h3>Game {number}: {ending} after {plies} plies</h3>
<p class="note">{how}</p>
<div class="table">
<div class="board">{last}</div>
<div class="controls" hidden>
<button type="button" class="back" aria-label="previous ply">&#9664;</button>
<input type="range" min="0" max="{plies}" value="{plies}" aria-label="ply">
<button type="button" class="on" aria-label="next ply">&#9654;</button>
<button type="button" class="run">play</button>
</div>
</div>
<div class="side">
<p class="now"><b class="ply">End</b> <span class="numbers">{numbers}</span></p>
{bar}
<ul class="legend stacked"><li><i class="c1"></i>player 1 wins</li><li><i class="c2"></i>draw</li><li><i class="c3"></i>player 2 wins</li></ul>
{chart}
{moves}
</div>
{data}</article>
"#
        )
    }

    /// Chart of the probabilities over the plies.
    fn chart(&self) -> String {
        let names = ["player 1 wins", "draw", "player 2 wins"];
        let layer =
            |i: usize| self.values.iter().enumerate().map(move |(ply, p)| (ply as f64, 100.0 * f64::from(p[i])));
        let series = names.into_iter().enumerate().map(|(i, name)| Series::new(name, layer(i))).collect();
        let chart = Chart {
            title: "value after every move",
            unit: "%",
            x_unit: "ply",
            form: Form::Stacked,
            x_range: None,
            y: None,
            series,
        };
        let ([_, right], [top, bottom]) = (Chart::x_ends(), Chart::y_ends());
        let cursor = format!(r#"<path class="cursor" d="M{right} {top}V{bottom}"/>"#);
        chart.svg(&cursor)
    }

    fn move_list(&self) -> String {
        let mut items = String::new();
        for ((side, text), value) in self.moves.iter().zip(&self.values[1..]) {
            let (player, text, title) = (side.index() + 1, escaped(text), in_words(*value));
            write!(items, r#"<li class="p{player}" title="{title}">{text}</li>"#).expect("a string");
        }
        format!(r#"<ol class="moves" tabindex="0" aria-label="moves">{items}</ol>"#)
    }

    /// Data for the replay script.
    fn data(&self, boards: &mut Boards) -> String {
        let moves: Vec<&str> = self.moves.iter().map(|(_, text)| text.as_str()).collect();
        let values: Vec<[i64; 3]> = self.values.iter().map(|value| per_mille(*value)).collect();
        let packed = boards.pack(self.boards.iter().cloned());
        let all =
            json!({ "boards": packed, "moves": moves, "values": values, "x": Chart::x_ends(), "y": Chart::y_ends() });
        data(None, &all)
    }
}

fn per_mille(value: [f32; 3]) -> [i64; 3] {
    value.map(|p| (1000.0 * p).round() as i64)
}

/// Formats the probabilities in the same words as the page's script.
fn in_words(value: [f32; 3]) -> String {
    let [win, draw, loss] = value.map(|p| 100.0 * p);
    format!("player 1 wins {win:.0} %, draw {draw:.0} %, player 2 wins {loss:.0} %")
}

/// A stacked bar of the three probabilities.
fn bar(value: [f32; 3]) -> String {
    let [win, draw, loss] = value.map(|p| 100.0 * p);
    format!(
        r#"<div class="wdl stacked" aria-hidden="true"><i class="c1" style="width:{win:.1}%"></i><i class="c2" style="width:{draw:.1}%"></i><i class="c3" style="width:{loss:.1}%"></i></div>"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_stands_without_its_script_and_nothing_in_it_ends_it_early() {
        let game = SampleGame {
            how: "<how>".into(),
            moves: vec![(Side::First, "a<b".into())],
            boards: vec!["<svg>\n<a/>\n</svg>".into(), "<svg>\n<b/>\n</svg>".into()],
            values: vec![[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]],
            ending: "player 1 has won".into(),
        };
        let card = game.card(1, &mut Boards::default());
        assert!(card.contains("<div class=\"board\"><svg>\n<b/>\n</svg></div>"), "{card}");
        assert!(card.contains("a&lt;b</li>") && card.contains("&lt;how&gt;"), "{card}");
        assert_eq!(card.matches("</script>").count(), 1, "{card}");
        let data = card.split_once("json\">").and_then(|(_, rest)| rest.split_once("</script>")).expect("data").0;
        let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
        assert_eq!((&data["moves"], &data["values"][0]), (&json!(["a<b"]), &json!([500, 250, 250])));
    }
}
