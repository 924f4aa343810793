//! `check_game`: the suite that games in Rust pass, for games in Python.

use pyo3::prelude::*;
use turnstone_env::{Action, ActionList, Game as _, conformance};

use crate::py_game::PyGame;
use crate::py_game::layout::PyState;

/// Positions that are asked about one by one and all at once.
const MOST: usize = 200;

impl PyGame {
    /// Checks the promises of the rules in random games.
    pub(crate) fn check(&self, games: usize, seed: u64) -> PyResult<()> {
        self.0.faults.asserted(self.0.spec.name, || {
            conformance::check(self, games, seed);
            self.check_forms(seed);
        })
    }

    /// Checks that the answers for many positions are those for one.
    fn check_forms(&self, seed: u64) {
        let states = self.some_states(seed);
        let rules = &self.0.rules;
        let plays: Vec<(PyState, Action)> =
            states.iter().filter_map(|state| Some((*state, *self.facts(state).legal.first()?))).collect();
        if rules.play.one && rules.play.many {
            let many = self.ask(|py, rules| rules.plays(py, &plays));
            for (play, many) in plays.iter().zip(many) {
                let one = self.ask(|py, rules| rules.plays(py, &[*play]))[0];
                let text = self.position_text(&play.0);
                assert_eq!(self.position_text(&one), self.position_text(&many), "play and play_many agree at `{text}`");
            }
        }
        let many = self.ask(|py, rules| rules.facts(py, &states));
        for (state, many) in states.iter().zip(many) {
            let one = self.ask(|py, rules| rules.facts(py, &[*state])).pop().expect("facts of one position");
            let text = self.position_text(state);
            assert_eq!(one.mover, many.mover, "mover and mover_many agree at `{text}`");
            assert_eq!(one.outcome, many.outcome, "outcome and outcome_many agree at `{text}`");
            assert_eq!(one.legal, many.legal, "legal_actions and legal_actions_many agree at `{text}`");
        }
        let many = self.ask(|py, rules| rules.observations(py, &states));
        for (state, many) in states.iter().zip(many) {
            let one = self.ask(|py, rules| rules.observations(py, &[*state])).pop().expect("one observation");
            assert!(one == many, "observation and observation_many agree at `{}`", self.position_text(state));
        }
    }

    /// Positions of random games, finished ones among them.
    fn some_states(&self, seed: u64) -> Vec<PyState> {
        let mut draw = seed;
        let (mut states, mut state, mut legal) = (Vec::new(), self.start(), ActionList::new());
        while states.len() < MOST {
            states.push(state);
            self.legal(&state, &mut legal);
            match legal.len() {
                0 => state = self.start(),
                count => {
                    // Knuth's linear congruential generator.
                    draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    self.play(&mut state, legal[(draw >> 33) as usize % count]);
                }
            }
        }
        states
    }
}
