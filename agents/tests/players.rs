//! Tests of agents as players of games behind the object-safe interface.

use std::path::Path;

use turnstone_agents::streams::{Purpose, stream};
use turnstone_agents::{Agent, PlayableGame, SearchInfo, SearchRequest, built_in, load_network};
use turnstone_env::Params;

/// Plays a game in which every move is searched twice: without a request, and with a progress report within the agent's
/// limits.
fn watched_and_alone(game: &dyn PlayableGame, spec: &str) {
    let agent = Agent::load(&spec.parse().expect("a spec"), game).expect("it plays this game");
    let [mut alone, mut watched] = [(); 2].map(|()| agent.player(game).expect("a player"));
    let mut state = game.start();
    let mut rngs = [0, 1].map(|_| stream(1, Purpose::Play, [0, 0]));
    alone.new_game(&state, &mut rngs[0]);
    watched.new_game(&state, &mut rngs[1]);
    for _ in 0..12 {
        let action = alone.choose(&state, &mut rngs[0]).expect("an action");
        let mut last = None;
        let mut report = |info: &SearchInfo| last = Some(info.clone());
        let mut request = SearchRequest { report: Some(&mut report), ..SearchRequest::default() };
        assert_eq!(watched.search(&state, &mut request, &mut rngs[1]), Ok(action), "{spec}");
        let last = last.expect("a report");
        assert_eq!(last.line[0], action, "{spec}");
        let sum: f32 = last.score.map_or(1.0, |score| score.win_draw_loss.iter().sum());
        assert!((sum - 1.0).abs() < 1e-5, "{spec}: {last:?}");
        game.play(&mut state, action);
        alone.played(action);
        watched.played(action);
        if game.outcome(&state).is_some() {
            return;
        }
    }
}

#[test]
fn a_progress_report_does_not_change_the_moves() {
    let [mancala, mu_torere] =
        ["mancala", "mu_torere"].map(|name| built_in().make(name, &Params::new()).expect("a game"));
    for spec in [
        "random",
        "minimax:depth=4",
        "alphabeta:depth=6",
        "alphabeta:depth=6,hash=1",
        "alphabeta:nodes=3000,hash=1",
        "breadthfirst:depth=3",
        "bestfirst:nodes=500",
        "mcts:sims=70",
    ] {
        watched_and_alone(&*mancala, spec);
    }
    for spec in ["az:pretrained,sims=30", "az:pretrained,sims=30,search=puct", "az:pretrained,sims=0"] {
        watched_and_alone(&*mu_torere, spec);
    }
}

#[test]
fn every_pretrained_agent_plays_its_game_and_is_small() {
    let mut agents = 0;
    for game in built_in().defaults() {
        let Some(bytes) = game.files().pretrained else { continue };
        assert!(bytes.len() < 3_000_000, "{}", game.name());
        load_network(Path::new("pretrained"), &*game).expect("it fits the game's defaults");
        agents += 1;
    }
    assert_eq!(agents, turnstone_models::pretrained_games().count(), "a file in models/pretrained is of no game");
    assert!(agents > 0);
}
