//! The class `Analysis`: what a search has found in a position.

use numpy::PyArray1;
use pyo3::prelude::*;
use turnstone_agents::{self as agents, SearchInfo};
use turnstone_env::Action;

use crate::state::State;

/// What a search has found in a position.
#[pyclass(frozen, module = "turnstone")]
pub(crate) struct Analysis {
    /// The position that was searched.
    #[pyo3(get)]
    state: State,
    pub(crate) action: Action,
    policy: Vec<f32>,
    priors: Option<Vec<f32>>,
    visits: Option<Vec<i64>>,
    action_values: Option<Vec<f32>>,
    /// Expected result for the player to move, -1 to 1. None if the agent reports none.
    #[pyo3(get)]
    value: Option<f32>,
    /// Probabilities of win, draw and loss for the player to move. None if the agent reports none.
    #[pyo3(get)]
    win_draw_loss: Option<(f32, f32, f32)>,
    /// The exact result for the player to move, 1, 0 or -1, if the search has proven it.
    #[pyo3(get)]
    proven: Option<i8>,
    /// Number of simulations, or of positions visited.
    #[pyo3(get)]
    nodes: u64,
    /// Depth in plies: of the search, or of the principal variation.
    #[pyo3(get)]
    depth: u32,
    line: Vec<Action>,
}

impl Analysis {
    /// The result of a tree search that has not been stopped.
    pub(crate) fn of_tree(state: State, found: &agents::Analysis) -> Self {
        let actions = state.game.rules.spec().actions;
        let sign = found.mover.sign();
        let mut policy = vec![0.0; actions];
        let (mut priors, mut visits, mut values) = (vec![0.0; actions], vec![0; actions], vec![f32::NAN; actions]);
        for agents::AnalysedAction { root, policy: share, .. } in &found.actions {
            let at = root.action.index();
            policy[at] = *share;
            priors[at] = root.prior;
            visits[at] = i64::from(root.visits);
            if root.visits > 0 || root.proven.is_some() {
                values[at] = sign * root.proven.map_or(root.value, f32::from);
            }
        }
        let best = &found.actions[0];
        Self {
            action: best.root.action,
            policy,
            priors: Some(priors),
            visits: Some(visits),
            action_values: Some(values),
            value: Some(sign * found.estimate.value),
            win_draw_loss: Some(found.estimate.win_draw_loss(found.mover).into()),
            proven: found.proven.map(|value| value * sign as i8),
            nodes: found.visits,
            depth: best.line.len() as u32,
            line: best.line.clone(),
            state,
        }
    }

    /// The result of any other agent: the action that it plays, and what it reports.
    pub(crate) fn of_agent(state: State, action: Action, info: SearchInfo) -> Self {
        let mut policy = vec![0.0; state.game.rules.spec().actions];
        policy[action.index()] = 1.0;
        Self {
            action,
            policy,
            priors: None,
            visits: None,
            action_values: None,
            value: info.score.map(|score| score.win_draw_loss[0] - score.win_draw_loss[2]),
            win_draw_loss: info.score.map(|score| score.win_draw_loss.into()),
            proven: None,
            nodes: info.nodes,
            depth: info.depth,
            line: if info.line.is_empty() { vec![action] } else { info.line },
            state,
        }
    }
}

#[pymethods]
impl Analysis {
    /// The action to play.
    #[getter]
    fn action(&self) -> u16 {
        self.action.0
    }

    /// The text of the action to play.
    #[getter]
    fn move_text(&self) -> String {
        self.state.game.rules.action_text(&self.state.state, self.action)
    }

    /// float32 [actions]: the policy that results from the search, by action; 1 for the action of an agent without a tree.
    #[getter]
    fn policy<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.policy)
    }

    /// float32 [actions]: the network's prior of each action. None without a tree.
    #[getter]
    fn priors<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        self.priors.as_deref().map(|priors| PyArray1::from_slice(py, priors))
    }

    /// int64 [actions]: simulations through each action. None without a tree.
    #[getter]
    fn visits<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        self.visits.as_deref().map(|visits| PyArray1::from_slice(py, visits))
    }

    /// float32 [actions]: value of each action for the player to move, NaN if not visited. None without a tree.
    #[getter]
    fn action_values<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        self.action_values.as_deref().map(|values| PyArray1::from_slice(py, values))
    }

    /// The expected line, which begins with the action to play.
    #[getter]
    fn principal_variation(&self) -> Vec<u16> {
        self.line.iter().map(|action| action.0).collect()
    }

    /// The texts of the expected line.
    #[getter]
    fn principal_variation_text(&self) -> Vec<String> {
        self.state.game.rules.line_texts(&self.state.state, &self.line)
    }

    fn __repr__(&self) -> String {
        let line = self.principal_variation_text().join(" ");
        let value = self.value.map_or("None".to_owned(), |value| format!("{value:.3}"));
        format!("<turnstone.Analysis {}: value {value}, {} nodes, {line}>", self.move_text(), self.nodes)
    }
}
