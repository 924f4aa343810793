//! What servers and credentials demand of leaders and workers.

use std::fs;
use std::path::Path;

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
fn a_server_must_take_the_pieces_of_jobs() {
    let Some(server) = Server::start("max_payload: 131071") else { return };
    // The job has more than one piece.
    let place = Place::new(&config("mu_torere", "puct", 0, "f32").replace("width = 16", "width = 160"));
    for process in [place.lead(&server.url(), "led", &[]), place.worker(&server.url(), &[])] {
        let (code, said) = process.end();
        let fault = "its max_payload is 131071, but jobs are stored in pieces of up to 131072 bytes";
        assert!(code == Some(1) && said.contains(fault), "{said}");
    }
    assert!(!place.run("led").exists(), "a run that cannot start leaves no folder");
    let Some(server) = Server::start("max_payload: 131072") else { return };
    let alone = place.alone();
    let leader = place.lead(&server.url(), "led", &[]);
    let worker = place.worker(&server.url(), &[]);
    let (code, said) = leader.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(differences(&alone, &place.run("led")), Vec::<String>::new(), "{said}");
    worker.stop();
}

#[test]
fn a_worker_of_another_name_than_its_users_ends() {
    let permissions =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontends/cluster/permissions.conf"));
    let Some(server) = Server::start(&permissions.expect("the documented permissions")) else { return };
    let place = Place::new("");
    fs::write(place.path("password"), "w1-password\n").expect("writable");
    let options = ["--name", "w2", "--user", "w1", "--password-file", "password"];
    let (code, said) = place.worker(&server.url(), &options).end();
    assert!(code == Some(1) && said.contains("give the --name that the user's permissions are for"), "{said}");
    assert!(said.contains("turnstone.worker.w2") && said.lines().count() < 12, "{said}");
}
