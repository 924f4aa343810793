//! Options of the commands that use a cluster: credentials for the server, and how a leader hands out games.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{ArgMatches, Args, FromArgMatches};
use turnstone_base::terminal::Reporter;
use turnstone_cluster::{Credentials, LeaderSettings, Note, Probe, ServerOptions, TakeNote};
use turnstone_search::Stop;

use crate::called::PROGRAM;
use crate::cluster::{Leader, Work};

/// Credentials for a server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub(super) struct CredentialArgs {
    /// User name on the server
    #[arg(long, value_name = "NAME", requires = "password_file")]
    user: Option<String>,
    /// File with the user's password
    #[arg(long, value_name = "FILE", requires = "user", conflicts_with_all = ["token_file", "nkey_file", "creds"])]
    password_file: Option<PathBuf>,
    /// File with a token for the server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["nkey_file", "creds"])]
    token_file: Option<PathBuf>,
    /// File with the seed of an NKEY
    #[arg(long, value_name = "FILE", conflicts_with = "creds")]
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
}

impl CredentialArgs {
    pub(super) fn server(&self, url: &str) -> ServerOptions {
        let args = self.clone();
        let password = args.user.zip(args.password_file).map(|(user, file)| Credentials::Password(user, file));
        let token = args.token_file.map(Credentials::Token);
        let key = args.nkey_file.map(Credentials::Nkey).or(args.creds.map(Credentials::Jwt));
        let credentials = password.or(token).or(key).unwrap_or_default();
        let certificate = args.cert.zip(args.cert_key).map(|(certificate, key)| [certificate, key]);
        ServerOptions { url: url.to_owned(), credentials, ca: args.ca, certificate }
    }
}

/// How a leader hands out games, beside the address of the server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub(super) struct LeaderArgs {
    /// Seconds after which the games of a silent worker are given to another
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = wait, requires = "cluster")]
    ack_wait: f64,
    #[command(flatten)]
    credentials: CredentialArgs,
}

fn wait(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|wait| (0.5..=3600.0).contains(wait)).ok_or_else(|| "must be from 0.5 to 3600".to_owned())
}

/// Connects to the server at `url` and announces the work.
pub(super) fn lead(url: &str, options: &ArgMatches, work: &Work<'_>, stop: &Stop) -> Result<Box<dyn Leader>> {
    let args = LeaderArgs::from_arg_matches(options)?;
    let probe = Probe::compute(work.game, &work.network, &work.search, work.precision.resolved())?;
    let settings = LeaderSettings {
        program: PROGRAM.to_owned(),
        server: args.credentials.server(url),
        folder: work.folder.clone(),
        ack_wait: Duration::from_secs_f64(args.ack_wait),
    };
    let leader = turnstone_cluster::Leader::new(settings, work.game, probe, notes(work.quiet), stop);
    Ok(Box::new(leader.context("cluster")?))
}

impl Leader for turnstone_cluster::Leader {
    fn has_same_floats(&self) -> bool {
        self.has_same_floats()
    }

    fn finish(self: Box<Self>) {
        (*self).finish();
    }
}

/// Prints what a leader or worker has to say.
pub(super) fn notes(quiet: bool) -> TakeNote {
    let reporter = Reporter::new(quiet);
    Arc::new(move |note| match note {
        Note::Line(text) => reporter.line(&text),
        Note::Warning(text) => reporter.warning(&crate::output::one_line(&text, "...")),
    })
}
