//! Queries, one JSON object each, checked field by field.

use serde_json::{Map, Value, json};
use turnstone_base::text::{advice, nearest};
use turnstone_env::{AnyState, DynGame, shortened};

/// Maximum number of simulations of a query.
const MOST_SIMULATIONS: u64 = 1_000_000;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Query {
    /// Analyse these positions.
    Analyse(Vec<Task>),
    /// Terminate the given turns, or all, of the query named `id`, or of all queries.
    Terminate {
        /// The query itself, which is echoed as the answer.
        query: Value,
        id: Option<String>,
        turns: Option<Vec<usize>>,
    },
}

/// One position to analyse.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Task {
    pub(super) id: String,
    /// Number of the query's moves played before the position.
    pub(super) turn: usize,
    pub(super) state: AnyState,
    pub(super) simulations: u32,
    /// Tasks with greater priority are searched first.
    pub(super) priority: i64,
}

/// A fault in a query, which is also the answer to it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Fault {
    id: Option<Value>,
    field: Option<String>,
    error: String,
}

impl Fault {
    /// Creates a fault of a whole line.
    pub(super) fn of_line(error: &impl ToString) -> Self {
        Self { id: None, field: None, error: error.to_string() }
    }

    /// Creates a fault of a query that concerns no particular field.
    pub(super) fn of_query(id: &str, error: &str) -> Self {
        Self { id: Some(id.into()), field: None, error: error.to_string() }
    }

    /// Formats the answer. `id` and `field` are null where they are unknown.
    pub(super) fn answer(&self) -> Value {
        json!({ "id": self.id, "error": self.error, "field": self.field })
    }
}

const FIELDS: [&str; 10] = [
    "id",
    "action",
    "terminateId",
    "turnNumbers",
    "game",
    "position",
    "moves",
    "simulations",
    "analyzeTurns",
    "priority",
];

/// Parses a query; `simulations` is the default of that field.
///
/// # Errors
/// The first invalid field.
pub(super) fn parse(game: &dyn DynGame, line: &str, simulations: u32) -> Result<Query, Fault> {
    let query: Value = serde_json::from_str(line).map_err(|error| Fault::of_line(&format!("not JSON: {error}")))?;
    let Value::Object(fields) = query else { return Err(Fault::of_line(&"a query is a JSON object")) };
    read(game, &fields, simulations).map_err(|(field, error)| Fault {
        id: fields.get("id").filter(|id| id.is_string()).cloned(),
        field: Some(shortened(field)),
        error,
    })
}

/// The name of a field and its fault.
type FieldFault<'a> = (&'a str, String);

fn read<'a>(game: &dyn DynGame, fields: &'a Map<String, Value>, simulations: u32) -> Result<Query, FieldFault<'a>> {
    if let Some(field) = fields.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        return Err((field, format!("unknown field{}", advice(nearest(field, FIELDS).as_deref(), &FIELDS))));
    }
    let id = text(fields, "id")?.ok_or(("id", "missing; it must be a string".to_owned()))?;
    match text(fields, "action")? {
        None => {}
        Some("terminate") => {
            let id = text(fields, "terminateId")?.ok_or(("terminateId", "missing; which query?".to_owned()))?;
            let turns = numbers(fields, "turnNumbers", usize::MAX)?;
            return Ok(Query::Terminate { query: fields.clone().into(), id: Some(id.to_owned()), turns });
        }
        Some("terminate_all") => {
            let turns = numbers(fields, "turnNumbers", usize::MAX)?;
            return Ok(Query::Terminate { query: fields.clone().into(), id: None, turns });
        }
        Some(_) => return Err(("action", "must be terminate or terminate_all".to_owned())),
    }
    if text(fields, "game")?.is_some_and(|name| name != game.name()) {
        return Err(("game", format!("this is an analysis of {}", game.name())));
    }
    let simulations = match fields.get("simulations") {
        None => simulations,
        Some(value) => {
            let number = value.as_u64().filter(|number| (1..=MOST_SIMULATIONS).contains(number));
            number.ok_or_else(|| ("simulations", format!("must be a number from 1 to {MOST_SIMULATIONS}")))? as u32
        }
    };
    let priority = match fields.get("priority") {
        None => 0,
        Some(value) => value.as_i64().ok_or(("priority", "must be a whole number".to_owned()))?,
    };
    let states = states(game, fields)?;
    let turns = numbers(fields, "analyzeTurns", states.len() - 1)?.unwrap_or_else(|| vec![states.len() - 1]);
    let task = |turn| Task { id: id.to_owned(), turn, state: states[turn].clone(), simulations, priority };
    Ok(Query::Analyse(turns.into_iter().map(task).collect()))
}

/// The position, followed by the positions after each of the moves.
fn states<'a>(game: &dyn DynGame, fields: &'a Map<String, Value>) -> Result<Vec<AnyState>, FieldFault<'a>> {
    let mut state = match text(fields, "position")? {
        None => game.start(),
        Some(text) => game.parse_position(text).map_err(|error| ("position", error.to_string()))?,
    };
    let fault = |error: String| ("moves", error);
    let moves: Vec<&str> = match fields.get("moves") {
        None => Vec::new(),
        Some(Value::String(moves)) => moves.split_whitespace().collect(),
        Some(Value::Array(moves)) => moves.iter().map(Value::as_str).collect::<Option<_>>().ok_or_else(no_moves)?,
        Some(_) => return Err(no_moves()),
    };
    let mut states = vec![state.clone()];
    for action in moves {
        let played = game.play_text(&mut state, action).map_err(|error| fault(error.to_string()))?;
        if played.len() != 1 {
            return Err(no_moves());
        }
        states.push(state.clone());
    }
    Ok(states)
}

fn no_moves() -> FieldFault<'static> {
    ("moves", "must be a list of moves, or a string with spaces between them".to_owned())
}

fn text<'a>(fields: &'a Map<String, Value>, field: &'static str) -> Result<Option<&'a str>, FieldFault<'a>> {
    match fields.get(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err((field, "must be a string".to_owned())),
    }
}

/// Parses a list of numbers from 0 to `most`, at least one; sorts it and removes duplicates.
fn numbers<'a>(
    fields: &'a Map<String, Value>,
    field: &'static str,
    most: usize,
) -> Result<Option<Vec<usize>>, FieldFault<'a>> {
    let Some(value) = fields.get(field) else { return Ok(None) };
    let number = |value: &Value| value.as_u64().map(|number| number as usize).filter(|&number| number <= most);
    let list: Option<Vec<usize>> = value.as_array().and_then(|list| list.iter().map(number).collect());
    let mut list = list.ok_or_else(|| (field, format!("must be a list of numbers from 0 to {most}")))?;
    if list.is_empty() {
        return Err((field, "must not be empty".to_owned()));
    }
    list.sort_unstable();
    list.dedup();
    Ok(Some(list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::Erased;
    use turnstone_env::games::Mancala;

    fn parsed(query: &Value) -> Result<Query, Fault> {
        parse(&Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default()), &query.to_string(), 50)
    }

    #[test]
    fn a_query_becomes_a_task_for_each_turn() {
        let query = json!({ "id": "a", "moves": ["B5", "A3"], "analyzeTurns": [2, 0, 2], "priority": -1 });
        let Ok(Query::Analyse(tasks)) = parsed(&query) else { panic!("a query") };
        let turns: Vec<_> = tasks.iter().map(|task| (task.turn, task.simulations, task.priority)).collect();
        assert_eq!(turns, [(0, 50, -1), (2, 50, -1)]);
        let Ok(Query::Analyse(tasks)) = parsed(&json!({ "id": "a", "moves": "B5 A3", "simulations": 7 })) else {
            panic!("a query")
        };
        assert_eq!(
            Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default()).position_text(&tasks[0].state),
            "5,5,4,0,5,5/1 5,0,4,4,4,5/1 1"
        );
        assert_eq!((tasks.len(), tasks[0].turn, tasks[0].simulations), (1, 2, 7));
    }

    #[test]
    fn the_field_at_fault_is_named() {
        for (field, query) in [
            ("id", json!({})),
            ("id", json!({ "id": 7 })),
            ("move", json!({ "id": "a", "move": "B2" })),
            ("game", json!({ "id": "a", "game": "morris" })),
            ("position", json!({ "id": "a", "position": "x" })),
            ("moves", json!({ "id": "a", "moves": ["B2 A2"] })),
            ("moves", json!({ "id": "a", "moves": ["A2"] })),
            ("moves", json!({ "id": "a", "moves": [1] })),
            ("simulations", json!({ "id": "a", "simulations": 0 })),
            ("simulations", json!({ "id": "a", "simulations": 1e30 })),
            ("analyzeTurns", json!({ "id": "a", "analyzeTurns": [1] })),
            ("analyzeTurns", json!({ "id": "a", "analyzeTurns": [] })),
            ("priority", json!({ "id": "a", "priority": "high" })),
            ("action", json!({ "id": "a", "action": "stop" })),
            ("terminateId", json!({ "id": "a", "action": "terminate" })),
            ("turnNumbers", json!({ "id": "a", "action": "terminate_all", "turnNumbers": [] })),
        ] {
            let answer = parsed(&query).expect_err("a fault").answer();
            assert_eq!(answer["field"], *field, "{query}");
            assert_eq!(answer["id"], if query["id"].is_string() { json!("a") } else { Value::Null });
        }
        for line in ["", "[]", "{", "nonsense", "{\"id\":\"a\"} x"] {
            let fault = parse(&Erased::<_, turnstone_games::Mancala>::with_knowledge(Mancala::default()), line, 1)
                .expect_err("a fault")
                .answer();
            assert!(fault["error"].is_string() && fault["field"].is_null());
        }
    }
}
