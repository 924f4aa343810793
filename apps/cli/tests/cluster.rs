//! Runs on a cluster end in the bytes of one machine: with workers that come, go, stop and are killed, a leader and a server
//! that are killed, and a server that loses its store.
//!
//! The tests start `nats-server` on a free port, or the program that `TURNSTONE_NATS_SERVER` names. Without it they say that
//! they are skipped; with `TURNSTONE_NATS=required` that is a failure.

#[path = "cluster/borders.rs"]
mod borders;
#[path = "cluster/jobs.rs"]
mod jobs;
mod metrics;
#[path = "cluster/nats.rs"]
mod nats;
#[path = "cluster/processes.rs"]
mod processes;
#[path = "cluster/wire.rs"]
mod wire;

use std::process::Command;
use std::time::Duration;

use nats::Server;
use processes::{Place, config, differences, wait_until};

/// Games, searches, overlaps and arithmetics, with the number of workers.
const CASES: [(&str, &str, bool, &str, usize); 5] = [
    ("mu_torere", "puct", false, "f32", 1),
    ("mu_torere", "gumbel", true, "i8", 2),
    ("mu_torere", "puct", true, "f32", 6),
    ("mancala", "gumbel", false, "f32", 2),
    ("mancala", "puct", true, "i8", 6),
];

#[test]
fn a_cluster_ends_in_the_bytes_of_one_machine() {
    let Some(server) = Server::start("") else { return };
    for (number, case) in CASES.into_iter().enumerate() {
        let (game, method, overlap, precision, workers) = case;
        let place = Place::new(&config(game, method, overlap, precision));
        let alone = place.alone();
        let workers: Vec<_> = (0..workers).map(|_| place.worker(&server.url(), &[])).collect();
        let led = format!("led{number}");
        let (code, said) = place.lead(&server.url(), &led, &[]).end();
        assert_eq!(code, Some(0), "{case:?}: {said}");
        assert_eq!(differences(&alone, &place.path(&led)), Vec::<String>::new(), "{case:?}: {said}");
        assert!(!place.path(&led).join("cluster").exists(), "nothing of the cluster is left");
        for worker in workers {
            let said = worker.stop();
            assert!(said.contains("stopped") && !said.contains("warning"), "{said}");
        }
    }
    assert_eq!(Place::new("").status(&server.url(), &[]), "(no run)\n");
    for stream in ["TURNSTONE_JOBS", "TURNSTONE_RESULTS", "KV_turnstone_work", "KV_turnstone_leaders"] {
        assert_eq!(server.messages(stream), 0, "something is left in {stream}");
    }
}

#[test]
fn a_leader_waits_for_workers_and_the_next_one_takes_what_they_have_played() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", false, "f32"));
    let (url, alone) = (server.url(), place.alone());
    let leader = place.lead(&url, "led", &[]);
    leader.wait_for("waiting for workers; start one with: turnstone worker nats://");
    let status = |more: &[&str]| place.status(&url, more);
    let text = status(&[]);
    assert!(
        text.contains(": self-play of iteration 1, 0 of 24 items\n  jobs: 20 waiting, 0 in work, 0 done"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    let json: serde_json::Value = serde_json::from_str(&status(&["--json"])).expect("JSON");
    let runs: Vec<_> = json["runs"].as_object().expect("runs").values().collect();
    assert!(runs.len() == 1 && runs[0]["waiting"] == 20 && runs[0]["leader"]["game"] == "mu_torere", "{json}");
    leader.kill();
    let worker = place.worker(&url, &["--name", "w7"]);
    wait_until(|| status(&[]).contains("jobs: 0 waiting, 0 in work\n"), &|| status(&[]));
    worker.stop();
    let leader = place.resume(&url, "led", &[]);
    wait_until(|| status(&[]).contains(": self-play of iteration 2, 0 of 24 items"), &|| status(&[]));
    let worker = place.worker(&url, &[]);
    leader.ends_as(&alone, &place.path("led"));
    worker.stop();
}

#[test]
fn matches_and_grades_of_a_cluster_are_those_of_one_machine() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    let url = server.url();
    // A match that is stopped is over: no one can continue it.
    let stopped = place.spawn(&["arena", "mancala", "random", "random", "--cluster", &url], "arena");
    stopped.wait_for("waiting for workers");
    assert_eq!(stopped.terminate().0, Some(130));
    let over = place.status(&url, &[]);
    assert!(over.starts_with("(no run)"), "nothing is left: {over}");
    let arena = ["arena", "mancala", "az:pretrained,sims=16", "alphabeta:depth=2", "random", "--games", "8", "--json"];
    let sequential =
        ["arena", "mu_torere", "mcts:sims=40", "random", "--games", "400", "--sprt", "0,60", "--seed", "3", "--json"];
    let grade = ["grade", "mu_torere", "--agent", "az:pretrained,sims=8", "--json"];
    let mut workers = Vec::new();
    let alone: Vec<_> = [&arena[..], &sequential, &grade].map(|command| (command, place.run_to_end(command))).to_vec();
    for count in [1, 2, 6] {
        workers.extend((workers.len()..count).map(|_| place.worker(&url, &[])));
        for (command, (code, alone, said)) in &alone {
            assert_eq!(*code, Some(0), "{said}");
            let led: Vec<&str> = command.iter().copied().chain(["--cluster", &url]).collect();
            let (code, together, said) = place.run_to_end(&led);
            assert_eq!((code, alone), (Some(0), &together), "{count} workers, {command:?}: {said}");
        }
    }
    for bound in ["alphabeta:time=1ms", "az:pretrained,sims=16,precision=auto"] {
        let (code, _, said) =
            place.run_to_end(&["arena", "mancala", bound, "random", "--games", "2", "--cluster", &url]);
        assert!(code == Some(1) && said.contains(&format!("`{bound}` plays on this machine only")), "{said}");
    }
    for worker in workers {
        assert!(!worker.stop().contains("warning"), "no worker complains");
    }
}

#[test]
fn kills_stops_and_a_lost_store_change_nothing() {
    let Some(mut server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", true, "f32").replace("iterations = 4", "iterations = 8"));
    let alone = place.alone();
    let patient = ["--ack-wait", "1"];
    let mut leader = place.lead(&server.url(), "led", &patient);
    let mut workers: Vec<_> = (0..2).map(|_| place.worker(&server.url(), &[])).collect();
    let mut kills = 0;
    while !leader.is_over() {
        std::thread::sleep(Duration::from_millis(350));
        match kills {
            0 | 2 | 5 | 7 => {
                workers.remove(0).kill();
                workers.push(place.worker(&server.url(), &[]));
            }
            1 | 3 => {
                leader.kill();
                leader = place.resume(&server.url(), "led", &patient);
            }
            4 => server.restart(false),
            6 => server.restart(true),
            8 => workers[0].signal("-STOP"),
            14 => workers[0].signal("-CONT"),
            _ => {}
        }
        kills += 1;
    }
    leader.ends_as(&alone, &place.path("led"));
    assert!(kills >= 7, "the run was over after {kills} kills");
}

#[test]
fn a_second_leader_of_a_run_is_refused() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", false, "f32"));
    let alone = place.alone();
    let first = place.lead(&server.url(), "led", &[]);
    first.wait_for("waiting for workers");
    let copied = Command::new("cp").arg("-r").args([place.path("led"), place.path("copy")]).status();
    assert!(copied.expect("cp runs").success());
    let (code, said) = place.resume(&server.url(), "copy", &[]).end();
    assert!(code == Some(1) && said.contains("another leader is at work on run mutorere-"), "{said}");
    // A leader that was stopped so long that another has taken its place ends.
    first.signal("-STOP");
    let second = place.resume(&server.url(), "copy", &[]);
    second.wait_for("leading mutorere-");
    first.signal("-CONT");
    let (code, said) = first.end();
    assert!(code == Some(1) && said.contains("another leader has taken over run mutorere-"), "{said}");
    let worker = place.worker(&server.url(), &[]);
    second.ends_as(&alone, &place.path("copy"));
    worker.stop();
}

#[test]
fn a_run_whose_leader_is_killed_can_be_finished_on_one_machine() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", false, "f32"));
    let leader = place.lead(&server.url(), "led", &[]);
    leader.wait_for("waiting for workers");
    leader.kill();
    assert!(place.path("led/cluster/run").exists());
    let (code, _, said) = place.run_to_end(&["train", "--resume", "led"]);
    assert!(code == Some(0) && said.contains("led/cluster is removed"), "{said}");
    assert!(!place.path("led/cluster").exists());
    assert_eq!(differences(&place.alone(), &place.path("led")), Vec::<String>::new(), "{said}");
    let status = || place.status(&server.url(), &[]);
    wait_until(|| status().contains(": no leader (resume the run with --cluster"), &status);
    std::fs::write(place.path("alone/cluster"), "no folder").expect("writable");
    let (code, _, said) = place.run_to_end(&["train", "--resume", "alone"]);
    assert!(code == Some(0) && said.contains("warning: alone/cluster is not removed: "), "{said}");
}
