//! Checks that every position in `yardstick/` belongs to its class and has the right value.

#[path = "../examples/yardstick/classes.rs"]
mod classes;

use std::collections::HashSet;
use std::path::Path;
use std::{collections::HashMap, fs};

use classes::{CLASSES, Class, ENTRIES, is_open};
use own_game::{ConnectFour, Solver, State};
use turnstone_env::{ActionList, Notation, Rules};

/// The header and the lines of a class's file.
fn file(class: &Class) -> (String, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("yardstick/{}.txt", class.name));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (header, lines) = text.split_once('\n').expect("a header");
    let checksum = format!(r#""checksum":"{:08x}""#, crc32fast::hash(lines.as_bytes()));
    assert!(header.contains(&checksum), "{}: {header}, not {checksum}", class.name);
    (header.to_owned(), lines.lines().map(str::to_owned).collect())
}

fn state(line: &str) -> State {
    let text = line.split(" ; ").next().expect("a position");
    ConnectFour.parse_position(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Value for the first side by the rules alone.
fn minimax(state: &State, known: &mut HashMap<State, i8>) -> i8 {
    if let Some(outcome) = ConnectFour.outcome(state) {
        return outcome.value();
    }
    if let Some(&value) = known.get(state) {
        return value;
    }
    let mut legal = ActionList::new();
    ConnectFour.legal(state, &mut legal);
    let sign = ConnectFour.mover(state).sign() as i8;
    let after = |&action: &_| {
        let mut after = *state;
        ConnectFour.play(&mut after, action);
        sign * minimax(&after, known)
    };
    let value = sign * legal.iter().map(after).max().expect("the game is not over");
    known.insert(*state, value);
    value
}

#[test]
fn positions_are_of_their_phase_open_and_different() {
    let mirror = &ConnectFour.spec().symmetries[1];
    let mut seen = HashSet::new();
    for class in CLASSES {
        let (header, lines) = file(&class);
        assert!(header.starts_with(r#"{"turnstone_truth":1,"game":"connect_four","version":2,"params":{},"#));
        assert!(lines.len() >= 200, "{} positions of {}", lines.len(), class.name);
        for line in lines {
            let state = state(&line);
            let discs = line.matches(['X', 'O']).count();
            assert!(class.discs.contains(&discs) && is_open(&state), "{}: {line}", class.name);
            assert!(!seen.contains(&state) && !seen.contains(&ConnectFour.permuted(&state, mirror)), "twice: {line}");
            seen.insert(state);
        }
    }
}

/// Where the game ends soon, the values of the files are those of a search that knows the rules only.
#[test]
fn values_of_late_positions_follow_from_the_rules() {
    let mut compared = 0;
    for class in CLASSES.iter().filter(|class| class.name.starts_with("end")) {
        for line in file(class).1.iter().filter(|line| line.matches(['X', 'O']).count() >= 31) {
            let (state, mut known) = (state(line), HashMap::new());
            let mut fields = line.split(" ; ").skip(1);
            let value: i8 = fields.next().and_then(|text| text.parse().ok()).expect("a value");
            assert_eq!(value, minimax(&state, &mut known), "{line}");
            for field in fields.next().expect("actions").split(' ') {
                let (action, value) = field.split_once('=').expect("an action and its value");
                let mut after = state;
                let action = ConnectFour.parse_action(&state, action).expect("an action");
                ConnectFour.play(&mut after, action);
                assert_eq!(value, minimax(&after, &mut known).to_string(), "{field} of {line}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 300, "only {compared} positions");
}

/// The first positions of each cheap class are drawn and solved again.
#[test]
fn the_files_repeat_from_their_seeds() {
    for class in CLASSES.iter().filter(|class| !class.name.starts_with("beginning")) {
        let mut solver = Solver::new(ENTRIES);
        let positions = class.candidates().filter_map(|state| class.assess(state, &mut solver));
        let again: Vec<String> = positions.take(10).map(|position| position.line()).collect();
        assert_eq!(again, file(class).1[..10], "{}", class.name);
    }
}
