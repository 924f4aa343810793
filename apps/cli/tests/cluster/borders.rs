//! What servers and credentials demand of leaders and workers, and what killed leaders leave behind.

use std::fs;

use serde_json::Value;

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
        (&["worker", "ws://t0ken@127.0.0.1:1", "--spool", "spool"], "begins with ws://, not with nats:// or tls://"),
        (&["cluster", "status", "wss://127.0.0.1:1"], "begins with wss://, not with nats:// or tls://"),
        (&["worker", "tls://127.0.0.1:1", "--ca", "ca.pem", "--spool", "spool"], "ca.pem: there is no certificate"),
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

/// The runs that have queues on a server, and the number of ranges and results there.
fn contents(place: &Place, server: &Server) -> (Vec<String>, u64) {
    let (code, status, said) = place.run_to_end(&["cluster", "status", &server.url(), "--json", "--listen", "0.1"]);
    assert_eq!(code, Some(0), "{said}");
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let queues = status["queues"].as_object().expect("queues").keys().cloned().collect();
    let messages = |stream: &str| status["streams"][stream]["messages"].as_u64().expect("a number");
    (queues, messages("TURNSTONE_WORK") + messages("TURNSTONE_RESULTS"))
}

#[test]
fn leaders_that_are_killed_leave_nothing_that_no_one_needs() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", 0, "f32"));
    let url = server.url();
    let arena = ["arena", "mancala", "random", "random", "--cluster", url.as_str()];
    let killed_arena = || {
        let leader = place.spawn(&arena, "arena");
        leader.wait_for("waiting for workers");
        leader.kill();
    };
    (0..3).for_each(|_| killed_arena());
    let abandoned = |advice: &str| {
        let (code, status, said) = place.run_to_end(&["cluster", "status", &url, "--listen", "0.1"]);
        assert_eq!(code, Some(0), "{said}");
        status.matches(&format!(" has a queue but no leader: {advice}")).count()
    };
    assert_eq!(abandoned("its command was killed, and the next leader on this server removes what is left"), 3);
    // A run of a folder can be resumed; it says "waiting" once its ranges are on the server.
    let leader = place.lead(&server.url(), "led", &[]);
    leader.wait_for("waiting for workers");
    leader.wait_for("runs of killed leaders removed from the server: 3");
    leader.kill();
    assert_eq!(abandoned("it was stopped, and its run can be resumed"), 1);
    let (queues, messages) = contents(&place, &server);
    assert!(queues.len() == 1 && !queues[0].ends_with("-once") && messages > 0, "{queues:?}, {messages} messages");
    // A leader that is there keeps its run, and the training run keeps its own.
    let present = place.spawn(&arena, "arena");
    present.wait_for("waiting for workers");
    killed_arena();
    let last = place.spawn(&arena, "arena");
    last.wait_for("runs of killed leaders removed from the server: 1");
    assert_eq!(contents(&place, &server).0.len(), 3);
    for leader in [present, last] {
        assert_eq!(leader.terminate().0, Some(130));
    }
    assert_eq!(contents(&place, &server).0, queues);

    // Finished on one machine, the run needs nothing of a cluster any more.
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
