//! What a tree search with a network finds in one position.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use turnstone_agents::{Agent, AgentSpec, AnalysedAction, Analysis, Budget, Leaves, PlayableGame};
use turnstone_env::AnyState;
use turnstone_models::Instructions;
use turnstone_search::classic::Stop;

/// Capacity of the evaluation cache, in positions.
const CACHED: usize = 1 << 16;

/// Searches a position in which the game is not over. The result repeats if `agent` has one thread.
///
/// # Errors
/// The agent has no network, has tables or is limited by time, or the GPU failed.
pub(super) fn analysis(game: &dyn PlayableGame, state: &AnyState, agent: &Agent) -> Result<Analysis> {
    let (AgentSpec::Az { tree, tables, .. }, Some(network)) = (&agent.spec, agent.network()) else {
        bail!("agent `{}` has no network; name a checkpoint: az:<file>, or az:pretrained", agent.spec);
    };
    if tables.is_some() {
        bail!("agent `{}`: tables are for play, not for analysis", agent.spec);
    }
    let Budget::Simulations(simulations) = tree.budget else {
        bail!("agent `{}`: positions are analysed by simulations, not by time", agent.spec);
    };
    let leaves = Leaves::Network { network, tree, batch: 1, instructions: Instructions::best() };
    let mut search = game.tree_search(leaves, CACHED)?;
    search.analyse(0, state, simulations.max(1), Stop::default());
    while search.searching() > 0 {
        search.advance(&mut Vec::new())?;
    }
    Ok(search.analysis(0))
}

/// The result for people. Values are for player 1.
pub(super) fn text(game: &dyn PlayableGame, state: &AnyState, analysis: &Analysis) -> String {
    let Analysis { estimate, actions, .. } = analysis;
    let [win, draw, loss] = estimate.win_draw_loss(turnstone_env::Side::First).map(|share| 100.0 * share);
    let proven = analysis.proven.map_or("", |_| ", proven");
    let mut text = format!(
        "value         {:+.3} for player 1{proven}: win {win:.1} %, draw {draw:.1} %, loss {loss:.1} %\n\
         simulations   {}",
        estimate.value, analysis.visits
    );
    for AnalysedAction { root, line, .. } in actions {
        let (action, line) = (game.action_text_in(state, root.action), game.line_texts(state, line).join(" "));
        let value = if root.visits > 0 { format!("{:+.3}", root.value) } else { String::new() };
        text += &format!(
            "\n{action:<14}{:>8} visits  {:>5.1} % prior  {value:>6}  {line}",
            root.visits,
            100.0 * root.prior
        );
    }
    text
}

/// The result for scripts. Values and probabilities are for the player to move; the names are those of KataGo's analysis
/// engine where the meaning is the same.
pub(super) fn json(game: &dyn PlayableGame, state: &AnyState, analysis: &Analysis) -> Value {
    let Analysis { mover, estimate, .. } = analysis;
    let sign = mover.sign();
    let info = |(order, AnalysedAction { root, line, .. }): (usize, &AnalysedAction)| {
        json!({
            "move": game.action_text_in(state, root.action),
            "order": order,
            "visits": root.visits,
            "prior": rounded(root.prior),
            "value": (root.visits > 0).then(|| rounded(sign * root.value)),
            "proven": root.proven.map(|value| i32::from(value) * sign as i32),
            "pv": game.line_texts(state, line),
        })
    };
    json!({
        "position": game.position_text(state),
        "player": mover.number(),
        "rootInfo": {
            "visits": analysis.visits,
            "value": rounded(sign * estimate.value),
            "winDrawLoss": estimate.win_draw_loss(*mover).map(rounded),
            "proven": analysis.proven.map(|value| i32::from(value) * sign as i32),
        },
        "moveInfos": analysis.actions.iter().enumerate().map(info).collect::<Vec<Value>>(),
    })
}

/// Rounded to six digits.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1e6).round() / 1e6
}
