//! `turnstone pyro-server`: a Konane world for two players of Pyro's protocol.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::pyro::PORT;
use crate::pyro::server::{FirstPlayer, Server};

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
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let server =
            Server::bind(&self.host, self.port).with_context(|| format!("listening on {}:{}", self.host, self.port))?;
        let [o, x] = server.ports();
        println!("O on {}:{o}, X on {}:{x}", self.host, self.host);
        server.run(self.first_player, self.seed);
        Ok(ExitCode::SUCCESS)
    }
}
