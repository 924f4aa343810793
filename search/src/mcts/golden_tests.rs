//! Compares searches with the golden trees in `tests/golden`, simulation by simulation. The tests lie inside the module
//! because the noise at the root is given as numbers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use turnstone_env::toy::Toy;
use turnstone_env::{Notation, Rules, for_each_game};

use super::*;

/// A file of `tests/golden`; its README describes the fields.
#[derive(Deserialize)]
struct Golden {
    game: String,
    start: String,
    searches: Vec<Search>,
    /// By position: expected result and probability of a draw for the first side, and the priors.
    evaluations: BTreeMap<String, (f32, f32, Vec<f32>)>,
}

#[derive(Deserialize)]
struct Search {
    source: String,
    method: Constants,
    draw_value: f32,
    stages: Vec<Stage>,
}

#[derive(Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Constants {
    Puct { c_puct: f32, fpu_reduction: f32, forced_playouts: f32, noise_fraction: f32 },
    Gumbel { considered: u32, c_visit: f32, c_scale: f32 },
}

/// Simulations from one root, and the action to which the root moves afterwards, if any.
#[derive(Deserialize)]
struct Stage {
    simulations: u32,
    #[serde(default)]
    noise: Vec<f32>,
    #[serde(default)]
    gumbels: Vec<f32>,
    after: Vec<Checkpoint>,
    advance: Option<usize>,
}

/// Expected results after a number of simulations of the stage; `q` is for the root's mover, other values for the first side.
#[derive(Deserialize)]
struct Checkpoint {
    simulations: u32,
    priors: Vec<f32>,
    visits: Vec<u32>,
    q: Vec<f32>,
    proven: Vec<Option<i8>>,
    policy: Vec<f32>,
    choice: usize,
    value: f32,
    draw: f32,
}

impl Constants {
    /// The method without noise of its own.
    fn method(&self) -> Method {
        match *self {
            Self::Puct { c_puct, fpu_reduction, forced_playouts, .. } => {
                Method::Puct(Puct { c_puct, fpu_reduction, noise: None, forced_playouts })
            }
            Self::Gumbel { considered, c_visit, c_scale } => {
                Method::Gumbel(Gumbel { considered, c_visit, c_scale, gumbel_scale: 0.0 })
            }
        }
    }
}

/// One stage of a search under way.
struct Run<'a, G: Rules> {
    game: &'a G,
    golden: &'a Golden,
    constants: &'a Constants,
    /// Value of a draw for the first side.
    draw: f32,
    stage: &'a Stage,
    mcts: &'a mut Mcts<G>,
}

impl<G: Notation> Run<'_, G> {
    /// Runs the stage to its end and compares at every checkpoint.
    fn run(&mut self, label: &str) {
        let draw = self.mcts.mover().sign() * self.draw;
        let options = SearchOptions { draw, ..self.constants.method().into() };
        self.mcts.begin(self.game, &options, self.stage.simulations, &mut rng());
        if self.mcts.tree.root().is_expanded() {
            self.set_noise();
        }
        let mut checkpoints = self.stage.after.iter();
        let mut next = checkpoints.next();
        loop {
            let step = self.mcts.step(self.game);
            if step == SearchStep::Done {
                break;
            }
            if step == SearchStep::Leaf {
                self.answer();
            }
            let done = self.stage.simulations - self.mcts.simulations_left();
            if let Some(expected) = next.filter(|expected| expected.simulations == done) {
                self.compare(expected, &format!("{label}, {done} simulations"));
                next = checkpoints.next();
            }
        }
        assert!(next.is_none(), "{label}: the search ended early");
        let last = self.stage.after.last().map(|last| last.simulations);
        assert_eq!(last, Some(self.stage.simulations - self.mcts.simulations_left()), "{label}: the search went on");
    }

    /// Answers the pending leaf from the table.
    fn answer(&mut self) {
        let root = !self.mcts.tree.root().is_expanded();
        let position = self.game.position_text(self.mcts.leaf().0);
        let Some((value, draw, priors)) = self.golden.evaluations.get(&position) else {
            panic!("{position} is not a position that the search should reach");
        };
        self.mcts.apply(priors, Evaluation { value: *value, draw: *draw });
        if root {
            self.set_noise();
        }
    }

    fn set_noise(&mut self) {
        match self.constants {
            Constants::Puct { noise_fraction, .. } => {
                let edges = self.mcts.tree.edges_of_mut(0);
                assert!(*noise_fraction == 0.0 || edges.len() == self.stage.noise.len());
                puct::mix(edges, *noise_fraction, self.stage.noise.iter().copied());
            }
            Constants::Gumbel { .. } => {
                assert_eq!(self.mcts.plan.gumbel.gumbels.len(), self.stage.gumbels.len());
                self.mcts.plan.gumbel.gumbels.clone_from(&self.stage.gumbels);
            }
        }
    }

    fn compare(&self, expected: &Checkpoint, at: &str) {
        let sign = self.mcts.mover().sign();
        let actions: Vec<RootAction> = self.mcts.actions().collect();
        let mut policy = Vec::new();
        self.mcts.policy(&mut policy);
        let choice = self.mcts.choose(0.0, &mut rng());
        assert_eq!(actions.iter().map(|a| a.visits).collect::<Vec<_>>(), expected.visits, "visits: {at}");
        assert_eq!(actions.iter().map(|a| a.proven).collect::<Vec<_>>(), expected.proven, "proven: {at}");
        close(&actions.iter().map(|a| a.prior).collect::<Vec<_>>(), &expected.priors, "priors", at);
        close(&actions.iter().map(|a| sign * a.value).collect::<Vec<_>>(), &expected.q, "q", at);
        close(&policy, &expected.policy, "policy", at);
        let estimate = self.mcts.estimate();
        close(&[estimate.value, estimate.draw], &[expected.value, expected.draw], "value and draw", at);
        assert_eq!(choice, actions[expected.choice].action, "choice: {at}");
    }
}

fn close(found: &[f32], expected: &[f32], what: &str, at: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {at}");
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4);
    assert!(near, "{what}: {at}\nfound    {found:?}\nexpected {expected:?}");
}

/// For what draws on a random stream without effect: the noise is replaced.
fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(0)
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn compare<G: Notation>(name: &str, golden: &Golden, game: &G, start: G::State) {
    for (number, search) in golden.searches.iter().enumerate() {
        let mut mcts = Mcts::new(game, start);
        for (stage_number, stage) in search.stages.iter().enumerate() {
            let label = format!("{name}, search {number} by {}, stage {stage_number}", search.source);
            Run { game, golden, constants: &search.method, draw: search.draw_value, stage, mcts: &mut mcts }
                .run(&label);
            if let Some(index) = stage.advance {
                let action = mcts.actions().nth(index).expect("an action of the root").action;
                mcts.advance(game, action);
            }
        }
    }
}

fn compare_file(name: &str) {
    let golden: Golden = serde_json::from_str(&read(&format!("{name}.json"))).expect("a golden file");
    assert!(golden.searches.iter().all(|search| search.stages.iter().all(|stage| !stage.after.is_empty())));
    let mut games = 0;
    if golden.game == "toy" {
        let toy: Toy = golden.start.parse().expect("a tree");
        compare(name, &golden, &toy, toy.start());
        games += 1;
    }
    for_each_game!(G => if golden.game == G::default().spec().name {
        let game = G::default();
        let start = game.parse_position(&golden.start).expect("a position");
        compare(name, &golden, &game, start);
        games += 1;
    });
    assert_eq!(games, 1, "{name}: a game of the name `{}`", golden.game);
}

macro_rules! golden {
    ($($name:ident),+ $(,)?) => {
        $(#[test] fn $name() { compare_file(stringify!($name)); })+

        #[test]
        fn every_file_is_compared() {
            let mut names = vec![$(concat!(stringify!($name), ".json")),+, "schedules.json"];
            names.sort_unstable();
            let files = std::fs::read_dir(folder()).expect("the golden files");
            let mut found: Vec<_> =
                files.map(|file| file.expect("a file").file_name().into_string().expect("a plain name")).collect();
            found.retain(|file| file.ends_with(".json"));
            found.sort_unstable();
            assert_eq!(found, names);
        }
    };
}

golden!(
    alternating,
    double_moves,
    draws,
    equal,
    tree_reuse,
    konane,
    mancala,
    morabaraba,
    morris,
    proven_loss,
    proven_win,
    skewed,
    solved,
    wide,
);

#[test]
fn the_schedules_of_sequential_halving_are_those_of_mctx() {
    let schedules: BTreeMap<String, Vec<u32>> = serde_json::from_str(&read("schedules.json")).expect("a golden file");
    assert!(schedules.len() > 100);
    for (key, expected) in schedules {
        let (considered, simulations) = key.split_once(' ').expect("two numbers");
        let [considered, simulations] = [considered, simulations].map(|number| number.parse().expect("a number"));
        let mut found = Vec::new();
        gumbel::considered_visits(considered, simulations, &mut found);
        assert_eq!(found, expected, "{simulations} simulations, {considered} considered actions");
    }
}
