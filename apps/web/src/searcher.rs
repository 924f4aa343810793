//! An agent that searches positions: in slices if it searches a tree, else in one piece with progress reports.

use serde::Serialize;
use std::path::Path;
use std::time::Duration;
use turnstone_base::streams::{Purpose, stream};

use turnstone_agents::{
    Agent, AgentSpec, Analysis, Budget, Change, LoadedNetwork, Prediction as Predicted, Search, SearchInfo,
    SearchRequest, Traits, checkpoint_params, most_likely,
};
use turnstone_env::{Action, AnyState, DynGame};
use turnstone_search::classic::{Control, Limits};
use turnstone_search::{Evaluation, RootAction};

use crate::clock::clock;
use crate::error::Fault;
use crate::table::{Table, json};

/// The seat of the search.
const SEAT: usize = 0;

/// An agent of a game.
pub struct Searcher {
    table: Table,
    spec: AgentSpec,
    search: Box<dyn Search>,
    /// The position at the root of the tree.
    root: Option<AnyState>,
    /// Whether the tree is being searched.
    is_searching: bool,
    seed: u64,
}

/// The result of a tree search, complete or so far. Values are expected results for player 1, -1 to 1.
#[derive(Serialize)]
struct Report {
    visits: u64,
    value: f32,
    draw: f32,
    /// Exact value for player 1, if proven.
    proven: Option<i8>,
    /// The legal actions, the best first.
    actions: Vec<ActionReport>,
}

#[derive(Serialize)]
struct ActionReport {
    action: String,
    visits: u32,
    prior: f32,
    value: f32,
    proven: Option<i8>,
    /// The expected line, which begins with the action.
    line: Vec<String>,
}

#[derive(Serialize)]
struct Prediction {
    value: f32,
    draw: f32,
    priors: Vec<Prior>,
}

#[derive(Serialize)]
struct Prior {
    action: String,
    prior: f32,
}

/// Progress of a classical search, or its result. The value is for player 1.
#[derive(Serialize)]
struct Progress {
    depth: u32,
    nodes: u64,
    score: Option<i32>,
    value: Option<f32>,
    line: Vec<String>,
}

impl Searcher {
    /// An agent from a spec such as `az:pretrained,sims=100`, `mcts:sims=1000`, `alphabeta:depth=6` or `random`. An
    /// `az:` spec plays the network of the checkpoint file in `network`, whatever name the spec has for it.
    ///
    /// # Errors
    /// The game, the spec or the checkpoint has a fault, or they do not fit each other.
    pub fn new(table: Table, spec: &str, network: Option<&[u8]>, seed: u64) -> Result<Self, Fault> {
        let spec: AgentSpec = spec.parse()?;
        let game = table.game();
        let Traits { checkpoint, temperature, budget, .. } = spec.traits();
        let mut agent = match (checkpoint, network) {
            (Some(checkpoint), Some(bytes)) => {
                let network = LoadedNetwork::from_bytes(bytes, &checkpoint)?.checked(&checkpoint, game)?;
                Agent::with_network(spec.clone(), Some(network))
            }
            (Some(_), None) => return Err(Fault(format!("{spec} needs the file of its checkpoint"))),
            (None, _) => Agent::load(&spec, game)?,
        };
        if temperature == 0.0 && budget == Some(Budget::Simulations(0)) {
            // It moves without search, and its tree can be looked at all the same.
            agent = agent.adjusted(Change::Simulations(1));
        }
        let mut search = agent.search(game, 1)?;
        search.new_game(SEAT, &game.start(), stream(seed, Purpose::Play, [0, 0]));
        Ok(Self { table, spec, search, root: None, is_searching: false, seed })
    }

    /// Game and parameters of a checkpoint, as a JSON object: `{"game": ..., "params": {...}}`.
    ///
    /// # Errors
    /// The bytes are no checkpoint.
    pub fn checkpoint(network: &[u8]) -> Result<String, Fault> {
        let info = LoadedNetwork::from_bytes(network, Path::new("the checkpoint"))?.info;
        Ok(json(&serde_json::json!({ "game": info.game, "params": info.params, "step": info.step })))
    }

    /// Whether a checkpoint fits the game with its parameters.
    #[must_use]
    pub fn fits(table: &Table, network: &[u8]) -> bool {
        let params = checkpoint_params(table.game());
        LoadedNetwork::from_bytes(network, Path::new("the checkpoint"))
            .is_ok_and(|network| network.info.game == table.game().name() && network.info.params == params)
    }

    /// Whether the agent searches a tree, in slices. The moves at a temperature are drawn, which a tree does not show.
    #[must_use]
    pub fn is_tree(&self) -> bool {
        let Traits { budget, temperature, .. } = self.spec.traits();
        budget.is_some() && temperature == 0.0
    }

    /// Simulations per move of the agent's spec, if it has a number.
    #[must_use]
    pub fn simulations(&self) -> Option<u32> {
        match self.spec.budget()? {
            Budget::Simulations(simulations) => Some(simulations),
            Budget::Time(_) => None,
        }
    }

    /// Begins a tree search.
    ///
    /// # Errors
    /// The agent searches no tree, the text describes no position, or the game is over.
    pub fn begin(&mut self, position: &str, simulations: u32) -> Result<(), Fault> {
        let state = self.running(position)?;
        if !self.is_tree() {
            return Err(Fault(format!("{} searches no tree", self.spec)));
        }
        self.begin_tree(state, Limits::nodes(u64::from(simulations.max(1))));
        Ok(())
    }

    /// Begins the search of a position in an empty tree.
    fn begin_tree(&mut self, state: AnyState, limits: Limits) {
        if self.is_searching {
            self.search.clear();
        }
        self.search.new_game(SEAT, &state, stream(self.seed, Purpose::Play, [0, 0]));
        let control = Control { clock: clock(), ..Control::default() };
        self.search.begin(SEAT, &state, SearchRequest { limits: Some(limits), control, ..SearchRequest::default() });
        (self.root, self.is_searching) = (Some(state), true);
    }

    /// Continues the search for some milliseconds. Returns whether it is over.
    ///
    /// # Errors
    /// The search has failed.
    pub fn advance(&mut self, milliseconds: f64) -> Result<bool, Fault> {
        let clock = clock();
        let end = clock.now() + Duration::from_secs_f64(milliseconds.clamp(0.0, 1e6) / 1000.0);
        while self.is_searching {
            let chosen = self.search.advance(&mut |_, _| ()).map_err(|fault| Fault(fault.to_string()))?;
            self.is_searching = chosen.is_empty();
            if clock.now() >= end {
                break;
            }
        }
        Ok(!self.is_searching)
    }

    /// The result of the tree search so far, as a JSON object.
    ///
    /// # Errors
    /// No search was begun.
    pub fn report(&self) -> Result<String, Fault> {
        let root = self.searched()?;
        Ok(json(&self.of_analysis(&self.analysis()?, root)))
    }

    /// The result of the tree search so far.
    pub(crate) fn analysis(&self) -> Result<Analysis, Fault> {
        self.search.analysis(SEAT).ok_or_else(|| Fault("no search was begun".to_owned()))
    }

    /// The actions after a line of actions from the root of the tree, separated by spaces, as a JSON array; `null` where
    /// the tree does not reach.
    ///
    /// # Errors
    /// No search was begun, or the line contains no action.
    pub fn below(&self, line: &str) -> Result<String, Fault> {
        let root = self.searched()?;
        let game = self.table.game();
        let (mut state, mut actions) = (root.clone(), Vec::new());
        for text in line.split_whitespace() {
            let action = game.parse_action(&state, text)?;
            actions.push(action);
            // The tree does not reach beyond an illegal action.
            let _ = game.try_play(&mut state, action);
        }
        let line = actions;
        let mut actions = self.search.actions_after(SEAT, &line);
        if let Some(actions) = &mut actions {
            actions.sort_by_key(|root| std::cmp::Reverse((root.visits, root.prior.to_bits())));
        }
        Ok(json(&actions.map(|actions| {
            actions.iter().map(|root| self.action_report(root, &[root.action], &state)).collect::<Vec<_>>()
        })))
    }

    /// The network's priors and value of a position without search, as a JSON object.
    ///
    /// # Errors
    /// The agent has no network or draws its moves at a temperature, the text describes no position, or the game is over.
    pub fn predict(&mut self, position: &str) -> Result<String, Fault> {
        let state = self.running(position)?;
        if self.spec.traits().checkpoint.is_none() {
            return Err(Fault(format!("{} has no network", self.spec)));
        }
        if !self.is_tree() {
            return Err(Fault(format!("{} searches no tree that can be looked into", self.spec)));
        }
        let Predicted { priors, evaluation: Evaluation { value, draw } } = self.predicted(&state)?;
        let game = self.table.game();
        let prior = |(action, prior)| Prior { action: game.display_text(&state, action), prior };
        Ok(json(&Prediction { value, draw, priors: priors.into_iter().map(prior).collect() }))
    }

    /// Chooses an action without slices: the result of the whole search, with the limits of the agent's spec or, if it is
    /// given, a limit of time. `report` receives progress as JSON objects; the result is the action.
    ///
    /// # Errors
    /// The text describes no position, the game is over, or the agent fails.
    pub fn choose(
        &mut self,
        position: &str,
        milliseconds: Option<f64>,
        report: &mut dyn FnMut(String),
    ) -> Result<String, Fault> {
        let state = self.running(position)?;
        let game = self.table.game();
        if self.is_tree() {
            return self.choose_in_tree(&state);
        }
        let control = Control { clock: clock(), ..Control::default() };
        let limits = milliseconds.map(|time| Limits::time(Duration::from_secs_f64(time.clamp(0.0, 1e9) / 1000.0)));
        let mover = game.mover(&state);
        let mut tell = |info: &SearchInfo| report(json(&progress(game, &state, info, mover.sign())));
        let request = SearchRequest { limits, control, reports: true, ..SearchRequest::default() };
        let chosen = self.search.choose_within(SEAT, &state, request, &mut tell);
        Ok(game.display_text(&state, chosen.map_err(|fault| Fault(fault.to_string()))?))
    }

    /// The best action by the agent's tree search, with the limits of its spec.
    fn choose_in_tree(&mut self, state: &AnyState) -> Result<String, Fault> {
        let action = match self.spec.budget() {
            Some(Budget::Simulations(0)) | None => {
                let action = most_likely(&self.predicted(state)?.priors);
                self.root = Some(state.clone());
                action
            }
            Some(budget) => {
                let limits = match budget {
                    Budget::Simulations(simulations) => Limits::nodes(u64::from(simulations)),
                    Budget::Time(time) => Limits::time(time),
                };
                self.begin_tree(state.clone(), limits);
                while !self.advance(f64::MAX)? {}
                self.analysis()?.actions[0].root.action
            }
        };
        Ok(self.table.game().display_text(state, action))
    }

    /// What the network says without search.
    fn predicted(&mut self, state: &AnyState) -> Result<Predicted, Fault> {
        let found = self.search.predict(state).map_err(|fault| Fault(fault.to_string()))?;
        found.ok_or_else(|| Fault(format!("{} has no network", self.spec)))
    }

    /// A position in which the game is not over.
    fn running(&self, position: &str) -> Result<AnyState, Fault> {
        let state = self.table.state(position)?;
        match self.table.game().outcome(&state) {
            None => Ok(state),
            Some(_) => Err(Fault(format!("the game is over at `{position}`"))),
        }
    }

    fn searched(&self) -> Result<&AnyState, Fault> {
        self.root.as_ref().ok_or_else(|| Fault("no search was begun".to_owned()))
    }

    fn of_analysis(&self, analysis: &Analysis, state: &AnyState) -> Report {
        Report {
            visits: analysis.visits,
            value: analysis.estimate.value,
            draw: analysis.estimate.draw,
            proven: analysis.proven,
            actions: analysis
                .actions
                .iter()
                .map(|action| self.action_report(&action.root, &action.line, state))
                .collect(),
        }
    }

    fn action_report(&self, root: &RootAction, line: &[Action], state: &AnyState) -> ActionReport {
        let game = self.table.game();
        let RootAction { action, prior, visits, value, proven } = *root;
        let line = game.line_display(state, line);
        ActionReport { action: game.display_text(state, action), visits, prior, value, proven, line }
    }
}

fn progress(game: &dyn DynGame, state: &AnyState, info: &SearchInfo, sign: f32) -> Progress {
    Progress {
        depth: info.depth,
        nodes: info.nodes,
        score: info.score.map(|score| score.score),
        value: info.score.map(|score| sign * (score.win_draw_loss[0] - score.win_draw_loss[2])),
        line: game.line_display(state, &info.line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn searcher(game: &str, spec: &str) -> Searcher {
        Searcher::new(Table::new(game, "{}").unwrap(), spec, None, 1).unwrap()
    }

    #[test]
    fn a_search_in_slices_is_the_search_in_one_piece() {
        let position = "121202121 1 0";
        let mut whole = searcher("mu_torere", "mcts:sims=300");
        let action = whole.choose(position, None, &mut |_| {}).unwrap();
        let mut sliced = searcher("mu_torere", "mcts:sims=300");
        sliced.begin(position, 300).unwrap();
        let mut slices = 1;
        while !sliced.advance(0.0).unwrap() {
            slices += 1;
        }
        assert!(slices >= 300, "{slices} slices for 300 simulations");
        let report: Value = serde_json::from_str(&sliced.report().unwrap()).unwrap();
        assert_eq!(report["actions"][0]["action"].as_str(), Some(&action[..]));
        assert_eq!(report["visits"], 300);
        assert_eq!(sliced.report(), whole.report());
        let below: Value = serde_json::from_str(&sliced.below(&action).unwrap()).unwrap();
        let visits: u64 = below.as_array().unwrap().iter().map(|action| action["visits"].as_u64().unwrap()).sum();
        // The first of the action's simulations expanded its position.
        assert_eq!(visits + 1, report["actions"][0]["visits"].as_u64().unwrap());
        assert_eq!(sliced.below("0,4 1,0 2,1 5,2 8,5").map(|text| text.len() > 2), Ok(true));
    }

    #[test]
    fn classical_searches_report_their_depths() {
        let mut reports = Vec::new();
        let mut search = searcher("mancala", "alphabeta:depth=5");
        let action = search.choose("4,4,4,4,4,4/0 4,4,4,4,4,4/0 1", None, &mut |report| reports.push(report)).unwrap();
        let last: Value = serde_json::from_str(reports.last().unwrap()).unwrap();
        assert_eq!((last["depth"].as_u64(), last["line"][0].as_str()), (Some(5), Some(&action[..])));
        assert!(!search.is_tree() && search.begin("4,4,4,4,4,4/0 4,4,4,4,4,4/0 1", 10).is_err());
    }

    /// The checkpoint of a game's trained agent.
    fn trained(game: &str) -> Vec<u8> {
        std::fs::read(format!("{}/../../games/src/{game}/agent.safetensors", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    #[test]
    fn agents_with_a_temperature_draw_their_moves_and_predict_nothing() {
        let start = "4,4,4,4,4,4/0 4,4,4,4,4,4/0 1";
        for spec in ["az:pretrained,sims=0,temperature=5", "az:pretrained,sims=8,temperature=5"] {
            let table = Table::new("mancala", "{}").unwrap();
            let mut searcher = Searcher::new(table, spec, Some(&trained("mancala")), 1).unwrap();
            assert!(!searcher.is_tree() && searcher.begin(start, 10).is_err());
            let fault = searcher.predict(start).unwrap_err().0;
            assert_eq!(fault, format!("{spec} searches no tree that can be looked into"));
            let moves: std::collections::BTreeSet<String> =
                (0..60).map(|_| searcher.choose(start, None, &mut |_| {}).unwrap()).collect();
            assert!(moves.len() > 1, "{spec}: {moves:?}");
        }
    }

    #[test]
    fn faults_come_as_one_line() {
        let table = || Table::new("mancala", "{}").unwrap();
        let fault = |spec: &str, bytes: Option<&[u8]>| Searcher::new(table(), spec, bytes, 0).err().unwrap().0;
        assert!(fault("az:pretrained", None).contains("needs the file"));
        assert!(fault("az:pretrained", Some(b"no checkpoint")).contains("pretrained"));
        assert!(fault("alphabetta", None).contains("alphabeta"));
        let mut random = searcher("mancala", "random");
        let over = random.choose("0,0,0,0,0,0/24 0,0,0,0,0,0/24 1", None, &mut |_| {});
        assert!(over.unwrap_err().0.contains("over"));
    }
}
