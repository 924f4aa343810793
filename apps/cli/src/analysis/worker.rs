//! A worker, which searches many positions at once and answers each when its search is done.

use crate::output::Output;
use turnstone_agents::{PlayableGame, TreeSearch};
use turnstone_models::DeviceError;

use super::answer::{analysed, failed, finished};
use super::queue::{Queue, Ticket};

/// Number of positions that a worker searches at once.
pub(super) const SEATS: usize = 64;

pub(super) struct Worker<'a> {
    game: &'a dyn PlayableGame,
    search: Box<dyn TreeSearch>,
    queue: &'a Queue,
    output: &'a Output,
    /// The ticket of each seat of the search that is searching.
    seats: [Option<Ticket>; SEATS],
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        game: &'a dyn PlayableGame,
        search: Box<dyn TreeSearch>,
        queue: &'a Queue,
        output: &'a Output,
    ) -> Self {
        Self { game, search, queue, output, seats: [const { None }; SEATS] }
    }

    /// Runs until the queue is closed and empty.
    pub(super) fn run(mut self) {
        loop {
            let searching = self.search.searching();
            let tickets = self.queue.take(SEATS - searching, searching == 0);
            if tickets.is_empty() && searching == 0 {
                return;
            }
            tickets.into_iter().for_each(|ticket| self.begin(ticket));
            let mut done = Vec::new();
            let advanced = self.search.advance(&mut done);
            for seat in done {
                let ticket = self.seats[seat].take().expect("a search was begun in this seat");
                self.output.json(&analysed(self.game, &ticket.task, &self.search.analysis(seat)));
                self.queue.finish(&ticket);
            }
            if let Err(fault) = advanced {
                self.fail(&fault);
            }
        }
    }

    /// Ends all running searches and answers them with the failure of the GPU.
    fn fail(&mut self, fault: &DeviceError) {
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
        self.search.analyse(seat, &task.state, task.simulations, ticket.stop.clone());
        self.seats[seat] = Some(ticket);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};
    use turnstone_agents::Analysis;
    use turnstone_base::streams::Stream;
    use turnstone_env::{Action, AnyState, Params};
    use turnstone_games::built_in;
    use turnstone_search::classic::Stop;
    use turnstone_search::{Evaluation, RootAction, TensorEvaluator, TensorFault};

    use super::super::query::Task;
    use super::*;

    /// A search whose GPU is gone.
    struct Lost(usize);

    impl TreeSearch for Lost {
        fn new_game(&mut self, _: usize, _: &AnyState) {}

        fn played(&mut self, _: usize, _: Action) {}

        fn begin(&mut self, _: usize, _: &AnyState, _: u32, _: &mut Stream, _: Stop) {
            self.0 += 1;
        }

        fn searching(&self) -> usize {
            self.0
        }

        fn advance_while(&mut self, _: &mut dyn FnMut() -> bool, _: &mut Vec<usize>) -> Result<(), DeviceError> {
            Err(DeviceError::Failed("device lost".to_owned()))
        }

        fn advance_with(&mut self, _: &mut dyn TensorEvaluator, _: &mut Vec<usize>) -> Result<(), TensorFault> {
            unreachable!("the worker has no evaluator")
        }

        fn chosen(&self, _: usize) -> Action {
            unreachable!("nothing is found")
        }

        fn analysis(&self, _: usize) -> Analysis {
            unreachable!("nothing is found")
        }

        fn actions_after(&self, _: usize, _: &[Action]) -> Option<Vec<RootAction>> {
            None
        }

        fn predict(&mut self, _: &AnyState) -> Result<(Vec<(Action, f32)>, Evaluation), DeviceError> {
            unreachable!("the worker asks for no prediction")
        }

        fn clear(&mut self) {
            self.0 = 0;
        }

        fn forget(&mut self) {}
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
        Worker::new(&*game, Box::new(Lost(0)), &queue, &Output::new(lines.clone())).run();
        let text = String::from_utf8(lines.0.lock().expect("no writer panics").clone()).expect("text");
        let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let expected =
            |turn| json!({ "id": "a", "turnNumber": turn, "error": "the GPU failed: device lost", "field": null });
        assert_eq!(answers, (0..SEATS + 2).map(expected).collect::<Vec<_>>());
        assert!(queue.terminate(None, None).is_empty());
    }
}
