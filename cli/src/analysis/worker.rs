//! A worker: searches many positions at once and evaluates their leaves together.

use std::collections::VecDeque;

use turnstone_env::Game;
use turnstone_search::{Evaluator, Mcts, Request, Requests, Step};

use super::answer::{analysed, finished};
use super::queue::{Queue, Ticket};
use crate::agents::TreeSpec;
use crate::streams::{Purpose, stream};
use crate::talk::Output;

/// Positions that a worker searches at once.
pub(super) const SEATS: usize = 64;

/// Evaluations that a worker remembers.
const CACHED: usize = 1 << 16;

pub(super) struct Worker<'a, G: Game> {
    game: &'a G,
    spec: TreeSpec,
    queue: &'a Queue<G::State>,
    output: &'a Output,
    seats: Vec<Seat<G>>,
    /// Searches of earlier positions, for their memory.
    spare: VecDeque<Mcts<G>>,
    requests: Requests<G::State>,
}

/// A position that is being searched.
struct Seat<G: Game> {
    ticket: Ticket<G::State>,
    search: Mcts<G>,
    /// Row of the batch in which its leaf waits.
    row: usize,
}

impl<'a, G: Game> Worker<'a, G> {
    pub(super) fn new(game: &'a G, spec: TreeSpec, queue: &'a Queue<G::State>, output: &'a Output) -> Self {
        let (seats, spare) = (Vec::new(), VecDeque::new());
        Self { game, spec, queue, output, seats, spare, requests: Requests::new(CACHED) }
    }

    /// Works until the queue is closed and empty.
    pub(super) fn run(mut self, evaluator: &mut impl Evaluator<G>) {
        loop {
            let tickets = self.queue.take(SEATS - self.seats.len(), self.seats.is_empty());
            if tickets.is_empty() && self.seats.is_empty() {
                return;
            }
            tickets.into_iter().for_each(|ticket| self.begin(ticket));
            self.gather();
            if !self.requests.is_empty() {
                self.requests.evaluate(self.game, evaluator);
                for seat in &mut self.seats {
                    let (priors, estimate) = self.requests.answer(seat.row);
                    seat.search.apply(priors, estimate);
                }
                self.requests.clear();
            }
        }
    }

    /// Gives a task a seat, if its game is not over.
    fn begin(&mut self, ticket: Ticket<G::State>) {
        let task = &ticket.task;
        if let Some(outcome) = self.game.outcome(&task.state) {
            self.output.line(&finished(self.game, task, &outcome).to_string());
            return self.queue.finish(&ticket);
        }
        let mut search = self.spare.pop_front().unwrap_or_else(|| Mcts::new(self.game, task.state));
        search.reset(self.game, task.state);
        search.value_draws(self.game, self.game.mover(&task.state), self.spec.draw.value());
        // A stream of its own: nothing depends on what else is under way.
        let mut rng = stream(0, Purpose::Play, [0, 0]);
        search.begin(&self.spec.search.strongest(task.simulations), task.simulations, &mut rng);
        self.seats.push(Seat { ticket, search, row: 0 });
    }

    /// Brings every search to a leaf that has to be evaluated; those that are over are answered.
    fn gather(&mut self) {
        let mut i = 0;
        while i < self.seats.len() {
            if self.next_leaf(i) {
                i += 1;
            } else {
                let seat = self.seats.remove(i);
                let task = &seat.ticket.task;
                self.output.line(&analysed(self.game, task, &seat.search, seat.ticket.stop.is_raised()).to_string());
                self.queue.finish(&seat.ticket);
                self.spare.push_back(seat.search);
            }
        }
    }

    /// Whether the search of this seat waits for an answer now; if not, it is over.
    fn next_leaf(&mut self, i: usize) -> bool {
        let seat = &mut self.seats[i];
        loop {
            if seat.ticket.stop.is_raised() {
                return false;
            }
            match seat.search.step(self.game) {
                Step::Done => return false,
                Step::Finished => {}
                Step::Leaf => {
                    let (state, legal) = seat.search.leaf();
                    match self.requests.request(state, legal) {
                        Request::Known(priors, estimate) => seat.search.apply(priors, estimate),
                        Request::Waiting(row) => {
                            seat.row = row;
                            return true;
                        }
                    }
                }
            }
        }
    }
}
