//! Loss and gradients of the learner against networks composed of burn's own operations, and against differences of the loss.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_base::settings;
use turnstone_models::{
    BoardShape, Example, HeadSpec, ILLEGAL, Init, LearnError, Learner, LearnerState, Neighbourhood, NetworkBuilder,
    NetworkConfig, NetworkKind, Objective, OptimiserConfig, PolicyValueNet, ResidualConv, ResidualGraph, ResidualMlp,
    RowLoss, Shape, StepReport, TargetShape, TrainingBatch, Var, Weights, batch_loss,
};

/// Relative to the largest gradient of a tensor, or to `SMALL` where that is larger: a gradient that nearly cancels out over
/// the rows has the rounding of its terms.
const TOLERANCE: f32 = 1e-4;
const SMALL: f32 = 2e-3;

/// Seven points of a lattice of 3x3 cells, three planes and two scalars. The first direction has two lines that meet; the
/// second ends at every point.
pub(crate) fn shape() -> Shape {
    let next = |points: [i32; 7]| points.iter().map(|&point| u16::try_from(point).ok()).collect();
    let board = BoardShape {
        point_planes: 3,
        points: 7,
        directions: vec![next([1, 2, 3, -1, 2, 4, 5]), next([-1; 7]), next([6, 0, 1, 2, 3, 4, 5])],
        lattice: [3, 3],
        cells: vec![0, 1, 2, 4, 5, 7, 8],
    };
    Shape { board, ..Shape::flat(3 * 7 + 2, 23) }
}

settings! {
    /// A network made up of every operation, and of sums in each form.
    #[derive(Debug, Clone)]
    pub(crate) struct Everything {}
}

impl NetworkKind for Everything {
    const NAME: &'static str = "everything";

    fn build(&self, net: &mut NetworkBuilder<'_>) -> [Var; 2] {
        let near = net.neighbours(Neighbourhood::Lines, 1);
        let points = net.points();
        let x = net.linear_around("stem", points, near, 12, Init::He);
        let (mean, max) = (net.mean(x), net.max(x));
        let both = net.concat(mean, max);
        let row = net.linear("row", both, 12, Init::He);
        let x = net.add(x, row);
        let x = net.relu(x);
        let change = net.linear_around("second", x, near, 12, Init::He);
        let x = net.add(x, change);
        let same = net.linear("same", x, 12, Init::He);
        let x = net.add(x, same);
        let x = net.relu(x);
        let (inputs, flat) = (net.inputs(), net.flatten(x));
        let observed = net.rectified("observed", inputs, 9);
        let head = net.concat(observed, flat);
        let actions = net.shape().actions;
        [net.linear("policy", head, actions, Init::Head), net.value_head(head, 10)]
    }
}

pub(crate) fn networks() -> Vec<NetworkConfig> {
    let mlp = |blocks, width| ResidualMlp { blocks, width }.into();
    let graph =
        |blocks, channels, reach, neighbourhood| ResidualGraph { blocks, channels, reach, neighbourhood }.into();
    let conv = |blocks, channels, global_pooling| ResidualConv { blocks, channels, global_pooling }.into();
    vec![
        mlp(0, 7),
        mlp(2, 71),
        graph(0, 5, 1, Neighbourhood::Lines),
        graph(2, 33, 1, Neighbourhood::Lines),
        graph(1, 48, 3, Neighbourhood::Lines),
        graph(2, 16, 1, Neighbourhood::Square),
        conv(0, 5, true),
        conv(2, 19, false),
        conv(2, 17, true),
        conv(1, 33, false),
        conv(2, 16, true),
        Everything {}.into(),
    ]
}

/// Constants with which gradients are not clipped.
pub(crate) fn optimiser() -> OptimiserConfig {
    OptimiserConfig { clip_norm: f64::INFINITY, ..OptimiserConfig::default() }
}

/// A head of every shape, each with a loss of its own.
pub(crate) fn further() -> Vec<Objective> {
    let objective = |name: &str, shape, weight, loss: RowLoss| Objective {
        head: HeadSpec { name: name.to_owned(), shape },
        weight,
        loss,
    };
    vec![
        objective("number", TargetShape::Scalar, 0.5, |output, target| (output - target).square()),
        objective("by_point", TargetShape::Points, 0.25, |output, target| {
            (output.tanh() - target).square().mean_dim(1)
        }),
        objective("by_action", TargetShape::Actions, 2.0, |output, target| (output - target).square().mean_dim(1)),
        objective("class", TargetShape::Classes(4), 1.0, |output, target| {
            -(log_softmax(output, 1) * target).sum_dim(1)
        }),
    ]
}

/// Random positions. The share of legal actions differs from position to position.
fn batch(rows: usize, legal_share: f64, rng: &mut Xoshiro256PlusPlus) -> TrainingBatch {
    batch_of(&shape(), &[], rows, legal_share, rng)
}

/// [`batch`] for another shape, and with random targets for further heads, of which every third is not known.
pub(crate) fn batch_of(
    shape: &Shape,
    further: &[Objective],
    rows: usize,
    legal_share: f64,
    rng: &mut Xoshiro256PlusPlus,
) -> TrainingBatch {
    let heads: Vec<HeadSpec> = further.iter().map(|objective| objective.head.clone()).collect();
    let mut batch = TrainingBatch::with_heads(shape.clone(), &heads);
    for _ in 0..rows {
        let inputs: Vec<f32> = (0..shape.inputs).map(|_| rng.random_range(-1.0..1.0)).collect();
        let sure = rng.random_range(0..shape.actions);
        let legal: Vec<bool> = (0..shape.actions).map(|a| a == sure || rng.random_bool(legal_share)).collect();
        let raw: Vec<f32> = legal.iter().map(|&l| if l { rng.random_range(0.01..1.0) } else { 0.0 }).collect();
        let sum: f32 = raw.iter().sum();
        let policy: Vec<f32> = raw.iter().zip(legal).map(|(x, l)| if l { x / sum } else { ILLEGAL }).collect();
        let (win, draw) = (rng.random_range(0.0..0.5), rng.random_range(0.0..0.5));
        let value = [win, draw, 1.0 - win - draw];
        let own: Vec<Option<Vec<f32>>> = heads
            .iter()
            .map(|head| {
                let numbers = head.shape.numbers(shape);
                rng.random_bool(0.7).then(|| (0..numbers).map(|_| rng.random_range(0.0..1.0)).collect())
            })
            .collect();
        let mut targets = vec![Some(&policy[..]), Some(&value[..])];
        targets.extend(own.iter().map(Option::as_deref));
        batch.push(Example { inputs: &inputs, targets: &targets }).unwrap();
    }
    batch
}

/// A learner before its first step, with weights so large that every layer contributes.
fn learner(network: &NetworkConfig, optimiser: &OptimiserConfig) -> Learner {
    learner_of(&shape(), network, optimiser)
}

/// [`learner`] for another shape.
pub(crate) fn learner_of(shape: &Shape, network: &NetworkConfig, optimiser: &OptimiserConfig) -> Learner {
    let shape = shape.clone();
    let mut layout = network.layout_with(&shape, &optimiser.heads()).unwrap();
    layout.iter_mut().for_each(|spec| spec.deviation = (2.0 * spec.deviation).max(0.1));
    let weights = Weights::random(&layout, 11);
    let start = Weights::random(&network.layout(&shape).unwrap(), 11);
    let state = LearnerState::new(shape, network.clone(), start).with_heads(optimiser.heads(), 11).unwrap();
    Learner::from_state(LearnerState { weights, ..state }, optimiser).unwrap()
}

/// The report and the gradients of a step: a tenth of them is the first moment after it.
fn gradients(mut learner: Learner, batch: &TrainingBatch) -> (StepReport, Vec<Vec<f32>>) {
    let report = learner.step(batch, 0.0).unwrap();
    let tensors = learner.state().moment1.tensors();
    (report, tensors.iter().map(|tensor| tensor.data.iter().map(|m| m / (1.0 - 0.9_f64) as f32).collect()).collect())
}

#[test]
fn loss_and_gradients_are_those_of_burn() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for network in networks() {
        for (rows, legal_share) in [(1, 0.5), (37, 0.05), (211, 0.9)] {
            agrees_with_burn(&network, &optimiser(), &batch(rows, legal_share, &mut rng));
            let optimiser = OptimiserConfig { further: further(), ..optimiser() };
            let batch = batch_of(&shape(), &optimiser.further, rows, legal_share, &mut rng);
            agrees_with_burn(&network, &optimiser, &batch);
        }
    }
}

fn agrees_with_burn(network: &NetworkConfig, optimiser: &OptimiserConfig, batch: &TrainingBatch) {
    let learner = learner(network, optimiser);
    let (state, device) = (learner.state().clone(), Device::flex().autodiff());
    let net = PolicyValueNet::of_state(&state, &device).unwrap();
    let rows = TensorData::new(batch.inputs().to_vec(), [batch.len(), state.shape.inputs]);
    let loss = batch_loss(net.forward(Tensor::from_data(rows, &device)), batch, &optimiser.further, &device);
    let layout = network.layout_with(&state.shape, &state.heads).unwrap();
    let expected = net.gradients(&layout, &loss.total.backward());

    let (report, found) = gradients(learner, batch);
    let close = |found: f64, expected: Tensor<1>, what: &str| {
        let expected = f64::from(expected.into_data().try_into_vec::<f32>().unwrap()[0]);
        assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{network}, {what}: {found} {expected}");
    };
    close(report.total_loss, loss.total, "loss");
    let names = ["policy", "value"].into_iter().chain(state.heads.iter().map(|head| &*head.name));
    assert_eq!(loss.heads.len(), 2 + report.targets.len());
    for (name, expected) in names.zip(loss.heads) {
        let found = match name {
            "policy" => report.policy_loss,
            "value" => report.value_loss,
            own => report.targets[own],
        };
        close(found, expected, name);
    }
    for (found, expected) in found.iter().zip(expected.tensors()) {
        let largest = expected.data.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
        let error = found.iter().zip(&expected.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(
            error <= TOLERANCE * largest.max(SMALL),
            "{network}, {} rows, {}: {error} of {largest}",
            batch.len(),
            expected.name
        );
    }
    let squares = expected.tensors().iter().flat_map(|tensor| &tensor.data).map(|&g| f64::from(g) * f64::from(g));
    let norm = squares.sum::<f64>().sqrt();
    assert!((report.gradient_norm - norm).abs() < 1e-4 * norm, "{} {norm}", report.gradient_norm);
}

/// Along the gradient of each tensor, the loss grows at the rate of the gradient's norm.
#[test]
fn gradients_are_slopes_of_the_loss() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let optimiser = OptimiserConfig { further: further(), ..optimiser() };
    // With logits of all actions, and of legal ones only.
    let batches = [0.3, 0.03].map(|share| batch_of(&shape(), &optimiser.further, 50, share, &mut rng));
    for (network, batch) in networks().iter().flat_map(|network| batches.iter().map(move |batch| (network, batch))) {
        let learner = learner(network, &optimiser);
        let state = learner.state().clone();
        let (_, gradients) = gradients(learner, batch);
        for (index, gradient) in gradients.iter().enumerate() {
            let norm = gradient.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt();
            let loss = |step: f64| {
                let layout = network.layout_with(&state.shape, &state.heads).unwrap();
                let mut tensors = state.weights.tensors().to_vec();
                let moved = tensors[index].data.iter_mut().zip(gradient);
                moved.for_each(|(w, &g)| *w += (step * f64::from(g) / norm) as f32);
                let weights = Weights::new(&layout, tensors).unwrap();
                let mut moved = Learner::from_state(LearnerState { weights, ..state.clone() }, &optimiser).unwrap();
                moved.step(batch, 0.0).unwrap().total_loss
            };
            let (step, name) = ((0.02 / norm).min(2e-3), &state.weights.tensors()[index].name);
            // A ReLU or a maximum that switches within a step bends the loss; a smaller step avoids it.
            let slopes =
                [1.0, 0.3, 0.1, 0.03].map(|share| (loss(share * step) - loss(-share * step)) / (2.0 * share * step));
            let is_close = |slope: &f64| (slope - norm).abs() < 0.01 * norm;
            assert!(slopes.iter().any(is_close), "{network}, {name}: slopes {slopes:?}, norm {norm}");
        }
    }
}

/// Further heads do not change what a network plays with, before any step.
#[test]
fn further_heads_are_in_training_only() {
    let with = OptimiserConfig { further: further(), ..optimiser() };
    for network in networks() {
        let [plain, taught] =
            [&optimiser(), &with].map(|optimiser| Learner::new(shape(), &network, optimiser, 3).unwrap());
        assert_eq!(plain.averaged(), taught.averaged());
        assert_eq!(taught.weights().tensors()[..plain.weights().tensors().len()], *plain.weights().tensors());
        taught.averaged().check(&network.layout(&shape()).unwrap()).unwrap();
    }
}

#[test]
fn heads_and_losses_that_do_not_fit_are_refused() {
    let network = NetworkConfig::default();
    let mut with = OptimiserConfig { further: further(), ..optimiser() };
    let error = |shape: Shape, optimiser: &OptimiserConfig| Learner::new(shape, &network, optimiser, 1).unwrap_err();
    let flat = error(Shape::flat(3, 2), &with).to_string();
    assert_eq!(flat, "the target `by_point` needs a board of points, and the game has none");
    let state = Learner::new(shape(), &network, &with, 1).unwrap().state().clone();
    let fault = Learner::from_state(state.clone(), &optimiser()).unwrap_err().to_string();
    assert_eq!(fault, "the learner's state has heads for the targets [number, by_point, by_action, class], not []");
    let plain = batch(3, 0.5, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    let fault = Learner::from_state(state, &with).unwrap().step(&plain, 0.1).unwrap_err().to_string();
    assert!(fault.starts_with("the batch has heads for the targets [], not [number"), "{fault}");
    with.further[1].loss = |output, target| (output - target).square();
    assert_eq!(error(shape(), &with), LearnError::LossShape("by_point".to_owned()));
    with.further[1].weight = f64::NAN;
    assert!(error(shape(), &with).to_string().starts_with("the weight of a target is NaN"));
}
