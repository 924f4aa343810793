//! `turnstone-hosts pyro`, an agent that plays in Pyro's Konane world, and `pyro-server`, a world for two players.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use turnstone_agents::search::Stop;
use turnstone_agents::{Agent, AgentSpec};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Erased;
use turnstone_env::games::Konane;

use crate::output::note;
use crate::pyro::client::Client;
use crate::pyro::server::{FirstPlayer, Server};
use crate::pyro::{PORT, letter};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone-hosts pyro --agent az:pretrained
      join a world on this machine
  turnstone-hosts pyro --agent alphabeta:depth=4 --host 192.0.2.7 --games 10
      ten games in one elsewhere")]
pub(super) struct Pyro {
    /// The agent
    #[arg(long, value_name = "AGENT")]
    agent: AgentSpec,
    /// Host of the world
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port of the player: the world's first port plays O, its second X
    #[arg(long, default_value_t = PORT)]
    port: u16,
    /// Number of games to play
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// Milliseconds between queries of whose move it is
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    poll: u64,
    /// Seed of random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl Pyro {
    pub(super) fn run(&self) -> Result<ExitCode> {
        if self.agent.is_human() {
            bail!("agent `human`: a person plays in the world's own window");
        }
        let konane = Erased::<_, turnstone_games::Konane>::with_knowledge(Konane::default());
        let mut search = Agent::load(&self.agent, &konane)?.search(&konane, 1)?;
        let mut client = Client::connect(&self.host, self.port)?;
        let side = letter(client.side());
        println!("{} plays {side} on {}:{}", self.agent, self.host, self.port);
        let rng = stream(self.seed, Purpose::Play, [u64::from(self.port), 0]);
        let (mut number, stop) = (0, stop_on_signals()?);
        client.play(&mut *search, &rng, self.games, Duration::from_millis(self.poll), &stop, |played| {
            number += 1;
            let result = if played.won { "won" } else { "lost" };
            println!("game {number}: {side} {result}, {} moves", played.moves);
        })?;
        Ok(if number < self.games { ExitCode::from(130) } else { ExitCode::SUCCESS })
    }
}

/// The flag that Ctrl-C and SIGTERM raise from now on. A second signal ends the program.
#[expect(clippy::disallowed_methods, reason = "a second signal ends the program at once")]
fn stop_on_signals() -> Result<Stop, ctrlc::Error> {
    let stop = Stop::default();
    let raised = stop.clone();
    ctrlc::set_handler(move || {
        if raised.is_raised() {
            std::process::exit(130);
        }
        raised.raise();
        note("stopping cleanly; press Ctrl-C again to quit immediately");
    })?;
    Ok(stop)
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone-hosts pyro-server
      a world for two players
  turnstone-hosts pyro-server --host 0.0.0.0 --first-player X
      for other machines too, X begins")]
pub(super) struct PyroServer {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port of the player with O; X has the next one. 0 selects two free ports
    #[arg(long, default_value_t = PORT)]
    port: u16,
    /// Side that removes the first stone
    #[arg(long, value_name = "PLAYER", default_value = "random")]
    first_player: FirstPlayer,
    /// Seed of the random choice of the first player
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl PyroServer {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let server =
            Server::bind(&self.host, self.port).with_context(|| format!("listening on {}:{}", self.host, self.port))?;
        let [o, x] = server.ports();
        println!("O on {}:{o}, X on {}:{x}", self.host, self.host);
        server.run(self.first_player, self.seed, note).context("cannot start a thread")?;
        Ok(ExitCode::SUCCESS)
    }
}
