//! Many positions searched at once, their leaves evaluated together, with all that each search found.

use turnstone_env::{Action, AnyState, Game, Side};
use turnstone_models::NetworkError;
use turnstone_search::classic::Stop;
use turnstone_search::{Evaluation, Lookup, Mcts, Requests, RootAction, SearchStep};

use crate::evaluator::NetworkEvaluator;
use crate::network::LoadedNetwork;
use crate::search_settings::SearchSettings;
use crate::streams::{Purpose, stream};
use crate::tree_spec::{DrawValue, TreeSpec};

/// Evaluations that an analyser remembers.
const CACHED: usize = 1 << 16;

/// Searches many positions at once. What it finds in a position does not depend on the others.
pub trait Analyser: Send {
    /// Number of positions that are being searched.
    fn searching(&self) -> usize;

    /// Begins the search of a running position; `ticket` names it in the answer, and raising `stop` ends it.
    fn begin(&mut self, ticket: u64, state: &AnyState, simulations: u32, stop: Stop);

    /// Advances every search by one evaluation, and gives `done` what those that are over found.
    fn advance(&mut self, done: &mut dyn FnMut(u64, Analysis));
}

/// What a search found in a position, as far as it came.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// Whose turn it is.
    pub mover: Side,
    /// Simulations through all actions together.
    pub visits: u64,
    /// The position's value.
    pub estimate: Evaluation,
    /// Its exact value for the first side, if it is proven.
    pub proven: Option<i8>,
    /// The legal actions: the one to play first, then by visits and prior. Empty if the search never began.
    pub actions: Vec<AnalysedAction>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// A legal action of an analysed position.
#[derive(Clone, PartialEq, Debug)]
pub struct AnalysedAction {
    /// Visits, prior and value.
    pub root: RootAction,
    /// The expected line if it is played, the action first.
    pub line: Vec<Action>,
}

/// An [`Analyser`] of a game with a network.
pub(crate) struct NetworkAnalyser<G: Game> {
    game: G,
    settings: SearchSettings,
    draw: DrawValue,
    evaluator: NetworkEvaluator,
    seats: Vec<Seat<G>>,
    /// Searches of earlier positions, for their memory.
    spare: Vec<Mcts<G>>,
    requests: Requests<G::State>,
}

/// A position that is being searched.
struct Seat<G: Game> {
    ticket: u64,
    stop: Stop,
    search: Mcts<G>,
    /// Row of the batch in which its leaf waits.
    row: usize,
}

impl<G: Game> NetworkAnalyser<G> {
    /// An analyser that evaluates up to `batch` positions together.
    ///
    /// # Errors
    /// The weights are not those of the network.
    pub(crate) fn new(game: &G, network: &LoadedNetwork, tree: &TreeSpec, batch: usize) -> Result<Self, NetworkError> {
        let evaluator = NetworkEvaluator::new(game.spec(), &network.info.network, &network.weights, batch)?;
        Ok(Self {
            game: game.clone(),
            settings: tree.search.over(network.search_settings()),
            draw: tree.draw,
            evaluator,
            seats: Vec::new(),
            spare: Vec::new(),
            requests: Requests::new(CACHED),
        })
    }

    /// Whether the search of this seat waits for an evaluation now; if not, it is over.
    fn next_leaf(&mut self, i: usize) -> bool {
        let seat = &mut self.seats[i];
        loop {
            if seat.stop.is_raised() {
                return false;
            }
            match seat.search.step(&self.game) {
                SearchStep::Done => return false,
                SearchStep::Finished => {}
                SearchStep::Leaf => {
                    let (state, legal) = seat.search.leaf();
                    match self.requests.request(state, legal) {
                        Lookup::Known(priors, estimate) => seat.search.apply(priors, estimate),
                        Lookup::Waiting(row) => {
                            seat.row = row;
                            return true;
                        }
                    }
                }
            }
        }
    }
}

impl<G: Game> Analyser for NetworkAnalyser<G> {
    fn searching(&self) -> usize {
        self.seats.len()
    }

    fn begin(&mut self, ticket: u64, state: &AnyState, simulations: u32, stop: Stop) {
        let state: G::State = *state.of();
        let mut search = self.spare.pop().unwrap_or_else(|| Mcts::new(&self.game, state));
        search.reset(&self.game, state);
        search.set_contempt(&self.game, self.game.mover(&state), self.draw.value());
        // A stream of its own: nothing depends on what else is searched.
        let mut rng = stream(0, Purpose::Play, [0, 0]);
        search.begin(&self.settings.strongest(simulations), simulations, &mut rng);
        self.seats.push(Seat { ticket, stop, search, row: 0 });
    }

    fn advance(&mut self, done: &mut dyn FnMut(u64, Analysis)) {
        let mut i = 0;
        while i < self.seats.len() {
            if self.next_leaf(i) {
                i += 1;
            } else {
                let seat = self.seats.remove(i);
                done(seat.ticket, analysis(&seat.search, seat.stop.is_raised()));
                self.spare.push(seat.search);
            }
        }
        if self.requests.is_empty() {
            return;
        }
        self.requests.evaluate(&self.game, &mut self.evaluator);
        for seat in &mut self.seats {
            let (priors, estimate) = self.requests.answer(seat.row);
            seat.search.apply(priors, estimate);
        }
        self.requests.clear();
    }
}

fn analysis<G: Game>(search: &Mcts<G>, stopped: bool) -> Analysis {
    let mut roots: Vec<RootAction> = search.actions().collect();
    if !roots.is_empty() {
        let best = search.choose(0.0, &mut stream(0, Purpose::Play, [0, 0]));
        let rank = |root: &RootAction| (root.action == best, root.visits, root.prior.to_bits());
        roots.sort_by_key(|root| std::cmp::Reverse(rank(root)));
    }
    let analysed = |root: RootAction| AnalysedAction { root, line: search.line(root.action) };
    Analysis {
        mover: search.mover(),
        visits: roots.iter().map(|root| u64::from(root.visits)).sum(),
        estimate: search.estimate(),
        proven: search.proven(),
        actions: roots.into_iter().map(analysed).collect(),
        stopped,
    }
}
