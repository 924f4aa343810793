//! Signature of PUCT and Gumbel search, with an artificial evaluator and with networks.

use anyhow::Result;
use rand::SeedableRng;
use turnstone_base::streams::Stream;
use turnstone_env::Game;
use turnstone_models::{NetworkConfig, ResidualMlp};
use turnstone_search::{EvalBatch, Evaluation, Evaluator, Gumbel, Mcts, Method, Puct, RootNoise, SearchOptions};

use super::Digest;
use super::games::{default_game, positions};
use super::networks::weights;
use turnstone_agents::{NetworkEvaluator, shape};

/// Simulations per move.
const SIMULATIONS: u32 = 64;
/// Consecutive moves searched with the same tree.
const MOVES: usize = 6;

/// Settings of a search.
struct Settings {
    method: Method,
    /// Value of a draw for the first side.
    draw: f32,
    /// Temperature of the moves played.
    temperature: f32,
}

fn settings(method: Method) -> Settings {
    Settings { method, draw: 0.0, temperature: 1.0 }
}

/// Checksum of PUCT without noise at temperatures 0 and 1. It uses additions, products, quotients and roots only, so it
/// is the same on every machine.
pub(super) fn puct() -> Result<Digest> {
    let puct = Puct::default();
    let all = [
        settings(Method::Puct(puct)),
        settings(Method::Puct(Puct { c_puct: 2.5, fpu_reduction: 0.0, ..puct })),
        settings(Method::Puct(Puct { forced_playouts: 2.0, ..puct })),
        Settings { draw: -0.5, temperature: 0.0, ..settings(Method::Puct(puct)) },
    ];
    searches(&all)
}

/// Checksum of Gumbel search.
pub(super) fn gumbel() -> Result<Digest> {
    let gumbel = Gumbel::default();
    let all = [
        settings(Method::Gumbel(gumbel)),
        settings(Method::Gumbel(Gumbel::strongest(SIMULATIONS))),
        settings(Method::Gumbel(Gumbel {
            max_num_considered_actions: 4,
            c_visit: 20.0,
            c_scale: 1.0,
            gumbel_scale: 1.0,
        })),
        Settings { draw: 0.25, temperature: 0.0, ..settings(Method::Gumbel(gumbel)) },
    ];
    searches(&all)
}

fn searches(all: &[Settings]) -> Result<Digest> {
    let mut digest = Digest::default();
    turnstone_games::for_each_game!(K => {
        let game = default_game::<K>()?;
        all.iter().for_each(|one| add_searches(&game, one, &mut MadeUp, &mut digest));
    });
    Ok(digest)
}

/// Checksum of PUCT as in self-play: a network, Dirichlet noise and a temperature.
pub(super) fn puct_network() -> Result<Digest> {
    let noise = Some(RootNoise { concentration: 10.0, fraction: 0.25 });
    let method = Method::Puct(Puct { noise, forced_playouts: 2.0, ..Puct::default() });
    network_searches(&Settings { temperature: 0.5, ..settings(method) })
}

/// Checksum of Gumbel search as in self-play: a network and Gumbel noise.
pub(super) fn gumbel_network() -> Result<Digest> {
    network_searches(&settings(Method::Gumbel(Gumbel { gumbel_scale: 1.0, ..Gumbel::default() })))
}

fn network_searches(settings: &Settings) -> Result<Digest> {
    let mut digest = Digest::default();
    let network = NetworkConfig::from(ResidualMlp { blocks: 1, width: 32 });
    turnstone_games::for_each_game!(K => {
        let game = default_game::<K>()?;
        let weights = weights(&network.layout(&shape(&game.spec()))?, 3)?;
        let mut evaluator = NetworkEvaluator::new(game.spec(), &network, &weights, 1)?;
        add_searches(&game, settings, &mut evaluator, &mut digest);
    });
    Ok(digest)
}

fn add_searches<G: Game>(game: &G, settings: &Settings, evaluator: &mut impl Evaluator<G>, digest: &mut Digest) {
    let mut rng = Stream::seed_from_u64(4);
    for state in positions(game, 8, 24) {
        let mut search = Mcts::new(game, state);
        for _ in 0..MOVES {
            if game.outcome(search.state()).is_some() {
                break;
            }
            let draw = search.mover().sign() * settings.draw;
            let options = SearchOptions { draw, ..settings.method.into() };
            search.begin(game, &options, SIMULATIONS, &mut rng);
            search.run(game, evaluator);
            add_search(&search, digest);
            let action = search.choose(settings.temperature, &mut rng);
            digest.number(action.0);
            search.advance(game, action);
        }
    }
}

/// Adds a search's visits, priors, values, policy, root evaluation and principal variation.
fn add_search<G: Game>(search: &Mcts<G>, digest: &mut Digest) {
    for root in search.actions() {
        digest.number(root.action.0);
        digest.number(root.visits);
        digest.number(root.proven.map_or(2, i32::from));
        digest.floats(&[root.prior, root.value]);
    }
    let mut policy = Vec::new();
    search.policy(&mut policy);
    digest.floats(&policy);
    let Evaluation { value, draw } = search.estimate();
    digest.floats(&[value, draw]);
    digest.number(search.simulations_left());
    digest.number(search.size().nodes);
    search.principal_variation().iter().for_each(|action| digest.number(action.0));
}

/// Priors and values from a checksum of the position's text, without any float function that differs between machines.
struct MadeUp;

impl<G: Game> Evaluator<G> for MadeUp {
    fn evaluate(&mut self, game: &G, batch: &mut EvalBatch<G::State>) {
        for i in 0..batch.len() {
            let text = game.position_text(&batch.states()[i]);
            let below = |salt: usize, most: u32| {
                let mut digest = Digest::default();
                digest.number(salt);
                digest.text(&text);
                (digest.value() % most) as f32
            };
            let draw = below(0, 256) / 512.0;
            batch.set_evaluation(i, Evaluation { value: (below(1, 257) / 128.0 - 1.0) * (1.0 - draw), draw });
            let (legal, priors) = batch.legal_and_priors(i);
            for (prior, action) in priors.iter_mut().zip(legal) {
                *prior = 1.0 + below(2 + action.index(), 64);
            }
            let sum: f32 = priors.iter().sum();
            priors.iter_mut().for_each(|prior| *prior /= sum);
        }
    }
}
