//! Plain minimax to a fixed depth.

use turnstone_env::{ActionList, Rules};

use super::found::{Lines, SearchResult, SearchStats, prefers};
use super::heuristic::Heuristic;
use super::limits::{Control, Limits, Watch};

/// Minimax without pruning: the reference for the other searches, and the player of the games' sources.
#[derive(Debug)]
pub struct Minimax<G: Rules, H> {
    game: G,
    heuristic: H,
    lists: Vec<ActionList>,
    lines: Lines,
    watch: Watch,
    stats: SearchStats,
    /// Positions at the maximum depth whose game is not over.
    estimated: u64,
}

impl<G: Rules, H: Heuristic<G>> Minimax<G, H> {
    /// A search of this game with this evaluation.
    pub fn new(game: &G, heuristic: H) -> Self {
        let (lists, lines) = (Vec::new(), Lines::default());
        let watch = Watch::start(&Limits::default(), &Control::default());
        Self { game: game.clone(), heuristic, lists, lines, watch, stats: SearchStats::default(), estimated: 0 }
    }

    /// The evaluation.
    pub fn heuristic(&self) -> &H {
        &self.heuristic
    }

    /// The best action and its score after looking `depth` plies ahead.
    pub fn search(&mut self, state: &G::State, depth: u32) -> SearchResult {
        self.search_within(state, depth, &Limits::default(), &Control::default())
    }

    /// Like [`Minimax::search`], within limits. The result has no action if a limit or the flag ends the search first.
    pub fn search_within(&mut self, state: &G::State, depth: u32, limits: &Limits, control: &Control) -> SearchResult {
        self.watch = Watch::start(limits, control);
        self.lists.resize(self.lists.len().max(depth as usize), ActionList::new());
        self.lines.reset(depth);
        (self.stats, self.estimated) = (SearchStats::default(), 0);
        let score = self.value(state, depth, 0);
        if self.watch.stopped() {
            return SearchResult { stats: self.stats, ..SearchResult::default() };
        }
        let line = self.lines.from(0).to_vec();
        let (complete, work) = (self.estimated == 0, self.stats);
        SearchResult { action: line.first().copied(), score, depth, complete, line, stats: work }
    }

    fn value(&mut self, state: &G::State, depth: u32, ply: usize) -> i32 {
        self.lines.end(ply);
        if let Some(outcome) = self.game.outcome(state) {
            self.stats.evaluated += 1;
            return self.heuristic.final_score(&self.game, state, &outcome);
        }
        if depth == 0 {
            self.stats.evaluated += 1;
            self.estimated += 1;
            return self.heuristic.estimate(&self.game, state);
        }
        let mover = self.game.mover(state);
        let mut legal = std::mem::take(&mut self.lists[ply]);
        self.game.legal(state, &mut legal);
        self.stats.expand(legal.len());
        let mut best = None;
        for &action in &legal {
            if self.watch.is_over(self.stats.nodes) {
                break;
            }
            let mut next = *state;
            self.game.play(&mut next, action);
            self.stats.nodes += 1;
            let score = self.value(&next, depth - 1, ply + 1);
            if best.is_none_or(|best| prefers(mover, score, best)) {
                best = Some(score);
                self.lines.lead(ply, action);
            }
        }
        self.lists[ply] = legal;
        best.unwrap_or(0) // stopped before the first: the caller discards it
    }
}
