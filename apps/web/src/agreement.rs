//! What rules and agents do in a fixed set of positions, as lines of text that two builds of this crate can be compared by.

use std::fmt::Write;

use serde_json::Value;
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, AnyState};
use turnstone_models::Instructions;

use crate::error::Fault;
use crate::searcher::Searcher;
use crate::table::{Table, json};

/// A line for each of `count` positions of random games: position, checksums of the drawing and of the page's view, and
/// with a network its priors and value as bits, and the action chosen by `spec`.
///
/// # Errors
/// The game, the spec or the checkpoint has a fault.
pub fn lines(
    game: &str,
    count: usize,
    spec: &str,
    network: Option<&[u8]>,
    instructions: Instructions,
) -> Result<Vec<String>, Fault> {
    let table = Table::new(game, "{}")?;
    let mut searcher = Searcher::with_instructions(table.clone(), spec, network, 1, instructions)?;
    positions(&table, count).iter().map(|position| line(&table, &mut searcher, position)).collect()
}

/// Running positions of random games, each from another game.
fn positions(table: &Table, count: usize) -> Vec<String> {
    use rand::RngExt;
    let game = table.game();
    let mut positions = Vec::new();
    let mut number = 0;
    while positions.len() < count {
        let mut rng = stream(17, Purpose::Sample, [number, 0]);
        number += 1;
        let mut state = game.start();
        let mut running: Vec<AnyState> = Vec::new();
        while game.outcome(&state).is_none() {
            running.push(state.clone());
            let legal = game.legal_actions(&state);
            let action: Action = legal[rng.random_range(0..legal.len())];
            game.play(&mut state, action);
        }
        positions.push(game.position_text(&running[rng.random_range(0..running.len())]));
    }
    positions
}

fn line(table: &Table, searcher: &mut Searcher, position: &str) -> Result<String, Fault> {
    let view = table.view(position)?;
    let parsed: Value = serde_json::from_str(&view).expect("the view is JSON");
    let drawing = parsed["drawing"].as_str().unwrap_or_default();
    let checksum = |text: &str| crc32fast::hash(text.as_bytes());
    let mut line = format!("{position} | {:08x} {:08x} |", checksum(drawing), checksum(&view));
    if let Ok(prediction) = searcher.predict(position) {
        let prediction: Value = serde_json::from_str(&prediction).expect("a prediction is JSON");
        let bits = |value: &Value| (value.as_f64().unwrap_or(f64::NAN) as f32).to_bits();
        for prior in prediction["priors"].as_array().into_iter().flatten() {
            write!(line, " {:08x}", bits(&prior["prior"])).expect("a string");
        }
        write!(line, " : {:08x} {:08x} |", bits(&prediction["value"]), bits(&prediction["draw"])).expect("a string");
    }
    let action = searcher.choose(position, None, &mut |_| {})?;
    Ok(format!("{line} {action}"))
}

/// The lines as a JSON array.
///
/// # Errors
/// As for [`lines`].
pub fn lines_json(game: &str, count: usize, spec: &str, network: Option<&[u8]>) -> Result<String, Fault> {
    Ok(json(&lines(game, count, spec, network, Instructions::best())?))
}
