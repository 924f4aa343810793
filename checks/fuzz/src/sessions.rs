//! Whole sessions of the engine and of the analysis, with their threads.

use std::io::Write;
use std::sync::{Arc, Mutex};

use turnstone::analysis::analyse;
use turnstone::engine::{Setup, serve};
use turnstone::output::Output;
use turnstone_agents::{Agent, AgentSpec};
use turnstone_env::Params;

use crate::{files, scratch};

/// Keeps what is written.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<Vec<u8>>>);

impl Write for Record {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no writer panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Record {
    /// The lines, each of which must be whole and printable.
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().expect("no writer panics").clone()).expect("output is UTF-8");
        assert!(text.is_empty() || text.ends_with('\n'));
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        text.lines().map(str::to_owned).collect()
    }
}

/// Every `go` that starts a search has one answer. Options that name files, programs or much memory are left out.
pub(crate) fn ugi(data: &[u8]) -> bool {
    let allowed = |line: &&[u8]| !line.windows(9).any(|word| word.eq_ignore_ascii_case(b"setoption"));
    let text: Vec<u8> = data.split(|&b| b == b'\n').filter(allowed).flat_map(|line| [line, b"\n"].concat()).collect();
    let games = turnstone_games::list!(turnstone_selfplay::row);
    let game = games.make("mu_torere", &Params::new()).expect("valid defaults");
    let setup = Setup { game, games, agent: AgentSpec::random(), seed: 1, threads: None };
    let record = Record::default();
    serve(setup, &*text, &Output::new(record.clone())).expect("a random player can play");
    let lines = record.lines();
    let answers = lines.iter().filter(|line| line.starts_with("bestmove ")).count();
    let asked = text.split(|&b| b == b'\n').filter(|line| line.trim_ascii().starts_with(b"go")).count();
    assert!(answers <= asked, "{answers} answers to {asked} lines: {lines:?}");
    !lines.is_empty()
}

pub(crate) fn example_ugi() -> Vec<Vec<u8>> {
    [
        "ugi\nisready\nuginewgame\nposition startpos\ngo nodes 1\nstop\nquery legal\nquery fen\nquit\n",
        "position startpos moves 0,8\nquery result\ngo movetime 1\ngo depth 1\nstop\ngo\n",
        "position fen 121202121 1 0\nquery p1turn\nquery gameover\ngo infinite\nstop\n",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}

/// Every answer is a JSON object. Queries for many simulations are left out.
pub(crate) fn analysis(data: &[u8]) -> bool {
    thread_local! {
        static AGENT: Agent = agent();
    }
    let text = String::from_utf8_lossy(data).replace("simulations", "simulation");
    let record = Record::default();
    AGENT
        .with(|agent| analyse(files::game(), agent, 1, text.as_bytes(), &Output::new(record.clone())))
        .expect("the agent has a network");
    let lines = record.lines();
    for line in &lines {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok_and(|answer| answer.is_object()), "{line}");
    }
    !lines.is_empty()
}

/// An agent with a small network.
fn agent() -> Agent {
    let path = scratch::file("agent.safetensors", &files::example_checkpoints()[0]);
    let spec = format!("az:{},sims=2", path.display()).parse().expect("a spec");
    Agent::load(&spec, files::game()).expect("a network of this game")
}

pub(crate) fn example_analysis() -> Vec<Vec<u8>> {
    [
        "{\"id\":\"a\"}\n{\"id\":\"b\",\"moves\":\"0,8\",\"analyzeTurns\":[0,1]}\n",
        "{\"id\":\"a\",\"priority\":5}\n{\"id\":\"t\",\"action\":\"terminate\",\"terminateId\":\"a\"}\n",
        "{\"id\":\"t\",\"action\":\"terminate_all\",\"turnNumbers\":[0]}\nnonsense\n",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}
