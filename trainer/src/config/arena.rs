//! The `[arena]` section.

use serde::{Deserialize, Serialize};

use turnstone_agents::{AgentSpec, Role, SearchKind};

use turnstone_selfplay::config::within;
use turnstone_selfplay::section;

section! {
    /// `[arena]`: matches during training.
    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct ArenaConfig as "arena" {
        /// Iterations between matches. 0 plays matches only at the end of the run.
        pub every: u64 = 20, 0..=1_000_000_000;
        /// Games per match, in pairs that share an opening with seats swapped.
        pub games: usize = 40, 2..=1_000_000;
        /// Games per match at the end of the run.
        pub final_games: usize = 200, 2..=1_000_000;
        /// Simulations per move of the network's search.
        pub simulations: u32 = 100, 1..=1_000_000;
        /// Kind of tree search that the network plays with.
        pub method: SearchKind = SearchKind::default();
        /// Minimum and maximum number of random plies of an opening.
        pub opening_plies: [u16; 2] = [2, 6];
        /// Agents that the network plays a match against.
        pub opponents: Vec<AgentSpec> = vec![AgentSpec::random()];
        /// Whether the network's moves are graded against exact values after every match, if the game comes with some.
        pub grade: bool = true;
        /// Games against each rung of the game's ladder. 0 skips the ladder.
        pub ladder_games: usize = 0, 0..=1_000_000;
        /// Games against the best checkpoint so far. 0 skips that match.
        pub best_games: usize = 0, 0..=1_000_000;
    }
}

impl ArenaConfig {
    /// The opponents that are other programs.
    pub fn engines(&self) -> impl Iterator<Item = &AgentSpec> {
        self.opponents.iter().filter(|opponent| opponent.role() == Role::Program)
    }

    /// Checks the range of every value.
    pub(super) fn validate(&self) -> Result<(), String> {
        self.check_ranges()?;
        let [fewest, most] = self.opening_plies;
        within("arena.opening_plies[1]", &most, &(fewest..=1000))?;
        if let Some(human) = self.opponents.iter().find(|spec| spec.is_human()) {
            return Err(format!("arena.opponents: `{human}` cannot play in a match"));
        }
        // Equal runs have equal metrics, and one that is resumed those of one that is not.
        if let Some((spec, why)) = self.opponents.iter().find_map(|spec| Some((spec, spec.varies_by()?))) {
            return Err(format!(
                "arena.opponents: `{spec}` plays differently each time, as {why}: limit it by nodes or \
                                simulations, or play the match with `arena`"
            ));
        }
        Ok(())
    }
}
