//! A worker, which searches many positions at once and answers each when its search is done.

use std::collections::HashMap;

use crate::output::Output;
use turnstone_agents::{Analyser, PlayableGame};
use turnstone_models::DeviceError;

use super::answer::{analysed, failed, finished};
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
            let advanced = self.analyser.advance(&mut |number, analysis| done.push((number, analysis)));
            for (number, analysis) in done {
                let ticket = self.searching.remove(&number).expect("the analyser returns the numbers it was given");
                self.output.json(&analysed(self.game, &ticket.task, &analysis));
                self.queue.finish(&ticket);
            }
            if let Err(fault) = advanced {
                self.fail(&fault);
            }
        }
    }

    /// Answers all running searches with the failure of the GPU.
    fn fail(&mut self, fault: &DeviceError) {
        let mut tickets: Vec<(u64, Ticket)> = self.searching.drain().collect();
        tickets.sort_unstable_by_key(|&(number, _)| number);
        for (_, ticket) in tickets {
            self.output.json(&failed(&ticket.task, fault));
            self.queue.finish(&ticket);
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};
    use turnstone_agents::Analysis;
    use turnstone_env::{AnyState, Params};
    use turnstone_games::built_in;
    use turnstone_search::classic::Stop;

    use super::super::query::Task;
    use super::*;

    /// An analyser whose GPU is gone.
    struct Lost(usize);

    impl Analyser for Lost {
        fn searching(&self) -> usize {
            self.0
        }

        fn begin(&mut self, _: u64, _: &AnyState, _: u32, _: Stop) {
            self.0 += 1;
        }

        fn advance(&mut self, _: &mut dyn FnMut(u64, Analysis)) -> Result<(), DeviceError> {
            self.0 = 0;
            Err(DeviceError::Failed("device lost".to_owned()))
        }
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
