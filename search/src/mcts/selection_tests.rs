//! Selection, lines and memory of trees that are put together by hand: ties, bounds that are met exactly, kept visits.

use turnstone_env::Notation;
use turnstone_env::games::Mancala;
use turnstone_env::toy::Toy;

use super::tree::{Edge, EdgeId, NO_NODE};
use super::*;
use crate::backend::Rollout;

/// An edge: prior, visits and their mean value for the first side.
type Numbers = (f32, u32, f32);

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// A game whose start has this number of actions for player 1.
fn toy(actions: usize) -> Toy {
    format!("1({})", vec!["1(0 0)"; actions].join(" ")).parse().expect("a tree")
}

/// A tree of a root with these edges, player 1 to move, whose own evaluation is 0; visited edges have a child.
fn tree(edges: &[Numbers]) -> Tree<Toy> {
    let toy = toy(edges.len());
    let mut tree = Tree::default();
    tree.set_root(&toy, toy.start());
    tree.make_room(edges.len(), edges.len());
    let legal: Vec<Action> = (0..edges.len() as u16).map(Action).collect();
    let priors: Vec<f32> = edges.iter().map(|edge| edge.0).collect();
    assert!(tree.expand(0, &legal, &priors, Evaluation::default()));
    for (i, &(_, visits, mean)) in edges.iter().enumerate().filter(|(_, edge)| edge.1 > 0) {
        visit(&tree, &toy, i, visits, mean);
    }
    tree.root().count(1, 0.0);
    tree
}

/// Adds simulations of the same value through an edge of the root.
fn visit(tree: &Tree<Toy>, toy: &Toy, edge: usize, visits: u32, mean: f32) {
    let edge = &tree.edges_of(0)[edge];
    if !edge.is_followed() {
        let mut state = tree.root().state;
        toy.play(&mut state, edge.action);
        edge.adopt::<SingleThread>(tree.add(toy, state).expect("there is room"));
    }
    [edge.child(), 0].iter().for_each(|&node| tree.node(node).count(visits, mean));
}

fn puct(edges: &[Numbers], forced_playouts: f32) -> EdgeId {
    puct::select(&tree(edges), 0, &Puct { forced_playouts, ..Puct::default() }, &mut Vec::new())
}

/// The selection inside a tree; without a scale the improved policy is the priors.
fn inside(edges: &[Numbers], c_scale: f32) -> EdgeId {
    gumbel::select(&tree(edges), 0, &Gumbel { c_scale, ..Gumbel::default() }, &mut Vec::new())
}

#[test]
fn among_equals_the_first_is_selected() {
    assert_eq!(puct(&[(0.2, 0, 0.0), (0.4, 0, 0.0), (0.4, 0, 0.0)], 0.0), 1);
    assert_eq!(puct(&[(0.2, 2, -0.5), (0.4, 2, 0.5), (0.4, 2, 0.5)], 0.0), 1);
    assert_eq!(puct(&[(0.0, 1, 0.0), (0.0, 0, 0.0)], 0.0), 0);
    assert_eq!(puct(&[(0.0, 0, 0.0), (0.0, 1, 0.0)], 0.0), 0);
    // Unvisited, visited, and one of each: 3/4 - 1/2 = 1/4 - 0.
    assert_eq!(inside(&[(0.2, 0, 0.0), (0.4, 0, 0.0), (0.4, 0, 0.0)], 0.0), 1);
    assert_eq!(inside(&[(0.125, 1, 0.0), (0.4375, 1, 0.0), (0.4375, 1, 0.0)], 0.7), 1);
    assert_eq!(inside(&[(0.75, 1, 0.0), (0.25, 0, 0.0)], 0.0), 0);
    assert_eq!(inside(&[(0.25, 0, 0.0), (0.75, 1, 0.0)], 0.0), 0);
    // Not equal, either way.
    assert_eq!(inside(&[(0.7, 1, 0.0), (0.3, 0, 0.0)], 0.0), 1);
    assert_eq!(inside(&[(0.2, 0, 0.0), (0.8, 1, 0.0)], 0.0), 1);
    // At the root of Gumbel search, while it halves and at its end.
    let tree = tree(&[(0.2, 0, 0.0), (0.4, 0, 0.0), (0.4, 0, 0.0)]);
    let mut root = gumbel::Root::default();
    root.begin(&tree, &Gumbel::default(), 8, &mut rng(1));
    assert_eq!(root.choose(&tree, &Gumbel::default()), 1);
    let select = |left, free: &mut Vec<u32>| root.select(&tree, &Gumbel::default(), left, free);
    assert_eq!(select(7, &mut vec![]), 1);
    // A place that was taken back is filled before the next one, the earliest first.
    let mut free = vec![1, 0];
    assert_eq!((select(6, &mut free), &free), (2, &vec![1]));
    assert_eq!((select(6, &mut free), &free), (1, &vec![]));
    // Beyond its schedule every action is in question.
    (0..5).rev().for_each(|left| _ = select(left, &mut vec![]));
    assert_eq!(select(99, &mut vec![]), 1);
}

#[test]
fn a_proof_counts_where_the_child_is_gone() {
    let tree = tree(&[(0.9, 0, 0.0), (0.1, 0, 0.0)]);
    tree.edges_of(0)[0].proven.set(-1);
    let (mut seen, mut shares) = (Vec::new(), Vec::new());
    assert_eq!(puct::select(&tree, 0, &Puct::default(), &mut seen), 1, "the first is lost");
    assert_eq!(gumbel::select(&tree, 0, &Gumbel::default(), &mut seen), 1);
    gumbel::improved_policy(&tree, 0, &Gumbel::default(), &mut shares);
    assert_eq!(shares[0], 0.0);
}

#[test]
fn forced_playouts_end_when_they_are_due() {
    // 2 x 1/2 x 4 root visits: two visits are forced. The first has them, the second has one.
    assert_eq!(puct(&[(0.5, 2, 0.9), (0.5, 1, -0.9)], 2.0), 1);
    // Unvisited actions are not forced; with four times the playouts the first is.
    assert_eq!(puct(&[(0.9, 3, 0.9), (0.1, 0, 0.0)], 2.0), 0);
    assert_eq!(puct(&[(0.5, 2, -0.9), (0.5, 1, 0.9)], 8.0), 0);
    assert_eq!(puct(&[(0.5, 2, -0.9), (0.5, 1, 0.9)], 0.0), 1);
}

#[test]
fn the_most_visited_actions_are_not_pruned() {
    let pruned = |edges: &[Numbers]| {
        let mut visits = Vec::new();
        puct::pruned_visits(&tree(edges), &Puct { c_puct: 1.0, forced_playouts: 2.0, ..Puct::default() }, &mut visits);
        visits
    };
    assert_eq!(pruned(&[(0.25, 4, 0.5), (0.75, 4, -1.0)]), [4.0, 4.0]);
    // A visit less would bring the second action's score up to that of the first: 1/2 x 3 / 6 = 1/2 x 3 / 3 - 1/4.
    assert_eq!(pruned(&[(0.5, 5, 0.0), (0.5, 3, -0.25)]), [5.0, 3.0]);
    // ceil(sqrt(2 x 1/8 x 9)) = 2 of the three visits were forced; what is left is a single one.
    assert_eq!(pruned(&[(0.875, 5, 0.9), (0.125, 3, -1.0)]), [5.0, 0.0]);
    assert_eq!(pruned(&[(0.875, 6, 0.9), (0.125, 4, -1.0)]), [6.0, 2.0]);
}

#[test]
fn a_search_in_a_reused_tree_chooses_among_its_own_visits() {
    // The first action is the best by far, and was visited often before this search.
    let tree = tree(&[(0.8, 10, 0.9), (0.1, 0, 0.0), (0.1, 0, 0.0)]);
    let mut root = gumbel::Root::default();
    root.begin(&tree, &Gumbel::default(), 12, &mut rng(1));
    for (edge, visits, mean) in [(0, 2, 0.9), (1, 5, 0.1), (2, 5, 0.2)] {
        visit(&tree, &toy(3), edge, visits, mean);
        root.selected[edge] = visits.into();
    }
    assert_eq!(root.choose(&tree, &Gumbel::default()), 2);
}

#[test]
fn a_great_scale_leaves_shares_to_bad_actions() {
    let tree = tree(&[(0.5, 1, -0.9), (0.5, 1, -0.95)]);
    tree.root().value.set(-0.9);
    let mut shares = Vec::new();
    gumbel::improved_policy(&tree, 0, &Gumbel { c_scale: 10.0, ..Gumbel::default() }, &mut shares);
    assert!(shares.iter().sum::<f32>() > 0.1, "{shares:?}");
}

#[test]
fn the_root_has_its_evaluation_before_the_first_simulation() {
    let game = Mancala::default();
    for method in [Method::Gumbel(Gumbel::default()), Method::Puct(Puct::default())] {
        let mut search = Mcts::new(&game, game.start());
        search.begin(&game, &method.into(), 8, &mut rng(1));
        assert_eq!(search.step(&game), SearchStep::Leaf);
        let evaluation = Evaluation { value: 0.25, draw: 0.125 };
        search.apply(&[1.0 / 6.0; 6], evaluation);
        assert_eq!(search.estimate(), evaluation);
        assert_eq!((search.simulations_left(), search.size().nodes), (8, 1));
    }
}

#[test]
fn nothing_is_visited_below_a_proven_node() {
    let line = format!("{}0{}", "2(".repeat(30), ")".repeat(30));
    let toy: Toy = format!("1(2(0 0 0) {line})").parse().expect("a tree");
    for method in [Method::Puct(Puct { c_puct: 3.0, ..Puct::default() }), Method::Gumbel(Gumbel::default())] {
        let mut search = Mcts::new(&toy, toy.start());
        search.begin(&toy, &method.into(), 24, &mut rng(1));
        search.run(&toy, &mut crate::backend::Uniform).expect("it never fails");
        let child = search.tree.edges_of(0)[0].child();
        assert_eq!(search.tree.node(child).proven.get(), Some(0), "{method:?}");
        let below: u32 = search.tree.edges_of(child).iter().map(|edge| search.tree.visits(edge).count).sum();
        assert_eq!(below, 3, "{method:?}");
        assert!(search.tree.node(child).visits() > 6, "{method:?}");
    }
}

fn searched(game: &Mancala, simulations: u32) -> Mcts<Mancala> {
    let mut search = Mcts::new(game, game.start());
    search.begin(game, &Method::Puct(Puct::default()).into(), simulations, &mut rng(1));
    search.run(game, &mut Rollout::new(1)).expect("it never fails");
    search
}

#[test]
fn the_line_of_an_action_is_that_of_the_tree_below_it() {
    let game = Mancala::default();
    let search = searched(&game, 500);
    let best = search.principal_variation();
    assert!(best.len() > 2);
    for action in search.actions().map(|action| action.action) {
        let mut below = search.clone();
        below.advance(&game, action);
        let line = search.line(action);
        assert_eq!((line[0], &line[1..]), (action, &below.principal_variation()[..]));
        assert_eq!(line == best, action == best[0]);
    }
    // Most actions have no simulation yet, and no line.
    let young = searched(&game, 1);
    for action in young.actions() {
        assert_eq!(young.line(action.action), [action.action]);
    }
    assert_eq!(young.principal_variation().len(), 1);
}

#[test]
fn a_tree_is_moved_reset_and_measured() {
    let game = Mancala::default();
    let mut search = searched(&game, 400);
    let size = |search: &Mcts<Mancala>| {
        let [nodes, edges] = search.tree.size();
        assert!(nodes > 0 && search.size().nodes == nodes as u64);
        let bytes = nodes * size_of::<tree::Node<<Mancala as Rules>::State>>() + edges * size_of::<Edge>();
        assert_eq!(search.size().bytes, bytes as u64);
        [nodes, edges]
    };
    size(&search);
    // Every move keeps the part of the tree below it and nothing else, from either arena.
    for _ in 0..3 {
        let action = search.principal_variation()[0];
        let child = search.tree.edges_of(0).iter().find(|edge| edge.action == action).expect("legal").child();
        let mut below = vec![child];
        let (mut nodes, mut edges) = (0, 0);
        while let Some(node) = below.pop() {
            nodes += 1;
            edges += search.tree.edges_of(node).len();
            below.extend(search.tree.edges_of(node).iter().map(Edge::child).filter(|&child| child != NO_NODE));
        }
        search.advance(&game, action);
        assert_eq!(size(&search), [nodes, edges]);
    }
    let state = game.parse_position("4,4,4,0,5,5/1 4,4,4,4,4,5/0 2").expect("a position");
    search.begin(&game, &Method::default().into(), 8, &mut rng(1));
    search.reset(&game, state);
    assert_eq!(size(&search), [1, 0]);
    assert_eq!((search.state(), search.mover(), search.simulations_left()), (&state, Side::Second, 0));
    assert_eq!((search.actions().count(), search.step(&game)), (0, SearchStep::Done));
}

#[test]
fn room_is_made_for_both_trees() {
    const BYTES: usize = 1 << 20;
    let game = Mancala::default();
    let mut search = searched(&game, 50);
    search.set_limit(BYTES as u64);
    search.reserve();
    for tree in [&search.tree, &search.spare] {
        let nodes = BYTES / size_of::<tree::Node<<Mancala as Rules>::State>>();
        let edges = BYTES / size_of::<Edge>();
        let room = tree.capacity();
        assert!((nodes..nodes + nodes / 8).contains(&room[0]), "{nodes} {room:?}");
        assert!((edges..edges + edges / 8).contains(&room[1]), "{edges} {room:?}");
    }
    assert_eq!(search.size().nodes, 51);
}

#[test]
fn the_strongest_search_has_five_simulations_for_an_action() {
    let considered = |simulations| Gumbel::strongest(simulations).considered;
    assert_eq!([1, 10, 14, 15, 50, 79, 80, 1000].map(considered), [2, 2, 2, 3, 10, 15, 16, 16]);
    assert_eq!(Gumbel { considered: 16, ..Gumbel::strongest(15) }, Gumbel::default());
}
