//! The notebook's `Game` package: games against a random agent.

use super::{FRONTENDS, python, texts};

#[test]
fn twenty_games() {
    let agent = format!("{FRONTENDS}/notebook");
    let (games, complaints) = texts(python("notebook/stub/notebook.py", &["20"]).env("PYTHONPATH", agent));
    assert_eq!((games.as_str(), complaints.as_str()), ("won 20 of 20\n", ""));
}
