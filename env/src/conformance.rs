//! The checks that every game must pass, to be called from a test: `conformance::check(&game, games, seed)`.

mod random_game;
mod picture;
mod points;
mod speed;

pub use random_game::random_game;

use std::collections::{HashMap, HashSet};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::action::{Action, ActionList};
use crate::notation::{Notation, clicks, try_play};
use crate::playout::choose;
use crate::rules::without_limits;
use crate::side::Side;
use crate::spec::Spec;

/// Longest game that the suite plays before it calls a game endless.
const MAX_PLIES: usize = 100_000;

/// Number and length of the games that are played without ply limits, where they need not end.
const GAMES_WITHOUT_LIMITS: usize = 200;
const MAX_PLIES_WITHOUT_LIMITS: usize = 1000;

/// Plays `games` random games and checks every state on the way.
///
/// Checked are: legal actions sorted, unique, bounded and empty exactly when the game is over; text of actions and positions
/// both ways; features all written, bounded, and deciding the legal actions; illegal actions refused without a change;
/// directions that lead from point to point; symmetries that form permutations, keep the board's lines and commute with play;
/// a final outcome that is zero-sum; [`Spec::ply_limits`] that are parameters, can be set to 0, and then truncate no game;
/// points that lie apart in the drawing and have names of their own, and clicks that tell the legal actions apart; a picture
/// that is not turned for the second player, and clicks, marks and texts that are not; a [`Rules::spec`](crate::Rules::spec)
/// that is fast.
///
/// # Panics
/// With a message that names the position, at the first violation.
pub fn check<G: Notation>(game: &G, games: usize, seed: u64) {
    speed::check(game); // first, as all that follows is slow with a slow one
    let mut suite = Suite::new(game);
    suite.check_spec();
    for number in 0..games as u64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number));
        suite.play_game(&mut rng);
    }
    check_ply_limits(game, games, seed);
    picture::check(game, games, seed);
    points::check(game, games, seed);
}

fn check_ply_limits<G: Notation>(game: &G, games: usize, seed: u64) {
    let (limits, params) = (game.spec().ply_limits, game.params());
    if limits.is_empty() {
        return; // its rules may truncate games without a parameter
    }
    for limit in &limits {
        assert!(params.iter().any(|(key, _)| key == *limit), "the ply limit `{limit}` is no parameter");
    }
    let unlimited = without_limits(game).unwrap_or_else(|error| panic!("a ply limit may be 0: {error}"));
    for (key, value) in unlimited.params().iter().filter(|(key, _)| limits.contains(key)) {
        assert_eq!(value, "0", "the ply limit `{key}` is switched off");
    }
    let mut legal = ActionList::new();
    for number in 0..games.min(GAMES_WITHOUT_LIMITS) as u64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number));
        let mut state = unlimited.start();
        for _ in 0..MAX_PLIES_WITHOUT_LIMITS {
            if let Some(outcome) = unlimited.outcome(&state) {
                let text = unlimited.position_text(&state);
                assert!(!outcome.truncated, "a ply limit that ply_limits does not name ended a game at `{text}`");
                break;
            }
            unlimited.legal(&state, &mut legal);
            unlimited.play(&mut state, choose(&legal, &mut rng));
        }
    }
}

struct Suite<'a, G: Notation> {
    game: &'a G,
    spec: Spec,
    legal: ActionList,
    /// Legal actions, as policy indices, by the bits of the features they were seen with.
    seen: HashMap<Vec<u32>, Vec<usize>>,
}

impl<'a, G: Notation> Suite<'a, G> {
    fn new(game: &'a G) -> Self {
        Self { game, spec: game.spec(), legal: ActionList::new(), seen: HashMap::new() }
    }

    fn check_spec(&self) {
        let spec = &self.spec;
        assert_eq!(spec.cells.len(), spec.points, "every point needs a cell");
        let area = spec.lattice[0] * spec.lattice[1];
        assert!(spec.cells.iter().all(|&cell| usize::from(cell) < area), "cells must lie on the lattice");
        assert!(spec.actions <= Spec::MAX_ACTIONS, "there are at most {} actions", Spec::MAX_ACTIONS);
        let [least, most] = spec.bounds;
        let range = -Spec::MAX_FEATURE..=Spec::MAX_FEATURE;
        assert!(least <= most && range.contains(&least) && range.contains(&most), "the bounds of features are a range");
        for symmetry in &spec.symmetries {
            assert!(is_permutation(symmetry.points.iter().map(|&p| usize::from(p)), spec.points), "points permuted");
            assert!(is_permutation(symmetry.actions.iter().map(|&a| usize::from(a)), spec.actions), "actions permuted");
            assert_eq!(symmetry.planes, spec.point_planes.len(), "symmetries map all planes of points");
        }
        let in_blocks: usize = spec.blocks.iter().map(|(_, length)| length).sum();
        assert_eq!(in_blocks, spec.actions, "every action belongs to a block");
        self.check_lines();
        self.check_board_points();
        let identity = spec.symmetries.first().expect("the identity is a symmetry");
        assert!(identity.points.iter().enumerate().all(|(i, &p)| i == usize::from(p)), "the identity comes first");
        assert!(identity.actions.iter().enumerate().all(|(i, &a)| i == usize::from(a)), "the identity comes first");
        if let Some(turned) = &spec.second_player_map {
            let involution = turned.iter().enumerate().all(|(a, &t)| usize::from(turned[usize::from(t)]) == a);
            assert!(turned.len() == spec.actions && involution, "turning twice is the identity");
        }
        let params = self.game.params();
        let again = self.game.with_params(&params).expect("a game accepts its own parameters");
        assert_eq!(again.params(), params, "parameters survive a round trip");
    }

    fn check_board_points(&self) {
        let points = self.game.board(&self.game.start(), None).points();
        assert!(points.is_empty() || points.len() == self.spec.points, "all points or none have places in the drawing");
        for (i, a) in points.iter().enumerate() {
            for b in &points[..i] {
                let distance = (a.at[0] - b.at[0]).hypot(a.at[1] - b.at[1]);
                assert!(distance > 20.0, "`{}` and `{}` can be clicked one by one", a.label, b.label);
                assert_ne!(a.label, b.label, "names of points differ");
            }
        }
    }

    fn check_lines(&self) {
        let Spec { points, directions, symmetries, .. } = &self.spec;
        for next in directions {
            assert_eq!(next.len(), *points, "a direction leads on from every point or ends there");
            let targets: Vec<usize> = next.iter().flatten().map(|&to| usize::from(to)).collect();
            let distinct: HashSet<usize> = targets.iter().copied().collect();
            assert!(targets.iter().all(|to| to < points), "a direction leads to points");
            assert_eq!(distinct.len(), targets.len(), "no two points have the same next point in a direction");
            let own = next.iter().enumerate().any(|(from, &to)| to.is_some_and(|to| usize::from(to) == from));
            assert!(!own, "no point is its own neighbour");
        }
        // Three points in a row, or two where the line ends there.
        let lines: HashSet<(usize, usize, Option<usize>)> = directions
            .iter()
            .flat_map(|next| {
                let step = |from: usize| next[from].map(usize::from);
                (0..*points).filter_map(move |from| step(from).map(|to| (from, to, step(to))))
            })
            .collect();
        for symmetry in symmetries {
            let image = |point: usize| usize::from(symmetry.points[point]);
            let mapped = |&(a, b, c): &(usize, usize, Option<usize>)| (image(a), image(b), c.map(image));
            assert!(lines.iter().all(|line| lines.contains(&mapped(line))), "a symmetry maps lines to lines");
        }
    }

    fn play_game(&mut self, rng: &mut Xoshiro256PlusPlus) {
        let mut state = self.game.start();
        let mut decided = None;
        for _ in 0..MAX_PLIES {
            self.check_state(&state, rng);
            let value = self.game.outcome(&state).map(|outcome| outcome.value()).or_else(|| self.game.decided(&state));
            assert!(decided.is_none() || value == decided, "what is decided stays so: {value:?} after {decided:?}");
            decided = value;
            if self.legal.is_empty() {
                return;
            }
            let action = self.legal[rng.random_range(0..self.legal.len())];
            self.check_symmetry(&state, action, rng);
            self.game.play(&mut state, action);
        }
        panic!("a game did not end within {MAX_PLIES} plies");
    }

    fn check_state(&mut self, state: &G::State, rng: &mut Xoshiro256PlusPlus) {
        let text = self.game.position_text(state);
        // States are not printed: some have kilobytes.
        match self.game.parse_position(&text) {
            Err(error) => panic!("the position text `{text}` cannot be read: {error}"),
            Ok(read) => {
                assert!(read == *state, "the position text `{text}` is read as another state: {}", self.text(&read));
            }
        }
        self.game.legal(state, &mut self.legal);
        assert!(self.legal.windows(2).all(|w| w[0] < w[1]), "legal actions increase at `{text}`");
        assert!(self.legal.iter().all(|a| a.index() < self.spec.actions), "legal actions are bounded at `{text}`");
        if let Some(count) = self.game.legal_count(state) {
            assert_eq!(count as usize, self.legal.len(), "the number of legal actions is that of the list at `{text}`");
        }
        if let Some(set) = self.game.legal_set(state) {
            assert!(self.spec.actions <= 64, "only games of up to 64 actions give them as a set");
            let listed = self.legal.iter().fold(0, |set, action| set | 1 << action.index());
            assert_eq!(set, listed, "the set of legal actions is the list at `{text}`");
        }
        let outcome = self.game.outcome(state);
        assert_eq!(outcome.is_some(), self.legal.is_empty(), "no legal action exactly when over, at `{text}`");
        if let Some(outcome) = outcome {
            assert_eq!(outcome.value_for(Side::First), -outcome.value_for(Side::Second), "zero-sum at `{text}`");
            assert!(!(outcome.truncated && outcome.winner.is_some()), "a limit ends a game as a draw, at `{text}`");
            assert!(self.spec.draws || outcome.winner.is_some(), "a game without draws has a winner, at `{text}`");
        }
        self.check_action_texts(state, &text);
        self.check_features(state, &text);
        self.check_clicks(state, &text);
        let other = Action(rng.random_range(0..self.spec.actions as u16));
        if !self.legal.contains(other) {
            let mut after = *state;
            assert!(try_play(self.game, &mut after, other).is_err(), "an illegal action is refused at `{text}`");
            assert!(after == *state, "a refused action changes nothing at `{text}`");
        }
    }

    fn text(&self, state: &G::State) -> String {
        self.game.position_text(state)
    }

    fn check_action_texts(&self, state: &G::State, text: &str) {
        let texts: Vec<String> = self.legal.iter().map(|&action| self.game.action_text(state, action)).collect();
        for (&action, action_text) in self.legal.iter().zip(&texts) {
            let parsed = self.game.parse_action(state, action_text);
            assert_eq!(parsed, Ok(action), "action text `{action_text}` names another action at `{text}`");
            let shown = self.game.display_text(state, action);
            if shown != *action_text {
                let parsed = self.game.parse_action(state, &shown);
                assert_eq!(parsed, Ok(action), "display text `{shown}` names another action at `{text}`");
            }
        }
    }

    fn check_features(&mut self, state: &G::State, text: &str) {
        let mut features = vec![f32::NAN; self.spec.features()];
        self.game.observe(state, &mut features);
        let [least, most] = self.spec.bounds;
        let bounded = |feature: &f32| (least..=most).contains(feature); // NaN is not
        assert!(features.iter().all(bounded), "all features written, from {least} to {most}, at `{text}`");
        let mover = self.game.mover(state);
        let mut legal: Vec<usize> = self.legal.iter().map(|&a| self.spec.policy_index(mover, a)).collect();
        legal.sort_unstable();
        if self.seen.len() < 200_000 {
            let key = features.iter().map(|f| f.to_bits()).collect();
            let before = self.seen.entry(key).or_insert_with(|| legal.clone());
            assert_eq!(*before, legal, "equal features mean equal legal actions, at `{text}`");
        }
    }

    /// Clicks are points of the board. No legal action's clicks begin with those of another, so that an action can be
    /// played as soon as its last point is clicked.
    fn check_clicks(&self, state: &G::State, text: &str) {
        let board = self.game.board(state, None);
        assert!(!board.text().is_empty(), "the board of `{text}` is drawn");
        assert_eq!(board.contents.len(), self.spec.points, "contents for every point at `{text}`");
        let points = |clicks: &[usize]| clicks.iter().all(|&point| point < self.spec.points);
        let mut clicked: Vec<Vec<usize>> = self.legal.iter().map(|&action| clicks(self.game, state, action)).collect();
        clicked.retain(|clicks| !clicks.is_empty());
        assert!(clicked.iter().all(|clicks| points(clicks)), "clicks are points at `{text}`");
        clicked.sort();
        assert!(clicked.windows(2).all(|pair| !pair[1].starts_with(&pair[0])), "clicks are unambiguous at `{text}`");
        let lines = board.formed.iter().chain(&board.banned);
        assert!(lines.into_iter().all(|line| points(line)), "lines consist of points at `{text}`");
    }

    fn check_symmetry(&self, state: &G::State, action: Action, rng: &mut Xoshiro256PlusPlus) {
        let symmetry = &self.spec.symmetries[rng.random_range(0..self.spec.symmetries.len())];
        let text = self.game.position_text(state);
        let image = self.game.permuted(state, symmetry);
        assert_eq!(self.game.mover(&image), self.game.mover(state), "a symmetry keeps the mover of `{text}`");

        let mut legal = ActionList::new();
        self.game.legal(&image, &mut legal);
        let mut mapped: Vec<Action> = self.legal.iter().map(|a| Action(symmetry.actions[a.index()])).collect();
        mapped.sort_unstable();
        assert_eq!(*legal, *mapped, "a symmetry maps the legal actions of `{text}`");

        let mut features = vec![0.0; self.spec.features()];
        let mut expected = vec![0.0; self.spec.features()];
        self.game.observe(state, &mut features);
        symmetry.apply_to_features(&features, &mut expected);
        self.game.observe(&image, &mut features);
        let different = features.iter().zip(&expected).position(|(feature, expected)| feature != expected);
        assert!(different.is_none(), "a symmetry maps the features of `{text}`, but not the one at {different:?}");

        let (mut after, mut image_after) = (*state, image);
        self.game.play(&mut after, action);
        self.game.play(&mut image_after, Action(symmetry.actions[action.index()]));
        let [expected, found] = [self.game.permuted(&after, symmetry), image_after];
        assert!(
            expected == found,
            "a symmetry commutes with play at `{text}`: `{}` and `{}`",
            self.text(&expected),
            self.text(&found)
        );
        assert_eq!(self.game.outcome(&after), self.game.outcome(&image_after), "and keeps the outcome");
    }
}

fn is_permutation(images: impl Iterator<Item = usize>, len: usize) -> bool {
    let mut hit = vec![false; len];
    let mut count = 0;
    for image in images {
        if image >= len || std::mem::replace(&mut hit[image], true) {
            return false;
        }
        count += 1;
    }
    count == len
}
