//! Errors of a program that is built without clusters.

use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use clap::Args;
use turnstone_search::Stop;

use super::{Leader, Work};

const ABSENT: &str =
    "this build cannot use a cluster; releases can, and `cargo build --release --features cluster` builds one";

/// The option `--cluster` of a command.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArgs {
    #[arg(long, value_name = "URL", hide = true)]
    cluster: Option<String>,
}

impl ClusterArgs {
    pub(crate) fn named(&self) -> Result<Option<&Self>> {
        ensure!(self.cluster.is_none(), "{ABSENT}");
        Ok(None)
    }

    pub(crate) fn lead(&self, _work: &Work<'_>, _stop: &Stop) -> Result<Box<dyn Leader>> {
        bail!("{ABSENT}")
    }
}

/// The commands of a cluster.
#[derive(Args, Debug)]
pub(crate) struct Absent {
    #[arg(num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

impl Absent {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        bail!("{ABSENT}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    #[test]
    fn a_program_without_clusters_says_how_to_get_them() {
        let games = turnstone_games::list!(turnstone_selfplay::row);
        for line in [
            "turnstone worker nats://host --quiet",
            "turnstone cluster status nats://host",
            "turnstone train nowhere.toml --cluster nats://host",
            "turnstone arena konane random random --cluster nats://host",
            "turnstone grade mu_torere --agent random --cluster nats://host",
        ] {
            let arguments: Vec<_> = line.split(' ').map(Into::into).collect();
            let call = Cli::from_arguments(&arguments, None).map_err(|error| error.to_string());
            let fault = call.expect(line).run(&games, None).expect_err(line);
            assert_eq!(format!("{fault:#}"), ABSENT, "{line}");
        }
    }
}
