//! Noise, temperature and proofs, with the inside of a search in view.

use std::convert::Infallible;

use rand::TryRng;
use turnstone_env::Spec;
use turnstone_env::games::Mancala;
use turnstone_env::toy::Toy;

use super::choice::draw_weighted;
use super::tree::Edge;
use super::*;
use crate::backend::{Rollout, Uniform};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn edges(priors: &[f32]) -> Vec<Edge> {
    let edge = |(i, &prior): (usize, &f32)| Edge::new(Action(i as u16), prior);
    priors.iter().enumerate().map(edge).collect()
}

/// Mean and variance.
fn moments(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    (mean, samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count)
}

/// A share of a symmetric Dirichlet sample over `n` actions has the mean `1 / n` and the variance
/// `(1 / n) (1 - 1 / n) / (1 + n alpha)`; `n alpha` is the total concentration, whatever the number of actions.
#[test]
fn the_noise_is_a_dirichlet_sample_of_the_total_concentration() {
    const SAMPLES: usize = 20_000;
    let mut random = rng(1);
    for (actions, concentration, fraction) in
        [(2, 1.0, 1.0), (4, 10.0, 1.0), (20, 10.0, 1.0), (20, 2.0, 0.5), (7, 0.5, 0.25), (50, 30.0, 0.1)]
    {
        let noise = RootNoise { concentration, fraction };
        let prior = |i: usize| (1 + i) as f32 / (actions * (actions + 1) / 2) as f32;
        let priors: Vec<f32> = (0..actions).map(prior).collect();
        let mut mixed = vec![Vec::new(); actions];
        for _ in 0..SAMPLES {
            let mut edges = edges(&priors);
            puct::add_noise(&mut edges, noise, &mut random);
            assert!((edges.iter().map(|edge| edge.prior).sum::<f32>() - 1.0).abs() < 1e-4);
            edges.iter().zip(&mut mixed).for_each(|(edge, priors)| priors.push(f64::from(edge.prior)));
        }
        let (n, fraction, total) = (actions as f64, f64::from(fraction), f64::from(concentration));
        let deviation = fraction * (1.0 / n * (1.0 - 1.0 / n) / (1.0 + total)).sqrt();
        for (prior, mixed) in priors.iter().zip(&mixed) {
            let (mean, variance) = moments(mixed);
            let expected = (1.0 - fraction) * f64::from(*prior) + fraction / n;
            let at = format!("{actions} actions, concentration {concentration}, fraction {fraction}");
            assert!((mean - expected).abs() < 5.0 * deviation / (SAMPLES as f64).sqrt(), "{mean} for {expected}: {at}");
            let spread = variance.sqrt() / deviation;
            assert!((spread - 1.0).abs() < 0.1, "{spread} of the deviation {deviation}: {at}");
        }
    }
}

#[test]
fn no_noise_changes_no_prior() {
    let mut two = edges(&[0.25, 0.75]);
    puct::add_noise(&mut two, RootNoise { concentration: 10.0, fraction: 0.0 }, &mut rng(1));
    assert_eq!([two[0].prior, two[1].prior], [0.25, 0.75]);
    let mut one = edges(&[1.0]);
    puct::add_noise(&mut one, RootNoise { concentration: 1e-3, fraction: 1.0 }, &mut rng(1));
    assert_eq!(one[0].prior, 1.0);
    // Two actions have noise.
    puct::add_noise(&mut two, RootNoise { concentration: 10.0, fraction: 0.5 }, &mut rng(1));
    assert_ne!(two[0].prior, 0.25);
    // Gamma samples of a tiny concentration all round to zero: the priors stay what they are.
    let mut tiny = edges(&[0.25; 4]);
    puct::add_noise(&mut tiny, RootNoise { concentration: 1e-30, fraction: 0.5 }, &mut rng(1));
    assert!(tiny.iter().all(|edge| edge.prior == 0.25));
}

/// Priors that belong to the number of a pit, and rollouts.
struct ByPit(Rollout);

impl ByPit {
    fn priors(legal: &[Action]) -> Vec<f32> {
        let weight = |action: &Action| 1.0 + f32::from(action.0);
        let sum: f32 = legal.iter().map(weight).sum();
        legal.iter().map(|action| weight(action) / sum).collect()
    }
}

impl Backend<Mancala> for ByPit {
    fn evaluate(&mut self, game: &Mancala, batch: &mut EvalBatch<<Mancala as Rules>::State>) -> Result<(), Fault> {
        self.0.evaluate(game, batch).expect("it never fails");
        for i in 0..batch.len() {
            let priors = Self::priors(batch.position(i).1);
            batch.priors_mut(i).copy_from_slice(&priors);
        }
        Ok(())
    }
}

/// Whether a node's priors are those that the evaluator gave.
fn priors_as_given(search: &Mcts<Mancala>, node: NodeId) -> bool {
    let edges = search.tree.edges_of(node);
    let given = ByPit::priors(&edges.iter().map(|edge| edge.action).collect::<Vec<_>>());
    edges.iter().zip(given).all(|(edge, given)| edge.prior == given)
}

#[test]
fn noise_is_mixed_in_at_the_root_alone() {
    let game = Mancala::default();
    let noise = Some(RootNoise { concentration: 10.0, fraction: 0.25 });
    let puct = Method::Puct(Puct { noise, ..Puct::default() });
    let gumbel = Method::Gumbel(Gumbel { gumbel_scale: 1.0, ..Gumbel::default() });
    for (method, noisy) in [(puct, true), (gumbel, false), (Method::Puct(Puct::default()), false)] {
        let mut search = Mcts::new(&game, game.start());
        let mut evaluator = ByPit(Rollout::new(1));
        let run = |search: &mut Mcts<Mancala>, evaluator: &mut ByPit| {
            search.begin(&game, &method.into(), 200, &mut rng(5));
            search.run(&game, evaluator).expect("it never fails");
        };
        run(&mut search, &mut evaluator);
        let untouched = |search: &Mcts<Mancala>| {
            let all = 1..search.tree.size()[0] as NodeId;
            let nodes: Vec<NodeId> = all.filter(|&node| search.tree.node(node).is_expanded()).collect();
            nodes.len() > 20 && nodes.iter().all(|&node| priors_as_given(search, node))
        };
        assert!(untouched(&search), "{method:?}");
        assert_eq!(priors_as_given(&search, 0), !noisy, "{method:?}");
        // In a tree that is kept the new root has noise of its own.
        search.advance(&game, search.choose(0.0, &mut rng(1)));
        assert!(priors_as_given(&search, 0));
        run(&mut search, &mut evaluator);
        assert!(untouched(&search), "{method:?}");
        assert_eq!(priors_as_given(&search, 0), !noisy, "{method:?}");
    }
}

#[test]
fn a_node_can_have_as_many_edges_as_a_game_has_actions() {
    let toy: Toy = "1(0 0)".parse().expect("a tree");
    for count in [1, 2, Spec::MAX_ACTIONS - 1, Spec::MAX_ACTIONS] {
        let mut tree = Tree::default();
        tree.set_root(&toy, toy.start());
        tree.make_room(0, count);
        assert!(!tree.root().is_expanded() && tree.root().evaluated() == Some(false) && tree.edges_of(0).is_empty());
        let legal: Vec<Action> = (0..count).map(|action| Action(action as u16)).collect();
        assert!(tree.root().claim() && tree.root().evaluated().is_none() && tree.edges_of(0).is_empty());
        assert!(tree.expand(0, &legal, &vec![1.0 / count as f32; count], Evaluation::default()));
        assert!(tree.root().is_expanded() && tree.root().evaluated() == Some(true), "{count}");
        assert_eq!(tree.edges_of(0).len(), count);
    }
}

#[test]
fn gumbel_noise_is_scaled() {
    let toy: Toy = "1(0 0)".parse().expect("a tree");
    let mut tree = Tree::default();
    tree.set_root(&toy, toy.start());
    tree.make_room(0, 10_000);
    let legal: Vec<Action> = (0..10_000).map(Action).collect();
    assert!(tree.expand(0, &legal, &[1e-4; 10_000], Evaluation::default()));
    let mut root = gumbel::Root::default();
    for scale in [0.0, 0.5, 1.0, 2.0] {
        let config = Gumbel { gumbel_scale: scale, ..Gumbel::default() };
        root.begin(&tree, &config, 8, &mut rng(3));
        let (mean, variance) = moments(&root.gumbels.iter().map(|&g| f64::from(g)).collect::<Vec<_>>());
        let scale = f64::from(scale);
        // Euler's constant, and pi squared over six.
        assert!((mean - 0.5772 * scale).abs() < 0.05 * scale + 1e-9, "{scale}: {mean}");
        assert!((variance - 1.6449 * scale * scale).abs() < 0.15 * scale * scale + 1e-9, "{scale}: {variance}");
    }
}

/// Draws by a temperature against `w^(1/t) / sum w^(1/t)`, within five deviations of the count.
fn check_draws(draws: &[usize], weights: &[f64], temperature: f64, at: &str) {
    let powers: Vec<f64> = weights.iter().map(|w| w.powf(1.0 / temperature)).collect();
    let count = draws.len() as f64;
    for (i, power) in powers.iter().enumerate() {
        let expected = power / powers.iter().sum::<f64>();
        let share = draws.iter().filter(|&&drawn| drawn == i).count() as f64 / count;
        let tolerance = 5.0 * (expected * (1.0 - expected) / count).sqrt();
        assert!((share - expected).abs() <= tolerance, "{share} for {expected} at temperature {temperature}: {at}");
    }
}

#[test]
fn a_temperature_sharpens_or_flattens_what_is_drawn() {
    let mut random = rng(2);
    // The same shares whether or not the weights have the sum 1.
    for weights in [vec![0.5f32, 0.0, 0.3, 0.15, 0.05], vec![40.0, 0.0, 24.0, 12.0, 4.0], vec![1.0, 1.0, 3.0]] {
        let exact: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
        for temperature in [0.25, 0.5, 1.0, 1.7, 4.0] {
            let draws: Vec<usize> =
                (0..40_000).map(|_| draw_weighted(&mut weights.clone(), temperature, &mut random)).collect();
            check_draws(&draws, &exact, f64::from(temperature), &format!("{weights:?}"));
        }
        let greatest = weights.iter().position(|&w| w == weights.iter().copied().fold(0.0, f32::max));
        for temperature in [0.0, -1.0, 0.001] {
            assert_eq!(Some(draw_weighted(&mut weights.clone(), temperature, &mut random)), greatest);
        }
    }
    assert_eq!(draw_weighted(&mut [0.2, 0.4, 0.4], 0.0, &mut random), 1, "the first among equals");
}

/// Bits that must not change.
struct Constant(u64);

impl TryRng for Constant {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0 >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0 as u8);
        Ok(())
    }
}

#[test]
fn the_least_and_the_greatest_random_number_draw_actions_with_weight() {
    assert_eq!(draw_weighted(&mut [0.0, 0.3, 0.7, 0.0], 1.0, &mut Constant(0)), 1);
    assert_eq!(draw_weighted(&mut [0.0, 0.3, 0.7, 0.0], 1.0, &mut Constant(u64::MAX)), 2);
    // Rounding lets the number pass all weights: the last action with any takes it.
    assert_eq!(draw_weighted(&mut [0.46, 0.33, 0.48, 0.03, 0.4, 0.0], 1.0, &mut Constant(u64::MAX)), 4);
}

#[test]
fn a_search_draws_its_action_by_the_temperature() {
    let game = Mancala::default();
    let mut search = Mcts::new(&game, game.start());
    search.begin(&game, &Method::Puct(Puct::default()).into(), 60, &mut rng(1));
    search.run(&game, &mut Rollout::new(4)).expect("it never fails");
    let visits: Vec<f64> = search.actions().map(|action| f64::from(action.visits)).collect();
    let legal: Vec<Action> = search.actions().map(|action| action.action).collect();
    let mut random = rng(2);
    for temperature in [0.3, 0.5, 1.0, 2.0] {
        let number = |action| legal.iter().position(|&a| a == action).expect("a legal action");
        let draws: Vec<usize> = (0..20_000).map(|_| number(search.choose(temperature, &mut random))).collect();
        check_draws(&draws, &visits, f64::from(temperature), "visits");
    }
}

const METHODS: [Method; 3] = [
    Method::Puct(Puct { c_puct: 1.25, fpu_reduction: 0.2, noise: None, forced_playouts: 0.0 }),
    Method::Puct(Puct {
        c_puct: 2.0,
        fpu_reduction: 0.2,
        noise: Some(RootNoise { concentration: 10.0, fraction: 0.25 }),
        forced_playouts: 2.0,
    }),
    Method::Gumbel(Gumbel { considered: 16, c_visit: 50.0, c_scale: 0.1, gumbel_scale: 1.0 }),
];

#[test]
fn a_proven_win_is_taken_and_has_the_value_of_a_win() {
    // The winning action is not the first one, needs one to three moves in a row, and its value is +1 for its side.
    let trees = [
        "1(-1 2(-1 +1) +3)",
        "2(+1 1(-1 +1) -3)",
        "1(2(-1 +1) 0 1(-1 1(0 +1)))",
        "2(1(-1 +1) 0 2(+1 2(0 -1)))",
        "1(2(-1 0) 1(0 -1) 2(+1 1(-1 +1)))",
        "2(1(+1 0) 2(0 +1) 1(-1 2(+1 -1)))",
    ];
    for (text, method) in trees.iter().flat_map(|text| METHODS.map(|method| (text, method))) {
        let toy: Toy = text.parse().expect("a tree");
        let start = toy.start();
        let win = toy.mover(&start).sign();
        for seed in 0..20 {
            let mut search = Mcts::new(&toy, start);
            search.begin(&toy, &method.into(), 1000, &mut rng(seed));
            search.run(&toy, &mut Uniform).expect("it never fails");
            let at = format!("{text} {method:?} {:?}", search.actions().collect::<Vec<_>>());
            assert_eq!(search.proven().map(f32::from), Some(win), "{at}");
            assert_eq!(search.estimate(), Evaluation { value: win, draw: 0.0 }, "{at}");
            assert!(search.simulations_left() > 0, "a proven root ends the search: {at}");
            let mut policy = Vec::new();
            search.policy(&mut policy);
            assert_eq!(policy, [0.0, 0.0, 1.0], "{at}");
            for temperature in [0.0, 0.5, 1.0, 10.0] {
                assert_eq!(search.choose(temperature, &mut rng(seed)), Action(2), "{at}");
            }
            assert_eq!(search.principal_variation()[0], Action(2), "{at}");
            let winner = search.actions().nth(2).expect("three actions");
            assert_eq!((winner.value, winner.proven), (win, Some(win as i8)), "{at}");
        }
    }
}

#[test]
fn a_proven_win_is_taken_in_random_trees() {
    let mut random = rng(21);
    let (mut wins, mut seen) = ([0, 0], 0);
    while seen < 300 {
        let toy = Toy::random(&mut random, 5, 4, 1);
        let start = toy.start();
        if toy.outcome(&start).is_some() {
            continue;
        }
        seen += 1;
        let (mover, value) = (toy.mover(&start), toy.value(start).signum());
        for method in METHODS {
            let mut search = Mcts::new(&toy, start);
            search.begin(&toy, &method.into(), 3000, &mut random);
            search.run(&toy, &mut Uniform).expect("it never fails");
            let win = search.proven().is_some_and(|proven| f32::from(proven) == mover.sign());
            if !win {
                continue;
            }
            wins[mover.index()] += 1;
            let mut after = start;
            toy.play(&mut after, search.choose(1.0, &mut random));
            assert_eq!((value, toy.value(after).signum()), (mover.sign() as i16, value), "{method:?} {toy:?}");
            assert_eq!(search.estimate().value, mover.sign());
        }
    }
    assert!(wins.iter().all(|&wins| wins > 100), "{wins:?}");
}

#[test]
fn proofs_at_leaves_lead_whole_games_to_their_value() {
    let mut random = rng(33);
    let (mut proven, mut plies) = (0, 0);
    for _ in 0..200 {
        let toy = Toy::random(&mut random, 5, 4, 1);
        for method in METHODS {
            let mut search = Mcts::new(&toy, toy.start());
            let options = SearchOptions { proof_nodes: 40, ..method.into() };
            let mut expected = None;
            while toy.outcome(search.state()).is_none() {
                search.begin(&toy, &options, 12, &mut random);
                search.run(&toy, &mut Uniform).expect("it never fails");
                let value = toy.value(*search.state()).signum();
                for known in search.proven().into_iter().chain(expected) {
                    assert_eq!(i16::from(known), value, "{method:?} {toy:?}");
                }
                // Once the value of the game is proven, the choices keep it.
                expected = search.proven().or(expected);
                proven += u32::from(search.proven().is_some());
                plies += 1;
                let action = search.choose(0.0, &mut random);
                search.advance(&toy, action);
            }
            let outcome = toy.outcome(search.state()).expect("the game is over").value();
            assert!(expected.is_none_or(|value| value == outcome), "{method:?} {toy:?}");
        }
    }
    assert!(proven * 2 > plies, "{proven} of {plies}");
}

#[test]
fn a_position_proven_as_a_leaf_can_be_searched_as_the_root() {
    let toy: Toy = "1(2(-1 1(0 +1)) 2(1(+1 -1) 1(-1 +1)))".parse().expect("a tree");
    for method in METHODS {
        let mut search = Mcts::new(&toy, toy.start());
        let options = SearchOptions { proof_nodes: 100, ..method.into() };
        search.begin(&toy, &options, 2, &mut rng(1));
        search.run(&toy, &mut Uniform).expect("it never fails");
        let action = Action(1);
        let child = search.actions().find(|root| root.action == action).expect("legal");
        assert_eq!((child.proven, search.proven()), (Some(1), Some(1)), "{method:?}");
        search.advance(&toy, action);
        assert_eq!(search.proven(), None, "its actions are not known yet");
        search.begin(&toy, &options, 4, &mut rng(2));
        search.run(&toy, &mut Uniform).expect("it never fails");
        assert_eq!(search.proven(), Some(1), "{method:?}");
        search.choose(0.0, &mut rng(3));
    }
}
