//! Answers, one JSON object each. Values and probabilities are for the player to move.

use std::fmt::Display;

use serde_json::{Value, json};
use turnstone_agents::{AnalysedAction, Analysis};
use turnstone_env::{AnyState, DynGame, Outcome};

use super::query::Task;

/// The result of a search, which may have been stopped early.
pub(super) fn analysed(game: &dyn DynGame, task: &Task, analysis: &Analysis) -> Value {
    if analysis.stopped && analysis.visits == 0 {
        return given_up(task);
    }
    let Analysis { mover, estimate, .. } = analysis;
    let mut answer = head(game, task);
    answer["rootInfo"] = json!({
        "visits": analysis.visits,
        "value": rounded(mover.sign() * estimate.value),
        "winDrawLoss": estimate.win_draw_loss(*mover).map(rounded),
        "proven": analysis.proven.map(|value| i32::from(value) * mover.sign() as i32),
    });
    answer["moveInfos"] = moves(game, &task.state, analysis).into();
    if analysis.stopped {
        answer["terminated"] = true.into();
    }
    answer
}

/// The answer for a position in which the game is over.
pub(super) fn finished(game: &dyn DynGame, task: &Task, outcome: &Outcome) -> Value {
    let mut answer = head(game, task);
    answer["outcome"] = outcome.name().into();
    answer["moveInfos"] = json!([]);
    answer
}

/// The answer for a task that was terminated before its search had any result.
pub(super) fn given_up(task: &Task) -> Value {
    json!({ "id": task.id, "turnNumber": task.turn, "isDuringSearch": false, "noResults": true })
}

/// The answer for a task whose search has ended with an error.
pub(super) fn failed(task: &Task, error: &dyn Display) -> Value {
    json!({ "id": task.id, "turnNumber": task.turn, "error": error.to_string(), "field": null })
}

fn head(game: &dyn DynGame, task: &Task) -> Value {
    json!({
        "id": task.id,
        "turnNumber": task.turn,
        "isDuringSearch": false,
        "position": game.position_text(&task.state),
        "player": game.mover(&task.state).number(),
    })
}

/// The legal moves: the move to play first, then by visits and prior.
fn moves(game: &dyn DynGame, state: &AnyState, analysis: &Analysis) -> Vec<Value> {
    let sign = analysis.mover.sign();
    let info = |(order, AnalysedAction { root, line, .. }): (usize, &AnalysedAction)| {
        json!({
            "move": game.action_text(state, root.action),
            "order": order,
            "visits": root.visits,
            "prior": rounded(root.prior),
            "value": (root.visits > 0).then(|| rounded(sign * root.value)),
            "proven": root.proven.map(|value| i32::from(value) * sign as i32),
            "pv": game.line_texts(state, line),
        })
    };
    analysis.actions.iter().enumerate().map(info).collect()
}

/// Rounds to six decimals.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1e6).round() / 1e6
}
