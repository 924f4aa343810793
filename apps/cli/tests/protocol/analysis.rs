//! `turnstone analyse`: answers, faults, and independence of queries.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use super::talk::Talk;

fn analysis(threads: &str) -> Talk {
    Talk::start(&["analyse", "mu_torere", "--agent", "az:pretrained,sims=40", "--threads", threads])
}

/// Sends all queries at once and returns the answers as text by query and turn.
fn answers(threads: &str, queries: &[Value]) -> Vec<(String, u64, String)> {
    let mut talk = analysis(threads);
    let text: String = queries.iter().map(|query| format!("{query}\n")).collect();
    talk.send(text.as_bytes());
    let (lines, status) = talk.end();
    assert!(status.success());
    let mut answers: Vec<_> = lines
        .into_iter()
        .map(|line| {
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            (answer["id"].as_str().expect("a name").to_owned(), answer["turnNumber"].as_u64().expect("a turn"), line)
        })
        .collect();
    answers.sort();
    answers
}

#[test]
fn an_answer_does_not_depend_on_what_else_is_under_way() {
    let moves = ["0,4", "1,0", "4,1", "3,4"];
    let query = |i: usize| {
        json!({ "id": format!("q{i:03}"), "moves": moves[..i % 5], "simulations": 10 + 7 * (i % 40), "priority": i % 3,
            "analyzeTurns": [0, i % 5] })
    };
    let queries: Vec<Value> = (0..150).map(query).collect();
    let together = answers("2", &queries);
    assert_eq!(together.len(), 150 + 120);
    assert_eq!(together, answers("1", &queries));
    for i in [0, 7, 77, 149] {
        let id = format!("q{i:03}");
        let alone = answers("1", &queries[i..=i]);
        let same: Vec<_> = together.iter().filter(|answer| answer.0 == id).cloned().collect();
        assert_eq!(alone, same);
    }
}

#[test]
fn an_answer_says_what_was_found() {
    let [(_, _, line)] = &answers("1", &[json!({ "id": "a", "simulations": 100 })])[..] else { panic!("one answer") };
    let answer: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(answer["position"], "121202121 1 0");
    let moves = answer["moveInfos"].as_array().expect("a list");
    assert_eq!(moves.len(), 4);
    let visits: u64 = moves.iter().map(|info| info["visits"].as_u64().expect("a number")).sum();
    assert_eq!(answer["rootInfo"]["visits"], visits);
    let priors: f64 = moves.iter().map(|info| info["prior"].as_f64().expect("a number")).sum();
    assert!((priors - 1.0).abs() < 1e-4);
    for (order, info) in moves.iter().enumerate() {
        assert_eq!(info["order"], order);
        assert_eq!(info["pv"][0], info["move"]);
        assert!(info["value"].as_f64().is_none_or(|value| (-1.0..=1.0).contains(&value)));
    }
    let over = json!({ "id": "b", "position": "121202121 1 100" });
    let [(_, _, line)] = &answers("1", &[over])[..] else { panic!("one answer") };
    let answer: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!((&answer["outcome"], &answer["moveInfos"]), (&json!("draw"), &json!([])));
}

#[test]
fn a_query_that_is_given_up_is_answered_with_what_there_is() {
    let mut talk = analysis("1");
    // Far longer than the test; the position has no proof in reach.
    let long = json!({ "id": "long", "simulations": 1_000_000 });
    talk.say(&long.to_string());
    for i in 0..80 {
        talk.say(&json!({ "id": format!("waiting{i}"), "simulations": 1_000_000, "priority": -1 }).to_string());
    }
    let terminate = json!({ "id": "t", "action": "terminate", "terminateId": "long" });
    talk.say(&terminate.to_string());
    let mut heard = [talk.hear(), talk.hear()].map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
    heard.sort_by_key(|answer| answer["id"] == "t");
    assert_eq!(heard[0]["id"], "long");
    assert!(heard[0]["terminated"] == true || heard[0]["noResults"] == true, "{}", heard[0]);
    assert_eq!(heard[1], terminate);
    talk.say(&json!({ "id": "all", "action": "terminate_all" }).to_string());
    let (rest, status) = talk.end();
    assert!(status.success());
    assert_eq!(rest.len(), 81);
}

#[test]
fn nothing_that_comes_down_the_pipe_kills_the_analysis() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut talk = analysis("2");
    let good = json!({ "id": "g", "moves": ["0,4"], "simulations": 5, "analyzeTurns": [0, 1] }).to_string();
    for _ in 0..400 {
        let mut line = good.clone().into_bytes();
        for _ in 0..rng.random_range(0..4) {
            let at = rng.random_range(0..line.len());
            match rng.random_range(0..3) {
                0 => line[at] = rng.random(),
                1 => line.truncate(at + 1),
                _ => line.insert(at, b"{}[]\",:0"[rng.random_range(0..8)]),
            }
        }
        line.push(b'\n');
        talk.send(&line);
    }
    talk.send(&[vec![b'['; 3 << 20], b"\n".to_vec()].concat());
    talk.send(&[vec![b'['; 500_000], b"\n".to_vec()].concat());
    talk.say(&json!({ "id": "last", "priority": -9 }).to_string());
    talk.send(b"{\"id\": \"half");
    let (lines, status) = talk.end();
    assert!(status.success());
    let answers: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(answers.iter().any(|answer| answer["id"] == "last" && answer["moveInfos"].is_array()));
    assert!(answers.iter().any(|answer| answer["error"].as_str().is_some_and(|e| e.contains("longer than"))));
    assert!(answers.iter().all(|answer| answer["error"].is_string() || answer["turnNumber"].is_u64()));
}

#[test]
fn an_agent_without_a_network_cannot_analyse() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_turnstone"))
        .args(["analyse", "mancala", "--agent", "mcts:sims=10"])
        .output()
        .expect("the program runs");
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1));
    assert!(error.starts_with("error: agent `mcts:sims=10`: `analyse` shows the searches of networks"), "{error}");
}
