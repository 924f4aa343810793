//! The review of a game, whose positions the page has searched one after the other.

use std::sync::Arc;

use serde::Serialize;
use turnstone_agents::DynExactValues;
use turnstone_agents::review::{
    Found, KnownMove, OtherAction, PlayerTotals, ReviewedMove, SearchedGame, known_moves, moments,
};
use turnstone_env::{Action, AnyState};

use crate::error::Fault;
use crate::searcher::Searcher;
use crate::table::{Table, json};
use crate::truth::Truth;

/// A game that is reviewed.
pub struct Review {
    table: Table,
    truth: Option<Arc<dyn DynExactValues>>,
    positions: Vec<AnyState>,
    actions: Vec<Action>,
    known: Vec<Option<KnownMove>>,
    found: Vec<Found>,
    others: Vec<Option<OtherAction>>,
    /// What the next move to be reviewed is compared with, if that has to be searched.
    other: Option<(Action, AnyState)>,
    moves: Vec<ReviewedMove>,
}

/// The moves that are reviewed so far, as people see them.
#[derive(Serialize)]
struct Report<'a> {
    moves: &'a [ReviewedMove],
    totals: [PlayerTotals; 2],
    moments: Vec<usize>,
}

impl Review {
    /// A game from a position, with its moves separated by spaces.
    ///
    /// # Errors
    /// The text describes no position, or a move is not legal.
    pub fn new(table: &Table, start: &str, moves: &str) -> Result<Self, Fault> {
        let (mut positions, mut actions) = (vec![table.state(start)?], Vec::new());
        for text in moves.split_whitespace() {
            let mut state = positions[actions.len()].clone();
            let action = table.game().parse_action(&state, text)?;
            table.game().try_play(&mut state, action)?;
            actions.push(action);
            positions.push(state);
        }
        let known = vec![None; actions.len()];
        let (table, found, others, moves) = (table.clone(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { table, truth: None, positions, actions, known, found, others, other: None, moves })
    }

    /// Asks exact values first.
    pub fn know(&mut self, truth: &Truth) {
        let known = known_moves(self.table.game(), &*truth.values, &self.positions, &|| true);
        self.known = known.unwrap_or_default();
        self.truth = Some(truth.values.clone());
    }

    /// The next position to search; reviews the moves that need none. `None` after the last.
    pub fn wanted(&mut self) -> Option<String> {
        let game = self.table.clone();
        let game = game.game();
        loop {
            let (ply, searched) = (self.moves.len(), self.found.len());
            if ply == self.actions.len() {
                return None;
            }
            if searched <= ply + 1 && game.outcome(&self.positions[searched]).is_none() {
                return Some(game.position_text(&self.positions[searched]));
            }
            self.other = self.searched().other(ply);
            match &self.other {
                Some((_, state)) if game.outcome(state).is_none() => return Some(game.position_text(state)),
                _ => self.conclude(None),
            }
        }
    }

    /// Takes what a searcher has found in that position.
    ///
    /// # Errors
    /// It was not searched.
    pub fn take(&mut self, searcher: &Searcher) -> Result<(), Fault> {
        let found = Found::of_analysis(&searcher.analysis()?);
        match self.other {
            Some(_) => self.conclude(Some(found)),
            None => self.found.push(found),
        }
        Ok(())
    }

    /// Reviews the next move, which is compared with what was found after another one.
    fn conclude(&mut self, found: Option<Found>) {
        let other = self.other.take().and_then(|other| self.searched().valued(other, || found));
        self.others.push(other);
        let reviewed = self.searched().reviewed(self.moves.len());
        let (played, best) = (reviewed.shown.clone(), reviewed.best_shown.clone());
        self.moves.push(ReviewedMove { played, best, ..reviewed });
    }

    fn searched(&self) -> SearchedGame<'_> {
        SearchedGame {
            game: self.table.game(),
            truth: self.truth.as_deref(),
            positions: &self.positions,
            actions: &self.actions,
            opening_plies: 0,
            known: &self.known,
            found: &self.found,
            others: &self.others,
        }
    }

    /// The moves reviewed so far, what each player has lost, and the plies of the moments to look at, as a JSON object.
    #[must_use]
    pub fn report(&self) -> String {
        let totals = [1, 2].map(|player| PlayerTotals::of(&self.moves, player));
        json(&Report { moves: &self.moves, totals, moments: moments(&self.moves) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The review of the first legal moves from the start of a game, searched by playouts.
    fn reviewed(game: &str, params: &str, knows: bool) -> Value {
        let table = Table::new(game, params).unwrap();
        let (mut state, mut moves) = (table.game().start(), Vec::new());
        while table.game().outcome(&state).is_none() {
            let action = table.game().legal_actions(&state)[0];
            moves.push(table.game().display_text(&state, action));
            table.game().play(&mut state, action);
        }
        let start = table.game().position_text(&table.game().start());
        let mut review = Review::new(&table, &start, &moves.join(" ")).unwrap();
        if knows {
            review.know(&Truth::of(&table).unwrap().expect("exact values"));
        }
        let mut searcher = Searcher::new(table, "mcts:sims=30", None, 1).unwrap();
        while let Some(position) = review.wanted() {
            searcher.begin(&position, 30).unwrap();
            while !searcher.advance(1000.0).unwrap() {}
            review.take(&searcher).unwrap();
        }
        let report: Value = serde_json::from_str(&review.report()).unwrap();
        let played: Vec<&str> =
            report["moves"].as_array().unwrap().iter().map(|m| m["move"].as_str().unwrap()).collect();
        assert_eq!(played, moves);
        report
    }

    #[test]
    fn a_game_is_reviewed_by_exact_values_or_by_searches() {
        let exactly = reviewed("konane", r#"{"size": 4}"#, true);
        for played in exactly["moves"].as_array().unwrap() {
            let (is_fault, loss) = (played["mark"] == "??", played["loss"].as_f64().unwrap());
            assert!(
                played["source"] == "exact" && (loss == 0.0 || loss == 1.0) && is_fault == (loss == 1.0),
                "{played}"
            );
        }
        let found = reviewed("konane", r#"{"size": 4}"#, false);
        assert!(found["moves"].as_array().unwrap().iter().all(|played| played["source"] != "exact"));
        assert_eq!(found["totals"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn faults_of_a_game_are_named() {
        let table = Table::new("konane", "{}").unwrap();
        assert!(Review::new(&table, "nothing", "").is_err());
        let start = table.game().position_text(&table.game().start());
        assert!(Review::new(&table, &start, "a1a1").is_err());
    }
}
