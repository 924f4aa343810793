//! Clusters over NATS.

use anyhow::{Result, ensure};
use clap::Args;
use turnstone_base::terminal::Reporter;
use turnstone_cluster::{LeaderOptions, Probe};
use turnstone_search::Stop;

use super::{Leader, Work};
use crate::program_name::PROGRAM;

/// The cluster of a command.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    options: LeaderOptions,
}

impl ClusterArgs {
    /// The cluster, if the command line names one.
    ///
    /// # Errors
    /// There are options for a cluster without one.
    pub(crate) fn named(&self) -> Result<Option<&Self>> {
        ensure!(
            self.options.url.is_some() || self.options == LeaderOptions::default(),
            "--ack-wait, --user, --token-file, --nkey-file, --creds, --ca and --cert have no effect without --cluster"
        );
        Ok(self.options.url.is_some().then_some(self))
    }

    /// Connects to the server and announces the work.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or the leader's files cannot be written.
    pub(crate) fn lead(&self, work: &Work<'_>, stop: &Stop) -> Result<Box<dyn Leader>> {
        let probe = Probe::compute(work.game, &work.network, &work.search, work.precision.resolved())?;
        let (folder, reporter) = (work.folder.clone(), Reporter::new(work.quiet));
        let leader = turnstone_cluster::Leader::new(&self.options, PROGRAM, folder, work.game, probe, reporter, stop)?;
        Ok(Box::new(leader))
    }
}

impl Leader for turnstone_cluster::Leader {
    fn finish(self: Box<Self>) {
        (*self).finish();
    }
}
