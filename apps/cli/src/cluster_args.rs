//! Arguments of the commands that use a cluster: the server, credentials, and how a leader hands out games.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use turnstone_agents::Agent;
use turnstone_base::terminal::Reporter;
use turnstone_cluster::{Leader, LeaderSettings, Note, Probe, ServerOptions, TakeNote};
use turnstone_models::{NetworkConfig, Precision, ResidualMlp};
use turnstone_selfplay::{SearchConfig, TrainableGame};

/// Credentials for a server.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct CredentialArgs {
    /// User name on the server
    #[arg(long, value_name = "NAME", requires = "password_file")]
    user: Option<String>,
    /// File with the user's password
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// File with a token for the server
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// File with the seed of an NKEY
    #[arg(long, value_name = "FILE")]
    nkey_file: Option<PathBuf>,
    /// Credentials file: a JWT with the seed of its NKEY
    #[arg(long, value_name = "FILE")]
    creds: Option<PathBuf>,
    /// Certificates of authorities to trust besides the system's (PEM); requires TLS
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Certificate of this client (PEM); requires TLS
    #[arg(long, value_name = "FILE", requires = "cert_key")]
    cert: Option<PathBuf>,
    /// Key of that certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    cert_key: Option<PathBuf>,
    /// Serve counters for Prometheus at this address, e.g. 127.0.0.1:9100
    #[arg(long, value_name = "IP:PORT")]
    pub(crate) metrics_addr: Option<SocketAddr>,
}

impl CredentialArgs {
    pub(crate) fn server(&self, url: &str) -> ServerOptions {
        ServerOptions {
            url: url.to_owned(),
            user: self.user.clone(),
            password_file: self.password_file.clone(),
            token_file: self.token_file.clone(),
            nkey_file: self.nkey_file.clone(),
            credentials: self.creds.clone(),
            ca: self.ca.clone(),
            certificate: self.cert.clone().zip(self.cert_key.clone()).map(|(certificate, key)| [certificate, key]),
        }
    }
}

/// A cluster whose workers play in place of this machine.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArgs {
    /// NATS server whose workers play the games (see `turnstone worker`); the result is the same
    #[arg(long, value_name = "URL")]
    cluster: Option<String>,
    /// Share of the games that two workers play, to compare them
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share, requires = "cluster")]
    verify: f64,
    /// Seconds after which games that no worker speaks for are given to another
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = wait, requires = "cluster")]
    ack_wait: f64,
    #[command(flatten)]
    credentials: CredentialArgs,
}

fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "must be from 0 to 1".to_owned())
}

fn wait(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|wait| (0.5..=3600.0).contains(wait)).ok_or_else(|| "must be from 0.5 to 3600".to_owned())
}

/// What a run's workers must compute with the same bits.
pub(crate) struct Arithmetic<'a> {
    pub(crate) network: &'a NetworkConfig,
    pub(crate) search: &'a SearchConfig,
    pub(crate) precision: Precision,
}

impl ClusterArgs {
    /// Whether a cluster is to play.
    pub(crate) fn is_given(&self) -> bool {
        self.cluster.is_some()
    }

    /// The leader for a run of this game, if a cluster is given. It keeps its files in `folder`, from
    /// which another goes on; without one, the run is over with the leader.
    pub(crate) fn leader(
        &self,
        game: &dyn TrainableGame,
        arithmetic: &Arithmetic<'_>,
        folder: Option<PathBuf>,
        quiet: bool,
        stop: &AtomicBool,
    ) -> Result<Option<Leader>> {
        let Some(url) = &self.cluster else { return Ok(None) };
        let precision = arithmetic.precision.resolved();
        let probe = Probe::compute(game, arithmetic.network, arithmetic.search, precision)?;
        let settings = LeaderSettings {
            server: self.credentials.server(url),
            folder,
            verify: self.verify,
            ack_wait: Duration::from_secs_f64(self.ack_wait),
            metrics: self.credentials.metrics_addr,
        };
        Leader::new(settings, game, probe, notes(quiet), stop).context("cluster").map(Some)
    }

    /// The leader for games of agents, if a cluster is given.
    pub(crate) fn leader_of_agents(
        &self,
        game: &dyn TrainableGame,
        agents: &[&Agent],
        stop: &AtomicBool,
    ) -> Result<Option<Leader>> {
        let own = agents.iter().find_map(|agent| agent.network()).map(|network| network.info.network.clone());
        let network = own.unwrap_or_else(|| ResidualMlp { blocks: 1, width: 32 }.into());
        let search = SearchConfig::default();
        let arithmetic = Arithmetic { network: &network, search: &search, precision: Precision::F32 };
        self.leader(game, &arithmetic, None, false, stop)
    }
}

/// Prints what a leader or worker has to say.
pub(crate) fn notes(quiet: bool) -> TakeNote {
    let reporter = Reporter::new(quiet);
    Arc::new(move |note| match note {
        Note::Line(text) => reporter.line(&text),
        Note::Warning(text) => reporter.warning(&crate::output::one_line(&text, "...")),
    })
}
