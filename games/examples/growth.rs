//! How a search grows with its tree and with the board: simulations per second, bytes, and the time of the network, and of tree
//! and rules, per simulation, from 100 to 1,000,000 simulations in one tree (docs/lab/search.md). Networks have random weights
//! and the same shape on every board, and compute in integers; the search is PUCT.
//!
//! `cargo run --release -p turnstone-games --example growth -- --threads 1,2 --seconds 20 "konane size=10" mancala`; without
//! games it measures boards of all sizes.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_agents::{NetworkEvaluator, Playable, random_observations, shape};
use turnstone_env::{Game, Params};
use turnstone_games::for_each_game;
use turnstone_models::{NetworkConfig, QuantisedNetwork, ResidualGraph, Weights};
use turnstone_search::{EvalBatch, Evaluator, Mcts, Method, Puct, SearchStep, Uniform};

type Failure = Box<dyn std::error::Error>;

const BOARDS: [&str; 8] = [
    "mancala",
    "konane size=6",
    "konane size=8",
    "konane size=10",
    "konane size=12",
    "konane size=16",
    "morris",
    "morabaraba",
];

/// Numbers of simulations at which a line is printed.
const STEPS: [u32; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

fn main() -> Result<(), Failure> {
    let mut boards: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| {
        let place = boards.iter().position(|argument| argument == name)?;
        boards.drain(place..boards.len().min(place + 2)).nth(1)
    };
    let threads = option("--threads").unwrap_or_else(|| "1,2".to_owned());
    let threads = threads.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    let seconds = option("--seconds").map_or(Ok(20.0), |seconds| seconds.parse())?;
    let limit = option("--mebibytes").map(|limit| limit.parse::<u64>()).transpose()?.map(|limit| limit << 20);
    if boards.is_empty() {
        boards = BOARDS.map(str::to_owned).into();
    }
    println!("board          threads  simulations   per second  us network  us tree+rules  nodes      MB  bytes/node");
    for board in &boards {
        let (name, params) = board.split_once(' ').unwrap_or((board, ""));
        let mut given = Params::new();
        for (key, value) in params.split(',').filter_map(|param| param.split_once('=')) {
            given.set(key, value);
        }
        for_each_game!(K => {
            if <K as Playable>::Game::NAME == name {
                let game = <<K as Playable>::Game as Game>::with_params(&given)?;
                for &threads in &threads {
                    measure(&game, board, threads, Duration::from_secs_f64(seconds), limit)?;
                }
            }
        });
    }
    Ok(())
}

/// Measures one search with a network by some threads, and one without, until they have taken this long.
fn measure<G: Game>(game: &G, board: &str, threads: usize, time: Duration, limit: Option<u64>) -> Result<(), Failure> {
    let (config, spec) =
        (NetworkConfig::from(ResidualGraph { blocks: 4, channels: 32, ..ResidualGraph::default() }), game.spec());
    let weights = Weights::random(&config.layout(&shape(&spec))?, 1);
    let network = Arc::new(QuantisedNetwork::new(&weights, &config, &shape(&spec), &random_observations(game))?);
    let mut evaluators: Vec<_> = (0..threads).map(|_| NetworkEvaluator::quantised(spec.clone(), &network, 1)).collect();
    let bare = bare(game, &mut evaluators[0]);
    let with_network = run(game, &mut evaluators, time, limit);
    let without = run(game, &mut vec![Uniform; threads], time, limit);
    for (step, (with, without)) in STEPS.iter().zip(with_network.iter().zip(&without)) {
        let (size, own) = (with.nodes.max(1), 1e6 * without.seconds * threads as f64 / f64::from(without.simulations));
        println!(
            "{board:<15}{threads:>7}{step:>13}{:>13.0}{:>12.1}{own:>15.2}{:>10}{:>8.1}{:>8}",
            f64::from(with.simulations) / with.seconds,
            1e6 * bare,
            with.nodes,
            with.bytes as f64 / 1e6,
            with.bytes / size,
        );
    }
    Ok(())
}

/// Seconds of one evaluation of the network alone.
fn bare<G: Game>(game: &G, evaluator: &mut NetworkEvaluator) -> f64 {
    const EVALUATIONS: u32 = 300;
    let (mut batch, mut legal) = (EvalBatch::default(), turnstone_env::ActionList::new());
    game.legal(&game.start(), &mut legal);
    let start = Instant::now();
    for _ in 0..EVALUATIONS {
        batch.clear();
        batch.push(game.start(), &legal);
        evaluator.evaluate(game, &mut batch);
    }
    start.elapsed().as_secs_f64() / f64::from(EVALUATIONS)
}

/// What one step has added.
struct Step {
    simulations: u32,
    seconds: f64,
    nodes: u64,
    bytes: u64,
}

/// Runs one search from step to step until it has taken so long.
fn run<G: Game, E: Evaluator<G> + Send>(
    game: &G,
    evaluators: &mut [E],
    time: Duration,
    limit: Option<u64>,
) -> Vec<Step> {
    let mut search = Mcts::new(game, game.start());
    if let Some(limit) = limit {
        search.set_limit(limit);
    }
    search.reserve();
    let (begun, mut done, mut steps) = (Instant::now(), 0, Vec::new());
    for step in STEPS {
        let (start, simulations) = (Instant::now(), step - done);
        let method = Method::Puct(Puct { noise: None, ..Puct::default() });
        search.begin(game, &method.into(), simulations, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        while search.simulations_left() > 0 && search.proven().is_none() && begun.elapsed() < time {
            advance(game, &mut search, evaluators, begun + time);
        }
        let simulations = simulations - search.simulations_left();
        let size = search.size();
        if simulations > 0 {
            steps.push(Step {
                simulations,
                seconds: start.elapsed().as_secs_f64(),
                nodes: size.nodes,
                bytes: size.bytes,
            });
        }
        done = step;
    }
    steps
}

/// Runs simulations until none is left, the tree has to grow or the time is over.
fn advance<G: Game, E: Evaluator<G> + Send>(game: &G, search: &mut Mcts<G>, evaluators: &mut [E], end: Instant) {
    if evaluators.len() == 1 || search.actions().next().is_none() {
        let mut batch = EvalBatch::default();
        while Instant::now() < end && search.gather(game).is_some() {
            let (state, legal) = search.leaf();
            batch.clear();
            batch.push(*state, legal);
            evaluators[0].evaluate(game, &mut batch);
            let (priors, estimate) = batch.answer(0);
            search.apply(priors, estimate);
            if evaluators.len() > 1 {
                return; // the root is evaluated
            }
        }
        return;
    }
    search.make_room(search.simulations_left().min(1 << 16));
    let shared = search.share();
    thread::scope(|scope| {
        for evaluator in evaluators {
            let (mut walker, mut batch) = (shared.walker(), EvalBatch::default());
            scope.spawn(move || {
                while Instant::now() < end {
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
}
