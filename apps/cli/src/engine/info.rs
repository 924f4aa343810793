//! Output lines of a search: `info ...`, and errors as `info string error: ...`.

use std::fmt::Write;
use std::time::Duration;

use turnstone_env::{AnyState, DynGame};

use crate::output::one_line;
use turnstone_agents::SearchInfo;

/// Formats an `info` line of a search of `state`; `time` is the duration of the search so far.
pub(super) fn info_line(game: &dyn DynGame, state: &AnyState, info: &SearchInfo, time: Duration) -> String {
    let nps = info.nodes as f64 / time.as_secs_f64().max(1e-6);
    let mut line = format!("info depth {} nodes {} nps {nps:.0} time {}", info.depth, info.nodes, time.as_millis());
    if let Some(score) = &info.score {
        let [win, draw, loss] = permille(score.win_draw_loss);
        write!(line, " score cp {} wdl {win} {draw} {loss}", score.score).expect("a string takes everything");
    }
    line.push_str(" pv");
    for text in game.line_texts(state, &info.line) {
        line.push(' ');
        line.push_str(&text);
    }
    line
}

/// Formats an error as one printable line of bounded length.
pub(super) fn complaint(fault: &str) -> String {
    format!("info string error: {}", one_line(&fault.replace('\r', " "), "…"))
}

/// Probabilities of win, draw and loss in thousandths that sum to 1000.
fn permille([win, _, loss]: [f32; 3]) -> [u32; 3] {
    let win = (1000.0 * win).round() as u32;
    let loss = ((1000.0 * loss).round() as u32).min(1000 - win);
    [win, 1000 - win - loss, loss]
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_agents::Score;
    use turnstone_env::Erased;
    use turnstone_env::games::Mancala;

    #[test]
    fn a_thought_is_one_line() {
        let game = Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default());
        let action = game.parse_action(&game.start(), "B5").expect("an action");
        let score = Score { score: -4, win_draw_loss: [0.2995, 0.401, 0.2995] };
        let mut info = SearchInfo { depth: 3, nodes: 500, score: Some(score), line: vec![action] };
        let line = info_line(&game, &game.start(), &info, Duration::from_millis(250));
        assert_eq!(line, "info depth 3 nodes 500 nps 2000 time 250 score cp -4 wdl 300 400 300 pv B5");
        info.score = None;
        assert_eq!(
            info_line(&game, &game.start(), &info, Duration::ZERO),
            "info depth 3 nodes 500 nps 500000000 time 0 pv B5"
        );
        assert_eq!(complaint("a\0b\nc"), "info string error: a\\u{0}b c");
        assert!(complaint(&"x".repeat(100_000)).len() < 2100);
        assert_eq!(permille([0.0005, 0.0, 0.9995]), [1, 0, 999]);
    }
}
