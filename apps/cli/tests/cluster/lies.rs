//! Workers that lie, in every way that is known: the result is that of one machine, and they are named.

use std::time::Duration;

use turnstone_agents::shape;
use turnstone_cluster::{Beat, Effort, Identity, PROTOCOL, Range, Results, checksum, of_task};
use turnstone_models::Learner;
use turnstone_selfplay::{FinishedGame, GameSettings, Progress, Task};
use turnstone_trainer::config::Config;

use crate::nats::Server;
use crate::processes::{Place, config};
use crate::wire::Client;

/// The games of the first iteration of a run, as transcripts by number, and the checksum of their job: what a worker
/// needs to lie within the rules.
fn first_games(config: &str) -> (Vec<Vec<u8>>, [u8; 32]) {
    let config = Config::parse(config, &turnstone_games::list!(turnstone_selfplay::row)).expect("valid");
    let game = config.game(&turnstone_games::list!(turnstone_selfplay::row)).expect("a game");
    let learner = Learner::new(shape(game.spec()), &config.net, &config.learn.optimiser(), config.seed).expect("small");
    let task = Task::new(
        GameSettings {
            simulations: config.search.simulations_at(0.0),
            ..GameSettings::new(&config.search, &config.self_play, config.seed, 1)
        },
        &config.net,
        learner.averaged(),
    );
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
    let place = 2 + 2 * moves + moves.div_ceil(8) + 4 * at;
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

    /// A heartbeat of a worker, on the subject of another.
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

#[test]
#[expect(clippy::too_many_lines, reason = "one leader sees every lie")]
fn lying_workers_change_nothing_and_are_named() {
    let Some(server) = Server::start("") else { return };
    let config = config("mancala", "puct", 0, "f32");
    let place = Place::new(&config);
    let alone = place.alone();
    let (games, job) = first_games(&config);
    let options = ["--ack-wait", "2", "--verify", "0.5"];
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
        assert!(line.contains("is excluded") && line.contains(fault), "{name}: {line}");
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
    enemy.send_items("turncoat", &turncoat, enemy.truth(0..3));
    // Time for the comparisons; without it the lie is found as well.
    std::thread::sleep(Duration::from_secs(2));
    enemy.beat("turncoat", &turncoat, "turncoat");
    enemy.send_items("turncoat", &twin, enemy.claims(3..6));
    leader.wait_for("a message on the subject of worker turncoat is refused: its key");
    enemy.send_items("turncoat", &turncoat, enemy.claims(3..all.end));
    assert!(line_of("turncoat").contains("is not the one that playing it again gives"));

    // Heartbeats of others, and of a crowd that is not there.
    enemy.beat("mallory", &identity(), "honest");
    leader.wait_for("a heartbeat on the subject of worker honest is refused: it is one of worker mallory");
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
    let said = leader.ends_as(&alone, &place.run("led"));
    let excluded = |line: &&str| line.contains("worker honest (") && line.contains("is excluded");
    assert_eq!(said.lines().filter(excluded).count(), 1, "its name was borrowed once, its key never: {said}");
    assert!(said.contains("worker second ("), "{said}");
    assert!(said.contains("on the subject of worker thief is refused: it is one of worker honest"), "{said}");
    assert!(said.lines().count() < 300, "{said}");
    let said = worker.stop();
    assert!(
        said.contains("a range goes beyond its job") && !said.contains(&format!("not playing for run {run}")),
        "{said}"
    );
}
