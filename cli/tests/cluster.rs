//! Runs on a cluster end in the bytes of one machine: with workers that come, go and are killed, a leader and a server that
//! are killed, and workers that lie.
//!
//! The tests start Debian's `nats-server` on a free port. Without it they say that they are skipped; with
//! `TURNSTONE_NATS=required` that is a failure.
#![cfg(feature = "cluster")]

#[path = "cluster/nats.rs"]
mod nats;
#[path = "cluster/processes.rs"]
mod processes;
#[path = "cluster/wire.rs"]
mod wire;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nats::Server;
use processes::{Place, Running, config, differences};
use turnstone_agents::shape;
use turnstone_cluster::{Announcement, Beat, Effort, Identity, PROTOCOL, Probe, Range, Results, checksum, of_task};
use turnstone_env::Params;
use turnstone_models::{Learner, NetworkConfig, Precision};
use turnstone_selfplay::{FinishedGame, Progress, SearchConfig, Task, built_in};
use turnstone_trainer::config::Config;
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
            assert!(said.contains("playing for run") && said.contains("left;"), "{said}");
        }
    }
}

#[test]
fn a_leader_without_workers_waits_and_says_so() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new(&config("mu_torere", "puct", 0, "f32"));
    let alone = place.alone();
    let leader = place.lead(&server.url(), "led", &[]);
    leader.wait_for("waiting for workers, of which there are none: turnstone worker nats://");
    let worker = place.worker(&server.url(), &[]);
    let (code, said) = leader.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(differences(&alone, &place.run("led")), Vec::<String>::new());
    worker.stop();
}

#[test]
fn matches_and_grades_of_a_cluster_are_those_of_one_machine() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    // A match that is stopped is over: no one can go on with it.
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
    let (code, said) = leader.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(kills >= 4, "the run was over after {kills} kills");
    assert_eq!(differences(&alone, &place.run("led")), Vec::<String>::new(), "{said}");
}

#[test]
fn a_worker_with_a_name_sends_what_it_has_spooled() {
    let Some(mut server) = Server::start("") else { return };
    let place = Place::new(&config("mancala", "puct", 0, "f32"));
    let alone = place.alone();
    let leader = place.lead(&server.url(), "led", &["--ack-wait", "2"]);
    let worker = place.worker(&server.url(), &["--name", "spooler"]);
    worker.wait_for("playing for run");
    let spool = place.spool().join("spooler");
    // The server goes away while games are played: finished ranges stay on disk.
    server.kill();
    let ranges = || {
        fs::read_dir(&spool)
            .expect("it is there")
            .flatten()
            .filter(|e| e.path().extension().is_some_and(|e| e == "range"))
            .count()
    };
    let until = Instant::now() + Duration::from_secs(30);
    while ranges() == 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    worker.kill();
    let spooled = ranges();
    server.start_again();
    let worker = place.worker(&server.url(), &["--name", "spooler"]);
    if spooled > 0 {
        worker.wait_for("finished ranges of an earlier worker are sent first");
    }
    let (code, said) = leader.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(differences(&alone, &place.run("led")), Vec::<String>::new(), "{said}");
    worker.stop();
    assert_eq!(ranges(), 0, "what the server has is not kept");
}

/// The games of the first iteration of a run, as transcripts by number, and the checksum of their job: what a worker
/// needs to lie within the rules.
fn first_games(config: &str) -> (Vec<Vec<u8>>, [u8; 32]) {
    let config = Config::parse(config, &built_in()).expect("valid");
    let game = config.game(&built_in()).expect("a game");
    let learner = Learner::new(shape(game.spec()), &config.net, &config.learn.optimiser(), config.seed).expect("small");
    let task = Task {
        network: &config.net,
        weights: learner.averaged(),
        search: &config.search,
        self_play: &config.self_play,
        simulations: config.search.simulations_at(0.0),
        archive: &[],
        samples: &[],
        seed: config.seed,
        iteration: 1,
    };
    let mut sessions = game.task_sessions(&task, 1).expect("sound");
    let mut numbers = 0..config.self_play.games_per_iteration;
    while sessions[0].step(6, &mut || numbers.next(), &Progress::default()) {}
    let mut games = sessions[0].take_finished();
    games.sort_by_key(|game| game.number);
    (games.iter().map(FinishedGame::transcript).collect(), checksum(&of_task(&*game, &task)))
}

/// A transcript with another number in place of one of its values and shares; the first two are the value and draw of the
/// first recorded position.
fn with_number(transcript: &[u8], at: usize, number: f32) -> Vec<u8> {
    let moves = usize::from(u16::from_le_bytes([transcript[0], transcript[1]]));
    let place = 2 + 2 * moves + moves.div_ceil(8) + 2 + 4 * at;
    let mut changed = transcript.to_vec();
    changed[place..place + 4].copy_from_slice(&number.to_le_bytes());
    changed
}

/// Someone who knows the run and the true games of its first iteration, and may publish whatever they like.
struct Enemy {
    client: Client,
    run: String,
    job: [u8; 32],
    games: Vec<Vec<u8>>,
}

impl Enemy {
    fn results(&self, worker: &str, items: Vec<(u32, Vec<u8>)>) -> Results {
        let effort = Effort { positions: u64::MAX, millis: u64::MAX, cache: [u64::MAX; 4], ..Effort::default() };
        Results { worker: worker.to_owned(), run: self.run.clone(), job: self.job, effort, items }
    }

    /// True games.
    fn truth(&self, numbers: std::ops::Range<usize>) -> Vec<(u32, Vec<u8>)> {
        numbers.map(|number| (number as u32, self.games[number].clone())).collect()
    }

    /// Legal and finite, but not what the search gives: only playing again finds that.
    fn claims(&self, numbers: std::ops::Range<usize>) -> Vec<(u32, Vec<u8>)> {
        self.truth(numbers).into_iter().map(|(number, game)| (number, with_number(&game, 0, 0.125))).collect()
    }

    fn send(&mut self, worker: &str, bytes: &[u8]) {
        self.client.publish(&format!("turnstone.result.{}.{worker}", self.run), bytes);
    }

    fn send_items(&mut self, worker: &str, identity: &Identity, items: Vec<(u32, Vec<u8>)>) {
        self.send(worker, &self.results(worker, items).encode(identity));
    }

    /// A sign of life of a worker, on the subject of another.
    fn beat(&mut self, worker: &str, identity: &Identity, subject: &str) {
        let beat = Beat {
            protocol: PROTOCOL,
            worker: worker.to_owned(),
            key: identity.key().iter().map(|byte| format!("{byte:02x}")).collect(),
            program: "p".into(),
            threads: 1024,
            runs: vec![self.run.clone()],
            done: [0, 0],
            rate: 1e300,
            held: 0,
            spooled: 0,
            refusals: Vec::new(),
        };
        self.client.publish(&format!("turnstone.worker.{subject}"), &beat.encode(identity));
    }
}

/// The value of a leader's counter for Prometheus.
fn counter(leader: &Running, name: &str) -> u64 {
    leader.wait_for("metrics: http://");
    let said = leader.said();
    let address = said.split("metrics: http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let line = answer.lines().find(|line| line.starts_with(name)).expect("a counter");
    line.split(' ').next_back().and_then(|value| value.parse().ok()).expect("a number")
}

#[test]
fn lying_workers_change_nothing_and_are_named() {
    let Some(server) = Server::start("") else { return };
    let config = config("mancala", "puct", 0, "f32");
    let place = Place::new(&config);
    let alone = place.alone();
    let (games, job) = first_games(&config);
    let options = ["--ack-wait", "2", "--verify", "0.5", "--metrics-addr", "127.0.0.1:0"];
    let leader = place.lead(&server.url(), "led", &options);
    leader.wait_for("waiting for workers");
    let said = leader.said();
    let run = said.split("leading ").nth(1).and_then(|rest| rest.split(' ').next()).expect("its name").to_owned();
    let mut enemy = Enemy { client: Client::connect(server.port()), run: run.clone(), job, games };
    let all = 0..enemy.games.len();
    let identity = || Identity::new().expect("a key");

    // Bytes that no worker signs, other people's messages, and a key for which anyone can forge signatures: one of four
    // messages fits its equation with R = B and S = 1.
    for payload in [b"garbage".to_vec(), vec![0xff; 900_000]] {
        enemy.send("mallory", &payload);
    }
    let mut forged = enemy.results("honest", enemy.truth(0..1)).encode(&identity());
    *forged.last_mut().expect("not empty") ^= 1;
    enemy.send("honest", &forged);
    for nonce in 0..40 {
        let effort = Effort { positions: nonce, ..Effort::default() };
        let results = Results { effort, ..enemy.results("zero", enemy.claims(all.clone())) };
        let mut forged = results.encode(&identity());
        forged[4..100].fill(0);
        forged[36..68].fill(0x66);
        (forged[36], forged[68]) = (0x58, 1);
        enemy.send("zero", &forged);
    }
    leader.wait_for("a message on the subject of worker mallory is refused");
    for name in ["honest", "zero"] {
        leader.wait_for(&format!("on the subject of worker {name} is refused: its signature is not of its contents"));
    }

    // Signed, but against the rules or out of bounds.
    let mut illegal = enemy.games[0].clone();
    illegal[2..4].copy_from_slice(&999u16.to_le_bytes());
    let first = enemy.games[0].clone();
    let lies: [(&str, u32, Vec<u8>, &str); 7] = [
        ("illegal", 0, illegal, "is not legal in"),
        ("nan", 0, with_number(&first, 2, f32::NAN), "share of the policy that is not from 0 to 1"),
        ("infinite", 0, with_number(&first, 0, f32::INFINITY), "a value or result that no game has"),
        ("short", 0, first[..first.len() - 1].to_vec(), "cut short"),
        ("huge", 0, vec![0; 900_000], "item 0"),
        ("beyond", u32::MAX, first.clone(), "is not one of the job's"),
        ("honest", 0, vec![1, 0, 0, 0, 0], "item 0"),
    ];
    let line_of = |name: &str| {
        leader.wait_for(&format!("worker {name} ("));
        let said = leader.said();
        said.lines().find(|line| line.contains(&format!("worker {name} ("))).expect("it was found").to_owned()
    };
    for (name, number, item, fault) in lies {
        enemy.send_items(name, &identity(), vec![(number, item)]);
        let line = line_of(name);
        assert!(line.contains("is left out") && line.contains(fault), "{name}: {line}");
    }

    // All games are claimed, and a friend confirms each of them.
    let claims = enemy.claims(all.clone());
    for name in ["subtle", "friend"] {
        enemy.send_items(name, &identity(), claims.clone());
    }
    for name in ["subtle", "friend"] {
        assert!(line_of(name).contains("is not the one that playing it again gives"));
    }

    // A worker passes its first comparisons and lies then, also with a second key that is to confirm the first.
    let (turncoat, twin) = (identity(), identity());
    let before = counter(&leader, "turnstone_checks_total");
    enemy.send_items("turncoat", &turncoat, enemy.truth(0..3));
    let until = Instant::now() + Duration::from_secs(30);
    while counter(&leader, "turnstone_checks_total") < before + 3 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    enemy.beat("turncoat", &turncoat, "turncoat");
    enemy.send_items("turncoat", &twin, enemy.claims(3..6));
    leader.wait_for("a message on the subject of worker turncoat is refused: its key");
    enemy.send_items("turncoat", &turncoat, enemy.claims(3..all.end));
    assert!(line_of("turncoat").contains("is not the one that playing it again gives"));

    // Signs of life of others, and of a crowd that is not there.
    enemy.beat("mallory", &identity(), "honest");
    leader.wait_for("a sign of life on the subject of worker honest is refused: it is one of worker mallory");
    for number in 0..20_500 {
        let name = format!("crowd{number}");
        enemy.beat(&name, &identity(), &name);
    }

    // Messages on subjects that only the leader uses, and old or foreign jobs.
    let range = Range { job: [7; 32], first: 0, count: 9, seats: 1, except: None };
    let beyond = Range { job, first: 999, ..range.clone() };
    for payload in [b"no range".to_vec(), range.encode(), beyond.encode()] {
        enemy.client.publish(&format!("turnstone.work.{run}"), &payload);
    }
    enemy.client.publish("turnstone.run.other", b"{\"protocol\":99}");
    enemy.client.publish(&format!("turnstone.run.{run}"), b"{\"protocol\":1}");
    enemy.client.publish("turnstone.worker.honest", &vec![b'x'; 300_000]);
    let foreign = Results { job: [9; 32], ..enemy.results("late", enemy.truth(0..1)) };
    enemy.send("late", &foreign.encode(&identity()));

    // Every message of the honest worker is sent again twice, and as another's. A second worker says that it is there and
    // answers with other games that are legal: what is compared is not what is kept.
    enemy.client.subscribe("turnstone.result.>");
    let second = identity();
    enemy.beat("second", &second, "second");
    let worker = place.worker(&server.url(), &["--name", "honest"]);
    let mut replayed = 0;
    while let Some((subject, payload)) = enemy.client.next(Duration::from_secs(10)) {
        if !subject.ends_with(".honest") || replayed >= 200 {
            continue;
        }
        (0..2).for_each(|_| enemy.client.publish(&subject, &payload));
        enemy.send("thief", &payload);
        let (_, results) = Results::decode(&payload).expect("it is honest");
        if results.job == job {
            let answer = results.items.iter().map(|(number, game)| (*number, with_number(game, 0, 0.125))).collect();
            enemy.beat("second", &second, "second");
            enemy.send_items("second", &second, answer);
        }
        replayed += 2;
    }
    assert!(replayed > 10, "{replayed}");
    let (code, said) = leader.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(differences(&alone, &place.run("led")), Vec::<String>::new(), "{said}");
    let left_out = |line: &&str| line.contains("worker honest (") && line.contains("is left out");
    assert_eq!(said.lines().filter(left_out).count(), 1, "its name was borrowed once, its key never: {said}");
    assert!(said.contains("worker second ("), "{said}");
    assert!(said.contains("on the subject of worker thief is refused: it is one of worker honest"), "{said}");
    assert!(said.lines().count() < 300, "{said}");
    let said = worker.stop();
    assert!(
        said.contains("a range goes beyond its job") && !said.contains(&format!("not playing for run {run}")),
        "{said}"
    );
}

#[test]
fn a_machine_with_other_arithmetic_or_another_program_is_refused() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    let mut leader = Client::connect(server.port());
    let worker = place.worker(&server.url(), &[]);
    worker.wait_for("worker ");
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    let network = NetworkConfig::ResidualMlp { blocks: 1, width: 8 };
    let probe = Probe::compute(&*game, &network, &SearchConfig::default(), Precision::F32).expect("a small network");
    let version = Command::new(env!("CARGO_BIN_EXE_turnstone")).arg("--version").output().expect("it runs");
    let program = String::from_utf8(version.stdout).expect("UTF-8").trim().to_owned();
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
        excluded: Vec::new(),
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
    worker.wait_for("not playing for run future: its announcement: it speaks version 99, this program version 1");
    let (code, status, _) = place.run_to_end(&["cluster", "status", &server.url()]);
    assert!(code == Some(0) && status.contains("not for bits: the arithmetic"), "{status}");
    worker.stop();
}

#[test]
fn permissions_keep_a_worker_to_its_own_subjects() {
    let permissions =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontends/cluster/permissions.conf"));
    let Some(server) = Server::start(&permissions.expect("the documented permissions")) else { return };
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
    let (code, said) = leader.end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(differences(&alone, &place.run("led")), Vec::<String>::new(), "{said}");
    let said = worker.stop();
    assert!(!said.contains("ermissions"), "what it needs is permitted: {said}");
    let (code, _, said) = place.run_to_end(&["cluster", "status", &server.url()]);
    assert!(code == Some(1) && said.contains("authorization violation"), "{said}");
}

#[test]
fn servers_that_are_not_there_and_wrong_options_are_named() {
    let place = Place::new(&config("mu_torere", "puct", 0, "f32"));
    let faults: [(&[&str], &str); 4] = [
        (&["cluster", "status", "nats://127.0.0.1:1"], "server nats://127.0.0.1:1"),
        (&["worker", "nats://127.0.0.1:1", "--name", "a b"], "a worker's name"),
        (&["worker", "nats://127.0.0.1:1", "--threads", "0"], "--threads is 0"),
        (&["grade", "mu_torere", "--agent", "random", "--verify", "2"], "must be from 0 to 1"),
    ];
    for (command, fault) in faults {
        let (code, _, said) = place.run_to_end(command);
        assert!(code != Some(0) && said.contains(fault), "{command:?}: {said}");
    }
}
