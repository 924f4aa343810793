//! Jobs that cannot be played, workers that cannot play, and what jobs cost the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use turnstone_agents::Agent;
use turnstone_arena::{Remote, RemotePositions};
use turnstone_cluster::{Leader, LeaderSettings, Probe, ServerOptions};
use turnstone_env::Params;
use turnstone_models::{NetworkConfig, Precision, ResidualMlp};
use turnstone_search::Stop;
use turnstone_selfplay::{SearchConfig, TrainableGame};

use crate::nats::Server;
use crate::processes::{Place, config};
use crate::wire::Client;

fn mancala() -> Arc<dyn TrainableGame> {
    turnstone_games::list!(turnstone_selfplay::row).make("mancala", &Params::new()).expect("a game")
}

/// A leader in this process, whose workers see what `change` makes of its program and self-test.
fn leader(server: &Server, change: impl Fn(&mut String, &mut Probe)) -> Leader {
    let game = mancala();
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 8 });
    let mut probe =
        Probe::compute(&*game, &network, &SearchConfig::default(), Precision::F32).expect("a small network");
    let mut program = turnstone::PROGRAM.to_owned();
    change(&mut program, &mut probe);
    let server = ServerOptions { url: server.url(), ..ServerOptions::default() };
    let settings = LeaderSettings { program, server, folder: None, ack_wait: Duration::from_secs(1) };
    Leader::new(settings, &*game, probe, Arc::new(|_| {}), &Stop::default()).expect("it leads")
}

/// Asks an agent of the cluster about positions.
fn ask(leader: &Leader, texts: Vec<&str>, stop: &Stop) -> anyhow::Result<bool> {
    let game = mancala();
    let agent = Agent::load(&"random".parse().expect("a spec"), &*game).expect("it plays");
    leader.answer(&RemotePositions { game: &*game, agent: &agent, texts, seed: 3, put: &|_, _| Ok(()), stop })
}

#[test]
fn a_job_that_fails_three_times_ends_the_run() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    let start = mancala().position_text(&mancala().start());
    let worker = place.worker(&server.url(), &["--name", "w1"]);
    let led = leader(&server, |_, _| {});
    let fault = ask(&led, vec![&start, "nonsense"], &Stop::default()).expect_err("it cannot be played");
    let fault = format!("{fault:#}");
    assert!(fault.contains("answers of random, item 1 on worker w1: ") && fault.contains("failed 3 times"), "{fault}");
    assert!(ask(&led, vec![&start], &Stop::default()).expect("others are played"));
    drop(led);
    worker.wait_for("is over");
    worker.stop();
}

#[test]
fn a_job_over_which_ten_workers_are_killed_ends_the_run() {
    let Some(server) = Server::start("") else { return };
    let place = Place::new("");
    let url = server.url();
    let endless = "mcts:sims=10000000";
    let options = ["--games", "2", "--cluster", &url, "--ack-wait", "0.5"];
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
    let _same = leader(&server, |_, _| {});
    let stop = Stop::default();
    std::thread::scope(|scope| {
        for (change, refusal) in [
            (
                &(|_: &mut String, probe: &mut Probe| probe.checksum = "0".repeat(64))
                    as &(dyn Fn(&mut String, &mut Probe) + Sync),
                "the arithmetic of this machine gives other bits than the leader's at f32",
            ),
            (&|program, _| *program = "turnstone 9.9.9".into(), "its leader is turnstone 9.9.9, this worker turnstone"),
        ] {
            let led = leader(&server, change);
            scope.spawn({
                let stop = &stop;
                move || ask(&led, vec!["x"], stop)
            });
            worker.wait_for(refusal);
        }
        stop.raise();
    });
    worker.stop();
}

/// A run of many short iterations with networks of half a megabyte.
fn many_works(iterations: usize) -> String {
    let config = config("mu_torere", "puct", false, "f32");
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

/// Gives a stream of another run this many messages of 200 KiB.
fn fill(server: &Server, messages: usize) -> Client {
    let mut other = Client::connect(server.port());
    other.publish("$JS.API.STREAM.CREATE.OTHER", br#"{"name":"OTHER","subjects":["other"],"num_replicas":1}"#);
    for _ in 0..messages {
        other.publish("other", &vec![0; 200 << 10]);
    }
    other.flush();
    other
}

#[test]
fn old_networks_cost_no_disk() {
    let Some(server) = Server::with_room("24MB", "") else { return };
    let place = Place::new(&many_works(40));
    let worker = place.worker(&server.url(), &[]);
    let (code, said) = place.lead(&server.url(), "led", &[]).end();
    assert_eq!(code, Some(0), "{said}");
    // Twenty megabytes of networks went through the server, which has files of eight.
    let stored = server.stored();
    assert!(stored < 10 << 20, "{stored} bytes are left on disk");
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
    let place = Place::new(&many_works(4));
    let alone = place.alone();
    // All but a part of a network is taken.
    let mut other = fill(&server, 102);
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
