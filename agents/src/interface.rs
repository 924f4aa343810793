//! The interface of everything that thinks about positions: tree searches, classical searches, exact values, other programs.

use thiserror::Error;
use turnstone_base::streams::Stream;
use turnstone_env::{Action, AnyState};
use turnstone_search::{Evaluation, Fault, RootAction};

use crate::analysis::Analysis;
use crate::request::{SearchInfo, SearchRequest};

/// Reason why a seat has no legal action to play.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlayerFault {
    /// The program has ended, or its answer is malformed.
    #[error("crashed: {0}")]
    Crashed(String),
    /// The program did not answer in time.
    #[error("no answer: {0}")]
    Silent(String),
    /// The chosen action is malformed or not legal.
    #[error("illegal move `{0}`")]
    IllegalMove(String),
    /// The time is up.
    #[error("out of time")]
    OutOfTime,
    /// Positions could not be evaluated: no fault of the player's.
    #[error(transparent)]
    Evaluation(#[from] Fault),
}

/// A network's evaluation of a position, without search.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// The legal actions in increasing order, each with its prior.
    pub priors: Vec<(Action, f32)>,
    /// The evaluation of the position.
    pub evaluation: Evaluation,
}

/// A seat's choice: a legal action, or why it has none. After a fault it can be asked again.
pub type Chosen = Result<Action, PlayerFault>;

/// Takes reports of seats whose request asks for them; the last one is of the final result.
pub type OnInfo<'a> = dyn FnMut(usize, &SearchInfo) + 'a;

/// Thinks about positions in numbered seats, which are made as needed. A seat plays one game at a time; what it chooses does
/// not depend on the other seats.
///
/// ```
/// use turnstone_agents::{Agent, SearchRequest};
/// use turnstone_base::streams::{Purpose, stream};
/// use turnstone_env::Params;
///
/// let game = turnstone_games::built_in().make("mancala", &Params::new())?;
/// let agent = Agent::load(&"az:pretrained,sims=50".parse()?, &*game)?;
/// let mut search = agent.search(&*game, 8)?;
/// for seat in 0..8 {
///     search.new_game(seat, &game.start(), stream(1, Purpose::Play, [seat as u64, 0]));
///     search.begin(seat, &game.start(), SearchRequest::default());
/// }
/// let mut left = 8;
/// while left > 0 {
///     for (seat, chosen) in search.advance(&mut |_, _| ())? {
///         println!("{seat}: {}", game.action_text(&game.start(), chosen?));
///         left -= 1;
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// A seat that is thinking must not begin anew, and one that has begun no game cannot be asked for anything.
pub trait Search: Send {
    /// Most seats that think at once with the memory of this machine and the limits of the agent.
    fn most_seats(&self) -> usize;

    /// Whether positions of several seats are evaluated together, so that they are faster side by side.
    fn is_batched(&self) -> bool {
        false
    }

    /// Starts what is needed, as another program, so that a fault is found before the game.
    ///
    /// # Errors
    /// It cannot be started.
    fn prepare(&mut self) -> Result<(), PlayerFault> {
        Ok(())
    }

    /// Starts a new game in a seat. Earlier games do not influence it. `rng` is the random stream of the game and the seat.
    fn new_game(&mut self, seat: usize, state: &AnyState, rng: Stream);

    /// Notifies a seat of an action of either side in its game.
    fn played(&mut self, _seat: usize, _action: Action) {}

    /// Begins to choose an action in a position of the seat's game, in which the game is not over.
    fn begin(&mut self, seat: usize, state: &AnyState, request: SearchRequest);

    /// Goes on with all seats: evaluates one batch, or looks whether another program has answered, or completes a search
    /// that cannot be interleaved. Returns the seats that have chosen.
    ///
    /// # Errors
    /// Positions could not be evaluated. The next call tries again.
    fn advance(&mut self, on_info: &mut OnInfo<'_>) -> Result<Vec<(usize, Chosen)>, Fault>;

    /// Report of a seat's last search, complete or so far.
    fn report(&self, seat: usize) -> SearchInfo;

    /// Analysis of a seat's tree, complete or so far; `None` if the action does not come from a tree.
    fn analysis(&self, _seat: usize) -> Option<Analysis> {
        None
    }

    /// The results for the legal actions after a line from the root of a seat's tree; `None` where it does not reach.
    fn actions_after(&self, _seat: usize, _line: &[Action]) -> Option<Vec<RootAction>> {
        None
    }

    /// The priors of the legal actions and the evaluation of a position, in which the game is not over, by the network
    /// without search; `None` without a network.
    ///
    /// # Errors
    /// The position could not be evaluated.
    fn predict(&mut self, _state: &AnyState) -> Result<Option<Prediction>, Fault> {
        Ok(None)
    }

    /// A few words on a seat's last choice.
    fn comment(&self, _seat: usize) -> Option<String> {
        None
    }

    /// Sets the number of threads of a search. Searches that have one thread ignore it.
    fn set_threads(&mut self, _threads: usize) {}

    /// Ends all that is under way without a result. What the seats have found of their games is lost.
    fn clear(&mut self);

    /// Removes all cached evaluations, as when the network has changed.
    fn forget(&mut self) {}
}

impl dyn Search + '_ {
    /// Chooses an action in a seat while all other seats are idle.
    ///
    /// # Errors
    /// There is no action to play.
    pub fn choose(&mut self, seat: usize, state: &AnyState) -> Chosen {
        self.choose_within(seat, state, SearchRequest::default(), &mut |_| ())
    }

    /// `choose` with the limits and the flag of a request, and reports if it asks for them.
    ///
    /// # Errors
    /// As `choose`.
    pub fn choose_within(
        &mut self,
        seat: usize,
        state: &AnyState,
        request: SearchRequest,
        on_info: &mut dyn FnMut(&SearchInfo),
    ) -> Chosen {
        self.begin(seat, state, request);
        loop {
            match self.advance(&mut |_, info| on_info(info)) {
                Ok(chosen) => {
                    if let Some((_, chosen)) = chosen.into_iter().next() {
                        return chosen;
                    }
                }
                Err(fault) => {
                    self.clear();
                    return Err(fault.into());
                }
            }
        }
    }
}
