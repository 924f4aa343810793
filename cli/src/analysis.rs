//! Analysis: positions in, what a search with a network found out, as JSON lines (docs/protocol.md).
//!
//! The manner and the names are those of KataGo's analysis engine. Queries are answered as they are done, many at once;
//! each worker evaluates the leaves of all its searches together. An answer does not depend on what else is under way.

mod query;
mod queue;
mod answer;
mod worker;

use std::io::BufRead;
use std::thread;

use crate::output::Output;
use anyhow::{Result, bail};
use turnstone_agents::line_io::Lines;
use turnstone_agents::{Agent, AgentSpec, Budget, PlayableGame};

use self::query::{Fault, Query, parse};
use self::queue::Queue;
use self::worker::{SEATS, Worker};

/// Answers the queries from `input` on `output`, those that wait at the end of the input included.
///
/// # Errors
/// The agent has no network. Nothing that comes from the input is an error.
pub fn analyse(
    game: &dyn PlayableGame,
    agent: &Agent,
    threads: usize,
    input: impl BufRead,
    output: &Output,
) -> Result<()> {
    let (AgentSpec::Az { tree, .. }, Some(network)) = (&agent.spec, agent.network()) else {
        bail!("agent `{}` has no network to analyse with; name a checkpoint: az:<file>, or az:pretrained", agent.spec);
    };
    let Budget::Simulations(simulations) = tree.budget else {
        bail!("agent `{}`: positions are analysed by simulations, not by time", agent.spec);
    };
    let queue = Queue::new(threads);
    let analysers = (0..threads).map(|_| game.analyser(network, tree, SEATS)).collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        for analyser in analysers {
            let worker = Worker::new(game, analyser, &queue, output);
            scope.spawn(move || worker.run());
        }
        let mut lines = Lines::new(input);
        // Input that cannot be read is input that has ended.
        while let Ok(Some(line)) = lines.read() {
            let query = line.map_err(|fault| Fault::of_line(&fault)).and_then(|line| match line.trim() {
                "" => Ok(Query::Analyse(Vec::new())),
                line => parse(game, line, simulations.max(1)),
            });
            take(&queue, query, output);
        }
        queue.close();
    });
    Ok(())
}

/// Does what a query asks for, or lets a worker do it.
fn take(queue: &Queue, query: Result<Query, Fault>, output: &Output) {
    match query {
        Ok(Query::Analyse(tasks)) => {
            let id = tasks.first().map(|task| task.id.clone()).unwrap_or_default();
            if !queue.put(tasks) {
                output.line(&Fault::of_query(&id, "too many positions wait; ask again later").answer().to_string());
            }
        }
        Ok(Query::Terminate { query, id, turns }) => {
            for task in queue.terminate(id.as_deref(), turns.as_deref()) {
                output.line(&answer::given_up(&task).to_string());
            }
            output.line(&query.to_string());
        }
        Err(fault) => output.line(&fault.answer().to_string()),
    }
}
