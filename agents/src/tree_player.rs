//! Tree search that keeps its tree between moves, shared by the players with playouts and with a network.

use std::time::Duration;

use rand::RngExt;
use turnstone_base::streams::Stream;
use turnstone_env::{Action, Game, Side};
use turnstone_exact::ExactValues;
use turnstone_models::DeviceError;
use turnstone_search::classic::{Limits, Stop};
use turnstone_search::{Clock, EvalBatch, Evaluation, Mcts, SearchStep};

use crate::evaluator::TryEvaluator;
use crate::request::{Score, SearchInfo, SearchRequest};
use crate::search_settings::SearchSettings;
use crate::together::run_together;
use crate::tree_spec::Budget;

/// Simulations of the first round where their total is not known in advance; each later round doubles the number.
const FIRST_ROUND: u32 = 32;

/// Maximum number of simulations per round, as Gumbel search plans a round in advance.
const LARGEST_ROUND: u32 = 1 << 20;

/// Number of simulations up to which no memory is reserved in advance, as a small tree is cheap to move when it grows.
const SMALL: u64 = 20_000;

/// Minimum time between two progress reports.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// The tree of a game, which is kept from one search to the next.
pub(crate) struct KeptTree<G: Game> {
    pub(crate) search: Mcts<G>,
    /// Actions played since the last search.
    played: Vec<Action>,
}

impl<G: Game> KeptTree<G> {
    pub(crate) fn new(game: &G) -> Self {
        Self { search: Mcts::new(game, game.start()), played: Vec::new() }
    }

    pub(crate) fn new_game(&mut self, game: &G, state: &G::State) {
        self.search.reset(game, *state);
        self.played.clear();
    }

    pub(crate) fn played(&mut self, action: Action) {
        self.played.push(action);
    }

    /// Moves the root along the played actions to a position. It keeps the tree below it unless `go_on` returns false.
    pub(crate) fn root(&mut self, game: &G, state: &G::State, go_on: &mut dyn FnMut() -> bool) {
        let played = std::mem::take(&mut self.played);
        if !played.is_empty() {
            self.search.advance_along(game, &played, go_on);
        }
        if self.search.state() != state {
            self.search.reset(game, *state);
        }
    }
}

/// Tree search of a game with its budget.
pub(crate) struct TreePlayer<G: Game, E> {
    pub(crate) game: G,
    /// One per thread.
    pub(crate) evaluators: Vec<E>,
    pub(crate) tree: KeptTree<G>,
    pub(crate) budget: Budget,
    settings: SearchSettings,
    /// Temperature of the choice of moves.
    pub(crate) temperature: f32,
    pub(crate) comment: String,
    /// Remaining time for the game, if it has clocks.
    remaining: Option<Duration>,
    tables: Option<Tables<G>>,
}

/// Exact values inside a search.
struct Tables<G: Game> {
    truth: Box<dyn ExactValues<G>>,
    /// Whether the current search asks for them.
    asked: bool,
}

impl<G: Game> Tables<G> {
    fn value(&self, game: &G, state: &G::State) -> Option<i8> {
        self.truth.value(game, &self.state(game, state))
    }

    /// The state that the values are asked for.
    fn state(&self, game: &G, state: &G::State) -> G::State {
        if self.truth.heeds_limits() { *state } else { game.without_counters(state) }
    }
}

impl<G: Game, E: TryEvaluator<G> + Send> TreePlayer<G, E> {
    pub(crate) fn new(game: &G, evaluator: E, budget: Budget, settings: SearchSettings) -> Self {
        let (tree, comment) = (KeptTree::new(game), String::new());
        let (game, evaluators) = (game.clone(), vec![evaluator]);
        Self { game, evaluators, tree, budget, settings, temperature: 0.0, comment, remaining: None, tables: None }
    }

    /// The same with this temperature of the choice of moves.
    pub(crate) fn with_temperature(self, temperature: f32) -> Self {
        Self { temperature, ..self }
    }

    /// The same with exact values: positions below the root that they cover are proven.
    pub(crate) fn with_tables(self, truth: Option<Box<dyn ExactValues<G>>>) -> Self {
        Self { tables: truth.map(|truth| Tables { truth, asked: false }), ..self }
    }

    /// An optimal action by the exact values, where they cover the position and it is not lost. In lost positions the
    /// search that follows does without them, so as to set the opponent problems.
    pub(crate) fn table_move(&mut self, state: &G::State, rng: &mut Stream) -> Option<Action> {
        let (game, tables) = (&self.game, self.tables.as_mut()?);
        let value = tables.value(game, state);
        tables.asked = value.is_none();
        if f32::from(value?) == -game.mover(state).sign() {
            // The tree may contain proofs.
            self.tree.new_game(game, state);
            return None;
        }
        let optimal = tables.truth.optimal_actions(game, &tables.state(game, state)).filter(|all| !all.is_empty())?;
        self.comment = "by the tables".to_owned();
        Some(optimal[rng.random_range(0..optimal.len())])
    }

    pub(crate) fn new_game(&mut self, state: &G::State) {
        self.tree.new_game(&self.game, state);
        self.remaining = None;
    }

    /// Sets the number of threads, as far as the evaluator allows.
    pub(crate) fn set_threads(&mut self, threads: usize) {
        self.evaluators.truncate(threads.max(1));
        while let (number, true) = (self.evaluators.len(), self.evaluators.len() < threads)
            && let Some(evaluator) = self.evaluators[0].for_thread(number)
        {
            self.evaluators.push(evaluator);
        }
    }

    pub(crate) fn clock(&mut self, remaining: Duration) {
        self.remaining = Some(remaining);
    }

    /// Searches a position and returns the chosen action.
    ///
    /// # Errors
    /// The GPU failed. The next search begins with an empty tree.
    pub(crate) fn search(
        &mut self,
        state: &G::State,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<Action, DeviceError> {
        let limits = request.limits.unwrap_or_else(|| self.own_limits());
        let (watch, stop) = (Watch::new(&limits, request.control.clock), &request.control.stop);
        self.tree.root(&self.game, state, &mut || !stop.is_raised() && watch.is_early());
        let searched = match self.budget {
            Budget::Simulations(simulations) if !request.is_watched() && self.evaluators.len() == 1 => {
                self.search_alone(simulations, stop, rng)
            }
            _ => self.search_watched(&limits, watch, request, rng),
        };
        if searched.is_err() {
            // A search cannot be used again while it waits for an evaluation.
            self.tree.search = Mcts::new(&self.game, *state);
        }
        searched.map(|()| self.end(rng))
    }

    /// Runs this number of simulations, or fewer if it is stopped.
    fn search_alone(&mut self, simulations: u32, stop: &Stop, rng: &mut Stream) -> Result<(), DeviceError> {
        let options = self.settings.at_temperature(simulations, self.temperature);
        self.tree.search.begin(&self.game, &options, simulations, rng);
        let mut batch = EvalBatch::default();
        while self.tree.search.gather(&self.game).is_some() {
            self.answer(&mut batch)?;
            // Not before the first answer, which the root may wait for.
            if stop.is_raised() {
                break;
            }
        }
        Ok(())
    }

    /// Ends a search and returns the chosen action.
    pub(crate) fn end(&mut self, rng: &mut Stream) -> Action {
        self.comment = in_words(self.tree.search.estimate(), self.tree.search.mover());
        self.tree.search.choose(self.temperature, rng)
    }

    /// Searches until a limit is reached. Gumbel search needs the number of simulations in advance, which a time limit
    /// does not give: the search then runs in rounds in the same tree, each with twice the simulations of the one
    /// before.
    fn search_watched(
        &mut self,
        limits: &Limits,
        mut watch: Watch,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<(), DeviceError> {
        if limits.nodes.is_none_or(|nodes| nodes > SMALL) {
            self.tree.search.reserve();
        }
        let mut round = match limits.nodes {
            Some(nodes) => nodes.min(u64::from(LARGEST_ROUND)) as u32,
            None => FIRST_ROUND,
        };
        loop {
            let options = self.settings.at_temperature(round, self.temperature);
            self.tree.search.begin(&self.game, &options, round, rng);
            if self.round(&mut watch, request, rng)? || self.is_enough(limits, watch.done) {
                break;
            }
            round = round.saturating_mul(2).min(LARGEST_ROUND);
            if let Some(nodes) = limits.nodes
                && self.evaluators.len() > 1
            {
                // Several threads cannot be ended between two simulations.
                round = u64::from(round).min(nodes - watch.done) as u32;
            }
        }
        request.notify(|| info(&self.tree.search, watch.done, rng));
        Ok(())
    }

    fn own_limits(&self) -> Limits {
        match self.budget {
            Budget::Simulations(simulations) => Limits::nodes(u64::from(simulations)),
            Budget::Time(time) => Limits::time(self.remaining.map_or(time, |remaining| time.min(remaining / 20))),
        }
    }

    /// Runs one round; returns whether the search is over.
    fn round(
        &mut self,
        watch: &mut Watch,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<bool, DeviceError> {
        let mut batch = EvalBatch::default();
        loop {
            let is_new = self.tree.search.actions().next().is_none(); // the first step then expands the root
            if !is_new && self.evaluators.len() > 1 {
                return self.round_together(watch, request, rng);
            }
            match self.tree.search.step(&self.game) {
                SearchStep::Done => return Ok(self.tree.search.proven().is_some()),
                SearchStep::Finished => {}
                SearchStep::Leaf => self.answer(&mut batch)?,
            }
            watch.done += u64::from(!is_new);
            if !check(&self.tree.search, watch, request, rng) {
                return Ok(true);
            }
        }
    }

    /// [`TreePlayer::round`] by all threads, once the root is evaluated.
    fn round_together(
        &mut self,
        watch: &mut Watch,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Result<bool, DeviceError> {
        let (game, tables) = (&self.game, self.tables.as_ref().filter(|tables| tables.asked));
        let known = |state: &G::State| tables.and_then(|tables| tables.value(game, state));
        let before = watch.done;
        let stop = request.control.stop.clone();
        let mut go_on = |search: &Mcts<G>| {
            watch.done = before + u64::from(search.simulations_done());
            check(search, watch, request, rng)
        };
        let ended = run_together(game, &mut self.tree.search, &mut self.evaluators, &known, &stop, &mut go_on)?;
        watch.done = before + u64::from(self.tree.search.simulations_done());
        Ok(ended || stop.is_raised() || self.tree.search.proven().is_some() || watch.is_over())
    }

    /// Answers the position that the search has come to: by exact values or by the evaluator.
    fn answer(&mut self, batch: &mut EvalBatch<G::State>) -> Result<(), DeviceError> {
        let (state, legal) = self.tree.search.leaf();
        let tables = self.tables.as_ref().filter(|tables| tables.asked && state != self.tree.search.state());
        if let Some(value) = tables.and_then(|tables| tables.value(&self.game, state)) {
            self.tree.search.settle(value);
            return Ok(());
        }
        batch.clear();
        batch.push(*state, legal);
        self.evaluators[0].try_evaluate(&self.game, batch)?;
        let (priors, estimate) = batch.answer(0);
        self.tree.search.apply(priors, estimate);
        Ok(())
    }

    /// Whether no further round is needed: there is a single action under a time limit, or the depth limit is reached.
    fn is_enough(&self, limits: &Limits, done: u64) -> bool {
        let forced = limits.time.is_some() && self.tree.search.actions().count() == 1;
        let deep = limits.depth.is_some_and(|depth| {
            let own = matches!(self.budget, Budget::Simulations(simulations) if done >= u64::from(simulations));
            own || self.tree.search.principal_variation().len() >= depth as usize
        });
        forced || deep
    }
}

/// Whether a search continues after a simulation. It reports the progress where that is due.
fn check<G: Game>(search: &Mcts<G>, watch: &mut Watch, request: &mut SearchRequest<'_>, rng: &mut Stream) -> bool {
    if request.control.stop.is_raised() || watch.is_over() {
        return false;
    }
    if watch.report_is_due() {
        request.notify(|| info(search, watch.done, rng));
    }
    true
}

fn info<G: Game>(search: &Mcts<G>, nodes: u64, rng: &mut Stream) -> SearchInfo {
    let line = search.line(search.choose(0.0, rng));
    let score = Some(Score::of_estimate(search.estimate(), search.mover()));
    SearchInfo { depth: line.len() as u32, nodes, score, line }
}

/// Clock and limits of one search.
struct Watch {
    clock: Clock,
    /// Time of the clock at the start of the search.
    start: Duration,
    /// Time limit.
    time: Option<Duration>,
    /// Maximum number of simulations.
    simulations: Option<u64>,
    next_report: Duration,
    /// Number of simulations so far.
    done: u64,
    elapsed: Duration,
}

impl Watch {
    /// Uses `limits.begin` as the time limit if it is set, as a tree search has no depth that it could complete after
    /// it.
    fn new(limits: &Limits, clock: Clock) -> Self {
        let (start, time, simulations) = (clock.now(), limits.begin.or(limits.time), limits.nodes);
        Self { clock, start, time, simulations, next_report: REPORT_EVERY, done: 0, elapsed: Duration::ZERO }
    }

    /// Whether less than a quarter of the time has passed.
    fn is_early(&self) -> bool {
        self.time.is_none_or(|time| self.clock.now().saturating_sub(self.start) < time / 4)
    }

    fn is_over(&mut self) -> bool {
        self.elapsed = self.clock.now().saturating_sub(self.start);
        self.time.is_some_and(|time| self.elapsed >= time) || self.simulations.is_some_and(|most| self.done >= most)
    }

    fn report_is_due(&mut self) -> bool {
        let due = self.elapsed >= self.next_report;
        if due {
            self.next_report = self.elapsed + REPORT_EVERY;
        }
        due
    }
}

pub(crate) fn in_words(estimate: Evaluation, mover: Side) -> String {
    let [win, draw, loss] = estimate.win_draw_loss(mover).map(|p| 100.0 * p);
    format!("win {win:.0} % draw {draw:.0} % loss {loss:.0} %")
}

#[cfg(test)]
mod tests;
