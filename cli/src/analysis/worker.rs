//! A worker, which searches many positions at once and answers each when its search is done.

use std::collections::HashMap;

use crate::output::Output;
use turnstone_agents::{Analyser, PlayableGame};

use super::answer::{analysed, finished};
use super::queue::{Queue, Ticket};

/// Number of positions that a worker searches at once.
pub(super) const SEATS: usize = 64;

pub(super) struct Worker<'a> {
    game: &'a dyn PlayableGame,
    analyser: Box<dyn Analyser>,
    queue: &'a Queue,
    output: &'a Output,
    /// Running searches by the number under which the analyser has them.
    searching: HashMap<u64, Ticket>,
    next: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        game: &'a dyn PlayableGame,
        analyser: Box<dyn Analyser>,
        queue: &'a Queue,
        output: &'a Output,
    ) -> Self {
        Self { game, analyser, queue, output, searching: HashMap::new(), next: 0 }
    }

    /// Runs until the queue is closed and empty.
    pub(super) fn run(mut self) {
        loop {
            let searching = self.analyser.searching();
            let tickets = self.queue.take(SEATS - searching, searching == 0);
            if tickets.is_empty() && searching == 0 {
                return;
            }
            tickets.into_iter().for_each(|ticket| self.begin(ticket));
            let mut done = Vec::new();
            self.analyser.advance(&mut |number, analysis| done.push((number, analysis)));
            for (number, analysis) in done {
                let ticket = self.searching.remove(&number).expect("the analyser returns the numbers it was given");
                self.output.json(&analysed(self.game, &ticket.task, &analysis));
                self.queue.finish(&ticket);
            }
        }
    }

    /// Starts the search of a position, or answers at once if the game is over there.
    fn begin(&mut self, ticket: Ticket) {
        let task = &ticket.task;
        if let Some(outcome) = self.game.outcome(&task.state) {
            self.output.json(&finished(self.game, task, &outcome));
            return self.queue.finish(&ticket);
        }
        self.analyser.begin(self.next, &task.state, task.simulations, ticket.stop.clone());
        self.searching.insert(self.next, ticket);
        self.next += 1;
    }
}
