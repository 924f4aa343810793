//! The class `Analysis`: what a search has found in a position.

use numpy::PyArray1;
use pyo3::prelude::*;
use turnstone_agents::{self as agents, SearchInfo};
use turnstone_env::Action;
use turnstone_env::svg::escaped;

use crate::state::State;

/// What a search has found in a position.
#[pyclass(frozen, module = "turnstone_rl")]
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

/// Number of actions that a notebook shows as arrows, and in the table.
const MOST_ARROWS: usize = 3;
const MOST_ROWS: usize = 8;

impl Analysis {
    /// The actions with the greatest shares of the policy, best first; those without any are left out.
    fn best(&self) -> Vec<usize> {
        let mut best: Vec<usize> = (0..self.policy.len()).filter(|&action| self.policy[action] > 0.0).collect();
        // The one to play comes first among equals.
        best.sort_by(|&a, &b| {
            self.policy[b].total_cmp(&self.policy[a]).then((b == self.action.index()).cmp(&(a == self.action.index())))
        });
        best.truncate(MOST_ROWS);
        best
    }

    /// SVG elements over the board: an arrow, or a ring around the only point of an action, the wider the greater its share.
    fn arrows(&self, best: &[usize]) -> String {
        let (rules, state) = (&self.state.game.rules, &self.state.state);
        let points = rules.board(state, None).points();
        let place = |point: usize| points.get(point);
        let mut drawn = String::from(
            "<defs><marker id=\"ts-tip\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"3\" markerHeight=\"3\" \
             orient=\"auto\"><path d=\"M0 0L6 3L0 6Z\" fill=\"#0b7\"/></marker></defs>",
        );
        for &action in best.iter().take(MOST_ARROWS).rev() {
            let clicks = rules.clicks(state, Action(action as u16));
            let ends = (clicks.first().copied().and_then(place), clicks.last().copied().and_then(place));
            let (Some(from), Some(to)) = ends else { continue };
            let share = self.policy[action];
            let ([x1, y1], [x2, y2], width) = (from.at, to.at, from.radius * (0.1 + 0.2 * share));
            let opacity = 0.4 + 0.5 * share;
            let style = format!("fill=\"none\" stroke=\"#0b7\" stroke-width=\"{width:.2}\" opacity=\"{opacity:.2}\"");
            drawn += &if from.at == to.at {
                format!("<circle class=\"ts-choice\" cx=\"{x1}\" cy=\"{y1}\" r=\"{:.2}\" {style}/>", 0.8 * from.radius)
            } else {
                format!("<path class=\"ts-choice\" d=\"M{x1} {y1}L{x2} {y2}\" marker-end=\"url(#ts-tip)\" {style}/>")
            };
        }
        drawn
    }

    /// A table of actions, with the columns that the agent fills, and the policy as bars.
    fn rows(&self, best: &[usize]) -> String {
        let columns = [
            ("visits", self.visits.is_some()),
            ("prior", self.priors.is_some()),
            ("value", self.action_values.is_some()),
        ];
        let heads: String =
            columns.iter().filter(|(_, has)| *has).map(|(name, _)| format!("<th>{name}</th>")).collect();
        let row = |&action: &usize| {
            let name = self.state.game.rules.action_text(&self.state.state, Action(action as u16));
            let visits = self.visits.as_ref().map(|visits| visits[action].to_string());
            let prior = self.priors.as_ref().map(|priors| format!("{:.1} %", 100.0 * priors[action]));
            let value = self.action_values.as_ref().map(|values| match values[action] {
                value if value.is_nan() => "-".to_owned(),
                value => format!("{value:+.2}"),
            });
            let cells: String =
                [visits, prior, value].iter().flatten().map(|cell| format!("<td>{cell}</td>")).collect();
            let share = 100.0 * self.policy[action];
            format!(
                "<tr><th>{}</th>{cells}<td style=\"text-align:left\"><div style=\"display:inline-block;height:0.7em;\
                 width:{:.1}em;background:#0b7\"></div> {share:.1} %</td></tr>",
                escaped(&name),
                share / 12.5
            )
        };
        let rows: String = best.iter().map(row).collect();
        format!("<table><tr><th>move</th>{heads}<th>policy</th></tr>{rows}</table>")
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

    /// The board with arrows for the best actions, and a table of them.
    fn _repr_html_(&self) -> PyResult<String> {
        let svg = self.state.svg()?;
        let best = self.best();
        let drawn = svg.replacen("</svg>", &format!("{}</svg>", self.arrows(&best)), 1);
        let (line, rows) = (self.principal_variation_text().join(" "), self.rows(&best));
        let value = self.win_draw_loss.map(|(win, draw, loss)| {
            let [win, draw, loss] = [win, draw, loss].map(|share| 100.0 * share);
            format!(": {win:.1} % win, {draw:.1} % draw, {loss:.1} % loss")
        });
        let proven = self.proven.map(|value| [": lost", ": drawn", ": won"][(value + 1) as usize].to_owned());
        let mover = self.state.game.rules.mover(&self.state.state);
        let value = proven.or(value).unwrap_or_default();
        Ok(format!(
            "<div style=\"display:flex;flex-wrap:wrap;gap:1.5em\"><div style=\"width:20em\">{drawn}</div>\
             <div><p><b>{mover}</b> to move{value}<br>{} nodes, expected: {}</p>{rows}</div></div>",
            self.nodes,
            escaped(&line)
        ))
    }

    fn __repr__(&self) -> String {
        let line = self.principal_variation_text().join(" ");
        let value = self.value.map_or("None".to_owned(), |value| format!("{value:.3}"));
        format!("<turnstone.Analysis {}: value {value}, {} nodes, {line}>", self.move_text(), self.nodes)
    }
}
