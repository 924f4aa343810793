//! Statistical summary of a tournament: results by agent, seat and meeting, and ratings with intervals.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};

use serde::Serialize;

use super::result::signed;
use super::short_names::short_names;
use super::{
    BySeat, Ending, GameRecord, MatchScore, Pairing, Pentanomial, Ratings, SprtState, Tally, TournamentRecord,
};

/// Statistical summary of a tournament.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Results of the agents, by index.
    pub agents: Vec<AgentResult>,
    /// Results of every two agents that met.
    pub meetings: Vec<Meeting>,
    /// Number of games.
    pub games: usize,
    /// Number of distinct games, counted within each meeting.
    pub distinct_games: usize,
    /// Number of games whose partner in the pair was not played. They count in the results by seat, but not in scores
    /// of meetings or ratings.
    pub unpaired_games: usize,
    /// Mean number of plies per game, including the opening; NaN (`null` in JSON) without games.
    pub mean_plies: f64,
    /// Score of the first seat over all pairs.
    pub first_seat: MatchScore,
    /// Number of games by ending.
    pub endings: BTreeMap<Ending, usize>,
    /// State of the sequential test, if there is one.
    pub sprt: Option<SprtState>,
}

/// Results of an agent.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AgentResult {
    /// Spec of the agent.
    pub agent: String,
    /// Results by seat.
    pub by_seat: BySeat,
    /// Share of the points, 0..=1; NaN (`null` in JSON) without games.
    pub score: f64,
    /// Joint rating in Elo.
    pub rating: f64,
    /// 95 % interval of the rating.
    pub rating_interval: [f64; 2],
    /// Rank by rating, from 1.
    pub rank: usize,
    /// Likelihood of superiority over the next agent in this order, 0..=1; `null` for the last.
    pub ahead: Option<f64>,
    /// Number of faults by kind: time, illegal moves, crashes.
    pub faults: BTreeMap<Ending, usize>,
}

/// Results between two agents, from the first one's point of view.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Meeting {
    /// Indices of the agents; the lower one first in [`Summary::meetings`].
    pub agents: [usize; 2],
    /// Results by seat.
    pub by_seat: BySeat,
    /// Score and Elo of the pairs, with their intervals.
    #[serde(flatten)]
    pub estimate: MatchScore,
    /// Number of distinct games.
    pub distinct_games: usize,
    /// Number of games whose partner in the pair was not played.
    pub unpaired_games: usize,
}

impl Summary {
    /// Summarises a tournament. `anchors` holds the known rating of each agent, if any; without anchors the mean rating
    /// is 0.
    #[must_use]
    pub fn new(record: &TournamentRecord, anchors: &[Option<f64>]) -> Self {
        let (specs, games) = (&record.header.agents, &record.games);
        let mut met: BTreeMap<[usize; 2], Vec<&GameRecord>> = BTreeMap::new();
        for game in games {
            let [a, b] = game.agents;
            met.entry([a.min(b), a.max(b)]).or_default().push(game);
        }
        let meetings: Vec<Meeting> = met.iter().map(|(agents, games)| Meeting::new(*agents, games)).collect();
        let pairings: Vec<Pairing> =
            meetings.iter().map(|meeting| Pairing { agents: meeting.agents, pairs: meeting.estimate.pairs }).collect();
        let ratings = Ratings::new(&pairings, anchors);
        let first_seat = met.values().map(|games| pairs(games, |game| game.result).0).sum::<Pentanomial>();
        let test = record.header.settings.sprt.zip(meetings.first());
        Self {
            agents: (0..specs.len()).map(|agent| AgentResult::new(&specs[agent], agent, games, &ratings)).collect(),
            games: games.len(),
            distinct_games: meetings.iter().map(|meeting| meeting.distinct_games).sum(),
            unpaired_games: meetings.iter().map(|meeting| meeting.unpaired_games).sum(),
            mean_plies: games.iter().map(|game| game.moves.len() as f64).sum::<f64>() / games.len() as f64,
            first_seat: first_seat.estimate(),
            endings: count(games.iter().map(|game| game.ending)),
            sprt: test.map(|(test, meeting)| test.state(&meeting.estimate.pairs)),
            meetings,
        }
    }

    /// Indices of the agents, strongest first.
    #[must_use]
    pub fn ranking(&self) -> Vec<usize> {
        let mut ranking: Vec<usize> = (0..self.agents.len()).collect();
        ranking.sort_by_key(|&agent| self.agents[agent].rank);
        ranking
    }

    /// Whether every pair of agents has met. Not so in a gauntlet, where one agent meets all others.
    #[must_use]
    pub fn all_have_met(&self) -> bool {
        let agents = self.agents.len();
        self.meetings.len() == agents * (agents - 1) / 2
    }

    /// Whether there are more than two agents, of which one has met all others and these have not met each other, as in
    /// a gauntlet or on a ladder.
    #[must_use]
    pub fn is_one_against_all(&self) -> bool {
        let others = self.agents.len().saturating_sub(1);
        others > 1
            && self.meetings.len() == others
            && (0..=others).any(|agent| self.meetings.iter().all(|meeting| meeting.agents.contains(&agent)))
    }

    /// The same with the short names of a tournament's agents, and a line that says what they leave out, if they do.
    #[must_use]
    pub(crate) fn with_short_names(&self) -> (Self, Option<String>) {
        let mut short = self.clone();
        if self.agents.len() == 2 {
            return (short, None);
        }
        let specs: Vec<String> = self.agents.iter().map(|agent| agent.agent.clone()).collect();
        let names = short_names(&specs);
        short.agents.iter_mut().zip(names.names).for_each(|(agent, name)| agent.agent = name);
        let cut: Vec<String> = names.cut.iter().map(|[shown, whole]| format!("{shown} is {whole}")).collect();
        (short, (!cut.is_empty()).then(|| cut.join(", ")))
    }

    /// Results between two agents, from the point of view of `a`; `None` if they have not met.
    #[must_use]
    pub fn meeting(&self, a: usize, b: usize) -> Option<Meeting> {
        let meeting = self.meetings.iter().find(|meeting| meeting.agents == [a.min(b), a.max(b)])?;
        Some(if a < b { meeting.clone() } else { meeting.swapped() })
    }
}

impl AgentResult {
    fn new(spec: &str, agent: usize, games: &[GameRecord], ratings: &Ratings) -> Self {
        let by_seat = BySeat::of(games.iter().filter_map(|game| game.seen_by(agent)));
        let faults = games.iter().flat_map(|game| &game.incidents).filter(|incident| incident.agent == agent);
        Self {
            agent: spec.to_owned(),
            by_seat,
            score: by_seat.total().score(),
            rating: ratings.elo(agent),
            rating_interval: ratings.interval(agent),
            rank: ratings.rank(agent),
            ahead: ratings.next(agent).map(|next| ratings.superiority(agent, next)),
            faults: count(faults.map(|incident| incident.kind)),
        }
    }
}

impl Meeting {
    /// Results of a match, from the first agent's point of view.
    #[must_use]
    pub fn of_match(record: &TournamentRecord) -> Self {
        Self::new([0, 1], &record.games.iter().collect::<Vec<_>>())
    }

    fn new(agents: [usize; 2], games: &[&GameRecord]) -> Self {
        let seen = |game: &GameRecord| game.seen_by(agents[0]).map_or(0, |(_, result)| result);
        let (pairs, unpaired_games) = pairs(games, seen);
        let lines: BTreeSet<&[String]> = games.iter().map(|game| game.moves.as_slice()).collect();
        Self {
            agents,
            by_seat: BySeat::of(games.iter().filter_map(|game| game.seen_by(agents[0]))),
            estimate: pairs.estimate(),
            distinct_games: lines.len(),
            unpaired_games,
        }
    }

    fn swapped(&self) -> Self {
        let [a, b] = self.agents;
        Self {
            agents: [b, a],
            by_seat: self.by_seat.swapped(),
            estimate: self.estimate.pairs.swapped().estimate(),
            ..self.clone()
        }
    }
}

/// One line: wins, draws and losses, score and Elo with intervals.
impl Display for Meeting {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Tally { wins, draws, losses } = self.by_seat.total();
        let MatchScore { score, score_interval, elo, elo_interval, .. } = self.estimate;
        let ([low, high], [elo_low, elo_high]) = (score_interval.map(|s| 100.0 * s), elo_interval.map(signed));
        write!(f, "{wins} won, {draws} drawn, {losses} lost: {:.1} % [{low:.1}, {high:.1}], ", 100.0 * score)?;
        write!(f, "Elo {} [{elo_low}, {elo_high}]", signed(elo))
    }
}

impl GameRecord {
    /// Seat of an agent, 0 or 1, and its result, 1, 0 or -1; `None` if it did not play in the game.
    fn seen_by(&self, agent: usize) -> Option<(usize, i8)> {
        let seat = self.agents.iter().position(|&player| player == agent)?;
        Some((seat, if seat == 0 { self.result } else { -self.result }))
    }
}

/// Counts the complete pairs among games by their two results; also returns the number of games without a partner.
fn pairs(games: &[&GameRecord], result: impl Fn(&GameRecord) -> i8) -> (Pentanomial, usize) {
    let mut halves = BTreeMap::new();
    let mut pairs = Pentanomial::default();
    for game in games {
        match halves.remove(&(game.number / 2)) {
            None => _ = halves.insert(game.number / 2, result(game)),
            Some(other) => pairs.add([other, result(game)]),
        }
    }
    (pairs, halves.len())
}

fn count(endings: impl Iterator<Item = Ending>) -> BTreeMap<Ending, usize> {
    let mut counts = BTreeMap::new();
    endings.for_each(|ending| *counts.entry(ending).or_default() += 1);
    counts
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{Incident, Penalty, TournamentFormat, TournamentHeader, TournamentSettings};

    /// Record of a tournament with these agents and games: number, first and second player, result for the first,
    /// moves.
    pub(crate) fn record(agents: &[&str], games: &[(usize, [usize; 2], i8, &str)]) -> TournamentRecord {
        let settings = TournamentSettings {
            format: TournamentFormat::RoundRobin,
            games: 4,
            seed: 7,
            clock: None,
            out_of_time: Penalty::Random,
            sprt: (agents.len() == 2).then(|| "0,50".parse().expect("a test")),
        };
        let game = |&(number, agents, result, moves): &(usize, [usize; 2], i8, &str)| GameRecord {
            number,
            agents,
            opening: number / 2,
            opening_plies: 1,
            moves: moves.split(' ').map(String::from).collect(),
            result,
            ending: Ending::Rules,
            incidents: Vec::new(),
        };
        let header = TournamentHeader {
            turnstone_arena: TournamentHeader::FORMAT,
            program: None,
            game: "mu_torere".into(),
            version: 1,
            params: turnstone_env::Params::default(),
            agents: agents.iter().map(|&agent| agent.into()).collect(),
            networks: vec![None; agents.len()],
            settings,
            openings: Vec::new(),
        };
        TournamentRecord { header, notes: Vec::new(), games: games.iter().map(game).collect() }
    }

    #[test]
    fn a_match_is_counted_by_seat_and_by_pair() {
        let games =
            [(0, [0, 1], 1, "a"), (1, [1, 0], 0, "b"), (2, [0, 1], 1, "a"), (3, [1, 0], 1, "c"), (5, [1, 0], 1, "d")];
        let mut record = record(&["x", "y"], &games);
        record.games[4].ending = Ending::Crash;
        record.games[4].incidents.push(Incident { ply: 1, agent: 0, kind: Ending::Crash, what: "gone".into() });
        let summary = Summary::new(&record, &[None, None]);
        let meeting = &summary.meetings[0];
        assert_eq!(meeting.by_seat.first, Tally { wins: 2, draws: 0, losses: 0 });
        assert_eq!(meeting.by_seat.second, Tally { wins: 0, draws: 1, losses: 2 });
        // Pairs of 3/2 and 1 points; the last game has no partner.
        assert_eq!((meeting.estimate.pairs.counts(), meeting.unpaired_games), ([0, 0, 1, 1, 0], 1));
        assert_eq!((summary.games, summary.distinct_games, meeting.estimate.score), (5, 4, 0.625));
        assert_eq!(summary.meeting(1, 0).map(|m| (m.estimate.score, m.by_seat.second.losses)), Some((0.375, 2)));
        assert_eq!(summary.agents[0].faults, BTreeMap::from([(Ending::Crash, 1)]));
        assert_eq!((summary.agents[0].by_seat, summary.agents[0].score), (meeting.by_seat, 0.5));
        // Player 1 scored 1 and 1/2, then 1 and 1.
        assert_eq!(summary.first_seat.pairs.counts(), [0, 0, 0, 1, 1]);
        assert!(summary.sprt.is_some() && summary.mean_plies == 1.0);
    }

    #[test]
    fn a_clean_sweep_in_one_line() {
        let games: Vec<_> =
            (0..10).map(|n| if n % 2 == 0 { (n, [0, 1], 1, "a b") } else { (n, [1, 0], -1, "a b") }).collect();
        let record = record(&["x", "y"], &games);
        let meeting = Meeting::of_match(&record);
        assert_eq!((meeting.estimate.score, meeting.distinct_games), (1.0, 1));
        let line = meeting.to_string();
        assert!(
            line.starts_with("10 won, 0 drawn, 0 lost: 100.0 % [")
                && line.contains("Elo +inf [")
                && line.ends_with("+inf]"),
            "{line}"
        );
        assert_eq!(record.sample(), "`x`, player 1, against `y`: won; 1 plies of the opening, then theirs\n\n`a b`");
    }

    #[test]
    fn ratings_rank_the_agents() {
        let games = [(0, [0, 1], 1, "a"), (1, [1, 0], -1, "b"), (2, [1, 2], 1, "a"), (3, [2, 1], -1, "c")];
        let summary = Summary::new(&record(&["x", "y", "z"], &games), &[None, Some(100.0), None]);
        assert_eq!((summary.ranking(), summary.agents[1].rating), (vec![0, 1, 2], 100.0));
        assert!(summary.agents[0].ahead.is_some_and(|sure| sure > 0.6) && summary.agents[2].ahead.is_none());
        assert!(summary.agents[0].rating > 200.0 && summary.meeting(0, 2).is_none() && summary.sprt.is_none());
        let json = serde_json::to_value(&summary).expect("JSON");
        assert_eq!(json["meetings"][0]["pairs"], serde_json::json!([0, 0, 0, 0, 1]));
    }

    #[test]
    fn no_game_at_all() {
        let summary = Summary::new(&record(&["x", "y"], &[]), &[None, None]);
        assert!(summary.meetings.is_empty() && summary.mean_plies.is_nan());
        assert_eq!(serde_json::to_value(&summary).expect("JSON")["mean_plies"], serde_json::Value::Null);
    }
}
