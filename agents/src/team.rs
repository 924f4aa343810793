//! Players of many games at once, whose positions are evaluated in one batch.

use turnstone_base::streams::Stream;
use turnstone_env::{Action, AnyState, Game};
use turnstone_models::{DeviceError, NetworkError};
use turnstone_search::{Mcts, Pool, Pooled};

use crate::agent::Agent;
use crate::classical::ClassicalMethod;
use crate::evaluator::{NetworkEvaluator, TryEvaluator};
use crate::network::LoadedNetwork;
use crate::players::evaluate_one;
use crate::spec::AgentSpec;
use crate::tree_player::TreePlayer;
use crate::tree_spec::{Budget, TreeSpec};

/// Capacity of a team's evaluation cache, in positions.
const CACHED: usize = 1 << 13;

/// Simulations of all trees of a team together, which bound its memory to about a quarter of a GiB.
const MOST_SIMULATIONS: u32 = 1 << 20;

/// Mebibytes of the transposition tables of the players that take part in games at once.
const LARGEST_TABLES: u32 = 256;

/// How an agent takes part in several games at once on one thread, with the same moves as in one game after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtOnce {
    /// With a [`Team`] of up to this many seats.
    Team(usize),
    /// With one player for all games: its choice depends on the position and the random stream alone.
    Shared,
    /// With a player per game, in up to this many games.
    Players(usize),
}

impl Agent {
    /// How the agent takes part in several games at once. Other programs and searches with a time limit play one game
    /// after another.
    #[must_use]
    pub fn at_once(&self) -> AtOnce {
        let trees = |simulations: u32| (MOST_SIMULATIONS / simulations.max(1)).max(1) as usize;
        match &self.spec {
            AgentSpec::Human | AgentSpec::Engine(_) => AtOnce::Players(1),
            AgentSpec::Random | AgentSpec::Exact(_) => AtOnce::Shared,
            AgentSpec::Classical(spec) => match spec.method {
                ClassicalMethod::Deepening { time: Some(_), .. }
                | ClassicalMethod::Deepening { total: Some(_), .. } => AtOnce::Players(1),
                _ => {
                    AtOnce::Players(LARGEST_TABLES.checked_div(spec.table()).map_or(usize::MAX, |n| n.max(1) as usize))
                }
            },
            AgentSpec::Mcts { budget: Budget::Simulations(simulations) } => AtOnce::Players(trees(*simulations)),
            AgentSpec::Az {
                tree: TreeSpec { budget: Budget::Simulations(simulations), .. }, tables: Some(_), ..
            } => AtOnce::Players(trees(*simulations)),
            AgentSpec::Az { tree: TreeSpec { budget: Budget::Simulations(0), .. }, .. } => AtOnce::Shared,
            AgentSpec::Az { tree: TreeSpec { budget: Budget::Simulations(simulations), .. }, .. } => {
                AtOnce::Team(trees(*simulations))
            }
            AgentSpec::Mcts { .. } | AgentSpec::Az { .. } => AtOnce::Players(1),
        }
    }
}

/// Plays one side in each of several games at once, one per seat. The moves are those of a [`Player`](crate::Player) per
/// game.
pub trait Team: Send {
    /// Starts a new game in a seat. Earlier games must not influence it.
    fn new_game(&mut self, seat: usize, state: &AnyState);

    /// Notifies a seat of an action of either side in its game.
    fn played(&mut self, seat: usize, action: Action);

    /// Begins to choose an action in a seat, in a position in which the game is not over. `rng` is the random stream of
    /// the game and side.
    fn begin(&mut self, seat: usize, state: &AnyState, rng: &mut Stream);

    /// Advances every choice that has begun by one evaluation, all in one batch, and adds the seats whose choice is made to
    /// `done`.
    ///
    /// # Errors
    /// The GPU failed. The next call evaluates the same batch again.
    fn advance(&mut self, done: &mut Vec<usize>) -> Result<(), DeviceError>;

    /// The action of a seat whose choice is made, with the random stream that it was begun with.
    fn chosen(&mut self, seat: usize, rng: &mut Stream) -> Action;

    /// Probabilities of win, draw and loss for the mover, evaluated by the network without search.
    ///
    /// # Errors
    /// The GPU failed.
    fn predict(&mut self, state: &AnyState) -> Result<[f32; 3], DeviceError>;
}

/// A team that searches with a network.
pub(crate) struct NetworkTeam<G: Game, E = NetworkEvaluator> {
    game: G,
    /// The player of each seat that is not choosing.
    players: Vec<Option<TreePlayer<G>>>,
    simulations: u32,
    choosing: Pool<G, Choice<G>>,
    evaluator: E,
}

/// A seat that is choosing.
struct Choice<G: Game> {
    seat: usize,
    player: TreePlayer<G>,
}

impl<G: Game> Pooled<G> for Choice<G> {
    fn search(&mut self) -> &mut Mcts<G> {
        &mut self.player.search
    }
}

impl<G: Game> NetworkTeam<G> {
    /// Creates a team of `seats` seats that runs this number of simulations per move.
    ///
    /// # Errors
    /// The weights do not match the network.
    pub(crate) fn new(
        game: &G,
        network: &LoadedNetwork,
        spec: TreeSpec,
        simulations: u32,
        seats: usize,
    ) -> Result<Self, NetworkError> {
        let evaluator = network.evaluator(game, (spec.precision, spec.device), seats)?;
        let settings = spec.search.over(network.search_settings());
        let players = (0..seats).map(|_| TreePlayer::new(game, spec.budget, settings)).collect();
        Ok(Self::of(game, players, simulations, evaluator))
    }
}

impl<G: Game, E> NetworkTeam<G, E> {
    fn of(game: &G, players: Vec<TreePlayer<G>>, simulations: u32, evaluator: E) -> Self {
        let players = players.into_iter().map(Some).collect();
        Self { game: game.clone(), players, simulations, choosing: Pool::new(CACHED), evaluator }
    }

    fn player(&mut self, seat: usize) -> &mut TreePlayer<G> {
        self.players[seat].as_mut().expect("the seat is not choosing")
    }
}

impl<G: Game, E: TryEvaluator<G> + Send> Team for NetworkTeam<G, E> {
    fn new_game(&mut self, seat: usize, state: &AnyState) {
        let player = self.players[seat].as_mut().expect("the seat is not choosing");
        player.new_game(&self.game, state.of());
    }

    fn played(&mut self, seat: usize, action: Action) {
        self.player(seat).played(action);
    }

    fn begin(&mut self, seat: usize, state: &AnyState, rng: &mut Stream) {
        let mut player = self.players[seat].take().expect("the seat is not choosing");
        player.begin(&self.game, state.of(), self.simulations, rng);
        self.choosing.push(Choice { seat, player });
    }

    fn advance(&mut self, done: &mut Vec<usize>) -> Result<(), DeviceError> {
        let (players, game, evaluator) = (&mut self.players, &self.game, &mut self.evaluator);
        self.choosing.gather(game, |Choice { seat, player }, _| {
            players[seat] = Some(player);
            done.push(seat);
            None
        });
        self.choosing.evaluate(|batch| evaluator.try_evaluate(game, batch)).map(drop)
    }

    fn chosen(&mut self, seat: usize, rng: &mut Stream) -> Action {
        self.player(seat).end(rng)
    }

    fn predict(&mut self, state: &AnyState) -> Result<[f32; 3], DeviceError> {
        let state = state.of();
        let (_, estimate) = evaluate_one(&self.game, state, &mut self.evaluator)?;
        Ok(estimate.win_draw_loss(self.game.mover(state)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::FailsOnce;
    use crate::search_settings::{SearchKind, SearchSettings};
    use turnstone_base::streams::{Purpose, stream};
    use turnstone_env::games::Mancala;

    #[test]
    fn a_batch_that_failed_is_evaluated_again() {
        let game = Mancala::default();
        let chosen = |calls_before: usize| {
            let (budget, settings) = (Budget::Simulations(20), SearchSettings::from(SearchKind::Puct));
            let seats = (0..2).map(|_| TreePlayer::new(&game, budget, settings)).collect();
            let mut team = NetworkTeam::of(&game, seats, 20, FailsOnce { calls_before });
            let mut rngs = [0, 1].map(|n| stream(1, Purpose::Play, [n, 0]));
            let (mut done, mut faults) = (Vec::new(), 0);
            for (seat, rng) in rngs.iter_mut().enumerate() {
                let state = AnyState::new(game.start());
                team.new_game(seat, &state);
                team.begin(seat, &state, rng);
            }
            while done.len() < 2 {
                if let Err(fault) = team.advance(&mut done) {
                    assert_eq!(fault, FailsOnce::fault());
                    faults += 1;
                }
            }
            assert_eq!(faults, usize::from(calls_before < 20));
            rngs.iter_mut().enumerate().map(|(seat, rng)| team.chosen(seat, rng)).collect::<Vec<_>>()
        };
        let whole = chosen(usize::MAX);
        assert_eq!(chosen(0), whole);
        assert_eq!(chosen(7), whole);
    }

    #[test]
    fn a_prediction_that_fails_is_an_error() {
        let game = Mancala::default();
        let mut team = NetworkTeam::of(&game, Vec::new(), 1, FailsOnce { calls_before: 0 });
        let start = AnyState::new(game.start());
        assert_eq!(team.predict(&start), Err(FailsOnce::fault()));
        assert_eq!(team.predict(&start), Ok([0.5, 0.0, 0.5]));
    }
}
