//! Plain minimax to a fixed depth.

use turnstone_env::{Action, ActionList, Game, Side};

use super::{Found, Heuristic};

/// Minimax without pruning: the reference for other searches, and the seeds' own player.
#[derive(Debug)]
pub struct Minimax<'a, G: Game, H: ?Sized> {
    game: &'a G,
    heuristic: &'a H,
    lists: Vec<ActionList>,
    nodes: u64,
    evaluated: u64,
}

impl<'a, G: Game, H: Heuristic<G> + ?Sized> Minimax<'a, G, H> {
    /// A search of this game with this evaluation.
    pub fn new(game: &'a G, heuristic: &'a H) -> Self {
        Self { game, heuristic, lists: Vec::new(), nodes: 0, evaluated: 0 }
    }

    /// The best action and its score after looking `depth` plies ahead.
    pub fn search(&mut self, state: &G::State, depth: u32) -> Found {
        self.lists.resize(depth as usize + 1, ActionList::new());
        (self.nodes, self.evaluated) = (0, 0);
        let (score, action) = self.value(state, depth as usize);
        Found { action, score, nodes: self.nodes, evaluated: self.evaluated }
    }

    /// The score of a position, and the first action that reaches it.
    fn value(&mut self, state: &G::State, depth: usize) -> (i32, Option<Action>) {
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
            let (score, _) = self.value(&next, depth - 1);
            if best.is_none_or(|(best, _)| if maximise { score > best } else { score < best }) {
                best = Some((score, action));
            }
        }
        self.lists[depth] = legal;
        let (score, action) = best.expect("a running game has legal actions");
        (score, Some(action))
    }
}
