//! Runs on a cluster end in the bytes of one machine: with workers that come, go and are killed, a leader and a server that
//! are killed, and a server without room.
//!
//! The tests start Debian's `nats-server` on a free port. Without it they say that they are skipped; with
//! `TURNSTONE_NATS=required` that is a failure.

#[path = "cluster/borders.rs"]
mod borders;
mod metrics;
#[path = "cluster/nats.rs"]
mod nats;
#[path = "cluster/processes.rs"]
mod processes;
#[path = "cluster/wire.rs"]
mod wire;
#[path = "cluster/wounds.rs"]
mod wounds;

use std::fs;
use std::time::Duration;

use nats::Server;
use processes::{Place, config, differences, program};
use turnstone_cluster::{Announcement, PROTOCOL, Probe};
use turnstone_env::Params;
use turnstone_models::{NetworkConfig, Precision, ResidualMlp};
use turnstone_selfplay::SearchConfig;
use wire::Client;

/// Games, searches, overlaps and arithmetics, with the number of workers.
const CASES: [(&str, &str, u64, &str, usize); 6] = [
    ("mu_torere", "puct", 0, "f32", 1),
    ("mu_torere", "gumbel", 1, "i8", 2),
    ("mu_torere", "puct", 1, "f32", 4),
    ("mancala", "gumbel", 0, "f32", 2),
    ("mancala", "puct", 1, "i8", 4),
    ("mancala", "gumbel", 1, "f32", 1),
];

#[test]
fn a_cluster_ends_in_the_bytes_of_one_machine() {
    let Some(server) = Server::start("") else { return };
    for (number, case) in CASES.into_iter().enumerate() {
        let (game, method, overlap, precision, workers) = case;
        let place = Place::new(&config(game, method, overlap, precision));
        let alone = place.alone();
        let workers: Vec<_> = (0..workers).map(|_| place.worker(&server.url(), &[])).collect();
        let (code, said) = place.lead(&server.url(), &format!("led{number}"), &[]).end();
        assert_eq!(code, Some(0), "{case:?}: {said}");
        assert_eq!(differences(&alone, &place.run(&format!("led{number}"))), Vec::<String>::new(), "{case:?}: {said}");
        assert!(!place.run(&format!("led{number}")).join("cluster").exists(), "nothing of the cluster is left");
        for worker in workers {
            let said = worker.stop();
            assert!(said.contains("playing for run") && said.contains("stopped; returned "), "{said}");
        }
    }
}

#[test]
fn a_leader_without_workers_waits_and_says_so() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", 0, "f32"));
    let alone = place.alone();
    let leader = place.lead(&server.url(), "led", &[]);
    leader.wait_for("waiting for workers; start one with: turnstone worker nats://");
    let worker = place.worker(&server.url(), &[]);
    leader.ends_as(&alone, &place.run("led"));
    worker.stop();
}

#[test]
fn matches_and_grades_of_a_cluster_are_those_of_one_machine() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    // A match that is stopped is over: no one can continue it.
    let stopped = place.spawn(&["arena", "mancala", "random", "random", "--cluster", &server.url()], "arena");
    stopped.wait_for("waiting for workers");
    let (_, queued, _) = place.run_to_end(&["cluster", "status", &server.url(), "--json"]);
    assert!(!queued.contains("\"queues\":{}"), "{queued}");
    assert_eq!(stopped.terminate().0, Some(130));
    let (_, over, _) = place.run_to_end(&["cluster", "status", &server.url(), "--json"]);
    assert!(over.contains("\"queues\":{}"), "nothing is left: {over}");
    let worker = place.worker(&server.url(), &[]);
    let second = place.worker(&server.url(), &[]);
    let url = server.url();
    let arena = ["arena", "mancala", "az:pretrained,sims=16", "alphabeta:depth=2", "random", "--games", "8", "--json"];
    let sequential =
        ["arena", "mu_torere", "mcts:sims=40", "random", "--games", "400", "--sprt", "0,60", "--seed", "3", "--json"];
    let grade = ["grade", "mu_torere", "--agent", "az:pretrained,sims=8", "--json"];
    for command in [&arena[..], &sequential, &grade] {
        let (code, alone, said) = place.run_to_end(command);
        assert_eq!(code, Some(0), "{said}");
        let led: Vec<&str> = command.iter().copied().chain(["--cluster", &url]).collect();
        let (code, together, said) = place.run_to_end(&led);
        assert_eq!((code, alone), (Some(0), together), "{command:?}: {said}");
    }
    for bound in ["alphabeta:time=1ms", "az:pretrained,sims=16,precision=auto"] {
        let (code, _, said) =
            place.run_to_end(&["arena", "mancala", bound, "random", "--games", "2", "--cluster", &url]);
        assert!(code == Some(1) && said.contains(&format!("`{bound}` plays on this machine only")), "{said}");
    }
    let (code, said, _) = place.run_to_end(&["cluster", "status", &url]);
    assert!(
        code == Some(0) && said.contains("(no leader announces a run)") && said.contains("TURNSTONE_WORK"),
        "{said}"
    );
    for worker in [worker, second] {
        assert!(said.contains(&worker.name()), "{said}");
        assert!(!worker.stop().contains("warning"), "no worker complains");
    }
}

#[test]
fn kills_and_restarts_change_nothing() {
    let Some(mut server) = Server::start("") else { return };
    let config = config("mu_torere", "puct", 1, "f32").replace("iterations = 4", "iterations = 8");
    let place = Place::new(&config);
    let alone = place.alone();
    let patient = ["--ack-wait", "1"];
    let mut leader = place.lead(&server.url(), "led", &patient);
    let mut workers: Vec<_> = (0..2).map(|_| place.worker(&server.url(), &[])).collect();
    let mut kills = 0;
    while !leader.is_over() {
        std::thread::sleep(Duration::from_millis(350));
        match kills % 4 {
            0 | 2 => {
                let at = kills / 2 % 2;
                workers.remove(at).kill();
                workers.insert(at, place.worker(&server.url(), &[]));
            }
            1 if kills < 12 => {
                leader.kill();
                leader = place.resume(&server.url(), "led", &patient);
            }
            3 if kills < 8 => server.restart(),
            _ => {}
        }
        kills += 1;
    }
    leader.ends_as(&alone, &place.run("led"));
    assert!(kills >= 4, "the run was over after {kills} kills");
}

#[test]
fn a_machine_with_other_arithmetic_or_another_program_is_refused() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    let mut leader = Client::connect(server.port());
    let worker = place.worker(&server.url(), &[]);
    worker.wait_for("worker ");
    let game = turnstone_games::list!(turnstone_selfplay::row).make("mancala", &Params::new()).expect("a game");
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 8 });
    let probe = Probe::compute(&*game, &network, &SearchConfig::default(), Precision::F32).expect("a small network");
    let program = program();
    let announcement = |run: &str, program: &str, version: u32, checksum: &str| Announcement {
        protocol: PROTOCOL,
        run: run.to_owned(),
        program: program.to_owned(),
        game: "mancala".into(),
        version,
        params: game.params(),
        probe: Probe { checksum: checksum.to_owned(), ..probe.clone() },
        stage: String::new(),
        job: String::new(),
        items: [0, 0],
        ack_wait: 1000,
        over: false,
    };
    let sum = probe.checksum.clone();
    let runs = [
        (announcement("same", &program, game.version(), &sum), "playing for run same of mancala"),
        (
            announcement("bits", &program, game.version(), &"0".repeat(64)),
            "run bits: the arithmetic of this machine gives other bits than the leader's at f32",
        ),
        (
            announcement("program", "turnstone 9.9.9", game.version(), &sum),
            "run program: its leader is turnstone 9.9.9, this worker turnstone",
        ),
        (announcement("rules", &program, game.version() + 1, &sum), "run rules: its game is mancala version"),
    ];
    for (announcement, expected) in &runs {
        let bytes = serde_json::to_vec(announcement).expect("plain fields");
        leader.publish(&format!("turnstone.run.{}", announcement.run), &bytes);
        worker.wait_for(expected);
    }
    leader.publish("turnstone.run.future", b"{\"protocol\":99}");
    worker.wait_for("not playing for run future: its announcement: it speaks version 99, this program version 3");
    let (code, status, _) = place.run_to_end(&["cluster", "status", &server.url()]);
    assert!(code == Some(0) && status.contains("not for bits: the arithmetic"), "{status}");
    worker.stop();
}

#[test]
fn permissions_keep_a_worker_to_its_own_subjects() {
    let Some(server) = Server::with_permissions() else { return };
    let place = Place::new(&config("mu_torere", "gumbel", 1, "f32"));
    let alone = place.alone();
    let secret = |name: &str| {
        let path = place.path(name);
        fs::write(&path, format!("{name}-password\n")).expect("writable");
        path.display().to_string()
    };
    let (leader_file, worker_file) = (secret("leader"), secret("w1"));
    let leader = place.lead(&server.url(), "led", &["--user", "leader", "--password-file", &leader_file]);
    let options = ["--name", "w1", "--user", "w1", "--password-file", &worker_file];
    let worker = place.worker(&server.url(), &options);
    worker.wait_for("playing for run");
    let mut enemy = Client::connect_as(server.port(), "w1", "w1-password");
    for subject in
        ["turnstone.result.x.w2", "turnstone.work.x", "turnstone.run.x", "$JS.API.STREAM.DELETE.TURNSTONE_WORK"]
    {
        assert!(enemy.is_denied(subject), "{subject}");
    }
    leader.ends_as(&alone, &place.run("led"));
    let said = worker.stop();
    assert!(!said.contains("ermissions"), "what it needs is permitted: {said}");
    let (code, _, said) = place.run_to_end(&["cluster", "status", &server.url()]);
    assert!(code == Some(1) && said.contains("authorization violation"), "{said}");
}

#[test]
fn servers_that_are_not_there_and_wrong_options_are_named() {
    let place = Place::new(&config("mu_torere", "puct", 0, "f32"));
    let faults: [(&[&str], &str); 3] = [
        (&["cluster", "status", "nats://127.0.0.1:1"], "server nats://127.0.0.1:1"),
        (&["worker", "nats://127.0.0.1:1", "--name", "a b"], "a worker's name"),
        (&["worker", "nats://127.0.0.1:1", "--threads", "0"], "--threads is 0"),
    ];
    for (command, fault) in faults {
        let (code, _, said) = place.run_to_end(command);
        assert!(code != Some(0) && said.contains(fault), "{command:?}: {said}");
    }
}
