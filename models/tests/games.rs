//! The networks on the games themselves: play agrees with burn, and boards are taken as the games give them.

use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{AnyGame, NAMES};
use turnstone_env::toy::Toy;
use turnstone_env::{ActionList, Game, Params, Spec, with_game};
use turnstone_models::{Board, Inference, Neighbourhood, NetworkConfig, PolicyValueNet, Shape, TensorSpec, Weights};

fn shape(spec: &Spec) -> Shape {
    let board = Board {
        point_planes: spec.point_planes.len(),
        points: spec.points,
        directions: spec.directions.clone(),
        lattice: spec.lattice,
        cells: spec.cells.clone(),
    };
    Shape { inputs: spec.features(), actions: spec.actions, board }
}

fn graph(reach: usize, neighbourhood: Neighbourhood) -> NetworkConfig {
    NetworkConfig::ResidualGraph { blocks: 2, channels: 20, reach, neighbourhood }
}

fn networks() -> [NetworkConfig; 6] {
    [
        NetworkConfig::ResidualMlp { blocks: 2, width: 32 },
        graph(1, Neighbourhood::Lines),
        graph(3, Neighbourhood::Lines),
        graph(1, Neighbourhood::Square),
        NetworkConfig::Mixer { blocks: 2, channels: 20, hidden: 30 },
        NetworkConfig::Mixer { blocks: 0, channels: 7, hidden: 1 },
    ]
}

/// Features of positions from random games, `[rows, features]`.
fn positions<G: Game>(game: &G, rows: usize) -> Vec<f32> {
    let features = game.spec().features();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let (mut inputs, mut state, mut legal) = (vec![0.0; rows * features], game.start(), ActionList::new());
    for row in inputs.chunks_exact_mut(features) {
        game.observe(&state, row);
        game.legal(&state, &mut legal);
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        if game.outcome(&state).is_some() {
            state = game.start();
        }
    }
    inputs
}

fn assert_close(found: &[f32], expected: Tensor<2>, what: &str) {
    let expected: Vec<f32> = expected.into_data().try_into_vec().unwrap();
    assert_eq!(found.len(), expected.len());
    let error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let size = expected.iter().fold(1.0_f32, |a, b| a.max(b.abs()));
    assert!(error <= 2e-5 * size, "{what}: {error} of {size}");
}

#[test]
fn play_agrees_with_burn_on_every_game() {
    for name in NAMES {
        let any = AnyGame::new(name, &Params::new()).unwrap();
        let (shape, inputs) = (shape(&any.spec()), with_game!(&any, |game| positions(game, 33)));
        for config in networks() {
            // A board that is drawn as one row of points has no square.
            let Ok(mut layout) = config.layout(&shape) else {
                assert_eq!((config, any.spec().lattice[0]), (graph(1, Neighbourhood::Square), 1), "{name}");
                continue;
            };
            layout.iter_mut().for_each(|spec: &mut TensorSpec| spec.deviation = spec.deviation.max(0.1));
            let weights = Weights::random(&layout, 5);
            let net = PolicyValueNet::new(&config, &shape, &weights, &Device::flex()).unwrap();
            assert_eq!(net.weights(&layout), weights);
            let mut inference = Inference::new(&weights, &config, &shape, 33).unwrap();
            for batch in [33, 1, 0, 8] {
                let x = &inputs[..batch * shape.inputs];
                let found = inference.evaluate(batch, x);
                if batch > 0 {
                    let rows = TensorData::new(x.to_vec(), [batch, shape.inputs]);
                    let expected = net.forward(Tensor::from_data(rows, &Device::flex()));
                    assert_close(found.policy, expected.policy, &format!("{name}, {config:?}, {batch} rows"));
                    assert_close(found.value, expected.value, &format!("{name}, {config:?}, {batch} rows"));
                }
            }
        }
    }
}

/// At reach 1 a graph network over the lattice is a convolution, so it does not mind where on the board things are.
#[test]
fn points_share_their_weights() {
    let any = AnyGame::new("konane", &Params::new()).unwrap();
    let shape = shape(&any.spec());
    let sizes = |config: NetworkConfig| -> Vec<Vec<usize>> {
        config.layout(&shape).unwrap().into_iter().map(|spec| spec.shape).collect()
    };
    let square = sizes(graph(1, Neighbourhood::Square));
    assert_eq!(square[..6], [vec![5, 20], vec![20], vec![180, 20], vec![20], vec![20, 20], vec![20]]);
    assert_eq!(sizes(graph(2, Neighbourhood::Lines))[2], [180, 20]);
    assert_eq!(square[10..14], [vec![20, 8], vec![8], vec![512, 448], vec![448]]);
}

#[test]
fn kinds_that_a_board_does_not_allow_are_refused_in_one_line() {
    let toy = shape(&Toy::with_params(&Params::new()).unwrap().spec());
    let error = |config: NetworkConfig, shape: &Shape| config.layout(shape).unwrap_err().to_string();
    let no_points = "this kind of network needs a board of points, and the game has none";
    assert_eq!(error(graph(1, Neighbourhood::Lines), &toy), no_points);
    assert_eq!(error(NetworkConfig::Mixer { blocks: 1, channels: 4, hidden: 4 }, &toy), no_points);
    let morris = shape(&AnyGame::new("morris", &Params::new()).unwrap().spec());
    assert_eq!(
        error(graph(1, Neighbourhood::Square), &morris),
        "a residual_graph over a square needs a lattice, and this board has no lattice of two rows and columns"
    );
    let mut heaps = morris.clone();
    heaps.board.directions.clear();
    assert_eq!(
        error(graph(1, Neighbourhood::Lines), &heaps),
        "a residual_graph over lines needs a board with lines, and this one has no lines"
    );
    assert_eq!(error(graph(17, Neighbourhood::Lines), &morris), "the reach is 17, but must be from 1 to 16");
}
