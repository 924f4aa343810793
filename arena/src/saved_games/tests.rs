//! Files of saved games, whole, cut off and damaged.

use serde_json::{Value, json};
use turnstone_base::checksum::seal_line;
use turnstone_games::built_in;

use super::*;

fn played(moves: &[&str]) -> Value {
    json!({
        "game": "mancala", "params": { "pits": "3" }, "players": ["human", "random"], "moves": moves,
        "start": "4,4,4/0 4,4,4/0 1", "position": "", "outcome": null, "margin": null, "truncated": false,
    })
}

/// A match of Mancala with games of these numbers, its header first.
fn of_a_match(numbers: &[usize]) -> (Value, Vec<Value>) {
    let settings = json!({ "format": "round-robin", "games": 2, "seed": 0, "clock": null, "out_of_time": "random",
        "sprt": null });
    let header = json!({ "turnstone_arena": 1, "game": "mancala", "version": 1, "params": {}, "networks": [null, null],
        "agents": ["random", "mcts:sims=1"], "settings": settings, "openings": ["B5"] });
    let game = |number: &usize| {
        let agents = [number % 2, 1 - number % 2];
        json!({ "number": number, "agents": agents, "opening": 0, "opening_plies": 1,
            "moves": ["B5", "A3"], "result": -1, "ending": "crash" })
    };
    (header, numbers.iter().map(game).collect())
}

fn journal(numbers: &[usize]) -> String {
    let (header, games) = of_a_match(numbers);
    std::iter::once(header).chain(games).map(|line| seal_line(&line.to_string()) + "\n").collect()
}

#[test]
fn a_game_of_play_comes_back() {
    let pretty = serde_json::to_string_pretty(&played(&["B2", "A3"])).expect("JSON");
    for text in [played(&["B2", "A3"]).to_string(), pretty, format!("\u{feff}\n{}\n", played(&["B2", "A3"]))] {
        let saved = SavedGame::parse(&text, None).expect("a saved game");
        assert_eq!((saved.game.as_deref(), &saved.moves[..]), (Some("mancala"), &["B2".into(), "A3".into()][..]));
        let game = built_in().make("mancala", &saved.params).expect("valid");
        let replay = saved.replay(&*game).expect("legal");
        assert_eq!((replay.positions.len(), replay.actions.len()), (3, 2));
    }
    let two = format!("{}\n{}\n", played(&["B2"]), played(&["B3"]));
    assert_eq!(SavedGame::parse(&two, Some(1)).expect("the second").moves, ["B3"]);
    let mut resigned = played(&[]);
    resigned["resigned"] = 2.into();
    let ending = SavedGame::parse(&resigned.to_string(), None).expect("a saved game").ending;
    assert_eq!(ending.as_deref(), Some("player 2 resigned"));
}

#[test]
fn games_of_a_match_are_found_by_their_numbers() {
    let cut = journal(&[2, 3]) + &journal(&[4])[..20];
    for text in [journal(&[2, 3]), cut] {
        let saved = SavedGame::parse(&text, Some(3)).expect("a saved game");
        assert_eq!(saved.players, Some(["mcts:sims=1".into(), "random".into()]));
        assert_eq!((saved.opening_plies, saved.moves.len()), (1, 2));
        assert_eq!(saved.ending.as_deref(), Some("player 2 wins: crash"));
    }
    assert!(SavedGame::parse(&journal(&[7]), None).is_ok(), "a single game needs no number");
}

#[test]
fn moves_are_read_line_by_line() {
    let text = "# two games\nB2 A3 # a comment\n\n  B5\n";
    assert_eq!(SavedGame::parse(text, Some(0)).expect("a game").moves, ["B2", "A3"]);
    assert_eq!(SavedGame::parse(text, Some(1)).expect("a game").moves, ["B5"]);
}

#[test]
fn faults_are_named() {
    let fault = |text: &str, number| format!("{:#}", SavedGame::parse(text, number).expect_err("a fault"));
    let whole = played(&["B2"]).to_string();
    let damaged = journal(&[2, 3]).replacen("B5", "B6", 2);
    let mut other = of_a_match(&[0]).0;
    other["turnstone_arena"] = 9.into();
    let (header, mut games) = of_a_match(&[1]);
    games[0]["agents"] = json!([1, 7]);
    let stranger = [header, games.remove(0)].map(|line| seal_line(&line.to_string()) + "\n").concat();
    for (text, number, expected) in [
        ("", None, "the file is empty"),
        (" \n", None, "the file is empty"),
        ("# nothing\n", None, "it has no game"),
        ("a1\nb1", None, "it has 2 games, 0 to 1: choose one with --number"),
        ("a1\nb1", Some(2), "there is no game 2: it has 2 games, 0 to 1"),
        (&whole[..whole.len() - 9], None, "the file is cut off"),
        ("{\"game\": 1, \"moves\": []}", None, "it is not a saved game: invalid type"),
        ("{\"a\": 1}", None, "it is not a saved game: missing field `game`"),
        ("[1]", None, "it is not a saved game: "),
        ("{a}", None, "it is not a saved game: "),
        (&journal(&[]), None, "it has no finished game"),
        (&journal(&[2, 3]), None, "it has 2 games, 2 to 3: choose one with --number"),
        (&journal(&[2, 3]), Some(1), "there is no game 1: it has 2 games, 2 to 3"),
        (&damaged, Some(2), "line 1: its checksum is missing or does not fit"),
        (&stranger, None, "game 1: there is no agent 7"),
        (&other.to_string(), None, "it has no complete line"),
        (&(seal_line(&other.to_string()) + "\n"), None, "its format is version 9, this program reads 1"),
    ] {
        assert!(fault(text, number).starts_with(expected), "{expected}: {}", fault(text, number));
    }
    let game = built_in().make("mancala", &Params::new().with("pits", 3)).expect("valid");
    let replay = |record: &Value| {
        let saved = SavedGame::parse(&record.to_string(), None).expect("a saved game");
        format!("{:#}", saved.replay(&*game).expect_err("a fault"))
    };
    assert!(replay(&played(&["B2", "B3"])).starts_with("move 2: illegal action `B3`"));
    assert!(replay(&played(&["B2", "ä"])).starts_with("move 2: action `ä`"));
    let mut displaced = played(&[]);
    displaced["start"] = "x".into();
    assert!(replay(&displaced).starts_with("the first position: position `x`"));
}
