//! `turnstone serve`: the page to play and analyse, and pages of all runs, in a browser on this machine.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use turnstone_selfplay::Games;
use turnstone_serve::{Hosts, Settings, Site, serve};

use crate::signals::stop_on_signals;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone serve
      the page to play on, on this machine
  turnstone serve --runs runs --port 8080
      with the runs of this folder")]
pub(crate) struct Serve {
    /// Folder with the runs to show
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    runs: PathBuf,
    /// Port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Address to listen on; others than 127.0.0.1 and ::1 let other machines in
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    address: IpAddr,
    /// A name that browsers use for this machine, besides addresses and localhost; can be repeated
    #[arg(long, value_name = "NAME")]
    host_name: Vec<String>,
    /// Folder with a page of your own, as `apps/web/build.sh` writes it, instead of the built-in one
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,
}

impl Serve {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let site = Site::new(games, &self.runs, self.page.as_deref()).with_context(|| {
            self.page.as_ref().map_or_else(String::new, |folder| format!("the page in {}", folder.display()))
        })?;
        let stop = stop_on_signals()?;
        allow_more_files();
        let settings =
            Settings { address: self.address, port: self.port, hosts: Hosts::new(self.host_name.iter().cloned()) };
        let ready = |address: SocketAddr| {
            println!("http://{address}/");
            if !address.ip().is_loopback() {
                eprintln!("warning: other machines can reach this server");
            }
        };
        serve(site, &settings, stop, ready)
            .with_context(|| format!("listening on {}", SocketAddr::new(self.address, self.port)))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Raises the limit of open files where there is one: every connection is an open file. With fewer of them the server has
/// fewer connections at a time.
fn allow_more_files() {
    #[cfg(unix)]
    {
        _ = rlimit::increase_nofile_limit(8192);
    }
}
