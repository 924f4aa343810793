//! The input of an iteration of self-play, and the positions from which its games start.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use turnstone_base::streams::Stream;
use turnstone_env::{ActionList, Notation, Outcome};
use turnstone_models::{NetworkConfig, Weights};

use crate::config::{SearchConfig, SelfPlayConfig};

/// Everything that games of self-play depend on besides the game and its evaluator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GameSettings {
    /// Constants of the search.
    pub search: SearchConfig,
    /// Constants of self-play.
    pub self_play: SelfPlayConfig,
    /// Simulations of moves that are searched in full.
    pub simulations: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the iteration, from 1; 0 for games that belong to no run.
    pub iteration: u64,
}

impl GameSettings {
    /// The games of an iteration with the simulations of its first one.
    #[must_use]
    pub fn new(search: &SearchConfig, self_play: &SelfPlayConfig, seed: u64, iteration: u64) -> Self {
        let simulations = search.simulations;
        Self { search: search.clone(), self_play: self_play.clone(), simulations, seed, iteration }
    }
}

/// An iteration of self-play: its settings and its network.
#[derive(Clone, Debug)]
pub struct Task {
    /// Settings of the games.
    pub settings: GameSettings,
    /// Architecture of the network.
    pub network: NetworkConfig,
    /// Weights of the network.
    pub weights: Weights,
    /// Observations by which the network is quantised, `[rows, features]`, if self-play computes with integers; if there
    /// are none, positions of random games.
    pub samples: Vec<f32>,
}

impl Task {
    /// An iteration whose network is quantised, if it is, by positions of random games.
    #[must_use]
    pub fn new(settings: GameSettings, network: &NetworkConfig, weights: &Weights) -> Self {
        Self { settings, network: network.clone(), weights: weights.clone(), samples: Vec::new() }
    }
}

/// Number of plies after which a game of self-play is a draw by truncation, for games without a limit of their own, which
/// need not end.
pub const MOST_PLIES: u16 = 10_000;

/// Parts of a worker's games apart from the evaluator.
pub(super) struct GameContext<G: Notation> {
    pub(super) game: G,
    pub(super) settings: GameSettings,
    /// Positions that the games begin with; if there are none, the start of the game.
    openings: Vec<G::State>,
}

impl<G: Notation> GameContext<G> {
    pub(super) fn new(game: &G, settings: &GameSettings) -> Self {
        let openings = states(game, &settings.self_play.openings);
        Self { game: game.clone(), settings: settings.clone(), openings }
    }

    /// Draws a starting position and its ply, after a random opening.
    pub(super) fn start(&self, rng: &mut Stream) -> (G::State, u16) {
        random_opening_from(&self.game, &self.openings, self.settings.self_play.opening_plies, rng)
    }

    /// The outcome of a game after `ply` plies; `None` while it is running.
    pub(super) fn outcome(&self, state: &G::State, ply: u16) -> Option<Outcome> {
        self.game.outcome(state).or_else(|| (ply >= MOST_PLIES).then(Outcome::truncation))
    }
}

/// The positions with these texts, which have been validated.
pub(super) fn states<G: Notation>(game: &G, texts: &[String]) -> Vec<G::State> {
    texts.iter().map(|text| game.parse_position(text).expect("the config was validated")).collect()
}

/// Plays 0 to `most` uniformly random plies from the start of the game: [`random_opening_from`] no other position.
pub(crate) fn random_opening<G: Notation>(game: &G, most: u16, rng: &mut Stream) -> (G::State, u16) {
    random_opening_from(game, &[], most, rng)
}

/// Plays 0 to `most` uniformly random plies from one of the positions, or the start if there are none; returns the position, in which the game is not over, and
/// the number of plies. Openings that end the game are drawn again.
fn random_opening_from<G: Notation>(game: &G, positions: &[G::State], most: u16, rng: &mut Stream) -> (G::State, u16) {
    let mut legal = ActionList::new();
    loop {
        let mut state = match positions {
            [] => game.start(),
            _ => positions[rng.random_range(0..positions.len())],
        };
        let plies = rng.random_range(0..=most);
        for _ in 0..plies {
            game.legal(&state, &mut legal);
            if legal.is_empty() {
                break;
            }
            game.play(&mut state, legal[rng.random_range(0..legal.len())]);
        }
        if game.outcome(&state).is_none() {
            return (state, plies);
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstone_base::streams::{Purpose, stream};
    use turnstone_env::Params;
    use turnstone_env::Rules;
    use turnstone_env::games::{Mancala, MuTorere};
    use turnstone_env::toy::Toy;

    use super::*;

    #[test]
    fn games_begin_with_the_positions_of_the_config() {
        let game = Mancala::default();
        let texts = ["4,4,4,0,5,5/1 4,4,4,4,4,5/0 2", "0,0,0,0,0,1/20 1,0,0,0,0,0/26 1"].map(str::to_owned);
        let openings = states(&game, &texts);
        let mut random = stream(5, Purpose::SelfPlay, [0, 0]);
        let mut counts = [0; 2];
        for _ in 0..1000 {
            let (state, plies) = random_opening_from(&game, &openings, 0, &mut random);
            assert_eq!(plies, 0);
            counts[openings.iter().position(|opening| *opening == state).expect("one of them")] += 1;
        }
        assert!(counts.iter().all(|count| (400..600).contains(count)), "{counts:?}");
    }

    #[test]
    fn games_without_an_end_are_draws() {
        let game = MuTorere::default().with_params(&Params::new().with("max_plies", 0)).expect("it has no limit");
        let settings = GameSettings::new(&SearchConfig::default(), &SelfPlayConfig::default(), 1, 1);
        let (rules, start) = (GameContext::new(&game, &settings), game.start());
        assert_eq!(rules.outcome(&start, MOST_PLIES - 1), None);
        assert_eq!(rules.outcome(&start, MOST_PLIES), Some(Outcome::truncation()));
    }

    #[test]
    fn openings_are_of_any_length_and_never_end_the_game() {
        let mut random = stream(5, Purpose::SelfPlay, [0, 0]);
        let game = Mancala::default();
        let mut lengths = [0; 5];
        for _ in 0..5000 {
            let (state, plies) = random_opening(&game, 4, &mut random);
            assert!(game.outcome(&state).is_none());
            lengths[usize::from(plies)] += 1;
            assert_eq!(state == game.start(), plies == 0);
        }
        assert!(lengths.iter().all(|count| (850..1150).contains(count)), "{lengths:?}");
        // The first action ends this game, and so does any second ply: two openings remain.
        let toy: Toy = "1(+1 2(-1 +1))".parse().expect("a tree");
        let mut inner = 0;
        for _ in 0..300 {
            let (state, plies) = random_opening(&toy, 3, &mut random);
            assert!(toy.outcome(&state).is_none() && plies < 2);
            assert_eq!(plies == 0, state == toy.start());
            inner += plies;
        }
        assert!(inner > 50, "{inner}");
    }
}
