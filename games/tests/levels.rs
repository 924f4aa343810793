//! The levels of the games, and play at a temperature.

use std::collections::BTreeMap;

use turnstone_agents::{Agent, AgentSpec, AtOnce, PlayableGame, levels};
use turnstone_base::streams::{Purpose, stream};
use turnstone_games::built_in;
use turnstone_models::Instructions;

fn agent(spec: &str, game: &dyn PlayableGame) -> Agent {
    Agent::load(&spec.parse().expect("a spec"), game).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_game_has_eight_levels_of_rising_strength() {
    for game in built_in().defaults() {
        let (name, levels) = (game.name(), levels(&*game).expect("its levels"));
        assert_eq!(levels.len(), 8, "{name}");
        for pair in levels.windows(2) {
            assert!(pair[0].elo < pair[1].elo, "{name}: {} and {}", pair[0], pair[1]);
        }
        for level in &levels {
            let [low, high] = level.interval;
            assert!(low < level.elo && level.elo < high, "{name}: {level}");
            let loaded = agent(&format!("level:{}", level.number), &*game);
            assert_eq!(loaded.spec, level.agent, "{name}: {level}");
        }
        let fault = Agent::load(&AgentSpec::Level(9), &*game).expect_err("there are eight").to_string();
        assert_eq!(fault, format!("agent `level:9`: {name} has no such level"));
    }
}

/// How often each first move is chosen in 300 games.
fn first_moves(spec: &str, game: &dyn PlayableGame) -> BTreeMap<String, u32> {
    let mut player = agent(spec, game).player(game).expect("a player");
    let mut counts = BTreeMap::new();
    for number in 0..300 {
        let mut rng = stream(number, Purpose::Play, [0, 0]);
        player.new_game(&game.start(), &mut rng);
        let action = player.choose(&game.start(), &mut rng).expect("a move");
        *counts.entry(game.action_text(action)).or_default() += 1;
    }
    counts
}

#[test]
fn a_temperature_draws_moves_and_a_higher_one_draws_worse_ones() {
    let game = built_in().make("mancala", &Default::default()).expect("a game");
    for (search, high) in [("sims=0", "5"), ("sims=8,method=gumbel", "10"), ("sims=100,method=puct", "10")] {
        let best = first_moves(&format!("az:pretrained,{search}"), &*game);
        assert_eq!(best.len(), 1, "{search}: {best:?}");
        let best = best.keys().next().expect("a move");
        let share = |temperature: &str| {
            let counts = first_moves(&format!("az:pretrained,{search},temperature={temperature}"), &*game);
            counts.get(best).copied().unwrap_or_default()
        };
        let [warm, hot] = ["1", high].map(share);
        assert!(warm > hot + 30, "{search}: {warm} and {hot} of 300");
    }
}

#[test]
fn moves_are_drawn_in_proportion_to_the_policy() {
    let game = built_in().make("mancala", &Default::default()).expect("a game");
    let explorer = agent("az:pretrained", &*game).explorer(&*game, 0, Instructions::best()).expect("a search");
    let (priors, _) = explorer.expect("a tree").predict(&game.start()).expect("no GPU");
    let counts = first_moves("az:pretrained,sims=0,temperature=1", &*game);
    for (action, prior) in priors {
        let expected = 300.0 * prior;
        let found = counts.get(&game.action_text(action)).copied().unwrap_or_default() as f32;
        // Five standard deviations.
        assert!((found - expected).abs() < 5.0 * expected.sqrt() + 3.0, "{prior}: {found} of 300");
    }
}

#[test]
fn agents_with_a_temperature_search_neither_as_a_team_nor_in_slices() {
    let game = built_in().make("mu_torere", &Default::default()).expect("a game");
    for (sims, at_once) in [(0, AtOnce::Shared), (8, AtOnce::Players(1 << 17))] {
        let agent = agent(&format!("az:pretrained,sims={sims},temperature=0.5"), &*game);
        assert_eq!(agent.at_once(), at_once);
        assert!(agent.team(&*game, 4).expect("no fault").is_none());
        assert!(agent.explorer(&*game, 0, Instructions::best()).expect("no fault").is_none());
    }
}
