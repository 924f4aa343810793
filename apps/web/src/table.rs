//! A game on the page: its board, its rules and its texts.

use std::sync::Arc;

use serde::Serialize;
use turnstone_agents::sheet::{Parameter, lessons, parameters, section};
use turnstone_agents::{PRETRAINED, PlayableGame, Role, Traits, levels};
use turnstone_env::board::{self, Content, Place, Shape};
use turnstone_env::{Action, AnyState, Side};

use crate::error::Fault;
use crate::list::{games, make};

/// A game with its parameters.
#[derive(Clone, Debug)]
pub struct Table {
    game: Arc<dyn PlayableGame>,
}

/// All that stays the same during a game.
#[derive(Serialize)]
struct Board {
    name: &'static str,
    version: u32,
    params: Vec<Param>,
    /// Whether all parameters have their default values.
    standard: bool,
    /// The points of the board; empty where the drawing shows none.
    points: Vec<Point>,
    /// The stores of both sides, where the drawing shows them.
    stores: [Option<Point>; 2],
    sides: [&'static str; 2],
    /// Index of the side with the dark stones.
    dark: usize,
    /// Names of the static evaluations.
    heuristics: Vec<&'static str>,
    /// The levels that the page can play, the weakest first; none with other than the standard parameters.
    levels: Vec<Level>,
    /// The starting position.
    start: String,
    /// How to play, a sentence each, with a position and an action to show beside it.
    lessons: Vec<(String, Option<[String; 2]>)>,
    /// The rules in words, as Markdown; absent where the game has no sheet.
    rules: Option<String>,
}

/// An agent of measured strength.
#[derive(Serialize)]
struct Level {
    number: u8,
    /// Elo, where random moves have 0.
    elo: i32,
    agent: String,
    /// Whether it plays the game's trained network.
    network: bool,
}

#[derive(Serialize)]
struct Point {
    name: String,
    /// Centre in the drawing.
    at: [f32; 2],
    /// Radius of what belongs to the point.
    radius: f32,
}

#[derive(Serialize)]
struct Param {
    key: String,
    value: String,
    default: String,
    /// Values that it can have, and what it changes; empty where the game has no sheet.
    range: String,
    meaning: String,
}

/// A position as the page shows it.
#[derive(Serialize)]
struct View {
    position: String,
    drawing: String,
    /// Index of the side to move.
    mover: usize,
    outcome: Option<Outcome>,
    legal: Vec<Legal>,
    /// What is on each point.
    contents: Vec<String>,
    /// Formed lines, as points.
    lines: Vec<Vec<usize>>,
    /// What the drawing does not show, by side or of both.
    notes: Vec<(Option<usize>, String)>,
    /// Pieces that each side has taken.
    captured: [usize; 2],
    /// What the mover does, and why the game is over.
    task: String,
    reason: String,
    phase: &'static str,
}

/// What an action does.
#[derive(Serialize)]
struct Movement {
    /// What it brings about in words; empty where it only moves something.
    event: String,
    steps: Vec<Step>,
}

/// Pieces that go from a place to another. A place is a point, or -1 for what is beside the board of player 1, -2 of player 2.
#[derive(Serialize)]
struct Step {
    from: isize,
    to: isize,
    /// Whose piece it is; absent for stones of no side.
    side: Option<usize>,
    count: u8,
    /// The board while they are in the air.
    drawing: String,
}

#[derive(Serialize)]
struct Outcome {
    /// Index of the winner; absent in a draw.
    winner: Option<usize>,
    /// Whether a limit ended the game.
    truncated: bool,
    margin: u16,
}

#[derive(Serialize)]
struct Legal {
    /// The action as people see it, and as files have it.
    action: String,
    written: String,
    clicks: Vec<usize>,
}

impl Table {
    /// A game by its name, with parameters as a JSON object.
    ///
    /// # Errors
    /// An unknown game or parameter, or a value out of its range.
    pub fn new(name: &str, params: &str) -> Result<Self, Fault> {
        Ok(Self { game: make(name, params)? })
    }

    /// The names of all games as a JSON array.
    #[must_use]
    pub fn names() -> String {
        json(&games().names().collect::<Vec<_>>())
    }

    pub(crate) fn game(&self) -> &dyn PlayableGame {
        &*self.game
    }

    pub(crate) fn state(&self, position: &str) -> Result<AnyState, Fault> {
        Ok(self.game.parse_position(position)?)
    }

    /// All that stays the same during a game, as a JSON object.
    #[must_use]
    pub fn board(&self) -> String {
        let game = self.game();
        let (params, defaults) = (game.params(), game.default_params());
        let (explained, start) = (parameters(game), game.board(&game.start(), None));
        let param = |(key, value): (&str, &str)| {
            let known = explained.iter().find(|param| param.name == key);
            let text = |field: fn(&Parameter) -> &String| known.map_or_else(String::new, |param| field(param).clone());
            Param {
                key: key.into(),
                value: value.into(),
                default: text(|param| &param.default),
                range: text(|param| &param.range),
                meaning: text(|param| &param.meaning),
            }
        };
        json(&Board {
            name: game.name(),
            version: game.version(),
            standard: params == defaults,
            params: params.iter().map(param).collect(),
            points: start.points().into_iter().map(Point::from).collect(),
            stores: Side::BOTH.map(|side| start.store(side).map(Point::from)),
            sides: game.spec().sides,
            dark: start.dark.index(),
            heuristics: game.heuristics(),
            levels: if params == defaults { playable_levels(game) } else { Vec::new() },
            start: game.position_text(&game.start()),
            lessons: lessons(game).into_iter().map(|lesson| (lesson.text, lesson.picture)).collect(),
            rules: section(game, "Rules"),
        })
    }

    /// A position as a JSON object: drawing, mover, outcome, legal actions with their clicks, contents of points.
    ///
    /// # Errors
    /// The text describes no position of the game.
    pub fn view(&self, position: &str) -> Result<String, Fault> {
        let (game, state) = (self.game(), self.state(position)?);
        let (legal, board) = (game.legal_actions(&state), game.board(&state, None));
        let notes = match &board.shape {
            Shape::Pits(pits) => {
                Side::BOTH.map(|side| (Some(side), format!("{} in store", pits.stores[side.index()]))).into()
            }
            _ => board.notes.clone(),
        };
        let outcome = game.outcome(&state).map(|outcome| Outcome {
            winner: outcome.winner.map(Side::index),
            truncated: outcome.truncated,
            margin: outcome.margin.unsigned_abs(),
        });
        Ok(json(&View {
            position: game.position_text(&state),
            drawing: self.drawing(&state, board.clone()),
            mover: game.mover(&state).index(),
            outcome,
            legal: legal
                .iter()
                .map(|&action| Legal {
                    action: game.display_text(&state, action),
                    written: game.action_text(&state, action),
                    clicks: game.clicks(&state, action),
                })
                .collect(),
            contents: board.words(game.spec().sides),
            lines: board.formed,
            notes: notes.into_iter().map(|(side, note)| (side.map(Side::index), note)).collect(),
            captured: board.captured,
            task: board.task,
            reason: board.reason,
            phase: game.phase(&state).name(),
        }))
    }

    /// The board without what the page says beside it.
    fn drawing(&self, state: &AnyState, board: board::Board) -> String {
        let title = format!("{}: {}", self.game.name(), self.game.position_text(state));
        board::Board { notes: Vec::new(), ..board }.svg(&title)
    }

    /// What an action does, as a JSON object: the event, and the steps with the drawing during each.
    ///
    /// # Errors
    /// As [`Table::play`].
    pub fn movement(&self, position: &str, action: &str) -> Result<String, Fault> {
        let (before, after, action) = self.played(position, action)?;
        let [from, to] = [self.game.board(&before, None), self.game.board(&after, Some((&before, action)))];
        let place = |place: Place| match place {
            Place::Point(point) => point as isize,
            Place::Beside(side) => -1 - side.index() as isize,
        };
        let steps = from.frames(&to).into_iter().zip(&to.steps).map(|(frame, step)| {
            let (side, count) = match step.what {
                Content::Empty => (None, 0),
                Content::Piece(side) => (Some(side.index()), 1),
                Content::Stones(stones) => (None, stones),
            };
            Step { from: place(step.from), to: place(step.to), side, count, drawing: self.drawing(&before, frame) }
        });
        Ok(json(&Movement { steps: steps.collect(), event: to.event.clone() }))
    }

    /// The states before and after an action, and the action.
    fn played(&self, position: &str, action: &str) -> Result<(AnyState, AnyState, Action), Fault> {
        let before = self.state(position)?;
        let action = self.game.parse_action(&before, action)?;
        let mut after = before.clone();
        self.game.try_play(&mut after, action)?;
        Ok((before, after, action))
    }

    /// The position after an action.
    ///
    /// # Errors
    /// The texts name no position or action, or the action is illegal.
    pub fn play(&self, position: &str, action: &str) -> Result<String, Fault> {
        Ok(self.game.position_text(&self.played(position, action)?.1))
    }
}

impl From<turnstone_env::svg::BoardPoint> for Point {
    fn from(point: turnstone_env::svg::BoardPoint) -> Self {
        Self { name: point.label, at: point.at, radius: point.radius }
    }
}

/// The levels whose agents need no file but the game's trained network, which the page fetches when it plays. A fault in a
/// game's levels leaves none here; `level:1` names it in the program.
fn playable_levels(game: &dyn PlayableGame) -> Vec<Level> {
    let level = |level: turnstone_agents::Level| {
        let Traits { role, checkpoint, has_tables, .. } = level.agent.traits();
        let network = checkpoint.is_some();
        let has_files = has_tables || checkpoint.is_some_and(|checkpoint| checkpoint.as_os_str() != PRETRAINED);
        if role != Role::Player || has_files {
            return None;
        }
        Some(Level { number: level.number, elo: level.elo, agent: level.agent.to_string(), network })
    };
    levels(game).unwrap_or_default().into_iter().filter_map(level).collect()
}

/// The JSON text of a value made of plain fields.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain fields become JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use turnstone_agents::{GameFiles, Playable};

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn a_position_comes_with_all_that_a_page_shows() {
        let table = Table::new("morris", "{}").unwrap();
        let position = "WWxxxxxBxxxxxxxxxB W 6 6 - 0";
        let view = parsed(&table.view(position).unwrap());
        assert_eq!((view["position"].as_str(), view["mover"].as_u64()), (Some(position), Some(0)));
        assert_eq!(view["legal"][0]["action"], "b1");
        assert_eq!(view["legal"][0]["clicks"], serde_json::json!([2]));
        assert_eq!(view["contents"][0], "White");
        assert!(view["drawing"].as_str().unwrap().starts_with("<svg "));
        assert!(view["outcome"].is_null());
        let after = table.play(position, "g3").unwrap();
        let view = parsed(&table.view(&after).unwrap());
        assert_eq!(after, "WWxxxxxBWxxxxxxxxB B 5 6 - 0");
        assert_eq!(view["mover"], 1);
        let board = parsed(&table.board());
        assert_eq!((board["dark"].as_u64(), board["sides"][0].as_str()), (Some(1), Some("White")));
        assert_eq!(board["standard"], true);
        assert!(board["rules"].as_str().unwrap().starts_with("White is player 1."));
        let pieces = &board["params"][1];
        assert_eq!((pieces["key"].as_str(), pieces["default"].as_str()), (Some("pieces"), Some("8")));
        assert_eq!((pieces["range"].as_str(), pieces["meaning"] == ""), (Some("3 to 9"), false));
    }

    #[test]
    fn levels_come_with_the_standard_parameters_and_are_those_of_the_program() {
        for game in games().defaults() {
            let of_the_program = levels(&*game).unwrap();
            let board = parsed(&Table::new(game.name(), "{}").unwrap().board());
            let shown = board["levels"].as_array().unwrap();
            assert_eq!(shown.len(), 8, "{}", game.name());
            for (shown, level) in shown.iter().zip(of_the_program) {
                assert_eq!(shown["agent"].as_str(), Some(&level.agent.to_string()[..]));
                let numbers = (shown["number"].as_u64(), shown["elo"].as_i64());
                assert_eq!(numbers, (Some(level.number.into()), Some(level.elo.into())));
                assert_eq!(shown["network"], true, "{level}");
            }
        }
        let board = parsed(&Table::new("mancala", r#"{"stones": 3}"#).unwrap().board());
        assert_eq!(board["levels"], serde_json::json!([]));
    }

    #[test]
    fn levels_that_need_other_files_are_left_out() {
        struct Own;
        impl Playable for Own {
            type Game = turnstone_env::games::MuTorere;

            fn files() -> GameFiles {
                let ladder = r#"[levels]
                    1 = ["random", 10, 0, 20]
                    2 = ["az:mine.safetensors,sims=8", 20, 10, 30]
                    3 = ["exact:tables", 30, 20, 40]
                    4 = ["az:pretrained,sims=8", 40, 30, 50]
                    5 = ["alphabeta:depth=4", 50, 40, 60]"#;
                GameFiles { ladder: Some(ladder), ..GameFiles::default() }
            }
        }
        let own = turnstone_agents::row::<Own>();
        let list: turnstone_env::Games<dyn PlayableGame> = [own].into_iter().collect();
        let game = list.defaults().next().expect("one");
        let found: Vec<_> = playable_levels(&*game).iter().map(|level| (level.number, level.network)).collect();
        assert_eq!(found, [(1, false), (4, true), (5, false)]);
    }

    #[test]
    fn faults_come_as_one_line() {
        assert!(Table::new("chess", "{}").unwrap_err().0.contains("chess"));
        assert!(Table::new("konane", r#"{"size": 5}"#).unwrap_err().0.contains("even"));
        assert!(Table::new("konane", "[]").unwrap_err().0.contains("no JSON object"));
        let table = Table::new("mu_torere", r#"{"max_plies": 20}"#).unwrap();
        assert_eq!(parsed(&table.board())["standard"], false);
        assert!(table.view("nothing").is_err() && table.play("121202121 1 0", "0,1").is_err());
    }
}
