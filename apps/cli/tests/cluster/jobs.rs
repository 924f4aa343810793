//! Jobs that cannot be played, workers that cannot play, and what jobs cost the server.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use turnstone_agents::{Agent, shape};
use turnstone_arena::{Remote, RemoteAnswer, RemotePositions};
use turnstone_base::terminal::Reporter;
use turnstone_cluster::{Leader, LeaderOptions, Played, Probe};
use turnstone_env::Params;
use turnstone_models::{NetworkConfig, Precision, ResidualMlp, Weights};
use turnstone_search::Stop;
use turnstone_selfplay::{
    GameSettings, SearchConfig, SelfPlayConfig, SelfPlayCounters, SelfPlayer, Task, TrainableGame,
};

use crate::nats::Server;
use crate::processes::{Place, config, wait_until};
use crate::wire::Client;

fn mancala() -> Arc<dyn TrainableGame> {
    turnstone_games::list!(turnstone_selfplay::row).make("mancala", &Params::new()).expect("a game")
}

fn start() -> String {
    mancala().position_text(&mancala().start())
}

/// A leader in this process, whose workers see what `change` makes of its program and self-test.
fn leader(server: &Server, change: impl Fn(&mut String, &mut Probe)) -> Leader {
    let game = mancala();
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 8 });
    let mut probe =
        Probe::compute(&*game, &network, &SearchConfig::default(), Precision::F32).expect("a small network");
    let mut program = turnstone::PROGRAM.to_owned();
    change(&mut program, &mut probe);
    let options = LeaderOptions { url: Some(server.url()), ack_wait: Some(1), ..LeaderOptions::default() };
    let (reporter, stop) = (Reporter::new(true), Stop::default());
    Leader::new(&options, &program, None, &*game, probe, reporter, &stop).expect("it leads")
}

/// Asks an agent of the cluster about positions, whose answers go to `put`, while `beside` runs. A panic there ends it.
fn ask(
    leader: &Leader,
    texts: &[&str],
    put: &dyn Fn(usize, RemoteAnswer) -> Result<(), String>,
    beside: impl FnOnce(&Stop) + Send,
) -> anyhow::Result<bool> {
    let (game, stop) = (mancala(), Stop::default());
    let agent = Agent::load(&"random".parse().expect("a spec"), &*game).expect("it plays");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| beside(&stop))) {
                stop.raise();
                resume_unwind(panic);
            }
        });
        leader.answer(&RemotePositions { agent: &agent, texts: texts.to_vec(), seed: 3, put, stop: &stop })
    })
}

#[test]
fn a_job_that_fails_three_times_ends_the_run() {
    let Some(server) = Server::start("") else { return };
    let (place, led) = (Place::new(""), leader(&server, |_, _| {}));
    let worker = place.worker(&server.url(), &["--name", "w1"]);
    let fault = ask(&led, &[&start(), "nonsense"], &|_, _| Ok(()), |_| {}).expect_err("it cannot be played");
    let fault = format!("{fault:#}");
    assert!(
        fault.contains("answers to positions, item 1 on worker w1: ") && fault.contains("failed 3 times"),
        "{fault}"
    );
    assert!(ask(&led, &[&start()], &|_, _| Ok(()), |_| {}).expect("others are played"));
    drop(led);
    worker.wait_for("is over");
    worker.stop();
}

#[test]
fn results_count_once_by_number_checksum_and_work_and_a_lost_queue_is_filled_again() {
    let Some(server) = Server::start("") else { return };
    let (mut spy, led) = (Client::connect(server.port()), leader(&server, |_, _| {}));
    spy.subscribe("turnstone.job.*");
    let forge = move |_: &Stop| {
        let run = spy.next().0.replace("turnstone.job.", "");
        // Its second job, which is cut for the second item.
        spy.next();
        spy.publish(&format!("$JS.API.CONSUMER.DELETE.TURNSTONE_JOBS.{run}"), b"");
        let job: serde_json::Value = serde_json::from_slice(&spy.next().1).expect("JSON");
        let work = job["work"].as_str().expect("a checksum");
        let message = |work: &str, item, action: &str| {
            let outcome = format!("{{\"action\":\"{action}\"}}").into_bytes();
            Played { work: work.to_owned(), items: vec![(item, Ok(outcome.into()))], ..Played::default() }.encode()
        };
        let mut damaged = message(work, 1, "B2");
        *damaged.last_mut().expect("bytes") ^= 1;
        let other = message(&"0".repeat(64), 1, "B2");
        let sound =
            [(2, "B2"), (1, "B1"), (0, "B1"), (0, "B1"), (1, "B2")].map(|(item, text)| message(work, item, text));
        for message in [damaged, other].iter().chain(&sound) {
            spy.publish(&format!("turnstone.result.{run}.w"), message);
        }
        spy.flush();
    };
    let asked = RefCell::new(Vec::new());
    let put = |number, answer: RemoteAnswer| {
        asked.borrow_mut().push((number, answer.action.clone()));
        if answer.action == ["B1", "B2"][number] { Ok(()) } else { Err("a wrong answer".to_owned()) }
    };
    assert!(ask(&led, &["a", "b"], &put, forge).expect("it is answered"));
    assert_eq!(*asked.borrow(), [(1, "B1"), (0, "B1"), (1, "B2")].map(|(number, action)| (number, action.to_owned())));
}

#[test]
fn a_job_is_played_with_its_own_work() {
    let Some(server) = Server::start("") else { return };
    let (place, led) = (Place::new(""), leader(&server, |_, _| {}));
    let [mut spy, mut other] = [(); 2].map(|()| Client::connect(server.port()));
    spy.subscribe("$KV.turnstone_work.>");
    let (start, mut first, mut worker) = (start(), None, None);
    let stopped = ask(&led, &[&start, &start], &|_, _| Ok(()), |stop| {
        first = Some(spy.next());
        stop.raise();
    });
    assert!(!stopped.expect("it is stopped"));
    let fault = ask(&led, &[&start], &|_, _| Ok(()), |_| {
        spy.next();
        let (subject, work) = first.expect("the first work");
        other.publish(&subject, &work);
        other.flush();
        worker = Some(place.worker(&server.url(), &[]));
    });
    let fault = fault.expect_err("the server has another work").to_string();
    assert!(fault.contains("the server does not have its network and settings (it has failed 3 times)"), "{fault}");
    worker.expect("a worker").stop();
}

#[test]
fn a_job_is_kept_until_its_results_are_stored() {
    let users = "accounts { a: { jetstream: enabled, users: [
        { user: all, password: p }
        { user: mute, password: p, permissions: { publish: { deny: \"turnstone.result.>\" } } }
    ] } }\nno_auth_user: all";
    let Some(server) = Server::start(users) else { return };
    let (place, led, url) = (Place::new(""), leader(&server, |_, _| {}), server.url());
    std::fs::write(place.path("password"), "p").expect("writable");
    let kept = |_: &Stop| {
        let mute = place.worker(&url, &["--user", "mute", "--password-file", "password"]);
        mute.wait_for("the server takes no results");
        let worker = place.worker(&url, &[]);
        worker.wait_for("playing for run");
        // The time for an acknowledgement is one second.
        std::thread::sleep(Duration::from_secs(4));
        let status = place.status(&url, &[]);
        assert!(status.contains("0 of 1 items\n  jobs: 0 waiting, 1 in work"), "{status}");
        mute.kill();
        wait_until(|| place.status(&url, &[]).contains("0 in work, 1 done, 1 redelivered"), &|| {
            place.status(&url, &[])
        });
        worker.stop();
    };
    assert!(ask(&led, &[&start()], &|_, _| Ok(()), kept).expect("another worker plays it"));
}

#[test]
fn a_worker_that_stops_returns_its_jobs_at_once() {
    let Some(server) = Server::start("") else { return };
    let (place, url) = (Place::new(""), server.url());
    let slow = ["arena", "mancala", "mcts:sims=50000", "random", "--games", "2", "--cluster", &url, "--ack-wait", "90"];
    let (leader, worker) = (place.spawn(&slow, "arena"), place.worker(&url, &[]));
    wait_until(|| place.status(&url, &[]).contains("in work, 0 done"), &|| leader.said());
    wait_until(|| !place.status(&url, &[]).contains(" 0 in work"), &|| leader.said());
    worker.stop();
    let (began, worker) = (Instant::now(), place.worker(&url, &[]));
    let (code, said) = leader.end();
    assert!(code == Some(0) && began.elapsed() < Duration::from_secs(80), "{:?}: {said}", began.elapsed());
    worker.stop();
}

#[test]
fn a_worker_turns_to_the_next_work_at_once() {
    let Some(server) = Server::start("") else { return };
    let (place, game, led) = (Place::new(""), mancala(), leader(&server, |_, _| {}));
    let (worker, stop) = (place.worker(&server.url(), &[]), Stop::default());
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 8 });
    let weights = Weights::random(&network.layout(&shape(game.spec())).expect("a network"), 20);
    let play = |simulations, stop: &Stop| {
        let self_play = SelfPlayConfig { games_per_iteration: 1, ..SelfPlayConfig::default() };
        let settings = GameSettings { simulations, ..GameSettings::new(&SearchConfig::default(), &self_play, 20, 0) };
        let games = led.self_play(&*game, &Task::new(settings, &network, &weights), &SelfPlayCounters::default(), stop);
        games.expect("it is played").is_some()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            worker.wait_for("playing for run");
            std::thread::sleep(Duration::from_secs(2));
            stop.raise();
        });
        assert!(!play(1_000_000, &stop), "a game that does not end");
    });
    assert!(play(8, &Stop::default()));
    worker.stop();
}

#[test]
fn a_job_over_which_ten_workers_are_killed_ends_the_run() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    let url = server.url();
    let endless = "mcts:sims=10000000";
    let options = ["--games", "2", "--cluster", &url, "--ack-wait", "1"];
    let command: Vec<&str> = ["arena", "mancala", endless, "random"].into_iter().chain(options).collect();
    let mut leader = place.spawn(&command, "arena");
    let until = Instant::now() + Duration::from_secs(120);
    while !leader.is_over() {
        let worker = place.worker(&url, &[]);
        while !worker.said().contains("playing for run") && !leader.is_over() {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        worker.kill();
        assert!(Instant::now() < until, "{}", leader.said());
    }
    let (code, said) = leader.end();
    assert!(code == Some(1) && said.contains("10 workers were killed over this job or fell silent"), "{said}");
}

#[test]
fn a_machine_with_other_arithmetic_or_another_program_is_refused() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    let worker = place.worker(&server.url(), &[]);
    let (arithmetic, program) = ("the arithmetic of this machine gives other bits", "its leader is turnstone 9.9.9");
    for refusal in ["playing for run", arithmetic, program] {
        let led = leader(&server, |name, probe| match refusal {
            _ if refusal == arithmetic => probe.checksum = "0".repeat(64),
            _ if refusal == program => *name = "turnstone 9.9.9".into(),
            _ => {}
        });
        let refused = |stop: &Stop| {
            worker.wait_for(refusal);
            stop.raise();
        };
        assert!(ask(&led, &["x"], &|_, _| Ok(()), refused).is_ok_and(|done| !done));
    }
    worker.stop();
}

/// A run of many short iterations with networks of half a megabyte.
fn many_works(iterations: usize) -> String {
    let config = config("mu_torere", "puct", false, "f32");
    let changes = [
        ("width = 16", "width = 192"),
        ("games_per_iteration = 24", "games_per_iteration = 2"),
        ("every = 2", "every = 0\ngrade = false"),
        ("final_games = 6", "final_games = 2"),
        ("best_games = 4", "best_games = 0"),
        ("samples_per_position = 4", "samples_per_position = 1"),
    ];
    let config = changes.iter().fold(config, |config, (from, to)| config.replace(from, to));
    config.replace("iterations = 4", &format!("iterations = {iterations}"))
}

#[test]
fn old_networks_and_results_cost_nothing() {
    let Some(server) = Server::with_room("24MB", "") else { return };
    let place = Place::new(&many_works(40));
    let worker = place.worker(&server.url(), &[]);
    let (code, said) = place.lead(&server.url(), "short", &["--set", "run.iterations=8"]).end();
    assert_eq!(code, Some(0), "{said}");
    let before = worker.memory();
    let (mut leader, mut most) = (place.lead(&server.url(), "led", &[]), 0);
    while !leader.is_over() {
        most = most.max(server.messages("TURNSTONE_RESULTS"));
    }
    let (code, said) = leader.end();
    assert_eq!(code, Some(0), "{said}");
    // A work has two games.
    assert!(most < 10, "the server kept {most} results of old works");
    // Forty networks are twenty megabytes.
    let after = worker.memory();
    assert!(after < before + (8 << 20), "the worker had {before} bytes after a short run, {after} after the long one");
    // Twenty megabytes of networks went through the server, which has files of eight.
    let stored = server.stored();
    assert!(stored < 10 << 20, "{stored} bytes are left on disk");
    assert_eq!(server.counted(), 0, "what is gone still counts as stored");
    worker.stop();
}

#[test]
fn a_full_store_is_survived_once_there_is_room() {
    let Some(server) = Server::with_room("20MB", "") else { return };
    let place = Place::new(&many_works(4));
    let alone = place.alone();
    // All but a part of a network is taken.
    let mut other = Client::connect(server.port());
    other.publish("$JS.API.STREAM.CREATE.OTHER", br#"{"name":"OTHER","subjects":["other"],"num_replicas":1}"#);
    (0..102).for_each(|_| other.publish("other", &[0; 200 << 10]));
    other.flush();
    let leader = place.lead(&server.url(), "led", &[]);
    leader.wait_for("the server takes no jobs: ");
    leader.wait_for("make room on its disk, or raise its limits; trying again");
    std::thread::sleep(Duration::from_secs(2));
    other.publish("$JS.API.STREAM.DELETE.OTHER", b"");
    other.flush();
    let worker = place.worker(&server.url(), &[]);
    leader.ends_as(&alone, &place.path("led"));
    worker.stop();
}
