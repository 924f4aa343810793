//! What people see of a match while it is played: standings, the course of a sequential test, time and nodes per move.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use turnstone_statistics::{Pentanomial, Sprt};

use super::record::{GameRecord, TournamentHeader};
use super::result::Tally;
use super::short_names::short_names;

/// Number of agents that a line of standings has room for.
const MOST_SHOWN: usize = 3;

/// The pairs of a match in the order of their numbers, in whatever order its games end.
#[derive(Default, Debug)]
pub(super) struct OrderedPairs {
    /// Results for the first player by number, of the games after those pairs.
    waiting: BTreeMap<usize, i8>,
    pairs: Pentanomial,
}

impl OrderedPairs {
    pub(super) fn put(&mut self, number: usize, result: i8) {
        self.waiting.insert(number, result);
    }

    /// The pairs with the next one, once both of its games have ended.
    pub(super) fn next(&mut self) -> Option<Pentanomial> {
        let first = 2 * self.pairs.pairs();
        let [one, other] = [self.waiting.get(&first)?, self.waiting.get(&(first + 1))?];
        self.pairs.add([*one, -other]);
        self.waiting = self.waiting.split_off(&(first + 2));
        Some(self.pairs)
    }
}

/// Standings of a match or tournament in progress.
#[derive(Debug)]
pub struct Standings {
    names: Vec<String>,
    sprt: Option<Sprt>,
    counts: Mutex<Counts>,
}

#[derive(Default, Debug)]
struct Counts {
    /// Results by agent.
    tallies: Vec<Tally>,
    pairs: OrderedPairs,
}

impl Standings {
    /// Standings before the first game.
    #[must_use]
    pub fn new(header: &TournamentHeader) -> Self {
        let tallies = vec![Tally::default(); header.agents.len()];
        let counts = Mutex::new(Counts { tallies, ..Counts::default() });
        Self { names: short_names(&header.agents).names, sprt: header.settings.sprt, counts }
    }

    /// Adds a finished game, and returns the number of games.
    pub fn add(&self, game: &GameRecord) -> usize {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (agent, result) in game.agents.into_iter().zip([game.result, -game.result]) {
            counts.tallies[agent].add(result);
        }
        counts.pairs.put(game.number, game.result);
        while counts.pairs.next().is_some() {}
        counts.tallies.iter().map(Tally::games).sum::<usize>() / 2
    }
}

/// One line: the results of the first of two agents, or the scores of the best; and the course of the test.
impl std::fmt::Display for Standings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let score = |tally: &Tally| 100.0 * tally.score();
        if let [first, _] = &counts.tallies[..] {
            let Tally { wins, draws, losses } = first;
            write!(f, "A {wins} won, {draws} drawn, {losses} lost: {:.1} %", score(first))?;
            if let Some(test) = self.sprt {
                let state = test.state(&counts.pairs.pairs);
                let ([low, high], ratio) = (state.bounds, state.log_likelihood_ratio);
                write!(f, ", LLR {ratio:.2} [{low:.2}, {high:.2}]")?;
            }
            return Ok(());
        }
        let mut order: Vec<usize> =
            (0..counts.tallies.len()).filter(|&agent| counts.tallies[agent].games() > 0).collect();
        order.sort_by(|&a, &b| counts.tallies[b].score().total_cmp(&counts.tallies[a].score()));
        let shown = order.iter().take(MOST_SHOWN);
        let shown: Vec<String> =
            shown.map(|&agent| format!("{} {:.1} %", self.names[agent], score(&counts.tallies[agent]))).collect();
        write!(f, "{}", shown.join(", "))
    }
}

/// What the moves of one agent have taken, without those of openings and random replacements.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effort {
    /// Number of moves.
    pub moves: u64,
    /// Time of the thread that searched. Games side by side share batches, and then their time.
    pub time: Duration,
    /// Simulations of a tree search, or positions that another search has visited.
    pub nodes: u64,
}

/// What the moves of each agent of a match have taken, added up by several threads.
#[derive(Debug)]
pub struct Efforts {
    names: Vec<String>,
    efforts: Mutex<Vec<Effort>>,
}

impl Efforts {
    /// Nothing yet.
    #[must_use]
    pub fn new(header: &TournamentHeader) -> Self {
        let names = match header.agents.len() {
            2 => ["A", "B"].map(String::from).to_vec(),
            _ => short_names(&header.agents).names,
        };
        Self { efforts: Mutex::new(vec![Effort::default(); names.len()]), names }
    }

    pub(super) fn add(&self, agent: usize, more: Effort) {
        let effort = &mut self.efforts.lock().unwrap_or_else(PoisonError::into_inner)[agent];
        effort.moves += more.moves;
        effort.time += more.time;
        effort.nodes += more.nodes;
    }

    /// Those of all agents so far, by index.
    #[must_use]
    pub fn all(&self) -> Vec<Effort> {
        self.efforts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A line for each agent that has moved, as `A: 1.25 ms and 100 nodes per move`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let line = |(name, effort): (&String, Effort)| {
            let per_move = |sum: f64| sum / effort.moves as f64;
            let (milliseconds, nodes) = (per_move(1e3 * effort.time.as_secs_f64()), per_move(effort.nodes as f64));
            format!("{name}: {milliseconds:.2} ms and {nodes:.0} nodes per move")
        };
        self.names.iter().zip(self.all()).filter(|(_, effort)| effort.moves > 0).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::record;

    #[test]
    fn a_match_shows_its_score_and_the_test_of_the_pairs_in_order() {
        let games = [(2, [0, 1], 1, "a"), (3, [1, 0], -1, "a"), (0, [0, 1], 0, "a"), (1, [1, 0], -1, "a")];
        let record = record(&["x", "y"], &games);
        let standings = Standings::new(&record.header);
        let lines: Vec<String> =
            record.games.iter().map(|game| format!("{} {standings}", standings.add(game))).collect();
        let test = record.header.settings.sprt.expect("a test");
        let line = |games, wins, draws, score, pairs: &[[i8; 2]]| {
            let mut counts = Pentanomial::default();
            pairs.iter().for_each(|&pair| counts.add(pair));
            let ratio = test.log_likelihood_ratio(&counts);
            format!("{games} A {wins} won, {draws} drawn, 0 lost: {score} %, LLR {ratio:.2} [-3.00, 3.00]")
        };
        // The pair with the numbers 2 and 3 waits for the first one.
        assert_eq!(lines[0], line(1, 1, 0, "100.0", &[]));
        assert_eq!(lines[1], line(2, 2, 0, "100.0", &[]));
        assert_eq!(lines[3], line(4, 3, 1, "87.5", &[[0, 1], [1, 1]]));
    }

    #[test]
    fn efforts_are_per_move() {
        let efforts = Efforts::new(&record(&["x", "y"], &[]).header);
        assert_eq!(efforts.lines(), Vec::<String>::new());
        for nodes in [0, 30] {
            efforts.add(1, Effort { moves: 1, time: Duration::from_millis(3), nodes });
        }
        assert_eq!(efforts.lines(), ["B: 3.00 ms and 15 nodes per move"]);
    }

    #[test]
    fn a_tournament_shows_the_best_of_those_that_have_played() {
        let games = [(0, [0, 1], -1, "a"), (1, [1, 0], 1, "a"), (4, [1, 2], 0, "a")];
        let record = record(&["x", "y", "z", "u"], &games);
        let standings = Standings::new(&record.header);
        record.games.iter().for_each(|game| _ = standings.add(game));
        assert_eq!(standings.to_string(), "y 83.3 %, z 50.0 %, x 0.0 %");
    }
}
