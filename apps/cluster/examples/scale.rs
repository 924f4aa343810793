//! A leader with simulated workers, which return recorded games at full speed: what one leader and one server carry.
//!
//! `cargo run --release -p turnstone-cluster --example scale -- nats://127.0.0.1:4222 mancala 20000 8` records 20,000 games
//! of Mancala with a small network, plays the iteration twice with 8 simulated workers, and prints rates.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, consumer::pull};
use futures_util::StreamExt;
use turnstone_agents::shape;
use turnstone_cluster::{
    Beat, Effort, Identity, Leader, LeaderSettings, Note, PROTOCOL, Probe, Range, Results, ServerOptions, of_task,
};
use turnstone_env::Params;
use turnstone_models::{NetworkConfig, Precision, ResidualMlp, Weights};
use turnstone_selfplay::{GameSettings, Progress, SearchConfig, SelfPlayConfig, SelfPlayer, Task};

type Fault = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Fault> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, games, workers] = args.as_slice() else { return Err("scale URL GAME GAMES WORKERS".into()) };
    let (count, workers): (usize, usize) = (games.parse()?, workers.parse()?);
    let game = turnstone_games::list!(turnstone_selfplay::row).make(name, &Params::new())?;
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 16 });
    let weights = Weights::random(&network.layout(&shape(game.spec()))?, 1);
    let self_play = SelfPlayConfig { games_per_iteration: count, ..SelfPlayConfig::default() };
    let task = Task::new(
        GameSettings { simulations: 2, ..GameSettings::new(&SearchConfig::default(), &self_play, 1, 1) },
        &network,
        &weights,
    );
    let (mut numbers, progress) = (0..count, Progress::default());
    let mut recorded = HashMap::new();
    for session in &mut game.task_sessions(&task, 1)? {
        while session.step(64, &mut || numbers.next(), &progress) {}
        recorded.extend(session.take_finished().iter().map(|game| (game.number, game.transcript())));
    }
    let bytes: usize = recorded.values().map(Vec::len).sum();
    let positions = progress.positions.load(Ordering::Relaxed);
    println!("{count} games, {} bytes and {} positions each", bytes / count, positions / count as u64);
    println!("job: {} bytes", of_task(&*game, &task).len());
    let probe = Probe::compute(&*game, &network, &task.settings.search, Precision::F32)?;
    let settings = LeaderSettings {
        program: "simulated".into(),
        server: ServerOptions { url: url.clone(), ..ServerOptions::default() },
        folder: None,
        verify: 0.0,
        ack_wait: Duration::from_secs(30),
    };
    let stop = AtomicBool::new(false);
    let note = |note: Note| eprintln!("{note:?}");
    let leader = Leader::new(settings, &*game, probe, Arc::new(note), &stop)?;
    let (run, recorded, sent) = (leader.run().to_owned(), Arc::new(recorded), Arc::new(AtomicU64::new(0)));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for number in 0..workers {
        let (url, run, recorded, sent) = (url.clone(), run.clone(), Arc::clone(&recorded), Arc::clone(&sent));
        runtime.spawn(async move {
            if let Err(fault) = simulate(&url, &run, number, &recorded, &sent).await {
                eprintln!("worker {number}: {fault}");
            }
        });
    }
    std::thread::sleep(Duration::from_secs(2)); // until the leader knows its workers
    for iteration in 1..=2 {
        let (start, cpu, before) = (Instant::now(), processor_time(), sent.load(Ordering::Relaxed));
        // The recorded games are those of iteration 1; in others they would be refused.
        let mut task = task.clone();
        task.settings.simulations = 1 + iteration as u32;
        let played = leader.self_play(&*game, &task, &Progress::default(), &stop)?.ok_or("stopped")?;
        let seconds = start.elapsed().as_secs_f64();
        let sent = (sent.load(Ordering::Relaxed) - before) as f64;
        println!(
            "{} games in {seconds:.2} s: {:.0} games/s, {:.1} MB/s of results, {:.0} positions/s; this process (leader and \
             simulated workers) used {:.2} s of processor time",
            played.ends.len(),
            count as f64 / seconds,
            sent / 1e6 / seconds,
            played.shard.len() as f64 / seconds,
            processor_time() - cpu
        );
    }
    leader.finish();
    Ok(())
}

/// A worker that returns recorded games.
async fn simulate(
    url: &str,
    run: &str,
    number: usize,
    recorded: &HashMap<usize, Vec<u8>>,
    sent: &AtomicU64,
) -> Result<(), Fault> {
    let (name, identity) = (format!("simulated-{number}"), Identity::new()?);
    let client = async_nats::connect(url).await?;
    let js = jetstream::new(client.clone());
    let beat = Beat {
        protocol: PROTOCOL,
        worker: name.clone(),
        key: identity.key().iter().map(|byte| format!("{byte:02x}")).collect(),
        program: "simulated".into(),
        threads: 8,
        runs: vec![run.to_owned()],
        done: [0, 0],
        rate: 0.0,
        held: 0,
        spooled: 0,
        refusals: Vec::new(),
    };
    let (beating, subject) = (client.clone(), format!("turnstone.worker.{name}"));
    let beat = beat.encode(&identity);
    tokio::spawn(async move {
        while beating.publish(subject.clone(), beat.clone().into()).await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    loop {
        let Ok(queue) = js.get_consumer_from_stream::<pull::Config, _, _>(run, "TURNSTONE_WORK").await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let mut ranges = queue.batch().max_messages(4).expires(Duration::from_secs(1)).messages().await?;
        while let Some(Ok(message)) = ranges.next().await {
            let range = Range::decode(&message.payload)?;
            let items = range.numbers().map(|number| (number as u32, recorded[&number].clone())).collect();
            let results =
                Results { worker: name.clone(), run: run.to_owned(), job: range.job, effort: Effort::default(), items };
            let bytes = results.encode(&identity);
            sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            js.publish(format!("turnstone.result.{run}.{name}"), bytes.into()).await?.await?;
            message.ack().await?;
        }
    }
}

/// Seconds of processor time of this process so far.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}
