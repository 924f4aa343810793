//! Tree search that keeps its tree from move to move, the common part of two players.

use std::time::Duration;

use turnstone_env::{Action, Game, Side};
use turnstone_search::classic::{Limits, Stop};
use turnstone_search::{Clock, EvalBatch, Evaluation, Evaluator, Mcts, SearchStep};

use crate::request::{Score, SearchInfo, SearchRequest};
use crate::search_settings::SearchSettings;
use crate::streams::Stream;
use crate::tree_spec::{Budget, DrawValue};

/// Simulations of the first round where their number is not known beforehand; every later round has twice as many.
const FIRST_ROUND: u32 = 32;

/// No round has more simulations: Gumbel search plans each of a round's beforehand.
const LARGEST_ROUND: u32 = 1 << 20;

/// A tree of so many bytes ends the search.
const LARGEST_TREE: u64 = 256 << 20;

/// So many simulations make no tree that takes long to copy.
const SMALL: u64 = 20_000;

/// Time between two reports.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// A search with what it may spend.
pub(crate) struct TreePlayer<G: Game> {
    pub(crate) search: Mcts<G>,
    pub(crate) budget: Budget,
    settings: SearchSettings,
    draw: DrawValue,
    pub(crate) comment: String,
    /// What has been played since the last search.
    played: Vec<Action>,
    /// What is left of the time for the game, if there is a clock.
    remaining: Option<Duration>,
}

impl<G: Game> TreePlayer<G> {
    pub(crate) fn new(game: &G, budget: Budget, settings: SearchSettings, draw: DrawValue) -> Self {
        let (search, comment, played) = (Mcts::new(game, game.start()), String::new(), Vec::new());
        Self { search, budget, settings, draw, comment, played, remaining: None }
    }

    pub(crate) fn new_game(&mut self, game: &G, state: &G::State) {
        self.search.reset(game, *state);
        self.played.clear();
        self.remaining = None;
    }

    pub(crate) fn played(&mut self, action: Action) {
        self.played.push(action);
    }

    pub(crate) fn clock(&mut self, remaining: Duration) {
        self.remaining = Some(remaining);
    }

    pub(crate) fn search(
        &mut self,
        game: &G,
        state: &G::State,
        evaluator: &mut impl Evaluator<G>,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> Action {
        let limits = request.limits.unwrap_or_else(|| self.own_limits());
        let watch = Watch::new(&limits, request.control.clock);
        self.follow(game, state, &watch, &request.control.stop);
        self.search.set_contempt(game, game.mover(state), self.draw.value());
        match self.budget {
            Budget::Simulations(simulations) if !request.is_watched() => {
                self.search.begin(&self.settings.strongest(simulations), simulations, rng);
                self.search.run(game, evaluator);
            }
            _ => self.search_watched(game, evaluator, &limits, watch, request, rng),
        }
        self.comment = in_words(self.search.estimate(), game.mover(state));
        self.search.choose(0.0, rng)
    }

    /// Moves the root to a position, along what has been played. A tree that takes too long to keep is given up.
    fn follow(&mut self, game: &G, state: &G::State, watch: &Watch, stop: &Stop) {
        let played = std::mem::take(&mut self.played);
        if !played.is_empty() {
            self.search.advance_along(game, &played, &mut || !stop.is_raised() && watch.is_early());
        }
        if self.search.state() != state {
            self.search.reset(game, *state);
        }
    }

    /// Searches until the budget is used up. Where it is a time, the number of simulations is not known, which Gumbel
    /// search wants to know: it searches in rounds, each twice as long as the one before, in the same tree.
    fn search_watched(
        &mut self,
        game: &G,
        evaluator: &mut impl Evaluator<G>,
        limits: &Limits,
        mut watch: Watch,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) {
        if limits.nodes.is_none_or(|nodes| nodes > SMALL) {
            self.search.reserve(LARGEST_TREE);
        }
        let mut round = match limits.nodes {
            Some(nodes) => nodes.min(u64::from(LARGEST_ROUND)) as u32,
            None => FIRST_ROUND,
        };
        loop {
            self.search.begin(&self.settings.strongest(round), round, rng);
            if self.round(game, evaluator, &mut watch, request, rng) || self.is_enough(limits, watch.done) {
                break;
            }
            round = round.saturating_mul(2).min(LARGEST_ROUND);
        }
        request.tell(|| self.info(watch.done, rng));
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
        game: &G,
        evaluator: &mut impl Evaluator<G>,
        watch: &mut Watch,
        request: &mut SearchRequest<'_>,
        rng: &mut Stream,
    ) -> bool {
        let mut batch = EvalBatch::default();
        loop {
            let is_new = self.search.actions().next().is_none(); // then the root is expanded first
            match self.search.step(game) {
                SearchStep::Done => return self.search.proven().is_some(),
                SearchStep::Finished => {}
                SearchStep::Leaf => {
                    let (state, legal) = self.search.leaf();
                    batch.clear();
                    batch.push(*state, legal);
                    evaluator.evaluate(game, &mut batch);
                    let (priors, estimate) = batch.answer(0);
                    self.search.apply(priors, estimate);
                }
            }
            watch.done += u64::from(!is_new);
            if request.control.stop.is_raised() || self.search.size().bytes > LARGEST_TREE || watch.is_over() {
                return true;
            }
            if watch.report_is_due() {
                request.tell(|| self.info(watch.done, rng));
            }
        }
    }

    /// Whether another round would be too much: a single action needs no choice, and a depth may be reached.
    fn is_enough(&self, limits: &Limits, done: u64) -> bool {
        let forced = limits.time.is_some() && self.search.actions().count() == 1;
        let deep = limits.depth.is_some_and(|depth| {
            let own = matches!(self.budget, Budget::Simulations(simulations) if done >= u64::from(simulations));
            own || self.search.principal_variation().len() >= depth as usize
        });
        forced || deep
    }

    fn info(&self, nodes: u64, rng: &mut Stream) -> SearchInfo {
        let line = self.search.line(self.search.choose(0.0, rng));
        let mover = self.search.mover();
        let score = Some(Score::of_estimate(self.search.estimate(), mover));
        SearchInfo { depth: line.len() as u32, nodes, score, line }
    }
}

/// The clock of one search.
struct Watch {
    clock: Clock,
    /// The clock's time when the search began.
    start: Duration,
    /// Time to take.
    time: Option<Duration>,
    /// Simulations to run.
    simulations: Option<u64>,
    next_report: Duration,
    /// Simulations so far.
    done: u64,
    elapsed: Duration,
}

impl Watch {
    /// A tree search has no depths that it may finish, so it ends when no more may be begun.
    fn new(limits: &Limits, clock: Clock) -> Self {
        let (start, time, simulations) = (clock.now(), limits.begin.or(limits.time), limits.nodes);
        Self { clock, start, time, simulations, next_report: REPORT_EVERY, done: 0, elapsed: Duration::ZERO }
    }

    /// Whether most of the time is left.
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
