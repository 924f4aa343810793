//! What servers, credentials and permissions demand of leaders and workers.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::nats::Server;
use crate::processes::{Place, config};
use crate::wire::Client;

#[test]
fn permissions_keep_a_worker_to_its_own_subjects() {
    let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cluster/deploy/permissions.conf");
    let documented = fs::read_to_string(documented).expect("the documented permissions");
    let Some(server) = Server::start(&documented) else { return };
    let place = Place::new(&config("mu_torere", "gumbel", true, "f32"));
    let alone = place.alone();
    let secret = |name: &str| {
        let path = place.path(name);
        fs::write(&path, format!("{name}-password\n")).expect("writable");
        path.display().to_string()
    };
    let (leader_file, worker_file, other_file) = (secret("leader"), secret("w1"), secret("other"));
    let leader = place.lead(&server.url(), "led", &["--user", "leader", "--password-file", &leader_file]);
    leader.wait_for("waiting for workers");
    let mut enemy = Client::connect_as(server.port(), "w1", "w1-password");
    for subject in [
        "turnstone.job.x",
        "turnstone.result.x.w2",
        "$KV.turnstone_work.x.0",
        "$KV.turnstone_leaders.x",
        "$JS.API.STREAM.DELETE.TURNSTONE_JOBS",
        "$JS.API.STREAM.PURGE.TURNSTONE_JOBS",
        "$JS.API.STREAM.MSG.GET.TURNSTONE_RESULTS",
        "$JS.API.CONSUMER.DELETE.TURNSTONE_JOBS.x",
        "$JS.API.CONSUMER.CREATE.TURNSTONE_RESULTS",
    ] {
        assert!(enemy.is_denied(subject), "{subject}");
    }
    // Users of another account do not see the run.
    let url = server.url();
    let status = |user, file| place.status(&url, &["--user", user, "--password-file", file]);
    assert!(status("leader", &leader_file).contains("20 waiting") && status("other", &other_file).contains("(no run)"));
    let stray = ["--name", "w2", "--user", "w1", "--password-file", &worker_file];
    let stray = place.worker(&url, &stray);
    stray.wait_for("give the --name that the user's permissions are for");
    stray.kill();
    let worker = place.worker(&url, &["--name", "w1", "--user", "w1", "--password-file", &worker_file]);
    leader.ends_as(&alone, &place.path("led"));
    let said = worker.stop();
    assert!(!said.contains("ermissions"), "what it needs is permitted: {said}");
}

#[test]
fn a_password_or_token_opens_the_server() {
    let place = Place::new("");
    fs::write(place.path("right"), "p@ss,word\n").expect("writable");
    fs::write(place.path("wrong"), "wr0ng").expect("writable");
    for (authorization, options) in [
        ("authorization { user: \"me\", password: \"p@ss,word\" }", &["--user", "me", "--password-file"][..]),
        ("authorization { token: \"p@ss,word\" }", &["--token-file"]),
    ] {
        let Some(server) = Server::start(authorization) else { return };
        let url = server.url();
        let status = |file| place.run_to_end(&[&["cluster", "status", &url], options, &[file]].concat());
        let (code, _, said) = status("right");
        assert_eq!(code, Some(0), "{said}");
        let (code, _, said) = status("wrong");
        let fault = "authorization violation: it knows no such user, password, token or key: see --user";
        assert!(code == Some(1) && said.contains(fault) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn other_schemes_and_names_are_refused() {
    let place = Place::new("");
    let faults: [(&[&str], &str); 5] = [
        (&["worker", "ws://127.0.0.1:1"], "begins with ws://, not with nats:// or tls://"),
        (&["worker", "nats://t0ken@127.0.0.1:1"], "a password or token in the address is not accepted: see --user"),
        (&["cluster", "status", "nats://127.0.0.1:1"], "server nats://127.0.0.1:1: "),
        (&["worker", "nats://127.0.0.1:1", "--name", "a b"], "a worker's name"),
        (&["worker", "nats://127.0.0.1:1", "--threads", "0"], "--threads is 0"),
    ];
    for (command, fault) in faults {
        let (code, _, said) = place.run_to_end(command);
        assert!(code == Some(1) && said.contains(fault) && !said.contains("t0ken"), "{command:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// Checks that leader, worker and status end with the same line about a server.
#[track_caller]
fn is_refused(place: &Place, url: &str, fault: &str) {
    let status = place.spawn(&["cluster", "status", url], "status");
    for process in [place.lead(url, "led", &[]), place.worker(url, &[]), status] {
        let (code, said) = process.end();
        assert!(code == Some(1) && said.contains(fault), "{said}");
        assert!(said.lines().count() <= 2, "{said}");
    }
    assert!(!place.path("led").exists(), "a run that cannot start leaves no folder");
}

#[test]
fn a_server_that_lacks_something_is_refused_in_one_line() {
    let place = Place::new(&config("mu_torere", "puct", false, "f32"));
    let Some(server) = Server::start("max_payload: 131071") else { return };
    let fault = "its max_payload is 131071, but messages of runs need up to 131072 bytes: raise it";
    is_refused(&place, &server.url(), fault);
    let fault = "JetStream is off, or not enabled for this account: start it with `nats-server -js`";
    let server = Server::with("").expect("it was there before");
    is_refused(&place, &server.url(), fault);
    let accounts = "accounts { a: { users: [{ user: u, password: p }] } }\nno_auth_user: u";
    let server = Server::start(accounts).expect("it was there before");
    is_refused(&place, &server.url(), fault);
    let old = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("nats://{}", old.local_addr().expect("its address"));
    std::thread::spawn(move || {
        for mut client in old.incoming().flatten() {
            let info = r#"{"server_id":"old","version":"2.8.4","max_payload":1048576,"proto":1,"headers":true}"#;
            let _ = write!(client, "INFO {info}\r\nPONG\r\n");
            let _ = std::io::copy(&mut client, &mut std::io::sink());
        }
    });
    is_refused(&place, &url, "it is nats-server 2.8.4: install 2.9 or newer");
}

#[test]
fn a_certificate_must_be_of_an_authority_that_is_trusted() {
    let place = Place::new("");
    let certificate = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem"];
    let names = ["-days", "2", "-subj", "/CN=cluster", "-addext", "subjectAltName=IP:127.0.0.1"];
    let leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
    let mut openssl = Command::new("openssl");
    let openssl = openssl.args(certificate).args(names).args(leaf).current_dir(place.path("")).stderr(Stdio::null());
    if !openssl.status().is_ok_and(|status| status.success()) {
        return; // without openssl
    }
    let path = |name: &str| place.path(name).display().to_string();
    let tls = format!("tls {{ cert_file: \"{}\", key_file: \"{}\" }}", path("cert.pem"), path("key.pem"));
    let Some(server) = Server::start(&tls) else { return };
    let url = server.url().replace("nats://", "tls://");
    let (code, _, said) = place.run_to_end(&["worker", &url]);
    let fault = "its certificate is of an authority that is not trusted: give --ca FILE";
    assert!(code == Some(1) && said.contains(fault) && said.lines().count() == 1, "{said}");
    let (code, _, said) = place.run_to_end(&["cluster", "status", &url, "--ca", "cert.pem"]);
    assert_eq!(code, Some(0), "{said}");
}
