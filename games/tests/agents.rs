//! The trained agents fit their games, are small, and are compiled in.

use std::path::Path;

use turnstone_agents::load_network;
use turnstone_games::built_in;

#[test]
fn every_trained_agent_fits_its_game_and_is_small() {
    for game in built_in().defaults() {
        let (name, found) = (game.name(), load_network(Path::new("pretrained"), &*game));
        let bytes = game.files().pretrained.expect("every built-in game has an agent");
        assert!(bytes.len() < 3_000_000, "{name} has {} bytes", bytes.len());
        assert_eq!(found.expect("it fits the game's defaults").info.game, name);
    }
}
