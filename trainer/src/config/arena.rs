//! The `[arena]` section.

use serde::Serialize;

use turnstone_agents::{AgentSpec, Role, SearchKind};
use turnstone_arena::{MatchOptions, OpeningSource, TournamentFormat};
use turnstone_base::settings;
use turnstone_base::settings::{Fault, Settings};

settings! {
    /// Matches of the averaged weights during training.
    #[derive(Clone, PartialEq, Debug, Serialize)]
    pub struct ArenaConfig {
        /// Iterations between matches; 0: only at the end of the run.
        pub every: u64 = 20, 0..=1_000_000_000;
        /// Games per match, in pairs from one random opening with sides swapped; an odd number is rounded up.
        pub games: usize = 40, 2..=1_000_000;
        /// Games per match at the end of the run.
        pub final_games: usize = 200, 2..=1_000_000;
        /// Simulations per move of the network's search.
        pub simulations: u32 = 100, 1..=1_000_000;
        /// Algorithm of the network's search.
        pub method: SearchKind;
        /// Fewest and most random plies of an opening.
        pub opening_plies: [u16; 2] = [2, 6], 0..=1000;
        /// Agents that the network plays a match against, whose play must repeat (no limits of time, one thread); `engine:` starts
        /// a program.
        pub opponents: Vec<AgentSpec> = vec![AgentSpec::random()];
        /// Whether the network's moves are graded against exact values beside every match, where there are some.
        pub grade: bool = true;
        /// Games against each rung of the game's ladder; 0: no ladder.
        pub ladder_games: usize = 0, 0..=1_000_000;
        /// Games against the best checkpoint so far; 0: none.
        pub best_games: usize = 0, 0..=1_000_000;
    }
}

impl ArenaConfig {
    /// The options of a match of this many games from random openings, which `seed` decides.
    #[must_use]
    pub fn match_options(&self, games: usize, seed: u64) -> MatchOptions {
        MatchOptions {
            games: Some(games),
            openings: Some(OpeningSource::Random(self.opening_plies)),
            seed: Some(seed),
            format: Some(TournamentFormat::Gauntlet),
            ..MatchOptions::default()
        }
    }

    /// The opponents that are other programs.
    pub fn engines(&self) -> impl Iterator<Item = &AgentSpec> {
        self.opponents.iter().filter(|opponent| opponent.role() == Role::Program)
    }

    /// Checks every value.
    pub(super) fn validate(&self) -> Result<(), Fault> {
        self.check()?;
        if let Some(human) = self.opponents.iter().find(|spec| spec.is_human()) {
            return Err(Fault::other("opponents", format!("`{human}` cannot play in a match")));
        }
        // Equal runs have equal metrics, and one that is resumed those of one that is not.
        if let Some((spec, why)) = self.opponents.iter().find_map(|spec| Some((spec, spec.varies_by()?))) {
            let fault = format!(
                "`{spec}` plays differently each time, as {why}: limit it by nodes or simulations, or play the match with `arena`"
            );
            return Err(Fault::other("opponents", fault));
        }
        Ok(())
    }
}
