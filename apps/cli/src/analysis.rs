//! Analysis of positions by a search with a network, as JSON lines (docs/protocol.md).
//!
//! The protocol follows KataGo's analysis engine. Many queries are searched at once and answered in the order in which
//! they finish; each worker evaluates the leaves of all its searches together. An answer does not depend on other
//! queries.

mod query;
mod queue;
mod answer;
mod worker;

use std::io::BufRead;
use std::thread;

use crate::output::Output;
use anyhow::{Result, bail};
use turnstone_agents::{Agent, Budget, Change, PlayableGame, Traits};
use turnstone_base::line_io::Lines;
use turnstone_base::terminal::print_stderr;
use turnstone_env::DynGame;

use self::query::{Fault, Query, parse};
use self::queue::Queue;
use self::worker::{SEATS, Worker};

/// Answers the queries from `input` on `output`. Returns when the input has ended and all queries are answered.
///
/// # Errors
/// The agent has no network or is limited by time, or no thread can be started. Faults in the input are answered, not
/// returned.
pub fn analyse(
    game: &dyn PlayableGame,
    agent: &Agent,
    threads: usize,
    input: impl BufRead,
    output: &Output,
) -> Result<()> {
    let Traits { checkpoint, has_tables, budget, .. } = agent.spec.traits();
    if checkpoint.is_none() {
        bail!(
            "agent `{}`: `analyse` shows the searches of networks (az:<file>, az:pretrained) and, of one position, those of \
             classical agents (alphabeta:depth=8); `solve` shows exact values",
            agent.spec
        );
    }
    if has_tables {
        bail!("agent `{}`: tables are for play, not for analysis", agent.spec);
    }
    let Some(Budget::Simulations(simulations)) = budget else {
        bail!("agent `{}`: positions are analysed by simulations, not by time", agent.spec);
    };
    let queue = Queue::new(threads);
    // A query says how many simulations it wants; without any there is nothing to show.
    let agent = agent.adjusted(Change::Simulations(simulations.max(1)));
    let searches = (0..threads).map(|_| agent.search(game, SEATS)).collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        for (number, search) in searches.into_iter().enumerate() {
            let worker = Worker::new(game, search, &queue, output);
            match thread::Builder::new().spawn_scoped(scope, move || worker.run()) {
                Ok(_) => {}
                Err(error) if number == 0 => bail!("cannot start a thread: {error}"),
                Err(error) => {
                    print_stderr(format_args!("warning: only {number} of {threads} threads can be started: {error}"));
                    break;
                }
            }
        }
        read_queries(game, simulations.max(1), input, &queue, output);
        queue.close();
        Ok(())
    })
}

/// Handles the queries of the input to its end.
fn read_queries(game: &dyn DynGame, simulations: u32, input: impl BufRead, queue: &Queue, output: &Output) {
    let mut lines = Lines::new(input);
    // An error while reading counts as the end of the input.
    while let Ok(Some(line)) = lines.read() {
        let query = line.map_err(|fault| Fault::of_line(&fault)).and_then(|line| match line.trim() {
            "" => Ok(Query::Analyse(Vec::new())),
            line => parse(game, line, simulations),
        });
        take(queue, query, output);
    }
}

/// Handles a query, or queues it for the workers.
fn take(queue: &Queue, query: Result<Query, Fault>, output: &Output) {
    match query {
        Ok(Query::Analyse(tasks)) => {
            let id = tasks.first().map(|task| task.id.clone()).unwrap_or_default();
            if !queue.put(tasks) {
                output.json(&Fault::of_query(&id, "too many positions are waiting; try again later").answer());
            }
        }
        Ok(Query::Terminate { query, id, turns }) => {
            for task in queue.terminate(id.as_deref(), turns.as_deref()) {
                output.json(&answer::given_up(&task));
            }
            output.json(&query);
        }
        Err(fault) => output.json(&fault.answer()),
    }
}
