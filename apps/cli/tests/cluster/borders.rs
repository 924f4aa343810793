//! What servers and credentials demand of leaders and workers, and what a killed leader leaves behind.

use std::fs;

use crate::nats::Server;
use crate::processes::{Place, config, differences};

#[test]
fn a_password_or_token_in_the_address_opens_the_server() {
    let place = Place::new("");
    for (authorization, before_host) in [
        ("authorization { user: \"me\", password: \"p@ss,word\" }", "me:p%40ss%2Cword"),
        ("authorization { token: \"t0ken:of/mine\" }", "t0ken%3Aof%2Fmine"),
    ] {
        let Some(server) = Server::start(authorization) else { return };
        let status = |before_host: &str| {
            place.run_to_end(&["cluster", "status", &format!("nats://{before_host}@127.0.0.1:{}", server.port())])
        };
        let (code, _, said) = status(before_host);
        assert_eq!(code, Some(0), "{said}");
        let (code, _, said) = status("wr0ng");
        assert!(code == Some(1) && said.contains("authorization violation") && !said.contains("wr0ng"), "{said}");
    }
}

#[test]
fn other_schemes_and_files_without_a_certificate_are_refused() {
    let place = Place::new("");
    fs::write(place.path("ca.pem"), "no certificate").expect("writable");
    let faults: [(&[&str], &str); 3] = [
        (&["worker", "ws://t0ken@127.0.0.1:1"], "begins with ws://, not with nats:// or tls://"),
        (&["cluster", "status", "wss://127.0.0.1:1"], "begins with wss://, not with nats:// or tls://"),
        (&["worker", "tls://127.0.0.1:1", "--ca", "ca.pem"], "ca.pem: there is no certificate"),
    ];
    for (command, fault) in faults {
        let (code, _, said) = place.run_to_end(command);
        assert!(code == Some(1) && said.contains(fault) && !said.contains("t0ken"), "{command:?}: {said}");
    }
}

#[test]
fn a_server_must_take_messages_of_128_kib() {
    let Some(server) = Server::start("max_payload: 131071") else { return };
    // The job has more than one piece.
    let place = Place::new(&config("mu_torere", "puct", 0, "f32").replace("width = 16", "width = 160"));
    for process in [place.lead(&server.url(), "led", &[]), place.worker(&server.url(), &[])] {
        let (code, said) = process.end();
        let fault = "its max_payload is 131071, but messages of runs need up to 131072 bytes: raise it";
        assert!(code == Some(1) && said.contains(fault), "{said}");
    }
    assert!(!place.run("led").exists(), "a run that cannot start leaves no folder");
    let Some(server) = Server::start("max_payload: 131072") else { return };
    let alone = place.alone();
    let leader = place.lead(&server.url(), "led", &[]);
    let worker = place.worker(&server.url(), &[]);
    leader.ends_as(&alone, &place.run("led"));
    worker.stop();
}

#[test]
fn a_worker_of_another_name_than_its_users_ends() {
    let Some(server) = Server::with_permissions() else { return };
    let place = Place::new("");
    fs::write(place.path("password"), "w1-password\n").expect("writable");
    let options = ["--name", "w2", "--user", "w1", "--password-file", "password"];
    let (code, said) = place.worker(&server.url(), &options).end();
    assert!(code == Some(1) && said.contains("give the --name that the user's permissions are for"), "{said}");
    assert!(said.contains("turnstone.worker.w2") && said.lines().count() < 12, "{said}");
}

#[test]
fn a_run_whose_leader_is_killed_can_be_finished_on_one_machine() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", 0, "f32"));
    let leader = place.lead(&server.url(), "led", &[]);
    leader.wait_for("waiting for workers");
    leader.kill();
    let (code, status, said) = place.run_to_end(&["cluster", "status", &server.url(), "--listen", "0.1"]);
    assert!(code == Some(0) && status.contains(" has a queue but no leader: a run can be resumed"), "{status}{said}");
    assert!(place.run("led").join("cluster/run").exists());
    let (code, _, said) = place.run_to_end(&["train", "--resume", "led"]);
    assert!(code == Some(0) && said.contains("the games that an earlier leader received are removed"), "{said}");
    assert!(!place.run("led").join("cluster").exists());
    assert_eq!(differences(&place.alone(), &place.run("led")), Vec::<String>::new(), "{said}");
}

#[test]
fn what_cannot_be_removed_at_the_end_of_a_run_is_named() {
    let place = Place::new(&config("mu_torere", "puct", 0, "f32"));
    let run = place.alone();
    fs::write(run.join("cluster"), "no folder").expect("writable");
    let (code, _, said) = place.run_to_end(&["train", "--resume", "alone"]);
    assert!(code == Some(0) && said.contains("warning: alone/cluster is not removed: "), "{said}");
}
