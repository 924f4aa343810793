//! Proof-number search: is the position below a leaf won, drawn or lost for certain?
//!
//! Allis, van der Meulen and van den Herik, "Proof-number search" (1994). The attacker's win is to be proven. A node's
//! proof number is a lower bound on the positions that are still to be proven won before it is, its disproof number on
//! those to be proven otherwise before it is not; both start from the number of legal actions, so that the search prefers
//! lines in which one side has little choice.

use std::ops::Range;

use turnstone_env::{ActionList, Rules, Side};

/// The proof number of a position that is not won, and the disproof number of one that is.
const NEVER: u32 = 1 << 30;

/// A position below the leaf.
#[derive(Clone, Copy, Debug)]
struct Node<S> {
    state: S,
    parent: u32,
    first_child: u32,
    children: u16,
    attacks: bool,
    numbers: Numbers,
}

impl<S> Node<S> {
    fn children(&self) -> Range<usize> {
        let first = self.first_child as usize;
        first..first + usize::from(self.children)
    }
}

/// Proof and disproof numbers of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Numbers {
    proof: u32,
    disproof: u32,
}

impl Numbers {
    const WON: Self = Self { proof: 0, disproof: NEVER };
    const NOT_WON: Self = Self { proof: NEVER, disproof: 0 };

    /// Of a running position with this many legal actions.
    fn of_choice(attacks: bool, actions: u32) -> Self {
        if attacks { Self { proof: 1, disproof: actions } } else { Self { proof: actions, disproof: 1 } }
    }

    /// Of a position from those that its actions lead to: its mover needs one of them, the other side all.
    fn of_children(attacks: bool, children: impl Iterator<Item = Self>) -> Self {
        let (mut least, mut sum) = (NEVER, 0);
        for child in children {
            let [one, all] = child.seen_by(attacks);
            least = least.min(one);
            sum = (sum + all).min(NEVER);
        }
        let [proof, disproof] = if attacks { [least, sum] } else { [sum, least] };
        Self { proof, disproof }
    }

    /// What the mover of the position above wants to be small, and the other number.
    fn seen_by(self, attacks: bool) -> [u32; 2] {
        if attacks { [self.proof, self.disproof] } else { [self.disproof, self.proof] }
    }

    /// Whether the attacker wins, if that is certain.
    fn decision(self) -> Option<bool> {
        match self {
            Self { proof: 0, .. } => Some(true),
            Self { disproof: 0, .. } => Some(false),
            _ => None,
        }
    }
}

/// Searches for proofs; the memory is kept from one to the next.
#[derive(Clone, Debug)]
pub(super) struct Prover<G: Rules> {
    nodes: Vec<Node<G::State>>,
    legal: ActionList,
    /// Buffer to count actions.
    counted: ActionList,
    /// Whether the search came across a draw.
    drawn: bool,
    /// Whether the game has draws, once that was asked.
    draws: Option<bool>,
}

impl<G: Rules> Default for Prover<G> {
    fn default() -> Self {
        Self { nodes: Vec::new(), legal: ActionList::new(), counted: ActionList::new(), drawn: false, draws: None }
    }
}

impl<G: Rules> Prover<G> {
    /// The value of a running position for the first side, if a search of about `most` positions proves it. In games with
    /// draws half of them go to the question whether the mover wins, and half to whether the other side does.
    pub(super) fn value(&mut self, game: &G, state: &G::State, most: u32) -> Option<i8> {
        let mover = game.mover(state);
        let win = if mover == Side::First { 1 } else { -1 };
        if !*self.draws.get_or_insert_with(|| game.spec().draws) {
            return self.wins(game, state, mover, most).map(|wins| if wins { win } else { -win });
        }
        let wins = self.wins(game, state, mover, most / 2);
        match wins {
            Some(true) => return Some(win),
            Some(false) if !self.drawn => return Some(-win),
            _ => {}
        }
        match self.wins(game, state, mover.other(), most / 2) {
            Some(true) => Some(-win),
            Some(false) if wins == Some(false) => Some(0),
            _ => None,
        }
    }

    /// Whether the attacker wins the position, if at most `most` positions, and the actions of one more, show it.
    fn wins(&mut self, game: &G, state: &G::State, attacker: Side, most: u32) -> Option<bool> {
        self.nodes.clear();
        self.drawn = false;
        self.add(game, *state, 0, attacker);
        loop {
            let decision = self.nodes[0].numbers.decision();
            if decision.is_some() || self.nodes.len() >= most as usize {
                return decision;
            }
            let node = self.most_proving();
            self.expand(game, node, attacker);
            self.update(node);
        }
    }

    /// The node without children whose decision counts for proof and disproof alike.
    fn most_proving(&self) -> usize {
        let mut node = 0;
        loop {
            let Node { attacks, .. } = self.nodes[node];
            let wanted = |&child: &usize| self.nodes[child].numbers.seen_by(attacks)[0];
            match self.nodes[node].children().min_by_key(wanted) {
                Some(child) => node = child,
                None => return node,
            }
        }
    }

    /// Adds the positions that a node's actions lead to.
    fn expand(&mut self, game: &G, node: usize, attacker: Side) {
        let (state, first) = (self.nodes[node].state, self.nodes.len());
        let mut legal = std::mem::take(&mut self.legal);
        game.legal(&state, &mut legal);
        for &action in &legal {
            let mut next = state;
            game.play(&mut next, action);
            self.add(game, next, node as u32, attacker);
        }
        self.legal = legal;
        self.nodes[node].first_child = first as u32;
        self.nodes[node].children = (self.nodes.len() - first) as u16;
    }

    /// Renews the numbers of a node and of those above it, as far as they change.
    fn update(&mut self, mut node: usize) {
        loop {
            let Node { attacks, parent, numbers, .. } = self.nodes[node];
            let children = self.nodes[self.nodes[node].children()].iter().map(|child| child.numbers);
            let renewed = Numbers::of_children(attacks, children);
            self.nodes[node].numbers = renewed;
            if node == 0 || renewed == numbers {
                return;
            }
            node = parent as usize;
        }
    }

    fn add(&mut self, game: &G, state: G::State, parent: u32, attacker: Side) {
        let attacks = game.mover(&state) == attacker;
        let choices = self.choices(game, &state);
        let value = match choices {
            0 => game.outcome(&state).map(|outcome| outcome.value()),
            _ => game.decided(&state),
        };
        let numbers = match value.map(|value| f32::from(value) * attacker.sign()) {
            Some(value) if value > 0.0 => Numbers::WON,
            Some(value) => {
                self.drawn |= value == 0.0;
                Numbers::NOT_WON
            }
            None => Numbers::of_choice(attacks, choices),
        };
        self.nodes.push(Node { state, parent, first_child: 0, children: 0, attacks, numbers });
    }

    /// Number of legal actions.
    fn choices(&mut self, game: &G, state: &G::State) -> u32 {
        game.legal_count(state).unwrap_or_else(|| {
            game.legal(state, &mut self.counted);
            self.counted.len() as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use turnstone_env::games::{Konane, Mancala, Morris};
    use turnstone_env::{Notation, Params};

    use super::*;
    use crate::classic::{AlphaBeta, Limits, WinLoss};

    /// Compares proofs in random games with alpha-beta; the numbers of proofs of each value (lost, drawn, won for the
    /// first side) and of positions.
    fn compare<G: Notation>(game: &G, most: u32, games: u64) -> ([u32; 3], u32) {
        let (mut prover, mut proofs, mut positions) = (Prover::default(), [0; 3], 0);
        let mut truth = AlphaBeta::new(game, WinLoss).with_table(1 << 22);
        for seed in 0..games {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let (mut state, mut legal) = (game.start(), ActionList::new());
            loop {
                game.legal(&state, &mut legal);
                if legal.is_empty() {
                    break;
                }
                positions += 1;
                if let Some(value) = prover.value(game, &state, most) {
                    let found = truth.deepen(&state, &Limits::nodes(2_000_000));
                    if found.complete || found.score != 0 {
                        assert_eq!(i32::from(value), found.score.signum(), "{}", game.position_text(&state));
                        proofs[(value + 1) as usize] += 1;
                    }
                }
                game.play(&mut state, legal[rng.random_range(0..legal.len())]);
            }
        }
        (proofs, positions)
    }

    fn with<G: Rules + Default>(params: &[(&str, i64)]) -> G {
        let params = params.iter().fold(Params::new(), |params, &(key, value)| params.with(key, value));
        G::default().with_params(&params).expect("valid parameters")
    }

    #[test]
    fn proofs_are_right_and_found() {
        let (proofs, positions) = compare(&with::<Konane>(&[("size", 6)]), 300, 40);
        assert!(proofs[0] > 100 && proofs[1] == 0 && proofs[2] > 100, "{proofs:?} of {positions}");
        let (proofs, positions) = compare(&with::<Mancala>(&[("pits", 3), ("stones", 2)]), 300, 100);
        assert!(
            proofs.iter().all(|&n| n > 20) && proofs.iter().sum::<u32>() * 2 > positions,
            "{proofs:?} of {positions}"
        );
        let (proofs, positions) = compare(&with::<Morris>(&[("pieces", 3), ("no_progress_limit", 4)]), 400, 40);
        assert!(proofs[0] > 20 && proofs[2] > 20, "{proofs:?} of {positions}");
    }

    #[test]
    fn numbers_follow_the_paper() {
        let [a, b] = [(2, 5), (3, 1)].map(|(proof, disproof)| Numbers { proof, disproof });
        let of = |attacks| Numbers::of_children(attacks, [a, b].into_iter());
        assert_eq!(of(true), Numbers { proof: 2, disproof: 6 });
        assert_eq!(of(false), Numbers { proof: 5, disproof: 1 });
        let with = |attacks, child| Numbers::of_children(attacks, [a, child].into_iter());
        assert_eq!(with(true, Numbers::WON), Numbers::WON);
        assert_eq!(with(false, Numbers::NOT_WON), Numbers::NOT_WON);
        assert_eq!(with(false, Numbers::WON).proof, 2);
        assert_eq!(Numbers::of_choice(true, 4), Numbers { proof: 1, disproof: 4 });
        assert_eq!(Numbers::of_choice(false, 4), Numbers { proof: 4, disproof: 1 });
    }

    #[test]
    fn a_search_keeps_to_its_limit_and_sees_what_ends_the_game() {
        let game: Konane = with(&[("size", 6)]);
        let (mut prover, mut rng) = (Prover::default(), Xoshiro256PlusPlus::seed_from_u64(3));
        let (mut ends, mut legal, mut next) = (0, ActionList::new(), ActionList::new());
        for _ in 0..40 {
            let mut state = game.start();
            loop {
                game.legal(&state, &mut legal);
                if legal.is_empty() {
                    break;
                }
                prover.value(&game, &state, 100);
                assert!(prover.nodes.len() < 100 + legal.len().max(36), "{}", prover.nodes.len());
                let winning = legal.iter().filter(|&&action| {
                    let mut after = state;
                    game.play(&mut after, action);
                    game.legal(&after, &mut next);
                    next.is_empty()
                });
                if winning.count() > 0 {
                    ends += 1;
                    let win = if game.mover(&state) == Side::First { 1 } else { -1 };
                    assert_eq!(prover.value(&game, &state, 2), Some(win), "{}", game.position_text(&state));
                }
                game.play(&mut state, legal[rng.random_range(0..legal.len())]);
            }
        }
        assert!(ends > 20, "{ends}");
    }
}
