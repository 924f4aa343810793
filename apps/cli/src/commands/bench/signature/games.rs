//! Signature of the rules and of alpha-beta.

use std::iter;

use anyhow::Result;
use rand::{Rng, SeedableRng};
use turnstone_base::streams::Stream;
use turnstone_env::perft::divide;
use turnstone_env::{ActionList, Game, Params};
use turnstone_search::classic::{AlphaBeta, Heuristic, Limits, SearchResult};

use super::Digest;
use turnstone_agents::Playable;
use turnstone_games::Benched;

/// Checksum of the rules, with the defaults and in variants: perft counts, and all functions of the game on the positions
/// of random games.
pub(super) fn rules() -> Result<Digest> {
    let mut digest = Digest::default();
    turnstone_games::for_each_game!(K => {
        for params in iter::once(&[][..]).chain(K::VARIANTS.iter().copied()) {
            let params = params.iter().fold(Params::new(), |all, &(key, value)| all.with(key, value));
            add_rules(&<K as Playable>::Game::with_params(&params)?, &mut digest);
        }
    });
    Ok(digest)
}

/// The game with its defaults.
pub(super) fn default_game<K: Playable>() -> Result<K::Game> {
    Ok(K::Game::with_params(&Params::new())?)
}

fn add_rules<G: Game>(game: &G, digest: &mut Digest) {
    const GAMES: usize = 40;
    const MOST_PLIES: usize = 250;
    digest.text(G::NAME);
    digest.number(G::VERSION);
    game.params().iter().for_each(|(key, value)| digest.text(&format!("{key}={value}")));
    let spec = game.spec();
    digest.text(&format!("{:?} {:?} {:?}", spec.point_planes, spec.scalars, spec.blocks));
    for (action, leaves) in divide(game, &game.start(), 5) {
        digest.number(action.0);
        digest.number(leaves);
    }
    let mut rng = Stream::seed_from_u64(1);
    let mut legal = ActionList::new();
    for _ in 0..GAMES {
        let mut state = game.start();
        for _ in 0..MOST_PLIES {
            add_position(game, &state, digest);
            if !play_randomly(game, &mut state, &mut legal, &mut rng) {
                break;
            }
        }
    }
}

/// Adds a position: texts, mover, outcome, observation, legal actions with texts and policy indices, and its image
/// under one of the board's symmetries.
fn add_position<G: Game>(game: &G, state: &G::State, digest: &mut Digest) {
    let spec = game.spec();
    let mover = game.mover(state);
    let text = game.position_text(state);
    digest.text(&text);
    digest.text(&game.parse_position(&text).map_or_else(|e| e.to_string(), |state| game.position_text(&state)));
    digest.text(&game.position_text(&game.without_counters(state)));
    digest.text(game.phase(state));
    digest.number(mover.number());
    match game.outcome(state) {
        None => digest.number(0),
        Some(outcome) => {
            digest.text(outcome.name());
            digest.number(outcome.margin);
            digest.number(u8::from(outcome.truncated));
        }
    }
    let mut features = vec![0.0; spec.features()];
    game.observe(state, &mut features);
    digest.floats(&features);
    let mut legal = ActionList::new();
    game.legal(state, &mut legal);
    digest.number(legal.len());
    for &action in &*legal {
        digest.number(action.0);
        digest.number(spec.policy_index(mover, action));
        digest.text(&game.action_text_in(state, action));
    }
    let symmetry = &spec.symmetries[text.len() * 7 % spec.symmetries.len()];
    digest.text(&game.position_text(&game.permuted(state, symmetry)));
    legal.iter().for_each(|action| digest.number(symmetry.actions[action.index()]));
}

/// Plays a random action. Returns false if the game is over.
fn play_randomly<G: Game>(game: &G, state: &mut G::State, legal: &mut ActionList, rng: &mut Stream) -> bool {
    game.legal(state, legal);
    if legal.is_empty() {
        return false;
    }
    game.play(state, legal[(rng.next_u64() % legal.len() as u64) as usize]);
    true
}

/// `count` positions of unfinished games after up to `plies` random plies, the same on every machine.
pub(super) fn positions<G: Game>(game: &G, count: usize, plies: usize) -> Vec<G::State> {
    let mut rng = Stream::seed_from_u64(2);
    let mut legal = ActionList::new();
    let mut position = |plies| loop {
        let mut state = game.start();
        for _ in 0..plies {
            play_randomly(game, &mut state, &mut legal, &mut rng);
        }
        if game.outcome(&state).is_none() {
            return state;
        }
    };
    (0..count).map(|i| position(plies * (i + 1) / count)).collect()
}

/// Checksum of alpha-beta: results and statistics with every heuristic, with and without a table, to a fixed depth and
/// with a node limit.
pub(super) fn alpha_beta() -> Result<Digest> {
    let mut digest = Digest::default();
    turnstone_games::for_each_game!(K => {
        add_alpha_beta(&default_game::<K>()?, K::heuristics(), &mut digest);
    });
    Ok(digest)
}

fn add_alpha_beta<G: Game>(game: &G, heuristics: Vec<Box<dyn Heuristic<G>>>, digest: &mut Digest) {
    const DEPTH: u32 = 5;
    const NODES: u64 = 30_000;
    for heuristic in heuristics {
        digest.text(heuristic.name());
        let mut plain = AlphaBeta::new(game, &heuristic);
        let mut with_table = AlphaBeta::new(game, &heuristic).with_table(1 << 18);
        for state in positions(game, 8, 24) {
            add_found(&plain.search(&state, DEPTH), digest);
            add_found(&with_table.search(&state, DEPTH), digest);
            add_found(&with_table.deepen(&state, &Limits::nodes(NODES)), digest);
        }
    }
}

fn add_found(found: &SearchResult, digest: &mut Digest) {
    digest.number(found.action.map_or(-1, |action| i32::from(action.0)));
    digest.number(found.score);
    digest.number(found.depth);
    digest.number(u8::from(found.complete));
    digest.number(found.line.len());
    found.line.iter().for_each(|action| digest.number(action.0));
    let stats = &found.stats;
    let counts = [stats.nodes, stats.evaluated, stats.expanded, stats.generated, stats.cutoffs];
    counts.iter().for_each(|&count| digest.number(count));
}
