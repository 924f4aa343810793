//! Exact values of small games, and of endings where a solver is quick.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use turnstone_agents::review::{Mark, exact_mark};
use turnstone_agents::{DynExactValues, Effort};

use crate::error::Fault;
use crate::table::{Table, json};

/// Positions up to which a game is enumerated: less than a second.
const MOST_POSITIONS: usize = 200_000;

/// Exact values of a game.
pub struct Truth {
    table: Table,
    pub(crate) values: Arc<dyn DynExactValues>,
}

/// Exact values for player 1.
#[derive(Serialize)]
struct Values {
    value: i8,
    actions: Vec<ActionValue>,
}

#[derive(Serialize)]
struct ActionValue {
    action: String,
    value: i8,
    /// Whether the action keeps the position's value.
    keeps: bool,
    mark: Option<Mark>,
}

impl Truth {
    /// The exact values of a game: of all positions if there are few, else those that a solver finds quickly without
    /// tables; `None` if there are none.
    ///
    /// # Errors
    /// The game has a ply limit that cannot be switched off.
    pub fn of(table: &Table) -> Result<Option<Self>, Fault> {
        let game = table.game();
        let values = match game.enumerate(MOST_POSITIONS)? {
            Some(all) => Some(all.truth),
            // Where a game needs table files, there are no values.
            None => game.exact_values(Path::new(""), Effort::Quick).unwrap_or_default(),
        };
        Ok(values.map(|values| Self { table: table.clone(), values: values.into() }))
    }

    /// The value of a position and of its legal actions, as a JSON object; `null` if it is not covered.
    ///
    /// # Errors
    /// The text describes no position.
    pub fn values(&self, position: &str) -> Result<String, Fault> {
        let (game, state) = (self.table.game(), self.table.state(position)?);
        let value_after = |action| {
            let mut after = state.clone();
            game.play(&mut after, action);
            self.values.value(&after).map(|value| (action, value))
        };
        let legal = game.legal_actions(&state);
        let actions: Option<Vec<_>> = legal.iter().map(|&action| value_after(action)).collect();
        let values = self.values.value(&state).zip(actions).map(|(value, actions)| {
            let kept = actions.iter().filter(|&&(_, after)| after == value).count();
            let is_only = kept == 1 && actions.len() > 1;
            let of_action = |(action, after)| ActionValue {
                action: game.display_text(&state, action),
                value: after,
                keeps: after == value,
                mark: exact_mark(game.mover(&state), [value, after], is_only),
            };
            Values { value, actions: actions.into_iter().map(of_action).collect() }
        });
        Ok(json(&values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn values(game: &str, params: &str, position: Option<&str>) -> Value {
        let table = Table::new(game, params).unwrap();
        let board: Value = serde_json::from_str(&table.board()).unwrap();
        let truth = Truth::of(&table).unwrap().expect("the game has exact values");
        serde_json::from_str(&truth.values(position.unwrap_or(board["start"].as_str().unwrap())).unwrap()).unwrap()
    }

    #[test]
    fn small_games_are_known_completely() {
        let start = values("mu_torere", "{}", None);
        assert_eq!(start["value"], 0);
        let keeps = |action: &Value| (action["action"].as_str().unwrap().to_owned(), action["keeps"] == true);
        let kept: Vec<(String, bool)> = start["actions"].as_array().unwrap().iter().map(keeps).collect();
        assert!(!kept.is_empty() && kept.iter().any(|(_, keeps)| *keeps), "{kept:?}");
        assert_eq!(values("konane", r#"{"size": 4}"#, None)["value"], -1);
        assert!(values("mancala", r#"{"pits": 3, "stones": 2}"#, None)["value"].is_i64());
    }

    #[test]
    fn larger_games_are_known_where_a_solver_is_quick() {
        let ending = "......../......../......../......../......../......../......../OXO..... X";
        let known = values("konane", "{}", Some(ending));
        assert!(known["value"].is_i64(), "{known}");
        assert!(values("konane", "{}", None).is_null(), "the start is not solved");
        assert!(Truth::of(&Table::new("morris", "{}").unwrap()).unwrap().is_none(), "without its table");
    }
}
