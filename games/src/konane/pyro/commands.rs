//! `turnstone pyro`, an agent that plays in Pyro's Konane world, and `turnstone pyro-server`, a world for two players.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use turnstone_agents::{AgentSpec, CommandHost};
use turnstone_base::streams::{Purpose, stream};
use turnstone_env::Erased;
use turnstone_env::games::Konane;

use super::client::Client;
use super::server::{FirstPlayer, Server};
use super::{PORT, letter};

#[derive(Args, Debug)]
pub(crate) struct Pyro {
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
    pub(crate) fn run(&self, host: &dyn CommandHost) -> Result<ExitCode> {
        if self.agent == AgentSpec::Human {
            bail!("agent `human`: a person plays in the world's own window");
        }
        let konane = Erased::knowing::<crate::Konane>(Konane::default());
        let mut player = host.agent(&self.agent, &konane)?.player(&konane)?;
        let mut client = Client::connect(&self.host, self.port)?;
        let side = letter(client.side());
        println!("{} plays {side} on {}:{}", self.agent, self.host, self.port);
        let mut rng = stream(self.seed, Purpose::Play, [u64::from(self.port), 0]);
        let (mut number, stop) = (0, host.stop()?);
        client.play(&mut *player, &mut rng, self.games, Duration::from_millis(self.poll), stop, |played| {
            number += 1;
            let result = if played.won { "won" } else { "lost" };
            println!("game {number}: {side} {result}, {} moves", played.moves);
        })?;
        Ok(if number < self.games { ExitCode::from(130) } else { ExitCode::SUCCESS })
    }
}

#[derive(Args, Debug)]
pub(crate) struct PyroServer {
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
    pub(crate) fn run(&self, host: &dyn CommandHost) -> Result<ExitCode> {
        let server =
            Server::bind(&self.host, self.port).with_context(|| format!("listening on {}:{}", self.host, self.port))?;
        let [o, x] = server.ports();
        println!("O on {}:{o}, X on {}:{x}", self.host, self.host);
        server.run(self.first_player, self.seed, |line| host.note(line)).context("cannot start a thread")?;
        Ok(ExitCode::SUCCESS)
    }
}
