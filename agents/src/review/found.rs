//! Results of a search, as a review needs them.

use turnstone_env::{Action, AnyState, DynGame};

use crate::{Analysis, PlayableGame, SearchInfo};

/// Result of a search in a position.
#[derive(Clone, Debug)]
pub struct Found {
    /// Value of the position for the first side, -1..=1.
    pub(super) value: f64,
    /// Its exact value for the first side, if the search has proven it.
    pub(super) proven: Option<i8>,
    /// The best action and the expected line after it.
    pub(super) line: Vec<Action>,
    /// The other actions that were searched with their values for the first side, by decreasing visits; `None` if the
    /// search compares no actions.
    pub(super) others: Option<Vec<(Action, f64)>>,
}

impl Found {
    /// The result of a tree search.
    #[must_use]
    pub fn of_analysis(analysis: &Analysis) -> Self {
        let value = |value: f32, proven: Option<i8>| proven.map_or(f64::from(value), f64::from);
        let (best, others) = analysis.actions.split_first().expect("a running game has legal actions");
        let visited = others.iter().map(|other| &other.root).filter(|root| root.visits > 0);
        Self {
            value: value(analysis.estimate.value, analysis.proven),
            proven: analysis.proven,
            line: best.line.clone(),
            others: Some(visited.map(|root| (root.action, value(root.value, root.proven))).collect()),
        }
    }

    /// What an agent without a tree reports; `None` without an evaluation.
    #[must_use]
    pub fn of_report(game: &dyn PlayableGame, state: &AnyState, action: Action, info: SearchInfo) -> Option<Self> {
        let [win, _, loss] = info.score?.win_draw_loss;
        let value = f64::from(game.mover(state).sign() * (win - loss));
        let line = if info.line.first() == Some(&action) { info.line } else { vec![action] };
        Some(Self { value, proven: None, line: legal_part(game, state, line), others: None })
    }
}

/// The line up to its first action that is not legal, as other programs may report.
fn legal_part(game: &dyn DynGame, state: &AnyState, mut line: Vec<Action>) -> Vec<Action> {
    let mut state = state.clone();
    let legal = line.iter().take_while(|&&action| game.try_play(&mut state, action).is_ok()).count();
    line.truncate(legal);
    line
}
