//! A worker, which searches many positions at once and answers each when its search is done.

use crate::output::Output;
use turnstone_agents::search::Fault;
use turnstone_agents::search::classic::Limits;
use turnstone_agents::{PlayableGame, Search, SearchRequest};
use turnstone_base::streams::{Purpose, stream};

use super::answer::{analysed, failed, finished};
use super::queue::{Queue, Ticket};

/// Number of positions that a worker searches at once.
pub(super) const SEATS: usize = 64;

pub(super) struct Worker<'a> {
    game: &'a dyn PlayableGame,
    search: Box<dyn Search>,
    queue: &'a Queue,
    output: &'a Output,
    /// The ticket of each seat of the search that is searching.
    seats: [Option<Ticket>; SEATS],
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        game: &'a dyn PlayableGame,
        search: Box<dyn Search>,
        queue: &'a Queue,
        output: &'a Output,
    ) -> Self {
        Self { game, search, queue, output, seats: [const { None }; SEATS] }
    }

    /// Runs until the queue is closed and empty.
    pub(super) fn run(mut self) {
        loop {
            let searching = self.seats.iter().flatten().count();
            let tickets = self.queue.take(SEATS - searching, searching == 0);
            if tickets.is_empty() && searching == 0 {
                return;
            }
            tickets.into_iter().for_each(|ticket| self.begin(ticket));
            match self.search.advance(&mut |_, _| ()) {
                Ok(chosen) => chosen.into_iter().for_each(|(seat, _)| self.answer(seat)),
                Err(fault) => self.fail(&fault),
            }
        }
    }

    /// Answers with what the search in a seat has found.
    fn answer(&mut self, seat: usize) {
        let ticket = self.seats[seat].take().expect("a search was begun in this seat");
        let analysis = self.search.analysis(seat).expect("the agent searches a tree");
        self.output.json(&analysed(self.game, &ticket.task, &analysis));
        self.queue.finish(&ticket);
    }

    /// Ends all running searches and answers them with the fault.
    fn fail(&mut self, fault: &Fault) {
        self.search.clear();
        for ticket in self.seats.iter_mut().filter_map(Option::take) {
            self.output.json(&failed(&ticket.task, fault));
            self.queue.finish(&ticket);
        }
    }

    /// Starts the search of a position, or answers immediately if the game is over there.
    fn begin(&mut self, ticket: Ticket) {
        let task = &ticket.task;
        if let Some(outcome) = self.game.outcome(&task.state) {
            self.output.json(&finished(self.game, task, &outcome));
            return self.queue.finish(&ticket);
        }
        let seat = self.seats.iter().position(Option::is_none).expect("no more tickets are taken than seats are free");
        self.search.new_game(seat, &task.state, stream(0, Purpose::Play, [0, 0]));
        let limits = Some(Limits::nodes(u64::from(task.simulations)));
        self.search.begin(seat, &task.state, SearchRequest { limits, ..SearchRequest::stopped_by(&ticket.stop) });
        self.seats[seat] = Some(ticket);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};
    use turnstone_agents::{Chosen, OnInfo, SearchInfo};
    use turnstone_base::streams::Stream;
    use turnstone_env::{AnyState, Params};
    use turnstone_games::built_in;

    use super::super::query::Task;
    use super::*;

    /// A search whose GPU fails.
    struct Lost;

    impl Search for Lost {
        fn most_seats(&self) -> usize {
            SEATS
        }

        fn new_game(&mut self, _: usize, _: &AnyState, _: Stream) {}

        fn begin(&mut self, _: usize, _: &AnyState, _: SearchRequest) {}

        fn advance(&mut self, _: &mut OnInfo<'_>) -> Result<Vec<(usize, Chosen)>, Fault> {
            Err(Fault::new("the GPU failed: device lost"))
        }

        fn report(&self, _: usize) -> SearchInfo {
            unreachable!("nothing is found")
        }

        fn clear(&mut self) {}
    }

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no writer panics").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_query_is_answered_if_the_gpu_fails() {
        let game = built_in().make("mu_torere", &Params::new()).expect("a game");
        let (queue, lines) = (Queue::new(1), Lines::default());
        let task = |turn: usize| Task { id: "a".to_owned(), turn, state: game.start(), simulations: 9, priority: 0 };
        assert!(queue.put((0..SEATS + 2).map(task).collect()), "more than are searched at once");
        queue.close();
        Worker::new(&*game, Box::new(Lost), &queue, &Output::new(lines.clone())).run();
        let text = String::from_utf8(lines.0.lock().expect("no writer panics").clone()).expect("text");
        let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let expected =
            |turn| json!({ "id": "a", "turnNumber": turn, "error": "the GPU failed: device lost", "field": null });
        assert_eq!(answers, (0..SEATS + 2).map(expected).collect::<Vec<_>>());
        assert!(queue.terminate(None, None).is_empty());
    }
}
