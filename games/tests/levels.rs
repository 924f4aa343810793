//! The levels of the games, and play at a temperature.

use std::collections::BTreeMap;

use turnstone_agents::{Agent, PlayableGame, levels};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Params;
use turnstone_games::built_in;

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
        let fault = Agent::load(&"level:9".parse().expect("a level"), &*game).expect_err("there are eight").to_string();
        assert_eq!(fault, format!("agent `level:9`: {name} has no such level"));
    }
}

#[test]
fn a_level_that_does_not_fit_is_named_with_the_reason() {
    let game = built_in().make("konane", &Params::new().with("size", 6)).expect("a game");
    let fault =
        Agent::load(&"level:2".parse().expect("a level"), &*game).expect_err("other sizes have none").to_string();
    assert_eq!(fault, "agent `level:2`: az:pretrained: the checkpoint is for `konane` with size=8, not 6");
}

/// How often each first move is chosen in 300 games.
fn first_moves(spec: &str, game: &dyn PlayableGame) -> BTreeMap<String, u32> {
    let mut search = agent(spec, game).search(game, 1).expect("a search");
    let mut counts = BTreeMap::new();
    for number in 0..300 {
        search.new_game(0, &game.start(), stream(number, Purpose::Play, [0, 0]));
        let action = search.choose(0, &game.start()).expect("a move");
        *counts.entry(game.action_text(&game.start(), action)).or_default() += 1;
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
    let mut search = agent("az:pretrained", &*game).search(&*game, 1).expect("a search");
    let priors = search.predict(&game.start()).expect("no GPU").expect("a network").priors;
    let counts = first_moves("az:pretrained,sims=0,temperature=1", &*game);
    for (action, prior) in priors {
        let expected = 300.0 * prior;
        let found = counts.get(&game.action_text(&game.start(), action)).copied().unwrap_or_default() as f32;
        // Five standard deviations.
        assert!((found - expected).abs() < 5.0 * expected.sqrt() + 3.0, "{prior}: {found} of 300");
    }
}

#[test]
fn agents_with_a_temperature_show_no_tree() {
    let game = built_in().make("mu_torere", &Default::default()).expect("a game");
    for (spec, is_shown) in [("sims=8", true), ("sims=8,temperature=0.5", false), ("sims=0", false)] {
        let mut search = agent(&format!("az:pretrained,{spec}"), &*game).search(&*game, 1).expect("a search");
        search.new_game(0, &game.start(), stream(1, Purpose::Play, [0, 0]));
        search.choose(0, &game.start()).expect("a move");
        assert_eq!(search.analysis(0).is_some(), is_shown, "{spec}");
    }
}
