//! Alpha-beta to a fixed depth, with the same result and tie-break as minimax.

use turnstone_env::{Action, ActionList, Game, Side};

use super::{Found, Heuristic};

/// Alpha-beta (Knuth and Moore, 1975; fail-soft). Actions are searched in increasing order and only a strictly better
/// score replaces the best, so that the action found is the one that [`Minimax`](super::Minimax) finds.
#[derive(Debug)]
pub struct AlphaBeta<'a, G: Game, H: ?Sized> {
    game: &'a G,
    heuristic: &'a H,
    lists: Vec<ActionList>,
    nodes: u64,
    evaluated: u64,
}

/// Scores still of interest, for the first side: it is sure of `alpha`, the second side of `beta`.
#[derive(Clone, Copy)]
struct Window {
    alpha: i32,
    beta: i32,
}

impl<'a, G: Game, H: Heuristic<G> + ?Sized> AlphaBeta<'a, G, H> {
    /// A search of this game with this evaluation.
    pub fn new(game: &'a G, heuristic: &'a H) -> Self {
        Self { game, heuristic, lists: Vec::new(), nodes: 0, evaluated: 0 }
    }

    /// The best action and its score after looking `depth` plies ahead.
    pub fn search(&mut self, state: &G::State, depth: u32) -> Found {
        self.lists.resize(depth as usize + 1, ActionList::new());
        (self.nodes, self.evaluated) = (0, 0);
        let (score, action) = self.value(state, depth as usize, Window { alpha: i32::MIN, beta: i32::MAX });
        Found { action, score, nodes: self.nodes, evaluated: self.evaluated }
    }

    /// The score of a position, exact if it lies inside the window, and the first action that reaches it.
    fn value(&mut self, state: &G::State, depth: usize, mut window: Window) -> (i32, Option<Action>) {
        if let Some(outcome) = self.game.outcome(state) {
            self.evaluated += 1;
            return (self.heuristic.final_score(self.game, state, &outcome), None);
        }
        if depth == 0 {
            self.evaluated += 1;
            return (self.heuristic.estimate(self.game, state), None);
        }
        let maximise = self.game.mover(state) == Side::First;
        let mut legal = std::mem::take(&mut self.lists[depth]);
        self.game.legal(state, &mut legal);
        let mut best: Option<(i32, Action)> = None;
        for &action in &legal {
            let mut next = *state;
            self.game.play(&mut next, action);
            self.nodes += 1;
            let (score, _) = self.value(&next, depth - 1, window);
            if best.is_none_or(|(best, _)| if maximise { score > best } else { score < best }) {
                best = Some((score, action));
                match maximise {
                    true => window.alpha = window.alpha.max(score),
                    false => window.beta = window.beta.min(score),
                }
            }
            if window.alpha >= window.beta {
                break;
            }
        }
        self.lists[depth] = legal;
        let (score, action) = best.expect("a running game has legal actions");
        (score, Some(action))
    }
}
