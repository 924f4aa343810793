//! Schedule of a tournament: the games of every round.

use serde::{Deserialize, Serialize};

use super::record::{GameRecord, TournamentFormat, TournamentSettings};

/// Maximum number of steps in the search for pairings without rematches, after which rematches are accepted.
const MOST_STEPS: u32 = 20_000;

/// A game to be played.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedGame {
    /// Number of the game in the tournament.
    pub number: usize,
    /// Number of the round.
    pub round: usize,
    /// Indices of the agents of the first and the second side.
    pub agents: [usize; 2],
    /// Number of the opening.
    pub opening: usize,
}

/// Number of rounds.
pub(super) fn rounds(settings: &TournamentSettings) -> usize {
    match settings.format {
        TournamentFormat::Swiss { rounds } => rounds,
        TournamentFormat::RoundRobin | TournamentFormat::Gauntlet => 1,
    }
}

/// Number of openings that a tournament needs.
pub(super) fn openings_needed(settings: &TournamentSettings) -> usize {
    rounds(settings) * settings.games / 2
}

/// Number of games of a tournament with this number of agents.
pub(super) fn games_planned(settings: &TournamentSettings, agents: usize) -> usize {
    let meetings = match settings.format {
        TournamentFormat::RoundRobin => agents * (agents - 1) / 2,
        TournamentFormat::Gauntlet => agents - 1,
        TournamentFormat::Swiss { rounds } => rounds * (agents / 2),
    };
    meetings * settings.games
}

/// The games of a round, given those of the earlier rounds. All meetings play an opening before any plays the next one,
/// so that an interrupted round is balanced as well.
pub(super) fn plans(
    settings: &TournamentSettings,
    agents: usize,
    round: usize,
    earlier: &[GameRecord],
) -> Vec<PlannedGame> {
    let meetings: Vec<[usize; 2]> = match settings.format {
        TournamentFormat::RoundRobin => (0..agents).flat_map(|a| (a + 1..agents).map(move |b| [a, b])).collect(),
        TournamentFormat::Gauntlet => (1..agents).map(|b| [0, b]).collect(),
        TournamentFormat::Swiss { .. } => swiss(settings.games, agents, earlier),
    };
    let pairs = settings.games / 2;
    let mut plans = Vec::with_capacity(2 * pairs * meetings.len());
    for opening in round * pairs..(round + 1) * pairs {
        for &[a, b] in &meetings {
            for agents in [[a, b], [b, a]] {
                plans.push(PlannedGame { number: earlier.len() + plans.len(), round, agents, opening });
            }
        }
    }
    plans
}

/// Meetings of a Swiss round: agents in order of their points, each paired with the next one that it has not met. With
/// an odd number, the lowest-ranked agent with the fewest byes gets a bye, which counts as a round of wins.
fn swiss(games_each: usize, agents: usize, earlier: &[GameRecord]) -> Vec<[usize; 2]> {
    let mut met = vec![vec![0u32; agents]; agents];
    let mut points = vec![0; agents];
    for game in earlier {
        let [first, second] = game.agents;
        met[first][second] += 1;
        met[second][first] += 1;
        points[first] += game.half_points(first);
        points[second] += game.half_points(second);
    }
    let rounds = earlier.last().map_or(0, |game| game.round + 1);
    let mut byes = vec![0u32; agents];
    for round in 0..rounds {
        let played: Vec<usize> =
            earlier.iter().filter(|game| game.round == round).flat_map(|game| game.agents).collect();
        for agent in (0..agents).filter(|agent| !played.contains(agent)) {
            byes[agent] += 1;
            points[agent] += 2 * games_each as u32;
        }
    }
    let mut order: Vec<usize> = (0..agents).collect();
    order.sort_by_key(|&agent| (std::cmp::Reverse(points[agent]), agent));
    if agents % 2 == 1 {
        let fewest = byes.iter().min().copied().unwrap_or(0);
        let sits_out = order.iter().rposition(|&agent| byes[agent] == fewest).expect("someone has the fewest");
        order.remove(sits_out);
    }
    let mut steps = MOST_STEPS;
    let mut meetings = Vec::new();
    if !pair(&order, &met, &mut meetings, &mut steps) {
        meetings = nearest_pairs(order, &met);
    }
    meetings
}

/// Pairs all of `left` without a rematch: the first with the nearest that allows a pairing of the others.
fn pair(left: &[usize], met: &[Vec<u32>], meetings: &mut Vec<[usize; 2]>, steps: &mut u32) -> bool {
    let [first, others @ ..] = left else { return true };
    for (i, &other) in others.iter().enumerate().filter(|&(_, &other)| met[*first][other] == 0) {
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        let rest: Vec<usize> = others[..i].iter().chain(&others[i + 1..]).copied().collect();
        meetings.push([*first, other]);
        if pair(&rest, met, meetings, steps) {
            return true;
        }
        meetings.pop();
    }
    false
}

/// Pairs the first with the nearest of those that it has met least often, and repeats with the others.
fn nearest_pairs(mut left: Vec<usize>, met: &[Vec<u32>]) -> Vec<[usize; 2]> {
    let mut meetings = Vec::new();
    while left.len() > 1 {
        let first = left.remove(0);
        let other = (0..left.len()).min_by_key(|&i| met[first][left[i]]).expect("there are others");
        meetings.push([first, left.remove(other)]);
    }
    meetings
}

#[cfg(test)]
mod tests {
    use super::super::record::{Adjudication, Ending, Penalty};
    use super::*;

    fn settings(format: TournamentFormat, games: usize) -> TournamentSettings {
        TournamentSettings {
            format,
            games,
            seed: 0,
            clock: None,
            out_of_time: Penalty::Lose,
            on_fault: Penalty::Lose,
            adjudication: Adjudication::None,
            sprt: None,
        }
    }

    /// Record of a planned game, won by the agent with the lower index.
    fn record(plan: &PlannedGame) -> GameRecord {
        let PlannedGame { number, round, agents, opening } = *plan;
        let result = if agents[0] < agents[1] { 1 } else { -1 };
        let (moves, incidents) = (Vec::new(), Vec::new());
        GameRecord { number, round, agents, opening, opening_plies: 0, moves, result, ending: Ending::Rules, incidents }
    }

    #[test]
    fn a_round_robin_goes_opening_by_opening() {
        let settings = settings(TournamentFormat::RoundRobin, 4);
        let plans = plans(&settings, 3, 0, &[]);
        assert_eq!(plans.len(), games_planned(&settings, 3));
        assert!(plans.iter().enumerate().all(|(i, plan)| plan.number == i));
        let first: Vec<[usize; 2]> = plans[..6].iter().map(|plan| plan.agents).collect();
        assert_eq!(first, [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]]);
        assert!(plans[..6].iter().all(|plan| plan.opening == 0) && plans[6..].iter().all(|plan| plan.opening == 1));
        let gauntlet = super::plans(&TournamentSettings { format: TournamentFormat::Gauntlet, ..settings }, 3, 0, &[]);
        assert_eq!(gauntlet.iter().map(|plan| plan.agents).collect::<Vec<_>>()[..4], [[0, 1], [1, 0], [0, 2], [2, 0]]);
    }

    #[test]
    fn swiss_rounds_avoid_rematches_and_share_the_byes() {
        for agents in [2, 3, 5, 6, 8, 9] {
            let rounds = if agents % 2 == 1 { agents } else { agents - 1 };
            let settings = settings(TournamentFormat::Swiss { rounds }, 2);
            let mut games: Vec<GameRecord> = Vec::new();
            for round in 0..rounds {
                let plans = plans(&settings, agents, round, &games);
                assert_eq!(plans.len(), agents / 2 * 2);
                assert!(plans.iter().all(|plan| plan.opening == round), "a round has openings of its own");
                games.extend(plans.iter().map(record));
            }
            assert_eq!(games.len(), games_planned(&settings, agents));
            let mut met: Vec<[usize; 2]> = games.iter().step_by(2).map(|game| game.agents).collect();
            met.iter_mut().for_each(|pair| pair.sort_unstable());
            let meetings = met.len();
            met.sort_unstable();
            met.dedup();
            // As many rounds as are possible without a rematch: the last one may need some.
            assert!(meetings - met.len() <= agents / 2, "{agents} agents: {} of {meetings} are new", met.len());
            for agent in 0..agents {
                let played = games.iter().filter(|game| game.agents.contains(&agent)).count() / 2;
                assert!(rounds - played <= 1, "agent {agent} of {agents} sat out {}", rounds - played);
            }
        }
    }

    #[test]
    fn the_leaders_meet() {
        let settings = settings(TournamentFormat::Swiss { rounds: 3 }, 2);
        let first: Vec<GameRecord> = plans(&settings, 4, 0, &[]).iter().map(record).collect();
        assert_eq!(first.iter().map(|game| game.agents).collect::<Vec<_>>(), [[0, 1], [1, 0], [2, 3], [3, 2]]);
        let second = plans(&settings, 4, 1, &first);
        assert_eq!(second.iter().map(|plan| plan.agents).collect::<Vec<_>>(), [[0, 2], [2, 0], [1, 3], [3, 1]]);
    }
}
