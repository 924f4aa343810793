//! Compares inference in floats with that in integers of eight bits on one thread, and prints a JSON line per measurement:
//! evaluations per second by network, arithmetic, instruction set and batch size. Before them, floating-point operations per
//! second by instruction set: the core's peak.
//!
//! `cargo run --release -p turnstone-models --example precision -- --batch 32 mlp-3x128` measures one batch size and the
//! names that start with one of the other arguments; without arguments it measures all. A checkpoint's path measures its
//! network; `--instructions avx2` measures these and lesser ones, `--best` only the best. The measurements of a network take
//! turns, `--rounds` many, so that what else the machine does disturbs all of them alike. `apps/cli/benches/beside_peers.py`
//! compares the shipped networks with other programs.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use turnstone_models::{
    BoardShape, Inference, Instructions, IntegerInstructions, NetworkConfig, QuantisedNetwork, ResidualGraph,
    ResidualMlp, Shape, TensorSpec, Weights, load,
};

const BATCHES: [usize; 4] = [1, 8, 32, 128];
const ROUNDS: usize = 40;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| {
        let place = wanted.iter().position(|argument| argument == name)?;
        wanted.drain(place..wanted.len().min(place + 2)).nth(1)
    };
    let batches = option("--batch").map_or(Ok(BATCHES.to_vec()), |batch| batch.parse().map(|batch| vec![batch]))?;
    let rounds = option("--rounds").map_or(Ok(ROUNDS), |rounds| rounds.parse())?;
    if let Some(limit) = option("--instructions") {
        limit.parse::<Instructions>()?.limit();
    }
    let most = if wanted.iter().any(|argument| argument == "--best") { 1 } else { usize::MAX };
    wanted.retain(|argument| argument != "--best");
    let (files, prefixes): (Vec<String>, Vec<String>) =
        wanted.into_iter().partition(|name| name.ends_with(".safetensors"));
    if most > 1 {
        let start = Instant::now();
        for instructions in Instructions::available() {
            let peak = instructions.peak(|| start.elapsed());
            println!(r#"{{"name": "peak/{instructions:?}", "batch": 1, "per_second": {peak:.0}}}"#);
        }
    }
    let mut subjects = Vec::new();
    for file in &files {
        let (info, weights) = load(Path::new(file))?;
        subjects.push((file.clone(), info.network, info.shape, weights));
    }
    for (name, config, shape) in networks() {
        if prefixes.iter().any(|prefix| name.starts_with(prefix)) || prefixes.is_empty() && files.is_empty() {
            let weights = Weights::random(&config.layout(&shape)?, 5);
            subjects.push((name.to_owned(), config, shape, weights));
        }
    }
    for (name, config, shape, weights) in &subjects {
        for &batch in &batches {
            measure(name, (config, weights), shape, batch, (most, rounds))?;
        }
    }
    Ok(())
}

/// The MLP of `rates`, a deeper one, and the graph networks of Morris and Konane by their sizes.
fn networks() -> Vec<(&'static str, NetworkConfig, Shape)> {
    let mlp = |blocks| NetworkConfig::from(ResidualMlp { blocks, width: 128 });
    let graph = |channels| {
        NetworkConfig::from(ResidualGraph {
            blocks: 3,
            channels,
            reach: 1,
            neighbourhood: turnstone_models::Neighbourhood::Lines,
            ..Default::default()
        })
    };
    let flat = Shape::flat(128, 64);
    vec![
        ("mlp-3x128", mlp(3), flat.clone()),
        ("mlp-4x128", mlp(4), flat),
        ("graph-3x48", graph(48), lattice(4, 6, 342)),
        ("graph-3x32", graph(32), lattice(8, 8, 448)),
    ]
}

/// A board of rows and columns with lines along both, and three planes.
fn lattice(rows: usize, columns: usize, actions: usize) -> Shape {
    let points = rows * columns;
    let direction = |down: isize, right: isize| -> Vec<Option<u16>> {
        let next = |point: usize| {
            let row = (point / columns).checked_add_signed(down).filter(|&row| row < rows)?;
            let column = (point % columns).checked_add_signed(right).filter(|&column| column < columns)?;
            Some((row * columns + column) as u16)
        };
        (0..points).map(next).collect()
    };
    let directions = vec![direction(0, 1), direction(0, -1), direction(1, 0), direction(-1, 0)];
    let board = BoardShape {
        point_planes: 3,
        points,
        directions,
        lattice: [rows, columns],
        cells: (0..points as u16).collect(),
    };
    Shape { inputs: 3 * points + 2, actions, board, action_kinds: Vec::new() }
}

fn measure(
    name: &str,
    (config, weights): (&NetworkConfig, &Weights),
    shape: &Shape,
    batch: usize,
    (most, rounds): (usize, usize),
) -> Result<(), Failure> {
    // Observations of flags, most of them 0.
    let numbers =
        Weights::random(&[TensorSpec { name: String::new(), shape: vec![shape.inputs, 512], deviation: 1.0 }], 9);
    let observations: Vec<f32> = numbers.tensors()[0].data.iter().map(|&x| f32::from(u8::from(x > 0.8))).collect();
    let network = Arc::new(QuantisedNetwork::new(weights, config, shape, &observations)?);
    let mut engines = Vec::new();
    for instructions in Instructions::available().take(most) {
        let engine = Inference::with_instructions(weights, config, shape, batch, instructions)?;
        engines.push((format!("f32 {instructions:?}"), engine, 0.0));
    }
    for instructions in IntegerInstructions::available().take(most) {
        let engine = Inference::quantised_with_instructions(&network, batch, instructions);
        engines.push((format!("i8 {instructions:?}"), engine, 0.0));
    }
    let observations = &observations[..batch * shape.inputs];
    for _ in 0..rounds {
        for (_, engine, best) in &mut engines {
            *best = rate(|| {
                black_box(engine.evaluate(batch, black_box(observations)));
            })
            .max(*best);
        }
    }
    for (engine, _, best) in engines {
        println!(r#"{{"name": "{name}/{engine}", "batch": {batch}, "per_second": {:.1}}}"#, batch as f64 * best);
    }
    Ok(())
}

/// Calls of `f` per second in a few milliseconds.
fn rate(mut f: impl FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0);
    loop {
        f();
        calls += 1;
        let seconds = start.elapsed().as_secs_f64();
        if seconds > 0.003 {
            return f64::from(calls) / seconds;
        }
    }
}
