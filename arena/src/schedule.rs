//! Schedule of a tournament.

use serde::{Deserialize, Serialize};

use super::record::{TournamentFormat, TournamentSettings};

/// A game to be played.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedGame {
    /// Number of the game in the tournament.
    pub number: usize,
    /// Indices of the agents of the first and the second side.
    pub agents: [usize; 2],
    /// Number of the opening.
    pub opening: usize,
}

/// Number of openings that a tournament needs.
pub(super) fn openings_needed(settings: &TournamentSettings) -> usize {
    settings.games / 2
}

/// The games. All meetings play an opening before any plays the next one, so that an interrupted tournament is balanced as
/// well.
pub(super) fn plans(settings: &TournamentSettings, agents: usize) -> Vec<PlannedGame> {
    let meetings: Vec<[usize; 2]> = match settings.format {
        TournamentFormat::RoundRobin => (0..agents).flat_map(|a| (a + 1..agents).map(move |b| [a, b])).collect(),
        TournamentFormat::Gauntlet => (1..agents).map(|b| [0, b]).collect(),
    };
    let mut plans = Vec::with_capacity(settings.games * meetings.len());
    for opening in 0..openings_needed(settings) {
        for &[a, b] in &meetings {
            for agents in [[a, b], [b, a]] {
                plans.push(PlannedGame { number: plans.len(), agents, opening });
            }
        }
    }
    plans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_robin_goes_opening_by_opening() {
        let agents = |format| -> Vec<[usize; 2]> {
            let plans = plans(&TournamentSettings::plain(format, 4, 0), 3);
            assert!(plans.iter().enumerate().all(|(i, plan)| plan.number == i));
            let (first, second) = plans.split_at(plans.len() / 2);
            assert!(first.iter().all(|plan| plan.opening == 0) && second.iter().all(|plan| plan.opening == 1));
            first.iter().map(|plan| plan.agents).collect()
        };
        assert_eq!(agents(TournamentFormat::RoundRobin), [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]]);
        assert_eq!(agents(TournamentFormat::Gauntlet), [[0, 1], [1, 0], [0, 2], [2, 0]]);
    }
}
