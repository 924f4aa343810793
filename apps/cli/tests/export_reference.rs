//! Writes what `apps/cli/tests/export.py` compares exports with: observations of random games, and exports of every kind of
//! network with the predictions of burn and of the inference engine.
//!
//! `export_reference FOLDER` makes `FOLDER/<game>/` for every game: `observations.f32`, and for each network `<kind>/`, an
//! export, with `<kind>.burn.f32` and `<kind>.engine.f32`, the logits of policy and value of each position.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone::export::{Existing, Exported, export_onnx};
use turnstone_agents::{LoadedNetwork, PlayableGame, SearchSettings, checkpoint_info, shape};
use turnstone_base::settings;
use turnstone_env::DynGame;
use turnstone_games::built_in;
use turnstone_models::{
    Inference, Init, Neighbourhood, NetworkBuilder, NetworkConfig, NetworkKind, PolicyValueNet, ResidualConv,
    ResidualGraph, ResidualMlp, Var, Weights, register_network,
};

/// Positions of each game.
const POSITIONS: usize = 1000;

fn main() -> Result<()> {
    register_network::<Own>();
    let folder = PathBuf::from(std::env::args().nth(1).context("name a folder to write to")?);
    for game in built_in().defaults() {
        let case = folder.join(game.name());
        fs::create_dir_all(&case)?;
        write_case(&*game, &case)?;
    }
    Ok(())
}

fn networks() -> [(&'static str, NetworkConfig); 6] {
    let graph =
        |reach, neighbourhood| NetworkConfig::from(ResidualGraph { blocks: 2, channels: 24, reach, neighbourhood });
    let conv = |global_pooling| NetworkConfig::from(ResidualConv { blocks: 2, channels: 24, global_pooling });
    [
        ("mlp", NetworkConfig::from(ResidualMlp { blocks: 2, width: 64 })),
        ("graph", graph(2, Neighbourhood::Lines)),
        ("graph_square", graph(1, Neighbourhood::Square)),
        ("conv", conv(false)),
        ("conv_board", conv(true)),
        ("own", Own {}.into()),
    ]
}

settings! {
    /// A custom kind of network: every operation, on one row and on many, with heads that are no layers.
    #[derive(Debug, Clone)]
    struct Own {}
}

impl NetworkKind for Own {
    const NAME: &'static str = "own";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let (inputs, points) = (net.inputs(), net.points());
        let (near, far) = (net.neighbours(Neighbourhood::Lines, 1), net.neighbours(Neighbourhood::Lines, 2));
        let stem = net.rectified_around("policy_logits", points, near, 12);
        let other = net.linear_around("neighbours", points, far, 12, Init::He);
        let row = net.rectified("cells", inputs, 12);
        let lifted = net.add(stem, row);
        let x = net.add(lifted, other);
        let (mean, max) = (net.mean(x), net.max(x));
        let (pooled, twice) = (net.concat(mean, max), net.concat(row, row));
        let sum = net.add(pooled, twice);
        let again = net.rectified("own.transposed", x, 12);
        let joined = net.concat(again, stem);
        let flat = net.flatten(joined);
        let actions = net.shape().actions;
        let (a, b) = (net.linear("a", flat, actions, Init::Head), net.linear("b", sum, actions, Init::Head));
        [net.add(a, b), net.value_head(sum, 16)]
    }
}

fn write_case(game: &dyn PlayableGame, folder: &Path) -> Result<()> {
    let features = write_positions(game, folder)?;
    for (kind, config) in &networks() {
        let shape = shape(game.spec());
        let Ok(mut layout) = config.layout(&shape) else {
            assert_eq!(game.spec().lattice[0], 1, "only a board drawn as one row has no square");
            continue;
        };
        // Large enough that no part of the network is silent.
        layout.iter_mut().for_each(|spec| spec.deviation = spec.deviation.max(0.1));
        let weights = Weights::random(&layout, 5);
        let device = Device::flex();
        let rows = TensorData::new(features.clone(), [POSITIONS, shape.inputs]);
        let burn = PolicyValueNet::new(config, &shape, &weights, &device)?.forward(Tensor::from_data(rows, &device));
        let host = |tensor: Tensor<2>| tensor.into_data().try_into_vec().expect("networks hold f32");
        write_floats(&folder.join(format!("{kind}.burn.f32")), &[host(burn.policy), host(burn.value)].concat())?;
        let mut engine = Inference::new(&weights, config, &shape, POSITIONS)?;
        let engine = engine.evaluate(POSITIONS, &features);
        write_floats(&folder.join(format!("{kind}.engine.f32")), &[engine.policy, engine.value].concat())?;
        let network = LoadedNetwork::new(checkpoint_info(game, config, &SearchSettings::default(), 123), weights);
        let exported = Exported { game, network: &network, training: "" };
        export_onnx(&exported, &folder.join(kind), Existing::Keep)?;
    }
    Ok(())
}

/// Plays random games one after the other, writes the observations of their positions, and returns the features of each.
fn write_positions(game: &dyn DynGame, folder: &Path) -> Result<Vec<f32>> {
    let spec = game.spec();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let mut state = game.start();
    let mut observations = vec![0.0; POSITIONS * spec.tensor_len()];
    let mut inputs = vec![0.0; POSITIONS * spec.features()];
    let rows = inputs.chunks_exact_mut(spec.features()).zip(observations.chunks_exact_mut(spec.tensor_len()));
    for (features, observation) in rows {
        game.observe(&state, features);
        spec.expand(features, observation);
        match &game.legal_actions(&state)[..] {
            [] => state = game.start(),
            legal => game.play(&mut state, legal[rng.random_range(0..legal.len())]),
        }
    }
    write_floats(&folder.join("observations.f32"), &observations)?;
    Ok(inputs)
}

fn write_floats(path: &Path, numbers: &[f32]) -> Result<()> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(path, bytes).with_context(|| path.display().to_string())
}
