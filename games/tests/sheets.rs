//! The games' sheets as programs print them.

use turnstone_agents::sheet::{Parameter, parameters, section};
use turnstone_games::built_in;

/// Each parameter of the built-in games has a row, with the default that is in force.
#[test]
fn sheets_explain_all_parameters() {
    for game in built_in().defaults() {
        let table = section(&*game, "Parameters").expect("a table of parameters");
        for parameter in parameters(&*game) {
            let Parameter { name, default, range, meaning, .. } = parameter;
            assert!(!range.is_empty() && !meaning.is_empty(), "{} of {}", name, game.name());
            let row = table.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).expect("a row");
            let written = row.split(" | ").nth(1).expect("a default").replace('`', "");
            assert_eq!(written, default, "{name} of {}", game.name());
        }
    }
}
