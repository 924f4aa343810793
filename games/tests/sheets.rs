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

/// `sheet.md` is a symbolic link to the page in `docs/games`. A checkout without such links has the page's path in it.
#[test]
fn sheets_are_pages() {
    for game in built_in().defaults() {
        let (name, sheet) = (game.name(), game.files().sheet.expect("a sheet"));
        assert!(
            sheet.starts_with("# "),
            "games/src/{name}/sheet.md should be a link to docs/games/{name}.md: clone with `git -c core.symlinks=true`"
        );
    }
}
