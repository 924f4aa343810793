//! Tree search with any backend: the seats of an agent, each of which keeps its tree from one move to the next.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use turnstone_base::streams::Stream;
use turnstone_env::{Action, ActionList, AnyState, Rules, Side};
use turnstone_exact::ExactValues;
use turnstone_search::classic::Limits;
use turnstone_search::{
    Backend, Cached, EvalBatch, Evaluation, Fault, Mcts, Pace, RootAction, SearchOptions, Seats, draw_weighted,
};

use crate::analysis::{Analysis, analysis};
use crate::budget::Budget;
use crate::interface::{Chosen, OnInfo, Prediction, Search};
use crate::network_backend::{AnyBackend, most_likely};
use crate::request::{Score, SearchInfo, SearchRequest};
use crate::search_settings::SearchSettings;
use crate::shared_search::run_threads;

/// Simulations of all trees of a search together, which bound its memory to about a quarter of a GiB.
const MOST_SIMULATIONS: u32 = 1 << 20;

/// Simulations of the first round where their total is not known in advance; each later round doubles the number.
const FIRST_ROUND: u32 = 32;

/// Maximum number of simulations per round, as Gumbel search plans a round in advance.
const LARGEST_ROUND: u32 = 1 << 20;

/// Number of simulations up to which no memory is reserved in advance, as a small tree is cheap to move when it grows.
const SMALL: u64 = 20_000;

/// Minimum time between two reports.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// Simulations of a seat without an evaluation after which the others have their turn.
const STEPS: u32 = 64;

/// Parts of a tree search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) budget: Budget,
    pub(crate) settings: SearchSettings,
    /// Value of a draw for the side to move.
    pub(crate) draw: f32,
    /// Temperature of the choice of moves.
    pub(crate) temperature: f32,
    /// Evaluator.
    pub(crate) source: Source,
}

/// Source of a tree search's evaluations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// They depend on the position alone, and several at once are faster.
    Network,
    /// They are random, by a seed that a game draws.
    Playouts,
}

/// The seats of a tree search.
pub(crate) struct TreeSearch<G: Rules> {
    game: G,
    plan: Plan,
    seats: Seats<G, Cached<G::State, AnyBackend<G>>>,
    games: Vec<GameInSeat<G>>,
    /// The backends of the other threads of a search that is alone.
    others: Vec<AnyBackend<G>>,
    tables: Option<Tables<G>>,
    corrections: Corrections<G::State>,
    over: Vec<usize>,
}

/// Moves that are played instead of searching.
#[derive(Debug)]
pub(crate) struct Corrections<S> {
    pub(crate) moves: HashMap<S, Action>,
    /// Maps a position to the one that stands for it, if it is not itself.
    pub(crate) key: Option<fn(&S) -> S>,
}

impl<S> Default for Corrections<S> {
    fn default() -> Self {
        Self { moves: HashMap::new(), key: None }
    }
}

impl<S: Copy + Eq + Hash> Corrections<S> {
    fn of(&self, state: &S) -> Option<Action> {
        if self.moves.is_empty() {
            return None;
        }
        self.moves.get(&self.key.map_or(*state, |key| key(state))).copied()
    }
}

/// The game of a seat.
struct GameInSeat<G: Rules> {
    rng: Stream,
    /// Actions since the last search.
    played: Vec<Action>,
    turn: Turn<G>,
}

/// State of a seat.
enum Turn<G: Rules> {
    Idle,
    /// It has searched its tree.
    Searched {
        nodes: u64,
        stopped: bool,
        comment: String,
    },
    /// It has chosen without its tree.
    Chosen {
        found: SearchInfo,
        comment: String,
    },
    /// It has an action of the book or the tables, of which nobody has been told yet.
    Covered(Action, &'static str, SearchRequest),
    /// It plays by the priors of this position.
    ByPriors(G::State, SearchRequest),
    /// It searches its tree.
    Searching(Rounds),
}

impl<G: Rules> Turn<G> {
    fn is_thinking(&self) -> bool {
        matches!(self, Self::Searching(_) | Self::ByPriors(..) | Self::Covered(..))
    }
}

/// A search in rounds. Gumbel search needs the number of simulations in advance, which a time limit does not give: the search
/// then runs in rounds in the same tree, each with twice the simulations of the one before.
struct Rounds {
    request: SearchRequest,
    limits: Limits,
    /// Simulations of this round.
    round: u32,
    /// Simulations of the rounds before.
    before: u64,
    start: Duration,
    /// When the next report is due, since the start.
    next_report: Duration,
    /// Simulations since the other seats had their turn.
    steps: u32,
}

/// Exact values of positions, for the root and for the leaves.
struct Tables<G: Rules>(Arc<dyn ExactValues<G>>);

impl<G: Rules> Clone for Tables<G> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// A network that knows the exact values of some positions.
struct WithTables<G: Rules> {
    backend: AnyBackend<G>,
    tables: Tables<G>,
}

impl<G: Rules> Backend<G> for WithTables<G> {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) -> Result<(), Fault> {
        self.backend.evaluate(game, batch)
    }

    fn exact(&mut self, game: &G, state: &G::State) -> Option<i8> {
        self.tables.0.value(game, state)
    }

    fn for_thread(&self, number: usize) -> Option<AnyBackend<G>> {
        Some(Box::new(WithTables { backend: self.backend.for_thread(number)?, tables: self.tables.clone() }))
    }
}

const BUSY: &str = "the seat is thinking";

impl<G: Rules> TreeSearch<G> {
    /// A search with a cache of `cached` evaluations; 0 keeps none.
    pub(crate) fn new(game: &G, backend: AnyBackend<G>, plan: Plan, cached: usize) -> Self {
        Self {
            game: game.clone(),
            plan,
            seats: Seats::new(Cached::new(backend, cached)),
            games: Vec::new(),
            others: Vec::new(),
            tables: None,
            corrections: Corrections::default(),
            over: Vec::new(),
        }
    }

    /// A search with exact values: optimal moves where they cover the position, and proofs where the search comes to positions
    /// that they cover. In lost positions the search does without them, so as to set the opponent problems.
    pub(crate) fn with_tables(
        game: &G,
        backend: AnyBackend<G>,
        tables: Box<dyn ExactValues<G>>,
        plan: Plan,
        cached: usize,
    ) -> Self {
        let tables = Tables(Arc::from(tables));
        let backend = Box::new(WithTables { backend, tables: tables.clone() });
        Self { tables: Some(tables), ..Self::new(game, backend, plan, cached) }
    }

    /// Plays these moves instead of searching.
    pub(crate) fn correct(&mut self, corrections: Corrections<G::State>) {
        self.corrections = corrections;
    }

    /// An optimal action by the exact values, where they cover the position and it is not lost.
    fn table_move(&mut self, seat: usize, state: &G::State) -> Option<Action> {
        let (game, tables) = (&self.game, self.tables.as_ref()?);
        let value = tables.0.value(game, state)?;
        if f32::from(value) == -game.mover(state).sign() {
            // The tree may contain proofs.
            self.seats.idle(game, seat).reset(game, *state);
            return None;
        }
        let optimal = tables.0.optimal_actions(game, state).filter(|all| !all.is_empty())?;
        Some(optimal[self.games[seat].rng.random_range(0..optimal.len())])
    }

    fn own_limits(&self, remaining: Option<Duration>) -> Limits {
        match self.plan.budget {
            Budget::Simulations(simulations) => Limits::nodes(u64::from(simulations)),
            Budget::Time(time) => Limits::time(remaining.map_or(time, |remaining| time.min(remaining / 20))),
        }
    }

    /// Begins a search of the tree.
    fn begin_tree(&mut self, seat: usize, state: &G::State, request: SearchRequest) {
        let limits = request.limits.unwrap_or_else(|| self.own_limits(request.remaining));
        let start = request.control.clock.now();
        let rounds = Rounds { request, limits, round: 0, before: 0, start, next_report: REPORT_EVERY, steps: 0 };
        let is_only_one = self.games.len() == 1;
        let (game, in_seat) = (&self.game, &mut self.games[seat]);
        let search = self.seats.idle(game, seat);
        let played = std::mem::take(&mut in_seat.played);
        if !played.is_empty() {
            // Copying a large tree takes long.
            search.advance_along(game, &played, &mut || rounds.may_copy());
        }
        if search.state() != state {
            search.reset(game, *state);
        }
        let is_open = rounds.request.limits.is_some() || rounds.request.reports;
        if is_open && is_only_one && limits.nodes.is_none_or(|nodes| nodes > SMALL) {
            search.reserve();
        }
        let round = match (limits.nodes, self.plan.budget) {
            (Some(_), Budget::Simulations(simulations)) if rounds.request.limits.is_none() => simulations,
            (Some(nodes), _) => nodes.min(u64::from(LARGEST_ROUND)) as u32,
            (None, _) => FIRST_ROUND,
        };
        in_seat.turn = Turn::Searching(rounds);
        self.begin_round(seat, round);
    }

    fn begin_round(&mut self, seat: usize, simulations: u32) {
        let GameInSeat { rng, turn: Turn::Searching(rounds), .. } = &mut self.games[seat] else { return };
        rounds.round = simulations;
        let options = self.plan.settings.at_temperature(simulations, self.plan.temperature);
        let options = SearchOptions { draw: self.plan.draw, ..options };
        self.seats.begin(&self.game, seat, &options, simulations, rng);
    }

    /// Ends the search of a seat whose round is over, or begins the next round.
    fn end_round(&mut self, seat: usize, on_info: &mut OnInfo<'_>) -> Option<Chosen> {
        let Turn::Searching(rounds) = &mut self.games[seat].turn else { return None };
        let search = self.seats.search(seat);
        rounds.before = rounds.done(search);
        if !rounds.is_last(search, self.plan.budget) {
            let left = rounds.limits.nodes.map_or(u64::MAX, |nodes| nodes - rounds.before);
            let round = u64::from(rounds.round.saturating_mul(2).min(LARGEST_ROUND)).min(left);
            self.begin_round(seat, round as u32);
            return None;
        }
        if rounds.request.reports {
            on_info(seat, &info(search, rounds.before));
        }
        let (nodes, stopped) = (rounds.before, rounds.request.control.stop.is_raised());
        let comment = in_words(search.estimate(), search.mover());
        let GameInSeat { rng, turn, .. } = &mut self.games[seat];
        *turn = Turn::Searched { nodes, stopped, comment };
        Some(Ok(search.choose(self.plan.temperature, rng)))
    }

    /// Chooses in the seats that need no search of their tree.
    fn choose_without_search(&mut self, on_info: &mut OnInfo<'_>) -> Result<Vec<(usize, Chosen)>, Fault> {
        let mut chosen = Vec::new();
        let (mut batch, mut asked) = (EvalBatch::default(), Vec::new());
        let mut legal = ActionList::new();
        for (seat, in_seat) in self.games.iter_mut().enumerate() {
            match &in_seat.turn {
                Turn::Covered(action, comment, request) => {
                    let found = SearchInfo { depth: 1, ..SearchInfo::of_action(*action) };
                    if request.reports {
                        on_info(seat, &found);
                    }
                    chosen.push((seat, Ok(*action)));
                    let comment = (*comment).to_owned();
                    in_seat.turn = Turn::Chosen { found, comment };
                }
                Turn::ByPriors(state, _) => {
                    self.game.legal(state, &mut legal);
                    asked.push(seat);
                    batch.push(*state, &legal);
                }
                _ => {}
            }
        }
        if batch.is_empty() {
            return Ok(chosen);
        }
        if let Err(fault) = self.seats.backend_mut().evaluate(&self.game, &mut batch) {
            return if chosen.is_empty() { Err(fault) } else { Ok(chosen) }; // it is asked again in the next call
        }
        for (row, seat) in asked.into_iter().enumerate() {
            let GameInSeat { rng, turn, .. } = &mut self.games[seat];
            let Prediction { priors, evaluation } = prediction(&batch, row);
            let action = match self.plan.temperature {
                0.0 => most_likely(&priors),
                temperature => {
                    let mut weights: Vec<f32> = priors.iter().map(|&(_, prior)| prior).collect();
                    priors[draw_weighted(&mut weights, temperature, rng)].0
                }
            };
            let mover = self.game.mover(&batch.states()[row]);
            let score = Some(Score::of_estimate(evaluation, mover));
            let found = SearchInfo { depth: 1, nodes: 1, score, line: vec![action] };
            if matches!(turn, Turn::ByPriors(_, request) if request.reports) {
                on_info(seat, &found);
            }
            *turn = Turn::Chosen { found, comment: in_words(evaluation, mover) };
            chosen.push((seat, Ok(action)));
        }
        Ok(chosen)
    }

    /// Runs the round of the only seat that searches by all threads, once its root is evaluated.
    fn search_together(&mut self, on_info: &mut OnInfo<'_>) -> Result<(), Fault> {
        if self.others.is_empty() {
            return Ok(());
        }
        let mut searching = self.games.iter_mut().enumerate();
        let Some((seat, rounds)) = searching.find_map(|(seat, game)| match &mut game.turn {
            Turn::Searching(rounds) => Some((seat, rounds)),
            _ => None,
        }) else {
            return Ok(());
        };
        let Some((cached, search)) = self.seats.alone() else { return Ok(()) };
        let stop = rounds.request.control.stop.clone();
        let mut go_on = |search: &Mcts<G>| {
            rounds.report(search, seat, on_info);
            !rounds.is_stopped()
        };
        run_threads(&self.game, search, cached.backend_mut(), &mut self.others, &stop, &mut go_on)
    }
}

impl Rounds {
    /// Simulations so far.
    fn done<G: Rules>(&self, search: &Mcts<G>) -> u64 {
        self.before + u64::from(search.simulations_done())
    }

    fn elapsed(&self) -> Duration {
        self.request.control.clock.now().saturating_sub(self.start)
    }

    /// Time limit: a tree search has no depth that it could complete after `begin`.
    fn time(&self) -> Option<Duration> {
        self.limits.begin.or(self.limits.time)
    }

    /// Whether a tree may be copied: less than a quarter of the time has passed.
    fn may_copy(&self) -> bool {
        !self.request.control.stop.is_raised() && self.time().is_none_or(|time| self.elapsed() < time / 4)
    }

    /// Whether the search is stopped or its time is up.
    fn is_stopped(&self) -> bool {
        self.request.control.stop.is_raised() || self.time().is_some_and(|time| self.elapsed() >= time)
    }

    /// Whether no further round is needed.
    fn is_last<G: Rules>(&self, search: &Mcts<G>, budget: Budget) -> bool {
        let done = self.before;
        let forced = self.limits.time.is_some() && search.actions().count() == 1;
        let deep = self.limits.depth.is_some_and(|depth| {
            let own = matches!(budget, Budget::Simulations(simulations) if done >= u64::from(simulations));
            own || search.principal_variation().len() >= depth as usize
        });
        let all = self.limits.nodes.is_some_and(|nodes| done >= nodes);
        all || forced || deep || search.proven().is_some() || self.is_stopped()
    }

    /// Next step of the search after a simulation.
    fn pace<G: Rules>(&mut self, search: &Mcts<G>) -> Pace {
        // An answer needs the evaluation of the root.
        if !search.is_root_evaluated() {
            return Pace::Continue;
        }
        if self.is_stopped() {
            return Pace::End;
        }
        self.steps += 1;
        if self.steps > STEPS { Pace::Pause } else { Pace::Continue }
    }

    /// Reports where that is due.
    fn report<G: Rules>(&mut self, search: &Mcts<G>, seat: usize, on_info: &mut OnInfo<'_>) {
        if self.request.reports && search.is_root_evaluated() {
            let elapsed = self.elapsed();
            if elapsed >= self.next_report {
                self.next_report = elapsed + REPORT_EVERY;
                on_info(seat, &info(search, self.done(search)));
            }
        }
    }
}

impl<G: Rules> Search for TreeSearch<G> {
    fn most_seats(&self) -> usize {
        match self.plan.budget {
            _ if !self.others.is_empty() => 1,
            Budget::Time(_) => 1,
            Budget::Simulations(0) => usize::MAX,
            Budget::Simulations(simulations) => (MOST_SIMULATIONS / simulations).max(1) as usize,
        }
    }

    fn is_batched(&self) -> bool {
        self.plan.source == Source::Network && self.most_seats() > 1
    }

    fn new_game(&mut self, seat: usize, state: &AnyState, mut rng: Stream) {
        if self.plan.source == Source::Playouts {
            self.seats.backend_mut().restart(rng.random());
            self.others.iter_mut().for_each(|backend| backend.restart(rng.random()));
        }
        self.seats.idle(&self.game, seat).reset(&self.game, *state.of());
        while self.games.len() <= seat {
            self.games.push(GameInSeat { rng: rng.clone(), played: Vec::new(), turn: Turn::Idle });
        }
        self.games[seat] = GameInSeat { rng, played: Vec::new(), turn: Turn::Idle };
    }

    fn played(&mut self, seat: usize, action: Action) {
        self.games[seat].played.push(action);
    }

    fn begin(&mut self, seat: usize, state: &AnyState, request: SearchRequest) {
        let state = state.of();
        assert!(!self.games[seat].turn.is_thinking(), "{BUSY}");
        let corrected = self.corrections.of(state).map(|action| (action, "by the book"));
        let known = corrected.or_else(|| self.table_move(seat, state).map(|action| (action, "by the tables")));
        if let Some((action, comment)) = known {
            self.games[seat].turn = Turn::Covered(action, comment, request);
        } else if self.plan.budget == Budget::Simulations(0) {
            self.games[seat].turn = Turn::ByPriors(*state, request);
        } else {
            self.begin_tree(seat, state, request);
        }
    }

    fn advance(&mut self, on_info: &mut OnInfo<'_>) -> Result<Vec<(usize, Chosen)>, Fault> {
        let mut chosen = self.choose_without_search(on_info)?;
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        self.search_together(on_info)?;
        let (games, mut over) = (&mut self.games, std::mem::take(&mut self.over));
        let pace = |seat: usize, search: &Mcts<G>| match &mut games[seat].turn {
            Turn::Searching(rounds) => rounds.pace(search),
            _ => Pace::Continue,
        };
        let advanced = self.seats.advance(&self.game, pace, &mut over);
        for &seat in &over {
            chosen.extend(self.end_round(seat, on_info).map(|chosen| (seat, chosen)));
        }
        self.over = over;
        for (seat, in_seat) in self.games.iter_mut().enumerate() {
            if let Turn::Searching(rounds) = &mut in_seat.turn {
                rounds.steps = 0;
                rounds.report(self.seats.search(seat), seat, on_info);
            }
        }
        advanced.map(|()| chosen)
    }

    fn report(&self, seat: usize) -> SearchInfo {
        let search = self.seats.search(seat);
        match &self.games[seat].turn {
            Turn::Chosen { found, .. } => found.clone(),
            Turn::Searched { nodes, .. } => info(search, *nodes),
            Turn::Searching(rounds) if search.is_root_evaluated() => info(search, rounds.done(search)),
            _ => SearchInfo::default(),
        }
    }

    fn analysis(&self, seat: usize) -> Option<Analysis> {
        match &self.games[seat].turn {
            // The moves at a temperature are drawn, which the tree does not show.
            _ if self.plan.temperature != 0.0 => None,
            Turn::Searched { stopped, .. } => Some(analysis(self.seats.search(seat), *stopped)),
            Turn::Searching(_) => Some(analysis(self.seats.search(seat), false)),
            _ => None,
        }
    }

    fn actions_after(&self, seat: usize, line: &[Action]) -> Option<Vec<RootAction>> {
        self.seats.search(seat).actions_after(line)
    }

    fn predict(&mut self, state: &AnyState) -> Result<Option<Prediction>, Fault> {
        if self.plan.source == Source::Playouts {
            return Ok(None);
        }
        let (mut batch, mut legal) = (EvalBatch::default(), ActionList::new());
        self.game.legal(state.of(), &mut legal);
        batch.push(*state.of(), &legal);
        self.seats.backend_mut().evaluate(&self.game, &mut batch)?;
        Ok(Some(prediction(&batch, 0)))
    }

    fn comment(&self, seat: usize) -> Option<String> {
        match &self.games[seat].turn {
            Turn::Searched { comment, .. } | Turn::Chosen { comment, .. } => Some(comment.clone()),
            _ => None,
        }
    }

    fn set_threads(&mut self, threads: usize) {
        self.others.truncate(threads.max(1) - 1);
        while let number = self.others.len() + 1
            && number < threads
            && let Some(backend) = self.seats.backend().for_thread(number)
        {
            self.others.push(backend);
        }
    }

    fn clear(&mut self) {
        self.seats.clear(&self.game);
        for game in &mut self.games {
            if game.turn.is_thinking() {
                game.turn = Turn::Idle;
            }
        }
    }

    fn forget(&mut self) {
        self.seats.backend_mut().forget();
    }
}

/// A backend's answer for a row of a batch.
fn prediction<S>(batch: &EvalBatch<S>, row: usize) -> Prediction {
    let ((_, legal), (priors, evaluation)) = (batch.position(row), batch.answer(row));
    Prediction { priors: legal.iter().copied().zip(priors.iter().copied()).collect(), evaluation }
}

/// What a search whose root is evaluated has found after so many simulations.
fn info<G: Rules>(search: &Mcts<G>, nodes: u64) -> SearchInfo {
    let line = search.line(crate::analysis::best(search));
    let score = Some(Score::of_estimate(search.estimate(), search.mover()));
    SearchInfo { depth: line.len() as u32, nodes, score, line }
}

fn in_words(estimate: Evaluation, mover: Side) -> String {
    let [win, draw, loss] = estimate.win_draw_loss(mover).map(|p| 100.0 * p);
    format!("win {win:.0} % draw {draw:.0} % loss {loss:.0} %")
}

#[cfg(test)]
mod tests;
