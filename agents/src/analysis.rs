//! The result of a tree search in a position.

use turnstone_base::streams::{Purpose, stream};
use turnstone_env::{Action, Rules, Side};
use turnstone_search::{Evaluation, Mcts, RootAction};

/// Result of a search, complete or as far as it got.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// Side to move.
    pub mover: Side,
    /// Number of simulations, summed over the actions.
    pub visits: u64,
    /// Evaluation of the position for the first side.
    pub estimate: Evaluation,
    /// Exact value for the first side, if proven.
    pub proven: Option<i8>,
    /// Legal actions: the best one, then the others by decreasing visits and prior. Empty if the search never began.
    pub actions: Vec<AnalysedAction>,
    /// Whether the search was stopped early.
    pub stopped: bool,
}

/// A legal action of an analysed position.
#[derive(Clone, PartialEq, Debug)]
pub struct AnalysedAction {
    /// Visits, prior and value of the action.
    pub root: RootAction,
    /// The action's share of the policy that results from the search.
    pub policy: f32,
    /// Principal variation that begins with the action.
    pub line: Vec<Action>,
}

/// The best action at the root, which is searched, without the randomness of a temperature.
pub(crate) fn best<G: Rules>(search: &Mcts<G>) -> Action {
    search.choose(0.0, &mut stream(0, Purpose::Play, [0, 0]))
}

/// Reads the result of a search from its tree.
pub(crate) fn analysis<G: Rules>(search: &Mcts<G>, stopped: bool) -> Analysis {
    let mut policy = Vec::new();
    let mut roots: Vec<(RootAction, f32)> = Vec::new();
    if search.actions().next().is_some() {
        search.policy(&mut policy);
        roots.extend(search.actions().zip(policy));
        let best = best(search);
        let rank = |root: &RootAction| (root.action == best, root.visits, root.prior.to_bits());
        roots.sort_by_key(|(root, _)| std::cmp::Reverse(rank(root)));
    }
    let analysed = |(root, policy): (RootAction, f32)| AnalysedAction { root, policy, line: search.line(root.action) };
    Analysis {
        mover: search.mover(),
        visits: roots.iter().map(|(root, _)| u64::from(root.visits)).sum(),
        estimate: search.estimate(),
        proven: search.proven(),
        actions: roots.into_iter().map(analysed).collect(),
        stopped,
    }
}
