//! One game between two players: clocks, faults and their penalties.

use std::time::Duration;

use rand::RngExt;
use turnstone_agents::search::Stop;
use turnstone_agents::{Chosen, PlayerFault, SearchRequest};
use turnstone_base::streams::{Purpose, Stream, stream};
use turnstone_env::{Action, ActionList, AnyState, DynGame, Side};

use super::openings::Opening;
use super::record::{Ending, GameRecord, Incident, Penalty, TournamentSettings};
use super::schedule::PlannedGame;

/// Plays games according to the settings.
pub(super) struct Referee<'a> {
    pub(super) game: &'a dyn DynGame,
    pub(super) settings: &'a TournamentSettings,
}

/// A game in progress.
pub(super) struct GameInProgress {
    plan: PlannedGame,
    opening_plies: usize,
    pub(super) state: AnyState,
    moves: Vec<Action>,
    incidents: Vec<Incident>,
    pub(super) sides: [SideInProgress; 2],
    end: Option<End>,
}

/// One side of a game in progress.
pub(super) struct SideInProgress {
    pub(super) agent: usize,
    pub(super) rng: Stream,
    /// Remaining time for the game, if there are clocks.
    remaining: Option<Duration>,
    /// Whether random moves replace the player's from now on.
    replaced: bool,
}

/// End of a game, with the result for the first side.
struct End {
    result: i8,
    ending: Ending,
}

impl Referee<'_> {
    /// Begins a game. Its searches have not been notified.
    pub(super) fn begin(&self, plan: &PlannedGame, opening: &Opening) -> GameInProgress {
        let [a, b] = plan.agents;
        let side = |agent: usize, other: usize| SideInProgress {
            agent,
            // Each agent keeps its random stream when the seats are swapped.
            rng: stream(self.settings.seed, Purpose::Match, [plan.number as u64, u64::from(agent > other)]),
            remaining: self.settings.clock.map(Duration::from_millis),
            replaced: false,
        };
        GameInProgress {
            plan: *plan,
            opening_plies: opening.actions.len(),
            state: opening.state.clone(),
            moves: opening.actions.clone(),
            incidents: Vec::new(),
            sides: [side(a, b), side(b, a)],
            end: None,
        }
    }

    /// The side to move; `None` if the game is over.
    pub(super) fn turn(&self, game: &mut GameInProgress) -> Option<Side> {
        if game.end.is_none() {
            game.end = self.ended(&game.state);
        }
        game.end.is_none().then(|| self.game.mover(&game.state))
    }

    /// A random action, if random moves have replaced those of the side to move.
    pub(super) fn replacement(&self, game: &mut GameInProgress) -> Option<Action> {
        let side = &mut game.sides[self.game.mover(&game.state).index()];
        side.replaced.then(|| self.random(&game.state, &mut side.rng))
    }

    /// Request for the side to move. Once `stop` is raised, its answer is any action, or a fault.
    pub(super) fn request(&self, game: &GameInProgress, stop: &Stop) -> SearchRequest {
        let remaining = game.sides[self.game.mover(&game.state).index()].remaining;
        SearchRequest { remaining, ..SearchRequest::stopped_by(stop) }
    }

    /// Takes the time that the side to move has needed from its clock. Returns what it has chosen, or that its time is up.
    pub(super) fn timed(&self, game: &mut GameInProgress, elapsed: Duration, chosen: Chosen) -> Chosen {
        let side = &mut game.sides[self.game.mover(&game.state).index()];
        let Some(remaining) = side.remaining else { return chosen };
        let left = remaining.checked_sub(elapsed);
        side.remaining = Some(left.unwrap_or_default());
        // A crash after the time limit counts as a crash.
        if left.is_none() && chosen.is_ok() { Err(PlayerFault::OutOfTime) } else { chosen }
    }

    /// Plays what the side to move has chosen. Returns the action, of which the searches are to be notified; `None` if
    /// the game was lost by a fault.
    pub(super) fn answer(&self, game: &mut GameInProgress, chosen: Chosen) -> Option<Action> {
        let mover = self.game.mover(&game.state);
        let action = match chosen {
            Ok(action) => action,
            Err(fault) => {
                let kind = ending(&fault);
                let side = &mut game.sides[mover.index()];
                game.incidents.push(Incident {
                    ply: game.moves.len(),
                    agent: side.agent,
                    kind,
                    what: fault.to_string(),
                });
                if self.penalty(kind) == Some(Penalty::Lose) {
                    game.end = Some(End { result: -mover.sign() as i8, ending: kind });
                    return None;
                }
                side.replaced = true;
                self.random(&game.state, &mut side.rng)
            }
        };
        self.game.play(&mut game.state, action);
        game.moves.push(action);
        Some(action)
    }

    /// The record of a game that is over.
    pub(super) fn record(&self, game: GameInProgress) -> GameRecord {
        let PlannedGame { number, agents, opening } = game.plan;
        let End { result, ending } = game.end.expect("the game is over");
        GameRecord {
            number,
            agents,
            opening,
            opening_plies: game.opening_plies,
            moves: self.game.line_texts(&self.game.start(), &game.moves),
            result,
            ending,
            incidents: game.incidents,
        }
    }

    /// Consequence of a fault of this kind; `None` if it is not a fault.
    fn penalty(&self, kind: Ending) -> Option<Penalty> {
        match kind {
            Ending::OutOfTime => Some(self.settings.out_of_time),
            Ending::IllegalMove | Ending::Crash => Some(Penalty::Lose),
            Ending::Rules | Ending::Limit => None,
        }
    }

    fn ended(&self, state: &AnyState) -> Option<End> {
        let outcome = self.game.outcome(state)?;
        let ending = if outcome.truncated { Ending::Limit } else { Ending::Rules };
        Some(End { result: outcome.value(), ending })
    }

    fn random(&self, state: &AnyState, rng: &mut Stream) -> Action {
        let mut legal = ActionList::new();
        self.game.legal(state, &mut legal);
        legal[rng.random_range(0..legal.len())]
    }
}

/// The kind of a fault. A search that returns one of evaluation cannot go on, as a program that crashes.
fn ending(fault: &PlayerFault) -> Ending {
    match fault {
        PlayerFault::OutOfTime => Ending::OutOfTime,
        PlayerFault::IllegalMove(_) => Ending::IllegalMove,
        PlayerFault::Crashed(_) | PlayerFault::Silent(_) | PlayerFault::Evaluation(_) => Ending::Crash,
    }
}

#[cfg(test)]
mod tests;
