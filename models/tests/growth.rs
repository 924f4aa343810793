//! Networks that begin as a smaller one: the same outputs, gradients in what is new, the same bits again, and what is refused.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use turnstone_models::{
    BoardShape, GrowthError, Heads, Inference, Init, Instructions, Learner, LearnerState, Neighbourhood,
    NetworkBuilder, NetworkConfig, NetworkKind, OptimiserConfig, ResidualConv, ResidualGraph, ResidualMlp, Shape, Var,
    Weights, grow,
};

use super::gradients::{batch_of, optimiser, shape};

/// A custom kind, with what the built-in ones lack: gates of points, rows as columns, and all rows as one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Own {
    channels: usize,
    across: usize,
    observed: usize,
    /// Whether the policy reads the mean of the channels in place of their maximum.
    mean: bool,
}

impl NetworkKind for Own {
    const NAME: &'static str = "own_growth";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let near = net.neighbours(Neighbourhood::Lines, 1);
        let points = net.points();
        let x = net.linear_around("stem", points, near, self.channels, Init::He);
        let gates = net.linear("gates", points, self.channels, Init::He);
        let gates = net.sigmoid(gates);
        let x = net.multiply(x, gates);
        let pooled = if self.mean { net.mean(x) } else { net.max(x) };
        let by_channel = net.transpose(x);
        let across = net.rectified("across", by_channel, self.across);
        let (across, inputs) = (net.flatten(across), net.inputs());
        let observed = net.rectified("observed", inputs, self.observed);
        let all = net.concat(across, observed);
        let all = net.concat(all, pooled);
        let actions = net.shape().actions;
        [net.linear("policy", all, actions, Init::Head), net.value_head(all, 10)]
    }
}

fn mlp(blocks: usize, width: usize) -> NetworkConfig {
    ResidualMlp { blocks, width }.into()
}

fn graph(blocks: usize, channels: usize, reach: usize) -> NetworkConfig {
    ResidualGraph { blocks, channels, reach, neighbourhood: Neighbourhood::Lines, ..Default::default() }.into()
}

fn conv(blocks: usize, channels: usize, global_pooling: bool, squeeze_excite: usize) -> NetworkConfig {
    ResidualConv { blocks, channels, global_pooling, squeeze_excite, ..Default::default() }.into()
}

fn shared(blocks: usize, channels: usize) -> NetworkConfig {
    ResidualGraph { blocks, channels, heads: Heads::Shared, ..Default::default() }.into()
}

fn own(channels: usize, across: usize, observed: usize) -> NetworkConfig {
    Own { channels, across, observed, mean: false }.into()
}

/// Wider, deeper, and both, for every kind.
fn pairs() -> Vec<[NetworkConfig; 2]> {
    vec![
        [mlp(2, 24), mlp(2, 41)],
        [mlp(2, 24), mlp(3, 24)],
        [mlp(2, 24), mlp(5, 90)],
        [mlp(0, 7), mlp(2, 16)],
        [graph(2, 17, 1), graph(2, 33, 1)],
        [graph(2, 17, 1), graph(4, 17, 1)],
        [graph(1, 17, 1), graph(3, 24, 1)],
        [graph(1, 17, 1), graph(1, 17, 3)],
        [graph(2, 16, 2), graph(3, 19, 3)],
        [conv(2, 9, false, 0), conv(2, 16, false, 0)],
        [conv(1, 9, true, 0), conv(3, 9, true, 0)],
        [conv(1, 9, true, 3), conv(2, 12, true, 5)],
        [conv(2, 9, false, 4), conv(3, 17, false, 4)],
        [conv(2, 9, false, 0), conv(2, 9, true, 0)],
        [conv(1, 9, false, 0), conv(2, 12, true, 0)],
        [shared(2, 9), shared(3, 16)],
        [own(9, 5, 8), own(13, 6, 11)],
    ]
}

/// Weights so large that every layer contributes, biases included.
fn weights(network: &NetworkConfig) -> Weights {
    let mut layout = network.layout(&shape()).unwrap();
    layout.iter_mut().for_each(|spec| spec.deviation = (2.0 * spec.deviation).max(0.1));
    Weights::random(&layout, 11)
}

fn grown(from: &NetworkConfig, to: &NetworkConfig, seed: u64) -> Result<Weights, GrowthError> {
    grow((from, &shape()), &weights(from), (to, &shape()), seed)
}

/// Policies and values of random positions, by the kernel for these instructions.
fn outputs(network: &NetworkConfig, weights: &Weights, instructions: Instructions) -> [Vec<f32>; 2] {
    const ROWS: usize = 200;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let inputs: Vec<f32> = (0..ROWS * shape().inputs).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut inference = Inference::with_instructions(weights, network, &shape(), ROWS, instructions).unwrap();
    let outputs = inference.evaluate(ROWS, &inputs);
    [outputs.policy.to_vec(), outputs.value.to_vec()]
}

#[test]
fn a_network_that_has_grown_computes_the_same_bits() {
    for [from, to] in pairs() {
        let new = grown(&from, &to, 5).unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
        for instructions in Instructions::available() {
            let (before, after) = (outputs(&from, &weights(&from), instructions), outputs(&to, &new, instructions));
            assert!(before == after, "{from} to {to}, {instructions:?}");
            assert!(before.iter().flatten().any(|x| x.abs() > 0.1), "{from}: the outputs are not zero");
        }
    }
}

#[test]
fn a_network_that_stays_as_it_is_keeps_its_weights() {
    for from in pairs().into_iter().flatten() {
        assert_eq!(grown(&from, &from, 5).unwrap(), weights(&from), "{from}");
    }
}

#[test]
fn the_seed_decides_what_is_new() {
    for [from, to] in pairs() {
        let [one, same, other] = [5, 5, 6].map(|seed| grown(&from, &to, seed).unwrap());
        assert_eq!(one, same, "{from} to {to}");
        // Neighbours further away, and what only adds to known channels, begin with zeros alone.
        let zeros_alone = [[graph(1, 17, 1), graph(1, 17, 3)], [conv(2, 9, false, 0), conv(2, 9, true, 0)]];
        assert_eq!(one == other, zeros_alone.contains(&[from.clone(), to.clone()]), "{from} to {to}");
    }
}

/// Zeros that keep what is new from what was there have a gradient in the first step, and soon all else that is new.
#[test]
fn gradients_reach_what_is_new() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    for [from, to] in pairs() {
        let [start, other] = [5, 6].map(|seed| grown(&from, &to, seed).unwrap());
        let state = LearnerState::new(shape(), to.clone(), start.clone());
        let optimiser = OptimiserConfig { weight_decay: 0.0, ..optimiser() };
        let mut learner = Learner::from_state(state, &optimiser).unwrap();
        let mut zeros = 0;
        for step in 0..4 {
            learner.step(&batch_of(&shape(), 64, 0.5, &mut rng), 1e-3).unwrap();
            let now = learner.state().weights.tensors();
            for ((before, other), now) in start.tensors().iter().zip(other.tensors()).zip(now) {
                let new = |i: usize| if step == 0 { before.data[i] == 0.0 } else { before.data[i] != other.data[i] };
                let moved = |i: usize| before.data[i] != now.data[i];
                let parts: Vec<usize> = (0..before.data.len()).filter(|&i| new(i)).collect();
                if before.name.ends_with(".bias") || parts.is_empty() {
                    continue;
                }
                if step == 0 {
                    zeros += 1;
                }
                let done = parts.iter().any(|&i| moved(i));
                assert!(done || (1..3).contains(&step), "{from} to {to}, {} after step {step}", before.name);
            }
        }
        assert!(zeros > 0, "{from} to {to}: there are zeros");
    }
}

/// A row of this many points; an action of each kind at every point.
fn row(points: u16, kinds: &[&str]) -> Shape {
    let right = (0..points).map(|point| Some(point + 1).filter(|&next| next < points)).collect();
    let board = BoardShape {
        point_planes: 2,
        points: points.into(),
        directions: vec![right],
        lattice: [1, points.into()],
        cells: (0..points).collect(),
    };
    let kind = |(index, name): (usize, &&str)| {
        ((*name).to_owned(), (0..points).map(|point| Some(index as u16 * points + point)).collect())
    };
    let (inputs, actions) = (2 * usize::from(points) + 1, kinds.len() * usize::from(points));
    Shape { board, action_kinds: kinds.iter().enumerate().map(kind).collect(), ..Shape::flat(inputs, actions) }
}

/// Points see the same on a larger board, if their surroundings are the same.
#[test]
fn shared_heads_go_from_board_to_board() {
    let (small, large) = (row(5, &["drop", "step"]), row(9, &["leap", "step", "drop"]));
    let mut layout = shared(1, 9).layout(&small).unwrap();
    layout.iter_mut().for_each(|spec| spec.deviation = (2.0 * spec.deviation).max(0.1));
    let weights = Weights::random(&layout, 11);
    let grown = grow((&shared(1, 9), &small), &weights, (&shared(2, 12), &large), 5).unwrap();
    let policy = |network: &NetworkConfig, weights: &Weights, shape: &Shape| {
        let points = shape.board.points;
        // A stone at the second point, and a number for the whole board.
        let mut inputs = vec![0.0; shape.inputs];
        (inputs[1], inputs[2 * points]) = (1.0, 0.5);
        let mut inference = Inference::new(weights, network, shape, 1).unwrap();
        let logits = inference.evaluate(1, &inputs).policy.to_vec();
        // By kind, the points that are not near the end.
        let of_kind = |name: &str| {
            let (_, at) = shape.action_kinds.iter().find(|(kind, _)| kind == name).unwrap();
            at[..3].iter().map(|action| logits[usize::from(action.unwrap())]).collect::<Vec<f32>>()
        };
        [of_kind("drop"), of_kind("step")]
    };
    let [before, after] = [policy(&shared(1, 9), &weights, &small), policy(&shared(2, 12), &grown, &large)];
    assert_eq!(before, after);
    assert!(before[0] != before[1] && before[0][0] != before[0][1], "{before:?}");
    // And back, without the kind that there is not.
    let back = grow((&shared(2, 12), &large), &grown, (&shared(2, 12), &small), 5).unwrap();
    assert_eq!(policy(&shared(2, 12), &back, &small), before);

    let refused = |network: &NetworkConfig, to: &Shape| {
        let weights = Weights::random(&network.layout(&small).unwrap(), 1);
        grow((network, &small), &weights, (network, to), 5).unwrap_err().to_string()
    };
    assert_eq!(refused(&graph(1, 9, 1), &large), "its layer `policy` would have other inputs");
    assert_eq!(refused(&mlp(1, 9), &large), "its layer `stem` would have other inputs");
    let mut other = large.clone();
    other.board.directions.push(other.board.directions[0].clone());
    assert_eq!(refused(&shared(1, 9), &other), "its layer `blocks.0.first` would have other inputs");
}

#[test]
fn what_cannot_grow_is_refused_in_one_line() {
    let refused = |from: &NetworkConfig, to: &NetworkConfig| grown(from, to, 5).unwrap_err().to_string();
    let expected = "a network can only grow, and its layer `stem` would have 16 outputs, not 24";
    assert_eq!(refused(&mlp(2, 24), &mlp(3, 16)), expected);
    let expected = "a network can only grow, and its layer `blocks.1.first` would be missing";
    assert_eq!(refused(&graph(2, 8, 1), &graph(1, 9, 1)), expected);
    let expected = "a network can only grow, and its layer `blocks.0.first` would have 3 neighbours, not 6";
    assert_eq!(refused(&graph(1, 8, 2), &graph(1, 8, 1)), expected);
    assert_eq!(refused(&mlp(2, 24), &graph(2, 24, 1)), "a residual_mlp cannot become a residual_graph");
    // Gates are never 1.
    let expected = "its layer `blocks.1.first` would have other inputs";
    assert_eq!(refused(&conv(2, 8, false, 0), &conv(2, 8, false, 2)), expected);
    let square =
        ResidualGraph { blocks: 1, channels: 8, reach: 1, neighbourhood: Neighbourhood::Square, ..Default::default() }
            .into();
    assert_eq!(refused(&graph(1, 8, 1), &square), "its layer `blocks.0.first` would have other inputs");
    let mean = Own { channels: 9, across: 5, observed: 8, mean: true }.into();
    assert_eq!(refused(&own(9, 5, 8), &mean), "its layer `policy` would have other inputs");

    let other = |change: fn(&mut Shape)| {
        let mut other = shape();
        change(&mut other);
        let from = graph(1, 8, 1);
        grow((&from, &shape()), &weights(&from), (&from, &other), 5).unwrap_err().to_string()
    };
    assert_eq!(other(|shape| shape.board.directions.swap(0, 1)), "its layer `policy` would have other inputs");
    assert_eq!(other(|shape| shape.inputs += 1), "its layer `stem` would have other inputs");
    let mut more = shape();
    more.actions += 1;
    let actions = grow((&mlp(1, 8), &shape()), &weights(&mlp(1, 8)), (&mlp(1, 8), &more), 5).unwrap_err();
    assert_eq!(actions.to_string(), "its policy head would differ");
    let foreign = grow((&mlp(1, 8), &shape()), &weights(&mlp(1, 9)), (&mlp(1, 9), &shape()), 5).unwrap_err();
    assert_eq!(foreign.to_string(), "tensor `stem.weight` has shape [23, 9], not [23, 8]");
}
