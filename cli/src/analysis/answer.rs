//! Answers: one JSON object each. Values and probabilities are for the player to move.

use serde_json::{Value, json};
use turnstone_env::{Action, Game, Outcome};
use turnstone_search::{Mcts, RootAction};

use super::query::Task;
use crate::streams::{Purpose, stream};

/// What a search found, as far as it came.
pub(super) fn analysed<G: Game>(game: &G, task: &Task<G::State>, search: &Mcts<G>, terminated: bool) -> Value {
    let visits: u64 = search.actions().map(|action| u64::from(action.visits)).sum();
    if terminated && visits == 0 {
        return given_up(task);
    }
    let mover = search.mover();
    let estimate = search.estimate();
    let mut answer = head(game, task);
    answer["rootInfo"] = json!({
        "visits": visits,
        "value": rounded(mover.sign() * estimate.value),
        "winDrawLoss": estimate.win_draw_loss(mover).map(rounded),
        "proven": search.proven().map(|value| i32::from(value) * mover.sign() as i32),
    });
    answer["moveInfos"] = moves(game, search).into();
    if terminated {
        answer["terminated"] = true.into();
    }
    answer
}

/// A position in which the game is over.
pub(super) fn finished<G: Game>(game: &G, task: &Task<G::State>, outcome: &Outcome) -> Value {
    let mut answer = head(game, task);
    answer["outcome"] = outcome.name().into();
    answer["moveInfos"] = json!([]);
    answer
}

/// A task that was given up before anything was found.
pub(super) fn given_up<S>(task: &Task<S>) -> Value {
    json!({ "id": task.id, "turnNumber": task.turn, "isDuringSearch": false, "noResults": true })
}

fn head<G: Game>(game: &G, task: &Task<G::State>) -> Value {
    json!({
        "id": task.id,
        "turnNumber": task.turn,
        "isDuringSearch": false,
        "position": game.position_text(&task.state),
        "player": game.mover(&task.state).number(),
    })
}

/// The legal moves, the one to play first, then by visits and prior.
fn moves<G: Game>(game: &G, search: &Mcts<G>) -> Vec<Value> {
    let best = search.choose(0.0, &mut stream(0, Purpose::Play, [0, 0]));
    let mut actions: Vec<RootAction> = search.actions().collect();
    let rank = |action: &RootAction| (action.action == best, action.visits, action.prior.to_bits());
    actions.sort_by_key(|action| std::cmp::Reverse(rank(action)));
    let sign = search.mover().sign();
    let text = |action: &Action| game.action_text(*action);
    let info = |(order, action): (usize, &RootAction)| {
        json!({
            "move": text(&action.action),
            "order": order,
            "visits": action.visits,
            "prior": rounded(action.prior),
            "value": (action.visits > 0).then(|| rounded(sign * action.value)),
            "proven": action.proven.map(|value| i32::from(value) * sign as i32),
            "pv": search.line(action.action).iter().map(text).collect::<Vec<_>>(),
        })
    };
    actions.iter().enumerate().map(info).collect()
}

/// Six decimals of a number.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1e6).round() / 1e6
}
