//! Sample games of a network against itself, for reports.

use turnstone_agents::{LoadedNetwork, NetworkBackend, SearchSettings};
use turnstone_base::streams::Stream;
use turnstone_env::{Action, Notation, Side};
use turnstone_models::NetworkError;
use turnstone_search::Mcts;

/// Settings of a sample game.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Constants of the search.
    pub search: SearchSettings,
    /// Simulations per move.
    pub simulations: u32,
    /// Number of plies at the beginning that are sampled from the search's policy; later ones are the best move.
    pub varied_plies: usize,
    /// Maximum number of plies, after which the game is cut off.
    pub most_plies: usize,
}

/// A ply of a sample game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SamplePly {
    /// Probabilities that player 1 wins, draws and loses before the ply, according to the search.
    pub value: [f32; 3],
    /// The action played.
    pub action: Action,
}

/// Plays a sample game from the initial position.
pub(crate) fn play<G: Notation>(
    game: &G,
    network: &LoadedNetwork,
    sampling: &Sampling,
    rng: &mut Stream,
) -> Result<Vec<SamplePly>, NetworkError> {
    let Sampling { search: settings, simulations, varied_plies, most_plies } = *sampling;
    let mut backend = NetworkBackend::new(game.spec(), &network.info.network, &network.weights, 1)?;
    let mut search = Mcts::new(game, game.start());
    let (strongest, sampled) = (settings.strongest(simulations), settings.sampling(simulations));
    let mut plies = Vec::new();
    while game.outcome(search.state()).is_none() && plies.len() < most_plies {
        let (options, temperature) = if plies.len() < varied_plies { (&sampled, 1.0) } else { (&strongest, 0.0) };
        search.begin(game, options, simulations, rng);
        search.run(game, &mut backend).expect("a network on the processor does not fail");
        let value = search.estimate().win_draw_loss(Side::First);
        let action = search.choose(temperature, rng);
        search.advance(game, action);
        plies.push(SamplePly { value, action });
    }
    Ok(plies)
}
