//! Alpha-beta with move ordering and an optional table of positions, to a fixed depth or by iterative deepening.
//!
//! Whatever the order, the table or the limits, a search to depth d returns the score and the action that minimax to
//! depth d returns. Three rules see to that: ties at the root go to the first action; a stored score is used only at the
//! depth it was searched to, or beyond if no estimate had a part in it; and a state holds all that decides the future,
//! so its score does not depend on the path.

mod ordering;
mod buckets;
mod table;
mod window;

use turnstone_env::{Action, ActionList, Rules, Side};

use self::buckets::{Bound, Stored};
use self::ordering::{Ordering, Queue};
use self::table::TranspositionTable;
use self::window::Window;
use super::found::{Lines, SearchResult, SearchStats, prefers};
use super::heuristic::{Heuristic, WIN_BAND};
use super::limits::{Control, Limits, Watch};

/// The deepest search, in plies.
pub const MAX_DEPTH: u32 = 128;

/// Alpha-beta (Knuth and Moore, 1975; fail-soft) as principal variation search, with killers, a history of cutoffs and, if
/// wanted, a table of positions.
///
/// ```
/// use turnstone_env::{Rules, games::Mancala};
/// use turnstone_games::mancala::StoreDifference;
/// use turnstone_search::classic::{AlphaBeta, Limits};
///
/// let game = Mancala::default();
/// let mut search = AlphaBeta::new(&game, StoreDifference).with_table(1 << 20);
/// let found = search.deepen(&game.start(), &Limits::nodes(100_000));
/// assert!(found.depth >= 8 && found.stats.nodes <= 100_000);
/// ```
#[derive(Debug)]
pub struct AlphaBeta<G: Rules, H> {
    game: G,
    heuristic: H,
    table: Option<TranspositionTable<G::State>>,
    ordering: Ordering,
    /// Buffers by ply from the root.
    lists: Vec<ActionList>,
    queues: Vec<Queue>,
    lines: Lines,
    /// Scores beyond it are wins and losses, counted in plies from the root.
    band: i32,
    watch: Watch,
    stats: SearchStats,
    /// Estimates, and stored scores with estimates in them, that had a part in the search so far.
    estimates: u64,
}

/// The best of the root's actions so far.
#[derive(Clone, Copy)]
struct Best {
    action: Action,
    score: i32,
}

impl<G: Rules, H: Heuristic<G>> AlphaBeta<G, H> {
    /// A search of this game with this evaluation, without a table.
    pub fn new(game: &G, heuristic: H) -> Self {
        Self {
            game: game.clone(),
            heuristic,
            table: None,
            ordering: Ordering::new(game.spec().actions),
            lists: Vec::new(),
            queues: Vec::new(),
            lines: Lines::default(),
            band: i32::MAX,
            watch: Watch::start(&Limits::default(), &Control::default()),
            stats: SearchStats::default(),
            estimates: 0,
        }
    }

    /// Adds a transposition table of at most `bytes` bytes, but at least two entries.
    #[must_use]
    pub fn with_table(mut self, bytes: usize) -> Self {
        self.table = Some(TranspositionTable::new(bytes, self.game.start()));
        self
    }

    /// Gives this search the table of another, so that several threads look for the same result: all search a position at the
    /// same time, and each finds what the others have stored (lazy SMP). The result is that of one search alone.
    ///
    /// The other search must begin first, and clears the table for all.
    #[must_use]
    pub fn with_table_of(mut self, other: &mut Self) -> Self {
        self.table = other.table.as_mut().map(TranspositionTable::share);
        self
    }

    /// Whether it has a table.
    pub fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// The evaluation.
    pub fn heuristic(&self) -> &H {
        &self.heuristic
    }

    /// Clears the table and the move ordering, as for a new game.
    pub fn forget(&mut self) {
        self.ordering.clear();
        if let Some(table) = &mut self.table {
            table.clear();
        }
    }

    /// Searches to a fixed depth with the heuristic's scores unchanged: returns the action and score of
    /// [`Minimax`](super::Minimax), as the searches of the games' sources do. The distance to a win does not count.
    pub fn search(&mut self, state: &G::State, depth: u32) -> SearchResult {
        self.search_within(state, depth, &Limits::default(), &Control::default())
    }

    /// Like [`AlphaBeta::search`], within limits. The result has no action if a limit or the flag ends the search first.
    pub fn search_within(&mut self, state: &G::State, depth: u32, limits: &Limits, control: &Control) -> SearchResult {
        self.begin(i32::MAX, limits, control);
        let Some(mut actions) = self.root_actions(state, depth) else { return self.without_action(state, depth) };
        // With a table, shallow searches cost little and teach it the actions to try first.
        let shallow = if self.table.is_some() { depth - 1 } else { 0 };
        for depth in 1..=shallow {
            self.search_root(state, depth, &mut actions);
        }
        let before = self.estimates;
        match self.search_root(state, depth, &mut actions) {
            Some(best) if !self.watch.stopped() => self.found(best, depth, before),
            _ => SearchResult { stats: self.stats, ..SearchResult::default() },
        }
    }

    /// Searches by iterative deepening until a limit is reached or a deeper search cannot change the result: the score
    /// is a proven win or loss, or contains no estimate. The score of a win is one less for each ply to it, so that the
    /// soonest win and the latest loss are chosen.
    pub fn deepen(&mut self, state: &G::State, limits: &Limits) -> SearchResult {
        self.deepen_until(state, limits, &Control::default(), &mut |_| {})
    }

    /// Like [`AlphaBeta::deepen`], with a flag and a clock. `report` is called with the result of every completed depth.
    pub fn deepen_until(
        &mut self,
        state: &G::State,
        limits: &Limits,
        control: &Control,
        report: &mut dyn FnMut(&SearchResult),
    ) -> SearchResult {
        self.begin(self.heuristic.won() - WIN_BAND, limits, control);
        let Some(mut actions) = self.root_actions(state, 1) else { return self.without_action(state, 0) };
        let score = self.heuristic.estimate(&self.game, state);
        let mut found =
            SearchResult { action: Some(actions[0]), score, line: vec![actions[0]], ..SearchResult::default() };
        let forced = actions.len() == 1 && self.watch.is_timed();
        for depth in 1..=MAX_DEPTH {
            if !self.watch.may_begin(depth, self.stats.nodes) {
                break;
            }
            let before = self.estimates;
            if let Some(best) = self.search_root(state, depth, &mut actions) {
                let searched = if self.watch.stopped() { depth - 1 } else { depth };
                found = self.found(best, searched, before);
                if searched == depth {
                    report(&found);
                }
            }
            if self.watch.stopped() || found.complete || found.score.abs() > self.band || forced {
                break;
            }
        }
        found.complete &= !self.watch.stopped();
        found.stats = self.stats;
        found
    }

    fn begin(&mut self, band: i32, limits: &Limits, control: &Control) {
        if band != self.band {
            self.forget(); // stored wins were counted otherwise
        }
        self.band = band;
        self.watch = Watch::start(limits, control);
        (self.stats, self.estimates) = (SearchStats::default(), 0);
        self.ordering.begin();
        if let Some(table) = &mut self.table {
            table.begin();
        }
    }

    /// The root's actions in the order in which they are tried; `None` if there is nothing to search.
    fn root_actions(&mut self, state: &G::State, depth: u32) -> Option<Vec<Action>> {
        let mut legal = ActionList::new();
        self.game.legal(state, &mut legal);
        (depth > 0 && !legal.is_empty()).then(|| legal.to_vec())
    }

    /// The result where there is no action to choose: the position's static score.
    fn without_action(&mut self, state: &G::State, depth: u32) -> SearchResult {
        self.lines.reset(0);
        let score = self.leaf(state, 0);
        let (complete, work) = (self.estimates == 0, self.stats);
        SearchResult { action: None, score, depth, complete, line: Vec::new(), stats: work }
    }

    fn found(&self, best: Best, depth: u32, estimates_before: u64) -> SearchResult {
        let complete = self.estimates == estimates_before;
        let line = self.lines.from(0).to_vec();
        SearchResult { action: Some(best.action), score: best.score, depth, complete, line, stats: self.stats }
    }

    /// Searches all actions of the root and moves the best to the front; `None` if it was stopped before the first was
    /// done. A search stopped later keeps the best of those that were done: the first of them is what a shallower search
    /// found best.
    fn search_root(&mut self, state: &G::State, depth: u32, actions: &mut [Action]) -> Option<Best> {
        self.reserve(depth);
        self.stats.expand(actions.len());
        let mover = self.game.mover(state);
        let mut best: Option<Best> = None;
        for i in 0..actions.len() {
            if self.watch.is_over(self.stats.nodes) {
                break;
            }
            let mut next = *state;
            self.game.play(&mut next, actions[i]);
            self.stats.nodes += 1;
            // An earlier action needs to be as good to take the place of the best, a later one better.
            let mut window = Window::ALL;
            if let Some(Best { action, score }) = best {
                let tie = i32::from(actions[i] < action);
                window.assure(mover, if mover == Side::First { score - tie } else { score + tie });
            }
            let score = self.child(&next, depth - 1, 1, window);
            if self.watch.stopped() {
                break;
            }
            if window.contains(score) || best.is_none() {
                best = Some(Best { action: actions[i], score });
                self.lines.lead(0, actions[i]);
                actions[..=i].rotate_right(1);
            }
        }
        best
    }

    fn reserve(&mut self, depth: u32) {
        let plies = self.lists.len().max(depth as usize + 1);
        self.lists.resize(plies, ActionList::new());
        self.queues.resize(plies, Queue::default());
        self.lines.reset(depth);
        self.ordering.reserve(depth + 1);
    }

    /// The score of a position `ply` plies below the root, exact if it lies inside the window.
    #[inline]
    fn child(&mut self, state: &G::State, depth: u32, ply: usize, window: Window) -> i32 {
        if depth == 0 { self.leaf(state, ply) } else { self.value(state, depth, ply, window) }
    }

    fn value(&mut self, state: &G::State, depth: u32, ply: usize, window: Window) -> i32 {
        self.lines.end(ply);
        let known = self.known(state, ply);
        if let Some(known) = known.filter(|known| settles(known, depth, window)) {
            self.estimates += u64::from(!known.complete);
            return known.score;
        }
        let mut legal = std::mem::take(&mut self.lists[ply]);
        self.game.legal(state, &mut legal);
        let score = if legal.is_empty() {
            self.leaf(state, ply)
        } else {
            self.expand(state, depth, ply, window, &legal, known.map(|known| known.action))
        };
        self.lists[ply] = legal;
        score
    }

    fn expand(
        &mut self,
        state: &G::State,
        depth: u32,
        ply: usize,
        window: Window,
        legal: &[Action],
        first: Option<Action>,
    ) -> i32 {
        let mover = self.game.mover(state);
        let estimates_before = self.estimates;
        self.stats.expand(legal.len());
        let mut queue = std::mem::take(&mut self.queues[ply]);
        self.ordering.rank(ply, mover, legal, first, &mut queue);
        let mut rest = window;
        let mut best: Option<Best> = None;
        while let Some(action) = queue.take() {
            if self.watch.is_over(self.stats.nodes) {
                break;
            }
            let mut next = *state;
            self.game.play(&mut next, action);
            self.stats.nodes += 1;
            let score = match best {
                Some(_) if depth > 2 => self.scout(&next, depth - 1, ply + 1, rest, mover),
                _ => self.child(&next, depth - 1, ply + 1, rest),
            };
            if self.watch.stopped() {
                break;
            }
            if best.is_none_or(|best| prefers(mover, score, best.score)) {
                best = Some(Best { action, score });
                if rest.contains(score) {
                    self.lines.lead(ply, action);
                }
                rest.assure(mover, score);
                if rest.is_empty() {
                    self.stats.cutoffs += 1;
                    self.ordering.reward(ply, mover, action, depth);
                    break;
                }
            }
        }
        self.queues[ply] = queue;
        if self.watch.stopped() {
            return 0; // the caller discards it
        }
        let best = best.expect("a running game has legal actions");
        let complete = self.estimates == estimates_before;
        self.remember(state, depth, ply, best, window.bound(best.score), complete);
        best.score
    }

    /// [`AlphaBeta::value`] for an action that is not expected to be better (principal variation search): searches the
    /// null window first, which costs less.
    fn scout(&mut self, state: &G::State, depth: u32, ply: usize, window: Window, mover: Side) -> i32 {
        let score = self.value(state, depth, ply, window.narrowest(mover));
        let better = window.contains(score) && !self.watch.stopped();
        if better { self.value(state, depth, ply, window) } else { score }
    }

    /// The table's entry of a position, with wins counted from the root.
    #[inline]
    fn known(&mut self, state: &G::State, ply: usize) -> Option<Stored> {
        let known = self.table.as_mut()?.probe(state)?;
        Some(Stored { score: self.shifted(known.score, ply as i32), ..known })
    }

    #[inline]
    fn remember(&mut self, state: &G::State, depth: u32, ply: usize, best: Best, bound: Bound, complete: bool) {
        let score = self.shifted(best.score, -(ply as i32));
        if let Some(table) = &mut self.table {
            table.store(state, Stored { score, bound, action: best.action, depth: depth as u8, complete });
        }
    }

    /// A score with its win or loss, if it is one, moved `plies` farther away.
    #[inline]
    fn shifted(&self, score: i32, plies: i32) -> i32 {
        if score > self.band {
            score - plies
        } else if score < -self.band {
            score + plies
        } else {
            score
        }
    }

    /// The static score of a position at the end of the depth, or of a finished game.
    #[inline]
    fn leaf(&mut self, state: &G::State, ply: usize) -> i32 {
        self.stats.evaluated += 1;
        match self.game.outcome(state) {
            Some(outcome) => {
                let score = self.heuristic.final_score(&self.game, state, &outcome);
                self.shifted(score, ply as i32)
            }
            None => {
                self.estimates += 1;
                // An estimate is no win, however high it is.
                self.heuristic.estimate(&self.game, state).clamp(-self.band, self.band)
            }
        }
    }
}

/// Whether the stored result of a position answers a search of this depth and window.
#[inline]
fn settles(known: &Stored, depth: u32, window: Window) -> bool {
    let searched = u32::from(known.depth);
    let deep = searched == depth || (known.complete && searched < depth);
    deep && match known.bound {
        Bound::Exact => true,
        Bound::Lower => known.score >= window.beta,
        Bound::Upper => known.score <= window.alpha,
    }
}
