//! Tree search that keeps its tree from move to move, the common part of two players.

use std::time::{Duration, Instant};

use turnstone_env::{Action, Game, Side};
use turnstone_search::classic::Limits;
use turnstone_search::{Batch, Estimate, Evaluator, Mcts, Step};

use super::thinking::{Thinking, Thought, Verdict};
use crate::config::SearchKind;
use crate::streams::Stream;

/// Simulations of the first round where their number is not known beforehand; every later round has twice as many.
const FIRST_ROUND: u32 = 32;

/// No round has more simulations: Gumbel search plans each of a round's beforehand.
const LARGEST_ROUND: u32 = 1 << 20;

/// A tree of so many bytes ends the search.
const LARGEST_TREE: u64 = 256 << 20;

/// Time between two reports.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// A search with its budget.
pub(super) struct TreePlayer<G: Game> {
    pub(super) search: Mcts<G>,
    pub(super) simulations: u32,
    pub(super) comment: String,
    kind: SearchKind,
}

impl<G: Game> TreePlayer<G> {
    pub(super) fn new(game: &G, simulations: u32, kind: SearchKind) -> Self {
        Self { search: Mcts::new(game, game.start()), simulations, comment: String::new(), kind }
    }

    pub(super) fn think(
        &mut self,
        game: &G,
        state: &G::State,
        evaluator: &mut impl Evaluator<G>,
        thinking: &mut Thinking<'_>,
        rng: &mut Stream,
    ) -> Action {
        if self.search.state() != state {
            self.search.reset(game, *state);
        }
        if thinking.is_watched() {
            self.search_watched(game, evaluator, thinking, rng);
        } else {
            self.search.begin(&self.kind.strongest(self.simulations), self.simulations, rng);
            self.search.run(game, evaluator);
        }
        self.comment = in_words(self.search.estimate(), game.mover(state));
        self.search.choose(0.0, rng)
    }

    /// Searches until the budget is used up. Where it is a time, the number of simulations is not known, which Gumbel
    /// search wants to know: it searches in rounds, each twice as long as the one before, in the same tree.
    fn search_watched(
        &mut self,
        game: &G,
        evaluator: &mut impl Evaluator<G>,
        thinking: &mut Thinking<'_>,
        rng: &mut Stream,
    ) {
        let limits = thinking.limits.unwrap_or(Limits::nodes(u64::from(self.simulations)));
        let mut watch = Watch::new(&limits);
        let mut round = match limits.nodes {
            Some(nodes) => nodes.min(u64::from(LARGEST_ROUND)) as u32,
            None => FIRST_ROUND,
        };
        loop {
            self.search.begin(&self.kind.strongest(round), round, rng);
            if self.round(game, evaluator, &mut watch, thinking, rng) || self.is_enough(&limits, watch.done) {
                break;
            }
            round = round.saturating_mul(2).min(LARGEST_ROUND);
        }
        thinking.tell(|| self.thought(watch.done, rng));
    }

    /// Runs one round; returns whether the search is over.
    fn round(
        &mut self,
        game: &G,
        evaluator: &mut impl Evaluator<G>,
        watch: &mut Watch,
        thinking: &mut Thinking<'_>,
        rng: &mut Stream,
    ) -> bool {
        let mut batch = Batch::default();
        loop {
            let is_new = self.search.actions().next().is_none(); // then the root is expanded first
            match self.search.step(game) {
                Step::Done => return self.search.proven().is_some(),
                Step::Finished => {}
                Step::Leaf => {
                    let (state, legal) = self.search.leaf();
                    batch.clear();
                    batch.push(*state, legal);
                    evaluator.evaluate(game, &mut batch);
                    let (priors, estimate) = batch.answer(0);
                    self.search.apply(priors, estimate);
                }
            }
            watch.done += u64::from(!is_new);
            if thinking.stop.is_raised() || self.search.size().bytes > LARGEST_TREE || watch.is_over() {
                return true;
            }
            if watch.report_is_due() {
                thinking.tell(|| self.thought(watch.done, rng));
            }
        }
    }

    /// Whether another round would be too much: a single action needs no choice, and a depth may be reached.
    fn is_enough(&self, limits: &Limits, done: u64) -> bool {
        let forced = limits.time.is_some() && self.search.actions().count() == 1;
        let deep = limits.depth.is_some_and(|depth| {
            done >= u64::from(self.simulations) || self.search.principal_variation().len() >= depth as usize
        });
        forced || deep
    }

    fn thought(&self, nodes: u64, rng: &mut Stream) -> Thought {
        let line = self.search.line(self.search.choose(0.0, rng));
        let mover = self.search.mover();
        let verdict = Some(Verdict::of_estimate(self.search.estimate(), mover));
        Thought { depth: line.len() as u32, nodes, verdict, line }
    }
}

/// The clock of one search.
struct Watch {
    start: Instant,
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
    fn new(limits: &Limits) -> Self {
        let (start, time, simulations) = (Instant::now(), limits.begin.or(limits.time), limits.nodes);
        Self { start, time, simulations, next_report: REPORT_EVERY, done: 0, elapsed: Duration::ZERO }
    }

    fn is_over(&mut self) -> bool {
        self.elapsed = self.start.elapsed();
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

pub(super) fn in_words(estimate: Estimate, mover: Side) -> String {
    let [win, draw, loss] = estimate.win_draw_loss(mover).map(|p| 100.0 * p);
    format!("win {win:.0} % draw {draw:.0} % loss {loss:.0} %")
}
