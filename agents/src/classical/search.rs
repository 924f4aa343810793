//! Classical searches built from specs, and the player that uses one.

use turnstone_base::streams::Stream;
use turnstone_env::{Action, ActionList, AnyState, Rules};
use turnstone_search::Stop;
use turnstone_search::classic::{
    AlphaBeta, BestFirst, BreadthFirst, Control, Heuristic, Limits, MAX_DEPTH, Minimax, SearchResult,
};

use super::{ClassicalMethod, ClassicalSpec, find_heuristic};
use crate::one_by_one::{Chooser, OnReport};
use crate::playable::Playable;
use crate::request::{Scale, SearchInfo, SearchRequest};
use crate::threads::spawn_or_warn;

/// Alpha-beta with any of a game's static evaluations.
type AnyAlphaBeta<G> = AlphaBeta<G, Box<dyn Heuristic<G>>>;

/// Classical search built from a spec.
pub(crate) struct ClassicalSearch<G: Rules> {
    search: Search<G>,
    /// The searches of the other threads, which share the table of an alpha-beta search.
    helpers: Vec<AnyAlphaBeta<G>>,
    /// Makes another helper, without a table.
    helper: Box<dyn Fn() -> AnyAlphaBeta<G> + Send>,
    method: ClassicalMethod,
}

enum Search<G: Rules> {
    Minimax(Minimax<G, Box<dyn Heuristic<G>>>),
    AlphaBeta(Box<AnyAlphaBeta<G>>),
    BreadthFirst(BreadthFirst<G, Box<dyn Heuristic<G>>>),
    BestFirst(BestFirst<G, Box<dyn Heuristic<G>>>),
}

impl<G: Rules> ClassicalSearch<G> {
    /// Creates the search that the spec describes.
    ///
    /// # Errors
    /// The game has no static evaluation of that name, or none at all.
    pub(crate) fn new<K: Playable<Game = G>>(spec: &ClassicalSpec, game: &G) -> Result<Self, String> {
        let heuristic = find_heuristic::<K>(game, spec.heuristic.as_deref())?;
        let alpha_beta = |heuristic, mebibytes| match mebibytes {
            0 => AlphaBeta::new(game, heuristic),
            _ => AlphaBeta::new(game, heuristic).with_table((mebibytes as usize) << 20),
        };
        let search = match spec.method {
            ClassicalMethod::Minimax { .. } => Search::Minimax(Minimax::new(game, heuristic)),
            ClassicalMethod::BreadthFirst { .. } => Search::BreadthFirst(BreadthFirst::new(game, heuristic)),
            ClassicalMethod::BestFirst { .. } => Search::BestFirst(BestFirst::new(game, heuristic)),
            ClassicalMethod::FixedDepth { table, .. } | ClassicalMethod::Deepening { table, .. } => {
                Search::AlphaBeta(Box::new(alpha_beta(heuristic, table)))
            }
        };
        let (game, name) = (game.clone(), spec.heuristic.clone());
        let helper = move || {
            let heuristic = find_heuristic::<K>(&game, name.as_deref()).expect("it was found before");
            AlphaBeta::new(&game, heuristic)
        };
        let (method, helper) = (spec.method.clone(), Box::new(helper));
        let mut search = Self { search, helpers: Vec::new(), helper, method };
        search.set_threads(spec.threads.number().unwrap_or(1));
        search.begin_game();
        Ok(search)
    }

    /// Sets the number of threads of a search. A search without a table has one.
    fn set_threads(&mut self, threads: usize) {
        let Search::AlphaBeta(search) = &mut self.search else { return };
        if search.has_table() {
            self.helpers.resize_with(threads.max(1) - 1, || (self.helper)().with_table_of(search));
        }
    }

    /// The static evaluation.
    fn heuristic(&self) -> &dyn Heuristic<G> {
        &**match &self.search {
            Search::Minimax(search) => search.heuristic(),
            Search::AlphaBeta(search) => search.heuristic(),
            Search::BreadthFirst(search) => search.heuristic(),
            Search::BestFirst(search) => search.heuristic(),
        }
    }

    /// Clears the transposition table.
    fn begin_game(&mut self) {
        if let Search::AlphaBeta(search) = &mut self.search {
            search.forget();
            self.helpers.iter_mut().for_each(AlphaBeta::forget);
        }
    }

    /// Searches a position with the limits of the spec.
    pub(crate) fn find(&mut self, state: &G::State) -> SearchResult {
        self.find_watched(state, &SearchRequest::default(), &mut |_| {})
    }

    /// Searches a position within the limits of the request and reports progress. The result has no action if a limit
    /// is reached before the first action is found.
    fn find_watched(
        &mut self,
        state: &G::State,
        request: &SearchRequest,
        report: &mut dyn FnMut(&SearchResult),
    ) -> SearchResult {
        // Only an iterative deepening search keeps to the time that is left for the game.
        let remaining = request.remaining.filter(|_| matches!(self.method, ClassicalMethod::Deepening { .. }));
        let share = remaining.map(Limits::share_of).unwrap_or_default();
        let (search, method) = (&mut self.search, &self.method);
        with_help(&mut self.helpers, method, state, || search.find(method, share, state, request, report))
    }
}

/// Runs a search while other threads search the same position, until it ends. The positions that they visit are counted.
fn with_help<G: Rules>(
    helpers: &mut [AnyAlphaBeta<G>],
    method: &ClassicalMethod,
    state: &G::State,
    search: impl FnOnce() -> SearchResult,
) -> SearchResult {
    if helpers.is_empty() {
        return search();
    }
    let stop = Stop::default();
    std::thread::scope(|scope| {
        let help = |helper: &'_ mut AnyAlphaBeta<G>, control: Control| match method {
            ClassicalMethod::Deepening { .. } => {
                helper.deepen_until(state, &Limits::default(), &control, &mut |_| {}).stats.nodes
            }
            _ => helper.search_within(state, method.depth(), &Limits::default(), &control).stats.nodes,
        };
        let start = |helper| {
            let control = Control::from(stop.clone());
            spawn_or_warn(scope, move || help(helper, control))
        };
        let helpers: Vec<_> = helpers.iter_mut().map_while(start).collect();
        let ends = RaiseOnDrop(&stop);
        let mut found = search();
        drop(ends);
        for helper in helpers {
            found.stats.nodes += helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        found
    })
}

/// Ends the helpers, even if the search panics.
struct RaiseOnDrop<'a>(&'a Stop);

impl Drop for RaiseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.raise();
    }
}

impl<G: Rules> Search<G> {
    /// Searches with the limits of the request, or else with those of the method and the time `share` of the game.
    fn find(
        &mut self,
        method: &ClassicalMethod,
        share: Limits,
        state: &G::State,
        request: &SearchRequest,
        report: &mut dyn FnMut(&SearchResult),
    ) -> SearchResult {
        let control = &request.control;
        match (self, method) {
            (Self::BestFirst(search), ClassicalMethod::BestFirst { nodes }) => {
                let limits = request.limits.unwrap_or(Limits::nodes(u64::from(*nodes)));
                search.search_within(state, limits.nodes.unwrap_or(u64::MAX), &limits, control)
            }
            (Self::AlphaBeta(search), ClassicalMethod::Deepening { depth, nodes, time, .. }) => {
                let time = time.iter().chain(&share.time).min().copied();
                let own = Limits { depth: *depth, nodes: nodes.map(u64::from), time, ..share };
                search.deepen_until(state, &request.limits.unwrap_or(own), control, report)
            }
            (search, _) => search.find_by_depth(state, method.depth(), request, report),
        }
    }

    /// Runs a search that takes a single depth. With limits or a progress report in the request, it searches all depths
    /// from 1, so that it has an answer whenever it is stopped; the greatest depth alone determines the result.
    fn find_by_depth(
        &mut self,
        state: &G::State,
        own_depth: u32,
        request: &SearchRequest,
        report: &mut dyn FnMut(&SearchResult),
    ) -> SearchResult {
        let clock = request.control.clock;
        let start = clock.now();
        let elapsed = || clock.now().saturating_sub(start);
        let limits = request.limits.unwrap_or(Limits::depth(own_depth));
        let most = limits.depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH);
        let mut best = SearchResult::default();
        let mut nodes = 0;
        for depth in if request.limits.is_some() || request.reports { 1 } else { most }..=most {
            let left = Limits {
                time: limits.time.map(|time| time.saturating_sub(elapsed())),
                nodes: limits.nodes.map(|most| most.saturating_sub(nodes)),
                ..Limits::default()
            };
            let mut found = self.at_depth(state, depth, &left, &request.control);
            nodes += found.stats.nodes;
            found.stats.nodes = nodes;
            if found.action.is_none() {
                break;
            }
            report(&found);
            let deeper = found.depth == depth && !found.complete;
            best = found;
            if !deeper || limits.begin.is_some_and(|time| elapsed() >= time) {
                break;
            }
        }
        best.stats.nodes = nodes;
        best
    }

    fn at_depth(&mut self, state: &G::State, depth: u32, limits: &Limits, control: &Control) -> SearchResult {
        match self {
            Self::Minimax(search) => search.search_within(state, depth, limits, control),
            Self::AlphaBeta(search) => search.search_within(state, depth, limits, control),
            Self::BreadthFirst(search) => search.search_within(state, depth, limits, control),
            Self::BestFirst(_) => unreachable!("best-first search has no depth"),
        }
    }
}

/// A classical search that chooses.
pub(crate) struct ClassicalChooser<G: Rules> {
    game: G,
    search: ClassicalSearch<G>,
}

impl<G: Rules> ClassicalChooser<G> {
    pub(crate) fn new(game: G, search: ClassicalSearch<G>) -> Self {
        Self { game, search }
    }
}

impl<G: Rules> Chooser for ClassicalChooser<G> {
    fn new_game(&mut self) {
        self.search.begin_game();
    }

    fn set_threads(&mut self, threads: usize) {
        self.search.set_threads(threads);
    }

    fn choose(
        &mut self,
        state: &AnyState,
        request: &SearchRequest,
        _: &mut Stream,
        on_info: &mut OnReport<'_>,
    ) -> SearchInfo {
        let (game, state) = (&self.game, state.of());
        let (mover, heuristic) = (game.mover(state), self.search.heuristic());
        let scale = Scale { won: heuristic.won(), lead: heuristic.lead() };
        let info = |found: &SearchResult| SearchInfo {
            depth: found.depth,
            nodes: found.stats.nodes,
            score: found.action.map(|_| scale.score(found, mover)),
            line: found.line.clone(),
        };
        let mut found = self.search.find_watched(state, request, &mut |found| on_info(&info(found)));
        if found.action.is_none() {
            found.line = vec![first_legal(game, state)];
        }
        info(&found)
    }

    fn comment(&self, last: &SearchInfo) -> Option<String> {
        let score = last.score.map_or(0, |score| score.score);
        Some(format!("score {score:+}, depth {}", last.depth))
    }
}

/// The first legal action, as the answer of a search that was stopped before it found one.
fn first_legal<G: Rules>(game: &G, state: &G::State) -> Action {
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    legal[0]
}
