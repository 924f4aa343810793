//! Searches by several threads: what they find, and that nothing is lost or left behind.

use std::sync::atomic::Ordering;

use turnstone_env::Side;
use turnstone_env::games::{Konane, Mancala, Morris, MuTorere};
use turnstone_env::toy::Toy;
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
fn begun<G: Rules>(game: &G, options: &SearchOptions, simulations: u32) -> Mcts<G> {
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

/// Runs a thread's simulations until none is left or the search is ended. After `most` of them it fails to evaluate the next
/// position.
fn walk<G: Rules>(game: &G, mut simulator: SharedSimulator<'_, G>, evaluator: &mut dyn Backend<G>, most: u32) {
    let (mut batch, mut finished) = (EvalBatch::default(), 0);
    loop {
        match simulator.step(game) {
            SearchStep::Done => return,
            SearchStep::Finished => {}
            SearchStep::Leaf if finished >= most => return,
            SearchStep::Leaf => {
                let (state, legal) = simulator.leaf();
                batch.clear();
                batch.push(*state, legal);
                evaluator.evaluate(game, &mut batch).expect("it never fails");
                let (priors, estimate) = batch.answer(0);
                simulator.apply(priors, estimate);
            }
        }
        finished += 1;
    }
}

/// Runs the search to its end with threads.
fn run<G: Rules>(game: &G, search: &mut Mcts<G>, threads: u64, room: u32) -> u32 {
    let mut rounds = 0;
    while search.simulations_left() > 0 && search.proven().is_none() {
        search.make_room(room);
        let shared = search.share();
        std::thread::scope(|scope| {
            for seed in 0..threads {
                let simulator = shared.simulator();
                scope.spawn(move || walk(game, simulator, &mut Rollout::new(seed), u32::MAX));
            }
        });
        rounds += 1;
    }
    rounds
}

/// Checks that visits add up, nobody is on the way, and every proof follows from the children.
fn check<G: Rules>(search: &Mcts<G>) {
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

/// What makes the searches of a test take simulations back.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Trouble {
    None,
    /// The tree is full after a few simulations.
    Full,
    /// The tree becomes smaller all the time.
    Shrinks,
    /// A thread cannot evaluate a position.
    Fails,
}

/// Checks a search that no thread is at work on: so many simulations were `gained` by the root's actions, the others are
/// left, and nothing is under way.
fn check_count<G: Rules>(search: &Mcts<G>, simulations: u32, gained: u32, at: &str) {
    assert_eq!(search.simulations_done(), gained, "done: {at}");
    assert_eq!(search.simulations_left(), simulations - gained, "left: {at}");
    if let Method::Gumbel(_) = search.plan.options.method {
        let selected = search.plan.gumbel.selected.iter().map(|selected| selected.load(Ordering::Relaxed));
        assert_eq!(selected.sum::<u32>(), gained, "selected: {at}");
    }
    let nodes = search.tree.size()[0] as NodeId;
    assert!((0..nodes).all(|id| search.tree.node(id).is_quiet()), "nothing is under way: {at}");
}

/// Runs a search to its end with threads and checks its simulations whenever the threads have ended. Returns whether it made
/// all of them; the others have a proven root.
fn run_exactly<G: Rules>(game: &G, search: &mut Mcts<G>, simulations: u32, threads: u64, trouble: Trouble) -> bool {
    let all = |search: &Mcts<G>| search.actions().map(|action| action.visits).sum::<u32>();
    let (before, at) = (all(search), format!("{threads} threads, {trouble:?}, {:?}", search.plan.options.method));
    search.set_limit(if trouble == Trouble::Shrinks { 0 } else { TREE_LIMIT });
    for round in 0.. {
        check_count(search, simulations, all(search) - before, &at);
        if search.proven().is_some() {
            return search.simulations_left() == 0;
        }
        if search.simulations_left() == 0 {
            assert_eq!(all(search) - before, simulations, "{at}");
            return true;
        }
        assert!(round < 10 * simulations, "the search does not go on: {at}");
        search.make_room(if trouble == Trouble::Full { 1 } else { simulations });
        let shared = &search.share();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    let (mut uniform, mut playouts) = (Uniform, Rollout::new(thread));
                    let evaluator: &mut dyn Backend<G> =
                        if simulations.is_multiple_of(2) { &mut uniform } else { &mut playouts };
                    let most = if trouble == Trouble::Fails && thread == 0 { 2 } else { u32::MAX };
                    walk(game, shared.simulator(), evaluator, most);
                });
            }
        });
    }
    unreachable!("the rounds end")
}

/// Runs searches of a game, two in each tree. Returns how many there were, and how many of them made all simulations.
fn run_many<G: Rules>(game: &G, threads: u64) -> [u32; 2] {
    const TREES: u32 = if cfg!(miri) { 1 } else { 4 };
    let mut searches = [0; 2];
    for method in METHODS {
        for trouble in [Trouble::None, Trouble::Full, Trouble::Shrinks, Trouble::Fails] {
            for tree in 0..TREES {
                let mut search = begun(game, &method.into(), 1);
                for simulations in [1 + 6 * tree, 4 + 6 * tree] {
                    search.begin(game, &method.into(), simulations, &mut rng(2));
                    let is_complete = run_exactly(game, &mut search, simulations, threads, trouble);
                    searches = [searches[0] + 1, searches[1] + u32::from(is_complete)];
                }
            }
        }
    }
    searches
}

#[test]
fn threads_make_exactly_the_simulations_of_a_search() {
    let konane = |size| Konane::default().with_params(&Params::new().with("size", size)).expect("valid parameters");
    // A tree that is proven before the longer searches end.
    let toy: Toy = "1(2(1(0 0) 1(0 -1 0)) 2(1(0 0) 0 1(-1 0)))".parse().expect("a tree");
    for threads in [2, 3, 8] {
        let games = [
            run_many(&Mancala::default(), threads),
            run_many(&Morris::default(), threads),
            run_many(&MuTorere::default(), threads),
            run_many(&konane(6), threads),
            run_many(&konane(4), threads),
            run_many(&toy, threads),
        ];
        let [all, complete] = [0, 1].map(|number| games.iter().map(|searches| searches[number]).sum::<u32>());
        assert!(cfg!(miri) || complete >= 300 && complete < all, "{complete} of {all} searches made all simulations");
    }
}

#[test]
fn there_is_room_for_a_position_with_more_actions_than_all_before() {
    let toy: Toy = "1(2(1(0 0) 1(0 0) 1(0 0) 1(0 0) 1(0 0) 1(0 0) 1(0 0) 1(0 0)))".parse().expect("a tree");
    for method in METHODS {
        let mut search = begun(&toy, &method.into(), 5);
        assert!(run_exactly(&toy, &mut search, 5, 2, Trouble::Full));
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
    let mut schedule = Vec::new();
    gumbel::considered_visits(6, simulations, &mut schedule);
    // With little room, simulations are taken back again and again.
    for room in [simulations, 20] {
        let mut search = begun(&game, &METHODS[1].into(), simulations);
        run(&game, &mut search, 4, room);
        assert!(
            search.actions().all(|action| action.proven.is_none()),
            "proofs would leave places of the schedule empty"
        );
        let mut visits: Vec<u32> = search.actions().map(|action| action.visits).collect();
        visits.sort_unstable();
        // As many actions have more than `n` visits as are scheduled after `n` visits.
        for n in schedule.iter().copied() {
            let after = schedule.iter().filter(|&&before| before == n).count();
            assert_eq!(visits.iter().filter(|&&visits| visits > n).count(), after, "{visits:?}, room {room}");
        }
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
    let game = Konane::default().with_params(&Params::new().with("size", 4)).expect("valid parameters");
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
        let (mut first, mut second) = (shared.simulator(), shared.simulator());
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
    let toy: Toy = "1(2(1(0 1) 1(1 0)))".parse().expect("a tree");
    let mut search = begun(&toy, &METHODS[0].into(), 10);
    search.make_room(10);
    let shared = search.share();
    let mut first = shared.simulator();
    assert_eq!(first.step(&toy), SearchStep::Leaf);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut second = shared.simulator();
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
    let mut first = shared.simulator();
    assert_eq!(first.step(&toy), SearchStep::Leaf);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| shared.simulator().step(&toy));
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
