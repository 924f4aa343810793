//! The commands of a cluster in a build without it: they say how to get one.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;

#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

impl Absent {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let _ = &self.rest;
        bail!("{ABSENT}");
    }
}

/// An option of a cluster in a build without it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ClusterArgs {
    #[arg(long, value_name = "URL", hide = true)]
    cluster: Option<String>,
}

impl ClusterArgs {
    pub(crate) fn refuse(&self) -> Result<()> {
        if self.cluster.is_some() {
            bail!("{ABSENT}");
        }
        Ok(())
    }
}

const ABSENT: &str =
    "this build cannot use a cluster; releases can, and `cargo build --release --features cluster` gives one that can";
