//! What the server and the disks have no room for, and two leaders of one run.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::nats::Server;
use crate::processes::{Place, config};
use crate::wire::Client;

/// A run of many short iterations with jobs of half a megabyte.
fn many_jobs(iterations: usize) -> String {
    let config = config("mu_torere", "puct", 0, "f32");
    let changes = [
        ("width = 16", "width = 192"),
        ("games_per_iteration = 24", "games_per_iteration = 2"),
        ("every = 2", "every = 0"),
        ("final_games = 6", "final_games = 2"),
        ("best_games = 4", "best_games = 0"),
        ("samples_per_position = 4", "samples_per_position = 1"),
    ];
    let config = changes.iter().fold(config, |config, (from, to)| config.replace(from, to));
    config.replace("iterations = 4", &format!("iterations = {iterations}"))
}

/// What the server says of a stream.
fn messages(place: &Place, server: &Server, stream: &str) -> u64 {
    let (code, status, said) = place.run_to_end(&["cluster", "status", &server.url(), "--json", "--listen", "0.1"]);
    assert_eq!(code, Some(0), "{said}");
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    status["streams"][stream]["messages"].as_u64().expect("a number")
}

/// Calls the server's interface for streams.
fn call(client: &mut Client, what: &str, payload: &str) {
    client.publish(&format!("$JS.API.STREAM.{what}"), payload.as_bytes());
    client.flush();
}

/// Gives a stream of another run this many messages of 200 KiB.
fn fill(server: &Server, messages: usize) -> Client {
    let mut other = Client::connect(server.port());
    call(&mut other, "CREATE.OTHER", r#"{"name":"OTHER","subjects":["other"],"num_replicas":1}"#);
    for _ in 0..messages {
        other.publish("other", &vec![0; 200 << 10]);
    }
    other.flush();
    other
}

#[test]
fn old_jobs_cost_no_disk() {
    let Some(server) = Server::with_room("24MB", "") else { return };
    let place = Place::new(&many_jobs(40));
    let worker = place.worker(&server.url(), &[]);
    let leader = place.lead(&server.url(), "led", &[]);
    let (code, said) = leader.end();
    assert_eq!(code, Some(0), "{said}");
    // Twenty megabytes of jobs went through the server, which has files of eight.
    let stored = server.stored();
    assert!(stored < 10 << 20, "{stored} bytes are left on disk");
    assert_eq!(messages(&place, &server, "OBJ_turnstone"), 0, "a removed job leaves no note");
    // What is gone must not count as stored either.
    fill(&server, 60);
    let deadline = Instant::now() + Duration::from_secs(10);
    while server.stored() < stored + 12_000_000 {
        assert!(Instant::now() < deadline, "of 12 megabytes the server took {}", server.stored() - stored);
        std::thread::sleep(Duration::from_millis(50));
    }
    worker.stop();
}

#[test]
fn a_full_store_is_survived_once_there_is_room() {
    let Some(server) = Server::with_room("20MB", "") else { return };
    let place = Place::new(&many_jobs(4));
    let alone = place.alone();
    // All but a part of a job is taken.
    let mut other = fill(&server, 102);
    let leader = place.lead(&server.url(), "led", &[]);
    leader.wait_for("trying again");
    std::thread::sleep(Duration::from_secs(3));
    assert!(messages(&place, &server, "OBJ_turnstone") <= 2, "attempts do not pile up");
    call(&mut other, "DELETE.OTHER", "");
    let worker = place.worker(&server.url(), &[]);
    leader.ends_as(&alone, &place.run("led"));
    assert_eq!(messages(&place, &server, "OBJ_turnstone"), 0);
    worker.stop();
}

#[test]
fn a_second_leader_of_a_run_is_refused() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", 0, "f32"));
    let alone = place.alone();
    let first = place.lead(&server.url(), "led", &[]);
    first.wait_for("waiting for workers");
    let copied = Command::new("cp").arg("-r").args([place.run("led"), place.run("copy")]).status();
    assert!(copied.expect("cp runs").success());
    let (code, said) = place.resume(&server.url(), "copy", &[]).end();
    assert!(code == Some(1) && said.contains("another leader is at work on run mutorere-"), "{said}");
    let worker = place.worker(&server.url(), &[]);
    first.ends_as(&alone, &place.run("led"));
    worker.stop();
}
