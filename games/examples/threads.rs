//! Measures one search by several threads: simulations per second of the shipped agents, and how often a thread waits for
//! another's evaluation. Prints a line per measurement; those of a game alternate.
//!
//! `cargo run --release -p turnstone-games --example threads -- --threads 1,2 --precision i8 morris mancala`; without
//! arguments it measures all games with one thread and with one per core, in floats.

use std::thread;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_agents::{Agent, AgentSpec, Playable, SearchKind, SearchSettings};
use turnstone_env::{Game, Params};
use turnstone_games::{built_in, for_each_game};
use turnstone_search::{EvalBatch, Evaluator, Mcts, SearchStep};

type Failure = Box<dyn std::error::Error>;

/// Time of one measurement.
const TIME: Duration = Duration::from_secs(1);
const ROUNDS: usize = 5;

fn main() -> Result<(), Failure> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| {
        let place = names.iter().position(|argument| argument == name)?;
        names.drain(place..names.len().min(place + 2)).nth(1)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = match option("--threads") {
        Some(list) => list.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>()?,
        None => vec![1, cores],
    };
    let precision = option("--precision").unwrap_or_else(|| "f32".to_owned());
    for_each_game!(K => {
        let name = <K as Playable>::Game::NAME;
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            measure::<K>(&threads, &precision)?;
        }
    });
    Ok(())
}

/// Measures a game's agent from the start of the game.
fn measure<K: Playable>(threads: &[usize], precision: &str) -> Result<(), Failure> {
    let game = <K::Game as Game>::with_params(&Params::new())?;
    let spec = format!("az:pretrained,precision={precision}").parse()?;
    let agent = Agent::load(&spec, &*built_in().make(K::Game::NAME, &Params::new())?)?;
    let (AgentSpec::Az { tree, .. }, Some(network)) = (spec, agent.network()) else { unreachable!("it has a network") };
    let most = threads.iter().max().copied().unwrap_or(1);
    let mut evaluators = Vec::new();
    for _ in 0..most {
        evaluators.push(network.evaluator(&game, (tree.precision, tree.device), 1)?);
    }
    let mut rates = vec![Vec::new(); threads.len()];
    let mut waits = vec![0.0; threads.len()];
    for _ in 0..ROUNDS {
        for (i, &threads) in threads.iter().enumerate() {
            let (rate, waiting) = run(&game, &mut evaluators[..threads]);
            rates[i].push(rate);
            waits[i] = waiting;
        }
    }
    for (i, &threads) in threads.iter().enumerate() {
        let ratio = |round: usize| rates[i][round] / rates[0][round];
        let mut ratios: Vec<f64> = (0..ROUNDS).map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        rates[i].sort_by(f64::total_cmp);
        println!(
            "{} {precision}: {threads} threads, {:.0} simulations/s, {:.2} times ({:.2} to {:.2}), {:.1} % waited",
            K::Game::NAME,
            rates[i][ROUNDS / 2],
            ratios[ROUNDS / 2],
            ratios[0],
            ratios[ROUNDS - 1],
            100.0 * waits[i]
        );
    }
    Ok(())
}

/// Searches for [`TIME`] with one thread per evaluator. Returns the simulations per second, and the share of them that waited.
fn run<G: Game, E: Evaluator<G> + Send>(game: &G, evaluators: &mut [E]) -> (f64, f64) {
    const ALL: u32 = 1 << 22;
    let mut search = Mcts::new(game, game.start());
    let options = SearchSettings::from(SearchKind::Gumbel).strongest(1000);
    search.begin(game, &options, ALL, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    let (start, mut batch) = (Instant::now(), EvalBatch::default());
    if evaluators.len() == 1 {
        while start.elapsed() < TIME && search.gather(game).is_some() {
            let (state, legal) = search.leaf();
            batch.clear();
            batch.push(*state, legal);
            evaluators[0].evaluate(game, &mut batch);
            let (priors, estimate) = batch.answer(0);
            search.apply(priors, estimate);
        }
        return (f64::from(ALL - search.simulations_left()) / start.elapsed().as_secs_f64(), 0.0);
    }
    let (state, legal) = search.gather(game).expect("the root");
    batch.push(*state, legal);
    evaluators[0].evaluate(game, &mut batch);
    let (priors, estimate) = batch.answer(0);
    search.apply(priors, estimate);
    search.make_room(ALL / 2);
    let shared = search.share();
    thread::scope(|scope| {
        for evaluator in evaluators {
            let (mut walker, mut batch) = (shared.walker(), EvalBatch::default());
            scope.spawn(move || {
                while start.elapsed() < TIME {
                    match walker.step(game) {
                        SearchStep::Done => return,
                        SearchStep::Finished => {}
                        SearchStep::Leaf => {
                            let (state, legal) = walker.leaf();
                            batch.clear();
                            batch.push(*state, legal);
                            evaluator.evaluate(game, &mut batch);
                            let (priors, estimate) = batch.answer(0);
                            walker.apply(priors, estimate);
                        }
                    }
                }
            });
        }
    });
    let done = f64::from(ALL - shared.simulations_left());
    (done / start.elapsed().as_secs_f64(), shared.waits() as f64 / done)
}
