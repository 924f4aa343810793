//! The result of a match: wins, draws and losses by seat, score and Elo difference with intervals.

use serde::{Deserialize, Serialize};

use super::{GameRecord, Pentanomial, TournamentRecord};

/// Wins, draws and losses.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Games won.
    pub wins: usize,
    /// Games drawn.
    pub draws: usize,
    /// Games lost.
    pub losses: usize,
}

/// A record in both seats.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeatRecord {
    /// As player 1.
    pub first: Record,
    /// As player 2.
    pub second: Record,
}

/// The result of a match, for agent A.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MatchResult {
    /// The specs of agents A and B.
    pub agents: [String; 2],
    /// A's record in both seats.
    pub by_seat: SeatRecord,
    /// Pairs of games by A's points. Score and Elo are theirs: a game whose partner was not played counts for neither.
    pub pairs: Pentanomial,
    /// A's score: wins and half the draws, as a share of the games, 0..=1.
    pub score: f64,
    /// 95 % interval of the score.
    pub score_interval: [f64; 2],
    /// Elo difference that the score stands for; infinite if A won or lost everything (`null` in JSON).
    pub elo: f64,
    /// 95 % interval of the Elo difference.
    pub elo_interval: [f64; 2],
    /// Likelihood of superiority, 0..=1: how sure it is that A's expected score is above one half.
    pub los: f64,
    /// Games that differ in at least one move.
    pub distinct_games: usize,
    /// All games, in pairs from the same opening; A plays the first side in those with even numbers.
    pub games: Vec<GameRecord>,
}

impl Record {
    fn add(&mut self, result: i8) {
        match result {
            1 => self.wins += 1,
            0 => self.draws += 1,
            _ => self.losses += 1,
        }
    }

    /// Games played.
    #[must_use]
    pub fn games(&self) -> usize {
        self.wins + self.draws + self.losses
    }

    /// Wins and half the draws as a share of the games, 0..=1; not a number if there is none.
    #[must_use]
    pub fn score(&self) -> f64 {
        (self.wins as f64 + 0.5 * self.draws as f64) / self.games() as f64
    }

    fn swapped(self) -> Self {
        Self { wins: self.losses, losses: self.wins, ..self }
    }
}

impl SeatRecord {
    /// Counts games by the seat, 0 or 1, and the result, 1, 0 or -1.
    pub(super) fn of(games: impl Iterator<Item = (usize, i8)>) -> Self {
        let mut record = Self::default();
        for (seat, result) in games {
            if seat == 0 { &mut record.first } else { &mut record.second }.add(result);
        }
        record
    }

    /// The same games as the opponent sees them.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { first: self.second.swapped(), second: self.first.swapped() }
    }

    /// Both seats together.
    #[must_use]
    pub fn total(&self) -> Record {
        Record {
            wins: self.first.wins + self.second.wins,
            draws: self.first.draws + self.second.draws,
            losses: self.first.losses + self.second.losses,
        }
    }
}

impl MatchResult {
    /// The result of a match, the first agent of the record being A.
    #[must_use]
    pub fn new(record: TournamentRecord) -> Self {
        let games = record.games;
        let agents = [0, 1].map(|agent| record.header.agents[agent].clone());
        let seat = |game: &GameRecord| (usize::from(game.agents[0] != 0), game.half_points(0) as i8 - 1);
        let by_seat = SeatRecord::of(games.iter().map(seat));
        let mut pairs = Pentanomial::default();
        for pair in games.chunks_exact(2) {
            pairs.add([pair[0].result, -pair[1].result]);
        }
        let mut lines: Vec<&[String]> = games.iter().map(|game| game.moves.as_slice()).collect();
        lines.sort_unstable();
        lines.dedup();
        let distinct_games = lines.len();
        Self {
            agents,
            by_seat,
            pairs,
            score: pairs.score(),
            score_interval: pairs.score_interval(),
            elo: pairs.elo(),
            elo_interval: pairs.elo_interval(),
            los: pairs.superiority(),
            distinct_games,
            games,
        }
    }

    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let Record { wins, draws, losses } = self.by_seat.total();
        let [low, high] = self.score_interval.map(|s| 100.0 * s);
        format!(
            "{wins} won, {draws} drawn, {losses} lost: {:.1} % [{low:.1}, {high:.1}], Elo {} [{}, {}]",
            100.0 * self.score,
            signed(self.elo),
            signed(self.elo_interval[0]),
            signed(self.elo_interval[1])
        )
    }
}

impl MatchResult {
    /// The first game in Markdown.
    #[must_use]
    pub fn sample(&self) -> String {
        let Some(game) = self.games.first() else { return String::new() };
        let result = ["lost", "drawn", "won"][game.half_points(0) as usize];
        let ([a, b], plies, moves) = (&self.agents, game.opening_plies, game.moves.join(" "));
        format!("`{a}`, player 1, against `{b}`: {result}; {plies} random plies, then theirs\n\n`{moves}`")
    }
}

/// Elo with its sign.
pub(super) fn signed(elo: f64) -> String {
    match elo {
        f64::INFINITY => "+inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ => format!("{elo:+.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{Ending, Format, Header, Settings};
    use turnstone_env::Params;

    /// A match with these results for A and last moves; A plays the first side in every other game.
    fn result(games: &[(i8, &str)]) -> MatchResult {
        let game = |(number, &(result, last)): (usize, &(i8, &str))| GameRecord {
            number,
            round: 0,
            agents: if number % 2 == 0 { [0, 1] } else { [1, 0] },
            opening: number / 2,
            opening_plies: 0,
            moves: vec![last.into()],
            result: if number % 2 == 0 { result } else { -result },
            ending: Ending::Rules,
            incidents: Vec::new(),
        };
        let header = Header {
            turnstone_arena: Header::FORMAT,
            game: "mancala".into(),
            version: 1,
            params: Params::new(),
            agents: vec!["x".into(), "y".into()],
            networks: vec![None, None],
            settings: Settings::plain(Format::RoundRobin, games.len(), 0),
            openings: Vec::new(),
        };
        let games = games.iter().enumerate().map(game).collect();
        MatchResult::new(TournamentRecord { header, notes: Vec::new(), games })
    }

    #[test]
    fn a_worked_example() {
        let result = result(&[(1, "a"), (0, "b"), (1, "a"), (-1, "c")]);
        assert_eq!(result.by_seat.first, Record { wins: 2, draws: 0, losses: 0 });
        assert_eq!(result.by_seat.second, Record { wins: 0, draws: 1, losses: 1 });
        assert_eq!(result.distinct_games, 3);
        assert_eq!(result.pairs.counts(), [0, 0, 1, 1, 0]);
        assert!((result.score - 0.625).abs() < 1e-12);
        assert!((result.elo - 88.74).abs() < 0.01, "{}", result.elo);
    }

    #[test]
    fn a_clean_sweep_has_an_interval() {
        let result = result(&[(1, "a"); 10]);
        assert_eq!(result.score, 1.0);
        assert!(result.score_interval[0] < 0.85 && result.elo_interval[0].is_finite());
        assert!(result.summary().contains("Elo +inf"));
        assert_eq!(result.sample(), "`x`, player 1, against `y`: won; 0 random plies, then theirs\n\n`a`");
    }
}
