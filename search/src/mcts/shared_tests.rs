//! Searches by several threads: what they find, and that nothing is lost or left behind.

use turnstone_env::Side;
use turnstone_env::games::{Konane, Mancala};
use turnstone_env::{ActionList, Params};

use super::*;
use crate::backend::{Rollout, Uniform};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

const METHODS: [Method; 2] = [Method::Puct(Puct::DEFAULT), Method::Gumbel(Gumbel::DEFAULT)];

/// Simulations of a test; few under an interpreter.
const MANY: u32 = if cfg!(miri) { 60 } else { 20_000 };

/// A search whose root is evaluated.
fn begun<G: Game>(game: &G, options: &SearchOptions, simulations: u32) -> Mcts<G> {
    let mut search = Mcts::new(game, game.start());
    search.begin(game, options, simulations, &mut rng(1));
    assert_eq!(search.step(game), SearchStep::Leaf);
    let (mut batch, (state, legal)) = (EvalBatch::default(), search.leaf());
    batch.push(*state, legal);
    Uniform.evaluate(game, &mut batch).expect("it never fails");
    let (priors, estimate) = batch.answer(0);
    search.apply(priors, estimate);
    search
}

/// Runs a thread's simulations with random playouts.
fn walk<G: Game>(game: &G, mut walker: SharedWalker<'_, G>, seed: u64) -> u32 {
    let (mut batch, mut evaluator, mut finished) = (EvalBatch::default(), Rollout::new(seed), 0);
    loop {
        match walker.step(game) {
            SearchStep::Done => return finished,
            SearchStep::Finished => {}
            SearchStep::Leaf => {
                let (state, legal) = walker.leaf();
                batch.clear();
                batch.push(*state, legal);
                evaluator.evaluate(game, &mut batch).expect("it never fails");
                let (priors, estimate) = batch.answer(0);
                walker.apply(priors, estimate);
            }
        }
        finished += 1;
    }
}

/// Runs the search to its end with threads.
fn run<G: Game>(game: &G, search: &mut Mcts<G>, threads: u64, room: u32) -> u32 {
    let mut rounds = 0;
    while search.simulations_left() > 0 && search.proven().is_none() {
        search.make_room(room);
        let shared = search.share();
        std::thread::scope(|scope| {
            for seed in 0..threads {
                let walker = shared.walker();
                scope.spawn(move || walk(game, walker, seed));
            }
        });
        rounds += 1;
    }
    rounds
}

/// Checks that visits add up, nobody is on the way, and every proof follows from the children.
fn check<G: Game>(search: &Mcts<G>) {
    let tree = &search.tree;
    let mut reached = vec![0];
    while let Some(id) = reached.pop() {
        let node = tree.node(id);
        assert!(node.is_quiet() && (node.proven.get().is_some() || node.evaluated().is_some()));
        let edges = tree.edges_of(id);
        let below: u32 = edges.iter().map(|edge| tree.visits(edge).count).sum();
        let own = u32::from(node.is_expanded());
        // Simulations end at a node once it is proven.
        assert!(node.visits() == below + own || node.proven.get().is_some() && node.visits() >= below, "{node:?}");
        for edge in edges.iter().filter(|edge| edge.is_followed()) {
            let child = tree.node(edge.child()).proven.get();
            assert!(edge.proven.get().is_none() || edge.proven.get() == child);
            reached.push(edge.child());
        }
        let sign = node.mover.sign() as i8;
        let values = edges.iter().map(|edge| edge.proven.get().map(|value| sign * value));
        match node.proven.get().map(|value| sign * value) {
            Some(1) if node.is_expanded() => assert!(values.flatten().any(|value| value == 1)),
            Some(value) if node.is_expanded() => {
                assert_eq!(values.map(|v| v.expect("all are proven")).max(), Some(value));
            }
            _ => {}
        }
    }
}

#[test]
fn threads_run_the_simulations_that_one_would() {
    let game = Mancala::default();
    for method in METHODS {
        let mut search = begun(&game, &method.into(), MANY);
        let waiting = search.size();
        // There is room for a part only, so that the search is interrupted and continues.
        assert!(run(&game, &mut search, 4, MANY / 20) > 1);
        check(&search);
        assert_eq!((search.simulations_left(), search.tree.root().visits()), (0, MANY + 1), "{method:?}");
        assert!(waiting.nodes == 1 && search.size().nodes > u64::from(MANY / 10));
        assert_eq!(search.actions().map(|action| action.visits).sum::<u32>(), MANY);
    }
}

#[test]
fn threads_halve_the_candidates_as_one_would() {
    let simulations = MANY.min(2_000);
    let game = Mancala::default();
    let mut search = begun(&game, &METHODS[1].into(), simulations);
    run(&game, &mut search, 4, simulations);
    assert!(search.actions().all(|action| action.proven.is_none()), "proofs would leave places of the schedule empty");
    let mut visits: Vec<u32> = search.actions().map(|action| action.visits).collect();
    visits.sort_unstable();
    let mut schedule = Vec::new();
    gumbel::considered_visits(6, simulations, &mut schedule);
    // As many actions have more than `n` visits as are scheduled after `n` visits.
    for n in schedule.iter().copied() {
        let after = schedule.iter().filter(|&&before| before == n).count();
        assert_eq!(visits.iter().filter(|&&visits| visits > n).count(), after, "{visits:?}");
    }
}

#[test]
fn one_thread_of_a_shared_search_finds_what_a_search_alone_does() {
    let game = Mancala::default();
    for method in METHODS {
        let mut shared = begun(&game, &method.into(), 500);
        run(&game, &mut shared, 1, 500);
        let mut alone = begun(&game, &method.into(), 500);
        alone.run(&game, &mut Rollout::new(0)).expect("it never fails");
        assert!(shared.actions().eq(alone.actions()), "{method:?}");
    }
}

#[test]
fn proofs_of_several_threads_are_right() {
    let game = Konane::with_params(&Params::new().with("size", 4)).expect("valid parameters");
    for (method, proof_nodes) in METHODS.into_iter().flat_map(|method| [(method, 0), (method, 30)]) {
        let mut search = begun(&game, &SearchOptions { method, proof_nodes, draw: 0.0 }, MANY);
        run(&game, &mut search, 3, MANY);
        check(&search);
        if !cfg!(miri) {
            assert_eq!(search.proven(), Some(-1), "the second player wins on a board of 4 x 4");
        }
    }
}

#[test]
fn a_walker_that_is_dropped_takes_its_simulation_back_and_ends_the_search() {
    let game = Mancala::default();
    for method in METHODS {
        let mut search = begun(&game, &method.into(), 100);
        search.make_room(100);
        let shared = search.share();
        let (mut first, mut second) = (shared.walker(), shared.walker());
        assert_eq!((first.step(&game), second.step(&game)), (SearchStep::Leaf, SearchStep::Leaf));
        assert_ne!(first.leaf().0, second.leaf().0, "what is on its way counts");
        assert_eq!(shared.simulations_left(), 98);
        drop(first);
        second.apply(&[0.2; 6][..second.leaf().1.len()], Evaluation::default());
        assert!(shared.is_ended());
        assert_eq!(second.step(&game), SearchStep::Done);
        drop(second);
        assert_eq!((shared.simulations_left(), shared.waits()), (99, 0));
        check(&search);
        run(&game, &mut search, 2, 100);
        check(&search);
        assert_eq!(search.tree.root().visits(), 101);
    }
}

#[test]
fn a_thread_waits_for_the_position_that_another_evaluates() {
    // The only way is through one position, whose evaluation is pending.
    let toy: turnstone_env::toy::Toy = "1(2(1(0 1) 1(1 0)))".parse().expect("a tree");
    let mut search = begun(&toy, &METHODS[0].into(), 10);
    search.make_room(10);
    let shared = search.share();
    let mut first = shared.walker();
    assert_eq!(first.step(&toy), SearchStep::Leaf);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut second = shared.walker();
            let step = second.step(&toy);
            let mut legal = ActionList::new();
            toy.legal(second.leaf().0, &mut legal);
            (step, toy.mover(second.leaf().0), legal.len())
        });
        while shared.waits() == 0 {
            std::thread::yield_now();
        }
        first.apply(&[0.5, 0.5], Evaluation::default());
        let (step, mover, actions) = waiting.join().expect("no panic");
        assert_eq!((step, mover, actions), (SearchStep::Leaf, Side::First, 2));
    });
    // Ended while it waits, a thread takes its simulation back.
    let mut search = begun(&toy, &METHODS[0].into(), 10);
    search.make_room(10);
    let shared = search.share();
    let mut first = shared.walker();
    assert_eq!(first.step(&toy), SearchStep::Leaf);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| shared.walker().step(&toy));
        while shared.waits() == 0 {
            std::thread::yield_now();
        }
        shared.end();
        assert_eq!(waiting.join().expect("no panic"), SearchStep::Done);
    });
    assert_eq!(shared.simulations_left(), 9);
}

#[test]
fn threads_keep_to_the_limit_of_the_tree() {
    const LIMIT: u64 = 300_000;
    let game = Mancala::default();
    for method in METHODS {
        let mut search = begun(&game, &method.into(), MANY);
        search.set_limit(LIMIT);
        run(&game, &mut search, 3, MANY);
        // Each thread may add a last node with its edges.
        assert!(search.size().bytes < LIMIT + 3 * 200, "{:?}", search.size());
        assert_eq!(search.actions().map(|action| action.visits).sum::<u32>(), MANY);
    }
}
