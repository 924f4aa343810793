//! The games' sheets as programs print them.

use turnstone_agents::sheet::{Parameter, lessons, parameters, section};
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

/// Five sentences and four pictures, whose actions are legal where they are played and do something.
#[test]
fn lessons_show_what_they_say() {
    for game in built_in().defaults() {
        let (name, lessons) = (game.name(), lessons(&*game));
        let pictures: Vec<_> = lessons.iter().filter_map(|lesson| lesson.picture.as_ref()).collect();
        assert_eq!((lessons.len(), pictures.len()), (5, 4), "{name}");
        for [position, action] in pictures {
            let mut state = game.parse_position(position).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let (before, action) = (state.clone(), game.parse_action(&state, action).expect("an action"));
            game.try_play(&mut state, action).unwrap_or_else(|fault| panic!("{name}, {position}: {fault}"));
            assert!(!game.board(&state, Some((&before, action))).steps.is_empty(), "{name}: {position}");
        }
        let last = lessons.iter().filter_map(|lesson| lesson.picture.as_ref()).next_back().expect("a picture");
        let mut end = game.parse_position(&last[0]).expect("a position");
        let action = game.parse_action(&end, &last[1]).expect("an action");
        game.try_play(&mut end, action).expect("a legal action");
        assert_eq!(game.outcome(&end).is_some(), name != "konane", "{name}: the last picture shows the end");
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
