//! What servers and credentials demand of leaders and workers.

use std::fs;

use crate::nats::Server;
use crate::processes::Place;

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
