//! Rows of batches against the rules: each is its position, seen through a symmetry, with the targets of its mover.

use std::collections::HashMap;
use std::sync::Arc;

use super::*;
use crate::targets::{Target, register_target, value_target};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::games::MuTorere;
use turnstone_env::{Action, ActionList, Notation, Outcome, Params, Rules, Side, for_each_game};
use turnstone_models::ILLEGAL;
use turnstone_search::Evaluation;
use turnstone_selfplay::replay::Position;

/// Most positions of a game that are looked at, an odd number of plies apart, so that both sides move.
const POSITIONS: usize = 40;

/// A random game: its states, and their positions with shares that tell the actions apart.
fn random_game<G: Notation>(game: &G, rng: &mut Stream) -> (Vec<G::State>, Shard, Outcome) {
    let (spec, mut legal) = (game.spec(), ActionList::new());
    let (mut state, mut states, mut features) = (game.start(), Vec::new(), vec![0.0; spec.features()]);
    let mut shard = Shard::new(1, spec.features());
    while game.outcome(&state).is_none() {
        game.legal(&state, &mut legal);
        game.observe(&state, &mut features);
        let mover = game.mover(&state);
        let draw = rng.random_range(0.0..1.0);
        let root = Evaluation { value: rng.random_range(-1.0..1.0) * (1.0 - draw), draw };
        let policy = legal.iter().map(|&action| (spec.policy_index(mover, action) as u16, share(action, &legal)));
        shard.push(&features, policy, mover, root);
        states.push(state);
        game.play(&mut state, legal[rng.random_range(0..legal.len())]);
    }
    let outcome = game.outcome(&state).expect("the game is over");
    shard.finish_game(&outcome);
    (states, shard, outcome)
}

/// The share of a legal action in the policy of a position: no two are equal.
fn share(action: Action, legal: &ActionList) -> f32 {
    let weight = |action: Action| 1.0 + f32::from(action.0);
    weight(action) / legal.iter().map(|&action| weight(action)).sum::<f32>()
}

/// The shares of the actions that lead to each state, in increasing order.
fn by_successor<G: Notation>(game: &G, state: &G::State, shares: &[(Action, f32)]) -> HashMap<G::State, Vec<f32>> {
    let mut found: HashMap<G::State, Vec<f32>> = HashMap::new();
    for &(action, share) in shares {
        let mut after = *state;
        game.play(&mut after, action);
        found.entry(after).or_default().push(share);
    }
    found.values_mut().for_each(|shares| shares.sort_by(f32::total_cmp));
    found
}

/// The first plane of the game's last position, and how far it is off.
struct Last;

impl Target for Last {
    const NAME: &'static str = "last";
    const SHAPE: TargetShape = TargetShape::Points;
    const WEIGHT: f64 = 1.0;

    fn target(at: &Moment<'_>, row: &mut Row<'_>) -> Option<()> {
        (0..at.spec().points).for_each(|point| row.set(point, at.last().features[point]));
        Some(())
    }
}

/// The policy two plies later, of which there is none at the end.
struct TwoLater;

impl Target for TwoLater {
    const NAME: &'static str = "two_later";
    const SHAPE: TargetShape = TargetShape::Actions;
    const WEIGHT: f64 = 1.0;

    fn target(at: &Moment<'_>, row: &mut Row<'_>) -> Option<()> {
        let later = at.later(2)?;
        later.policy_indices.iter().zip(later.policy).for_each(|(&index, &share)| row.set(usize::from(index), share));
        Some(())
    }
}

/// A row's value targets for the mover, with a share of 0.3 for the root.
fn targets(position: &Position<'_>, outcome: &Outcome) -> [f32; 3] {
    let sign = if position.mover == Side::First { 1.0 } else { -1.0 };
    let won = |side| f32::from(u8::from(outcome.winner == Some(side)));
    let played = [won(position.mover), f32::from(u8::from(outcome.winner.is_none())), won(position.mover.other())];
    let (draw, value) = (position.root.draw, sign * position.root.value);
    let searched = [(1.0 - draw + value) / 2.0, draw, (1.0 - draw - value) / 2.0];
    [0, 1, 2].map(|i| 0.7 * played[i] + 0.3 * searched[i])
}

/// Compares the rows of random games in every symmetry with the rules: features and legal actions with those of the image
/// of the state, shares with those of the actions that lead to the same states. Which action is the image of which is not
/// asked of the symmetry. Targets of later positions are compared with the states of the game.
fn check_rows<G: Notation>(game: &G) {
    let (spec, mut legal) = (game.spec(), ActionList::new());
    register_target::<Last>();
    register_target::<TwoLater>();
    let further = ["last", "two_later"].map(|name| name.parse::<TargetSpec>().expect("it was added"));
    let config = LearnConfig { root_value_share: 0.3, targets: further.into(), ..LearnConfig::default() };
    let mut maker = BatchMaker::new(&spec, &config);
    let mut observation = vec![0.0; spec.features()];
    let mut movers = [0; 2];
    for number in 0..3 {
        let (states, shard, outcome) = random_game(game, &mut stream(number, Purpose::SelfPlay, [0, 0]));
        for (i, state) in states.iter().enumerate().step_by(states.len().div_ceil(POSITIONS) | 1) {
            let position = shard.position(i);
            movers[position.mover.index()] += 1;
            game.legal(state, &mut legal);
            let shares: Vec<_> = legal.iter().map(|&action| (action, share(action, &legal))).collect();
            let expected = by_successor(game, state, &shares);
            for (s, symmetry) in spec.symmetries.iter().enumerate() {
                let place = format!("{} {} symmetry {s}", game.spec().name, game.position_text(state));
                let image = game.permuted(state, symmetry);
                game.observe(&image, &mut observation);
                game.legal(&image, &mut legal);
                maker.batch.clear();
                maker.push(&shard, i, s).expect("sound");
                let row = &maker.batch;
                assert_eq!(row.inputs(), observation, "features: {place}");
                let index = |action| spec.policy_index(position.mover, action);
                let is_legal = |i| legal.iter().any(|&action| index(action) == i);
                assert!(
                    (0..spec.actions).all(|i| (row.policy()[i] != ILLEGAL) == is_legal(i)),
                    "legal actions: {place}"
                );
                let shares: Vec<_> = legal.iter().map(|&action| (action, row.policy()[index(action)])).collect();
                let expected: HashMap<G::State, Vec<f32>> =
                    expected.iter().map(|(after, shares)| (game.permuted(after, symmetry), shares.clone())).collect();
                assert_eq!(by_successor(game, &image, &shares), expected, "policy: {place}");
                let found = row.value().iter();
                let differ = |(&found, expected): (&f32, f32)| (found - expected).abs() > 1e-6;
                let expected = targets(&position, &outcome);
                assert!(!found.zip(expected).any(differ), "{:?} for {expected:?}: {place}", row.value());
                let last = game.permuted(states.last().expect("a state"), symmetry);
                game.observe(&last, &mut observation);
                assert_eq!(row.target(2), &observation[..spec.points], "the last position: {place}");
                let Some(later) = states.get(i + 2) else {
                    assert!(row.target(3).iter().all(|&share| share == 0.0), "there is no later position: {place}");
                    continue;
                };
                game.legal(later, &mut legal);
                let shares: Vec<_> = legal.iter().map(|&action| (action, share(action, &legal))).collect();
                let expected = by_successor(game, later, &shares).into_iter();
                let expected: HashMap<G::State, Vec<f32>> =
                    expected.map(|(after, shares)| (game.permuted(&after, symmetry), shares)).collect();
                let (later, mover) = (game.permuted(later, symmetry), game.mover(later));
                game.legal(&later, &mut legal);
                let index = |action| spec.policy_index(mover, action);
                let shares: Vec<_> = legal.iter().map(|&action| (action, row.target(3)[index(action)])).collect();
                assert_eq!(by_successor(game, &later, &shares), expected, "two plies later: {place}");
            }
        }
    }
    assert!(movers.iter().all(|&positions| positions > 5), "{}: both sides move", game.spec().name);
}

#[test]
fn a_row_is_its_position_seen_through_a_symmetry() {
    for_each_game!(G => check_rows(&G::default().with_params(&Params::new()).expect("valid defaults")));
}

/// A window of shards with 1, 6 and 2 positions whose features are all different numbers.
fn numbered_window(spec: &Spec) -> Window {
    let mut window = Window::default();
    let mut next = 0.0;
    for (iteration, positions) in [1, 6, 2].into_iter().enumerate() {
        let mut shard = Shard::new(iteration as u64, spec.features());
        for _ in 0..positions {
            let features: Vec<f32> = (0..spec.features()).map(|i| next + i as f32).collect();
            next += features.len() as f32;
            shard.push(&features, [(0, 1.0)].into_iter(), Side::First, Evaluation::default());
        }
        window.push(Arc::new(shard), usize::MAX);
    }
    window
}

/// How often rows were drawn, by their features.
fn draws(spec: &Spec, augment: bool) -> HashMap<Vec<u32>, usize> {
    let config = LearnConfig { augment, batch: 300, ..LearnConfig::default() };
    let (mut maker, window) = (BatchMaker::new(spec, &config), numbered_window(spec));
    let mut rng = stream(1, Purpose::Learn, [0, 0]);
    let mut counts = HashMap::new();
    for _ in 0..100 {
        let batch = maker.draw(&window, &mut rng).expect("sound");
        assert_eq!(batch.len(), config.batch);
        for row in batch.inputs().chunks_exact(spec.features()) {
            *counts.entry(row.iter().map(|x| x.to_bits()).collect()).or_default() += 1;
        }
    }
    counts
}

/// Every position in every symmetry is drawn, the same number of times but for chance, and nothing else.
#[test]
fn batches_are_drawn_evenly_from_positions_and_symmetries() {
    let spec = MuTorere::default().spec();
    let window = numbered_window(&spec);
    let positions: Vec<Vec<f32>> = window.spread(9).chunks_exact(spec.features()).map(<[f32]>::to_vec).collect();
    for augment in [true, false] {
        let symmetries = if augment { &spec.symmetries[..] } else { &spec.symmetries[..1] };
        let mut counts = draws(&spec, augment);
        let expected = 30_000.0 / (9 * symmetries.len()) as f64;
        for (i, features) in positions.iter().enumerate() {
            for (s, symmetry) in symmetries.iter().enumerate() {
                let mut image = features.clone();
                for (from, &value) in features.iter().enumerate().take(spec.point_planes.len() * spec.points) {
                    let (plane, point) = (from / spec.points, from % spec.points);
                    image[plane * spec.points + usize::from(symmetry.points[point])] = value;
                }
                let bits: Vec<u32> = image.iter().map(|x| x.to_bits()).collect();
                let count = counts.remove(&bits).unwrap_or_default() as f64;
                let tolerance = 5.0 * expected.sqrt();
                assert!((count - expected).abs() < tolerance, "position {i}, symmetry {s}: {count}, not {expected}");
            }
        }
        assert!(counts.is_empty(), "rows of no position: {}", counts.len());
    }
}

#[test]
fn value_targets_mix_result_and_search() {
    let position = Position {
        features: &[],
        policy_indices: &[],
        policy: &[],
        mover: Side::Second,
        root: Evaluation { value: -1.0, draw: 0.2 },
        result: 1,
        margin: 0,
        plies_left: 0,
    };
    // The rounded mean of a search may be beyond what probabilities allow: 0.9, 0.2 and -0.1 become 0.9, 0.2 and 0.
    let target = value_target(&position, 0.25);
    let expected = [0.25 * 0.9 / 1.1, 0.25 * 0.2 / 1.1, 0.75];
    assert!(target.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{target:?}");
}

#[test]
fn steps_follow_the_positions() {
    let config = LearnConfig { batch: 100, samples_per_position: 2.5, ..LearnConfig::default() };
    assert_eq!([0, 39, 40, 79, 80, 1000].map(|positions| steps_due(&config, positions)), [0, 0, 1, 1, 2, 25]);
}
