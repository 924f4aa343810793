//! Monte Carlo tree search: proofs, double moves, reuse of the tree, noise, perfect evaluators.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use turnstone_env::games::{Mancala, MuTorere};
use turnstone_env::toy::Toy;
use turnstone_env::{Notation, Rules};
use turnstone_exact::Solution;
use turnstone_search::{
    Backend, EvalBatch, Evaluation, Fault, Gumbel, Mcts, Method, Puct, Rollout, RootNoise, SearchOptions, Uniform,
};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

const PUCT: Method = Method::Puct(Puct { c_puct: 1.25, fpu_reduction: 0.2, noise: None, forced_playouts: 0.0 });
const GUMBEL: Method = Method::Gumbel(Gumbel { considered: 16, c_visit: 50.0, c_scale: 1.0, gumbel_scale: 1.0 });

fn searched<G: Rules>(game: &G, state: G::State, simulations: u32, evaluator: &mut impl Backend<G>) -> Mcts<G> {
    searched_by(&PUCT, game, state, simulations, evaluator)
}

fn searched_by<G: Rules>(
    method: &Method,
    game: &G,
    state: G::State,
    simulations: u32,
    evaluator: &mut impl Backend<G>,
) -> Mcts<G> {
    let mut search = Mcts::new(game, state);
    search.begin(game, &(*method).into(), simulations, &mut rng(1));
    search.run(game, evaluator).expect("it never fails");
    search
}

#[test]
fn small_trees_are_proven_exactly() {
    let mut random = rng(8);
    for _ in 0..500 {
        let toy = Toy::random(&mut random, 5, 3, 1);
        if toy.outcome(&toy.start()).is_some() {
            continue;
        }
        let value = toy.value(toy.start()).signum();
        for method in [PUCT, GUMBEL] {
            let search = searched_by(&method, &toy, toy.start(), 100_000, &mut Uniform);
            // Gumbel search does not visit what it believes to be worthless, and so need not prove everything.
            if method != GUMBEL || search.proven().is_some() {
                assert_eq!(search.proven().map(i16::from), Some(value), "{method:?} {toy:?}");
                // The action chosen keeps the value.
                let mut after = toy.start();
                toy.play(&mut after, search.choose(0.0, &mut random));
                assert_eq!(toy.value(after).signum(), value, "{method:?} {toy:?}");
            }
        }
    }
}

#[test]
fn a_tree_is_kept_along_several_actions_or_given_up() {
    let game = Mancala::default();
    let searched = || searched(&game, game.start(), 3000, &mut Rollout::new(1));
    let actions = searched().principal_variation()[..2].to_vec();
    let found = |search: &Mcts<Mancala>| (search.size(), search.actions().collect::<Vec<_>>());
    let (mut stepwise, mut along, mut given_up) = (searched(), searched(), searched());
    actions.iter().for_each(|&action| stepwise.advance(&game, action));
    along.advance_along(&game, &actions, &mut || true);
    assert!(along.size().nodes > 10);
    assert_eq!(found(&along), found(&stepwise));
    given_up.advance_along(&game, &actions, &mut || false);
    assert_eq!((given_up.state(), given_up.size().nodes), (along.state(), 1));
}

#[test]
fn values_do_not_flip_on_a_double_move() {
    // Player 1 moves three times in a row; one line wins, and a lone +1 value must come up with its sign.
    let toy: Toy = "1(1(1(-1 +1) -1) 2(-1 +1))".parse().expect("well-formed");
    let search = searched(&toy, toy.start(), 50, &mut Uniform);
    assert_eq!(search.proven(), Some(1));
    assert_eq!(search.choose(0.0, &mut rng(1)), turnstone_env::Action(0));
    assert_eq!(search.principal_variation()[0], turnstone_env::Action(0));
    assert_eq!(search.line(turnstone_env::Action(0)), search.principal_variation());
}

/// The exact values as an evaluator.
struct Exact(Solution<MuTorere>);

impl Backend<MuTorere> for Exact {
    fn evaluate(&mut self, _: &MuTorere, batch: &mut EvalBatch<<MuTorere as Rules>::State>) -> Result<(), Fault> {
        for i in 0..batch.len() {
            let value = self.0.value(batch.position(i).0);
            batch.set_evaluation(i, Evaluation::exact(value.expect("reachable")));
            let priors = batch.priors_mut(i);
            let equal = 1.0 / priors.len() as f32;
            priors.fill(equal);
        }
        Ok(())
    }
}

#[test]
fn with_exact_values_no_value_is_given_away() {
    let params = turnstone_env::Params::new().with("max_plies", 0);
    let game = MuTorere::default().with_params(&params).expect("valid");
    let solution = Solution::of(&game, 10_000).expect("small");
    let mut exact = Exact(solution.clone());
    for &state in solution.states().iter().filter(|state| game.outcome(state).is_none()) {
        for (method, simulations) in [(PUCT, 8), (PUCT, 64), (GUMBEL, 8), (GUMBEL, 32)] {
            // Where the mover is not winning, a reply that is a mistake can make a worse move look equal: with equal
            // priors Gumbel search looks at one reply only.
            let winning = f32::from(solution.value(&state).expect("reachable")) * game.mover(&state).sign() > 0.0;
            if method == GUMBEL && !winning {
                continue;
            }
            let search = searched_by(&method, &game, state, simulations, &mut exact);
            let mut after = state;
            game.play(&mut after, search.choose(0.0, &mut rng(2)));
            let at = format!("{method:?}, {simulations} simulations, {}", game.position_text(&state));
            assert_eq!(solution.value(&after), solution.value(&state), "{at}");
        }
    }
}

#[test]
fn the_reused_tree_is_the_subtree() {
    let game = Mancala::default();
    let mut evaluator = Rollout::new(5);
    let mut search = searched(&game, game.start(), 400, &mut evaluator);
    let action = search.choose(0.0, &mut rng(1));
    let before = search.actions().find(|a| a.action == action).expect("legal");
    search.advance(&game, action);
    let mut state = game.start();
    game.play(&mut state, action);
    assert_eq!(*search.state(), state);
    // The simulation that added the node did not go through any of its edges.
    let kept: u32 = search.actions().map(|a| a.visits).sum();
    assert_eq!(kept, before.visits - 1);
    assert!((search.estimate().value - before.value).abs() < 1e-6);
    // Searching on and advancing to an action never searched both work.
    search.begin(&game, &PUCT.into(), 100, &mut rng(3));
    search.run(&game, &mut evaluator).expect("it never fails");
    assert_eq!(search.actions().map(|a| a.visits).sum::<u32>(), kept + 100);
    let mut fresh = Mcts::new(&game, game.start());
    fresh.advance(&game, game.parse_action(&game.start(), "B5").expect("well-formed"));
    assert_eq!(game.position_text(fresh.state()), "4,4,4,0,5,5/1 4,4,4,4,4,5/0 2");
}

#[test]
fn equal_seeds_give_equal_searches_and_noise_changes_priors_only_at_the_root() {
    let game = Mancala::default();
    let noise = Some(RootNoise { concentration: 10.0, fraction: 0.25 });
    let config = Method::Puct(Puct { noise, ..Puct::default() });
    let run = |seed| {
        let mut search = Mcts::new(&game, game.start());
        search.begin(&game, &config.into(), 64, &mut rng(seed));
        search.run(&game, &mut Rollout::new(9)).expect("it never fails");
        search.actions().collect::<Vec<_>>()
    };
    assert_eq!(run(4), run(4));
    assert_ne!(run(4), run(5));
    let priors: Vec<f32> = run(4).iter().map(|a| a.prior).collect();
    assert!((priors.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    assert!(priors.iter().any(|p| (p - 1.0 / 6.0).abs() > 1e-3));
}

#[test]
fn policy_and_temperature() {
    let game = Mancala::default();
    let search = searched(&game, game.start(), 300, &mut Rollout::new(2));
    let mut policy = Vec::new();
    search.policy(&mut policy);
    assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    let best = search.choose(0.0, &mut rng(1));
    let mut random = rng(6);
    let drawn: Vec<_> = (0..2000).map(|_| search.choose(1.0, &mut random)).collect();
    let share = drawn.iter().filter(|&&a| a == best).count() as f32 / 2000.0;
    let expected = policy.iter().copied().fold(0.0, f32::max);
    assert!((share - expected).abs() < 0.05, "{share} drawn of {expected}");
}

#[test]
fn the_improved_policy_is_no_worse_than_the_priors() {
    // With exact values and equal priors the improved policy's expected value must not be below the priors' own
    // (the policy improvement theorem of Gumbel search), whatever the budget.
    let params = turnstone_env::Params::new().with("max_plies", 0);
    let game = MuTorere::default().with_params(&params).expect("valid");
    let solution = Solution::of(&game, 10_000).expect("small");
    let mut exact = Exact(solution.clone());
    let mut policy = Vec::new();
    for &state in solution.states().iter().filter(|state| game.outcome(state).is_none()) {
        let search = searched_by(&GUMBEL, &game, state, 4, &mut exact);
        search.policy(&mut policy);
        assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let values: Vec<f32> = search
            .actions()
            .map(|a| {
                let mut after = state;
                game.play(&mut after, a.action);
                game.mover(&state).sign() * f32::from(solution.value(&after).expect("reachable"))
            })
            .collect();
        let expected: f32 = policy.iter().zip(&values).map(|(p, v)| p * v).sum();
        let prior = values.iter().sum::<f32>() / values.len() as f32;
        assert!(expected >= prior - 1e-5, "{expected} < {prior} at {}", game.position_text(&state));
    }
}

#[test]
fn after_gumbel_search_the_root_is_worth_what_its_policy_gets() {
    let game = Mancala::default();
    for simulations in [1, 3, 16, 64] {
        let search = searched_by(&GUMBEL, &game, game.start(), simulations, &mut Rollout::new(3));
        let mut policy = Vec::new();
        search.policy(&mut policy);
        let visited = || search.actions().zip(&policy).filter(|(action, _)| action.visits > 0);
        let share: f32 = visited().map(|(_, share)| share).sum();
        let value: f32 = visited().map(|(action, share)| share * action.value).sum();
        assert!((search.estimate().value - value / share).abs() < 1e-5, "{simulations}: {:?}", search.estimate());
    }
}

/// Who is to move first has a safe draw, and another action that all estimates call a little better; nothing is proven
/// about it within a few simulations.
struct Hopeful(f32);

impl Backend<Toy> for Hopeful {
    fn evaluate(&mut self, _: &Toy, batch: &mut EvalBatch<<Toy as Rules>::State>) -> Result<(), Fault> {
        for i in 0..batch.len() {
            let legal = batch.position(i).1.len();
            batch.priors_mut(i).fill(1.0 / legal as f32);
            batch.set_evaluation(i, Evaluation { value: self.0, draw: 0.0 });
        }
        Ok(())
    }
}

#[test]
fn the_value_of_a_draw_decides_between_safety_and_hope() {
    for (text, sign) in [("1(0 2(1(2(1(2(1(2(1(+1)))))))))", 1.0), ("2(0 1(2(1(2(1(2(1(2(-1)))))))))", -1.0)] {
        let toy: Toy = text.parse().expect("valid");
        for (method, draw, safe) in [PUCT, GUMBEL].iter().flat_map(|m| [(m, 0.0, 0), (m, 0.5, 1), (m, -0.5, 0)]) {
            let quiet = Method::Gumbel(Gumbel { gumbel_scale: 0.0, ..Gumbel::default() });
            let method = if *method == PUCT { PUCT } else { quiet };
            let mut search = Mcts::new(&toy, toy.start());
            search.begin(&toy, &SearchOptions { draw, ..method.into() }, 6, &mut rng(1));
            search.run(&toy, &mut Hopeful(0.2 * sign)).expect("it never fails");
            assert_eq!(search.choose(0.0, &mut rng(1)).0, 1 - safe, "{text} {method:?} {draw}");
            // Values that are asked for are still expected results.
            let values: Vec<f32> = search.actions().map(|action| sign * action.value).collect();
            assert_eq!(values[0], 0.0);
            assert!((values[1] - 0.2).abs() < 1e-6 && search.estimate().value * sign <= 0.2, "{values:?}");
            assert!(search.estimate().draw > 0.0);
        }
    }
}

#[test]
fn budgets_from_two_simulations_up_are_used_whole() {
    let game = Mancala::default();
    for simulations in [2, 3, 5, 16, 33] {
        let mut search = Mcts::new(&game, game.start());
        let mut random = rng(9);
        for _ in 0..10 {
            if game.outcome(search.state()).is_some() {
                break;
            }
            let before: u32 = search.actions().map(|a| a.visits).sum();
            search.begin(&game, &GUMBEL.into(), simulations, &mut random);
            search.run(&game, &mut Rollout::new(1)).expect("it never fails");
            let after: u32 = search.actions().map(|a| a.visits).sum();
            assert!(search.proven().is_some() || after - before == simulations, "{before} {after} {simulations}");
            let action = search.choose(1.0, &mut random);
            search.advance(&game, action);
        }
    }
}

#[test]
fn forced_playouts_are_made_and_do_not_count() {
    let game = Mancala::default();
    let noise = Some(RootNoise { concentration: 10.0, fraction: 0.25 });
    let searched = |forced_playouts| {
        let method = Method::Puct(Puct { noise, forced_playouts, ..Puct::default() });
        searched_by(&method, &game, game.start(), 400, &mut Rollout::new(3))
    };
    let (free, forced) = (searched(0.0), searched(2.0));
    let least = |search: &Mcts<Mancala>| search.actions().map(|a| a.visits).min().unwrap_or(0);
    assert!(least(&forced) > least(&free), "{} {}", least(&forced), least(&free));
    for action in forced.actions() {
        let due = (2.0 * action.prior * 400.0).sqrt();
        assert!(action.visits as f32 >= due.floor(), "{action:?} has not had its {due} visits");
    }
    let (mut visits, mut pruned): (Vec<f32>, Vec<f32>) = Default::default();
    forced.policy(&mut pruned);
    visits.extend(forced.actions().map(|a| a.visits as f32 / 400.0));
    let best = (0..6).max_by(|&a, &b| visits[a].total_cmp(&visits[b])).expect("six actions");
    // What is taken from the others goes to the most visited, whose own visits stay.
    assert!(pruned[best] > visits[best] && (pruned.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    let order = |shares: &[f32]| (0..6).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
    assert_eq!(order(&pruned), order(&visits));
}
