//! What is checked of rules in Python: the promises of every game, and that one method answers as another.

use pyo3::prelude::*;
use turnstone_env::{Action, Notation, Rules, conformance};

use super::PyGame;
use super::layout::{Layout, PyState};
use super::rules::{Facts, Known};

/// Positions that are asked about one by one and all at once.
const CHECKED: usize = 200;

impl PyGame {
    /// Checks the promises of the rules in random games.
    pub(crate) fn check(&self, games: usize, seed: u64) -> PyResult<()> {
        self.0.faults.asserted(self.0.spec.name, || {
            self.check_start();
            conformance::check(self, games, seed);
            let states = self.random_states(seed);
            let rules = &self.0.rules;
            self.check_plays(&states);
            if rules.has_facts() {
                self.check_facts(&states);
            }
            if rules.observe.any() {
                self.check_observations(&states);
            }
            if rules.expands {
                self.check_expand(&states);
            }
            self.check_objects(&states);
        })
    }

    /// Checks that `play` makes a new state, before anything relies on it.
    fn check_start(&self) {
        let (Layout::Objects(objects), start) = (&self.0.rules.layout, self.start()) else { return };
        if let Some(&action) = self.facts(&start).legal.first() {
            self.ask(|py, rules| rules.plays(py, &[(start, action)]));
        }
        assert!(
            self.ask(|py, _| objects.is_unchanged(py, &start)),
            "play has changed its state: it has to make a new one"
        );
    }

    fn random_states(&self, seed: u64) -> Vec<PyState> {
        let games = (seed..).flat_map(|seed| conformance::random_game(self, seed, CHECKED));
        games.map(|(state, _)| state).take(CHECKED).collect()
    }

    fn check_plays(&self, states: &[PyState]) {
        let plays: Vec<(PyState, Action)> =
            states.iter().filter_map(|state| Some((*state, *self.facts(state).legal.first()?))).collect();
        if self.0.rules.play.one && self.0.rules.play.many {
            let many = self.ask(|py, rules| rules.plays(py, &plays));
            for (play, many) in plays.iter().zip(many) {
                let one = self.ask(|py, rules| rules.plays(py, &[*play]))[0];
                let text = self.position_text(&play.0);
                assert_eq!(self.position_text(&one), self.position_text(&many), "play and play_many agree at `{text}`");
            }
        }
    }

    fn check_facts(&self, states: &[PyState]) {
        let many = self.ask(|py, rules| rules.facts(py, states));
        for (state, many) in states.iter().zip(&many) {
            let one = self.ask(|py, rules| rules.facts(py, &[*state])).pop().expect("facts of one position");
            self.expect_equal(state, &one, many, ["mover_many", "outcome_many", "legal_actions_many"]);
        }
    }

    fn check_observations(&self, states: &[PyState]) {
        let many = self.ask(|py, rules| rules.observations(py, states));
        for (state, many) in states.iter().zip(many) {
            let one = self.ask(|py, rules| rules.observations(py, &[*state])).pop().expect("one observation");
            assert!(one == many, "observation and observation_many agree at `{}`", self.position_text(state));
        }
    }

    fn check_expand(&self, states: &[PyState]) {
        let rules = &self.0.rules;
        let all = self.ask(|py, rules| rules.expanded(py, states));
        for (state, (facts, observation)) in states.iter().zip(&all) {
            let one = self.expanded(state);
            self.expect_equal(state, &one.0, facts, ["expand of many"; 3]);
            assert!(
                one.1 == *observation,
                "expand of one position and of many agree at `{}`",
                self.position_text(state)
            );
        }
        if rules.has_facts() {
            for (state, by_methods) in states.iter().zip(self.ask(|py, rules| rules.facts(py, states))) {
                self.expect_equal(state, &by_methods, &self.expanded(state).0, ["expand"; 3]);
            }
        }
        if rules.observe.any() {
            for ((state, by_method), (_, expanded)) in
                states.iter().zip(self.ask(|py, rules| rules.observations(py, states))).zip(&all)
            {
                let agree = expanded.as_ref().is_none_or(|expanded| *expanded == by_method);
                assert!(agree, "observation and expand agree at `{}`", self.position_text(state));
            }
        }
    }

    /// Checks the answers of two methods.
    fn expect_equal(&self, state: &PyState, one: &Facts, other: &Facts, [mover, outcome, legal]: [&str; 3]) {
        let text = self.position_text(state);
        assert_eq!(one.mover, other.mover, "mover and {mover} agree at `{text}`");
        assert_eq!(one.outcome, other.outcome, "outcome and {outcome} agree at `{text}`");
        assert_eq!(one.legal, other.legal, "legal_actions and {legal} agree at `{text}`");
    }

    fn expanded(&self, state: &PyState) -> Known {
        self.ask(|py, rules| rules.expanded(py, &[*state])).pop().expect("answers for one position")
    }

    /// Checks that objects keep their keys, and that those made of the keys are as good.
    fn check_objects(&self, states: &[PyState]) {
        let Layout::Objects(objects) = &self.0.rules.layout else { return };
        let after = |state: &PyState, known: &Known| {
            let action = *known.0.legal.first()?;
            Some(self.ask(|py, rules| rules.plays(py, &[(*state, action)]))[0])
        };
        let before: Vec<_> = states
            .iter()
            .map(|state| {
                let known = self.expanded(state);
                (after(state, &known), known, self.ask(|py, rules| rules.observations(py, &[*state])))
            })
            .collect();
        for state in states {
            let is_unchanged = self.ask(|py, _| objects.is_unchanged(py, state));
            assert!(
                is_unchanged,
                "a method has changed the state `{}`: it has to make a new one",
                self.position_text(state)
            );
        }
        for (state, (next, known, observation)) in states.iter().zip(before) {
            objects.forget();
            let text = self.position_text(state);
            assert!(self.ask(|py, _| objects.is_unchanged(py, state)), "from_key(key(state)) has the key of `{text}`");
            let made = self.expanded(state);
            assert!(made == known, "from_key(key(state)) has the mover, outcome and legal actions of `{text}`");
            assert!(after(state, &made) == next, "from_key(key(state)) is played on as `{text}`");
            let seen = self.ask(|py, rules| rules.observations(py, &[*state]));
            assert!(seen == observation, "from_key(key(state)) is observed as `{text}`");
        }
    }
}
