//! Tests of agents as players of games behind the object-safe interface.

use std::path::Path;

use turnstone_agents::streams::{Purpose, stream};
use turnstone_agents::{
    Agent, AgentSpec, PlayableGame, SearchInfo, SearchKind, SearchRequest, SearchSettings, built_in, checkpoint_info,
    load_network,
};
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
    for spec in [
        "az:pretrained,sims=30",
        "az:pretrained,sims=30,search=puct",
        "az:pretrained,sims=0",
        "az:pretrained,sims=30,precision=i8",
    ] {
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

/// Plays a few moves and returns what the agent said of each.
fn comments(game: &dyn PlayableGame, agent: &Agent) -> Vec<String> {
    let mut player = agent.player(game).expect("a player");
    let (mut state, mut rng) = (game.start(), stream(1, Purpose::Play, [0, 0]));
    player.new_game(&state, &mut rng);
    let mut said = Vec::new();
    for _ in 0..6 {
        let action = player.choose(&state, &mut rng).expect("an action");
        said.push(format!("{} {}", game.action_text(action), player.comment().unwrap_or_default()));
        game.play(&mut state, action);
        player.played(action);
    }
    said
}

#[test]
fn integers_predict_what_floats_do() {
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    let agent = |precision: &str| {
        let spec = format!("az:pretrained,sims=40,precision={precision}").parse().expect("a spec");
        Agent::load(&spec, &*game).expect("an agent comes with the program")
    };
    let [floats, integers, automatic] = ["f32", "i8", "auto"].map(agent);
    assert_eq!(comments(&*game, &integers), comments(&*game, &integers.clone()));
    assert_eq!(comments(&*game, &integers), comments(&*game, &agent("i8")), "quantised anew");
    assert_ne!(comments(&*game, &integers), comments(&*game, &floats));
    let best = if turnstone_models::Precision::Auto.is_quantised() { &integers } else { &floats };
    assert_eq!(comments(&*game, &automatic), comments(&*game, best));
    let [mut one, mut other] = [&floats, &integers].map(|agent| agent.player(&*game).expect("a player"));
    let (mut state, mut rng) = (game.start(), stream(1, Purpose::Play, [0, 0]));
    let mut plies = 0;
    while game.outcome(&state).is_none() {
        let [a, b] = [&mut one, &mut other].map(|player| player.predict(&state).expect("a network"));
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.1), "ply {plies}: {a:?} {b:?}");
        assert!((b.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let action = one.choose(&state, &mut rng).expect("an action");
        game.play(&mut state, action);
        one.played(action);
        other.played(action);
        plies += 1;
    }
    assert!(plies > 10);
}

#[test]
fn a_network_is_played_with_the_search_that_it_was_trained_with() {
    let game = built_in().make("mancala", &Params::new()).expect("a game");
    let trained_with = |search: &SearchSettings| {
        let mut network = load_network(Path::new("pretrained"), &*game).expect("an agent comes with the program");
        network.info.extra = checkpoint_info(&*game, &network.info.network, search, 1).extra;
        assert_eq!(network.search_settings(), *search);
        network
    };
    let spec = |text: &str| {
        let AgentSpec::Az { tree, .. } = text.parse().expect("a spec") else { panic!("a network's spec") };
        tree.search
    };
    let puct = SearchSettings { method: SearchKind::Puct, c_puct: 3.0, ..SearchSettings::default() };
    let gumbel = SearchSettings { c_scale: 0.1, ..SearchSettings::default() };
    let played = |search: &SearchSettings, options: &str| {
        comments(&*game, &Agent::from_network(trained_with(search), "x", 40, spec(&format!("az:x{options}"))))
    };
    let [by_puct, by_gumbel] = [played(&puct, ""), played(&gumbel, "")];
    assert_ne!(by_puct, by_gumbel);
    assert_eq!(by_puct, played(&gumbel, ",search=puct,c_puct=3"), "a spec overrides the checkpoint");
    assert_eq!(by_gumbel, played(&puct, ",search=gumbel,c_scale=0.1"));
    assert_ne!(by_puct, played(&puct, ",c_puct=0.2"));
    assert_ne!(by_gumbel, played(&gumbel, ",c_scale=5"));
}
