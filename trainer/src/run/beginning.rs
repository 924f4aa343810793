//! The learner of a new run, and the network that it begins with, if it is not a random one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use turnstone_agents::{LoadedNetwork, checkpoint_file, checkpoint_info, shape};
use turnstone_base::checksum::crc32_text;
use turnstone_base::files::read_bounded;
use turnstone_env::DynGame;
use turnstone_models::{Learner, LearnerState, Weights, warm_start};

use super::setup::Setup;
use crate::config::Config;

/// Longest checkpoint that a run begins with, in bytes: more than four bytes for each parameter that a network may have.
const LONGEST_CHECKPOINT: u64 = 1 << 29;

/// A checkpoint that a run begins with, as the bytes of its file.
#[derive(Debug)]
pub struct Beginning {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Beginning {
    /// Reads a checkpoint: a file, or `latest.safetensors` of a run folder.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(checkpoint: &Path) -> Result<Self> {
        let path = checkpoint_file(checkpoint);
        let bytes = read_bounded(&path, LONGEST_CHECKPOINT).with_context(|| path.display().to_string())?;
        Ok(Self { path, bytes })
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// CRC-32 of the file, as eight hexadecimal digits: what `run.from` is.
    #[must_use]
    pub fn checksum(&self) -> String {
        crc32_text(&self.bytes)
    }

    /// The weights, for the network of a config, which is that of the checkpoint. The game may have other parameters if its
    /// shape is the same or the network has shared heads.
    ///
    /// # Errors
    /// One line that names the file and the fault: it is no checkpoint, or one of another game, network or board.
    pub fn weights(&self, game: &dyn DynGame, config: &Config) -> Result<Weights> {
        let shown = self.path.display();
        let loaded = LoadedNetwork::from_bytes(&self.bytes, &self.path)?;
        let (info, shape) = (&loaded.info, shape(game.spec()));
        let (name, version) = (game.name(), game.version());
        ensure!(info.game == name, "{shown}: it is for the game {}, and the run is for {name}", info.game);
        ensure!(
            info.game_version == version,
            "{shown}: it is for version {} of {name}, and the run is for version {version}",
            info.game_version
        );
        ensure!(
            info.network == config.net,
            "{shown}: its network is a {}, the one of the config a {}",
            info.network,
            config.net
        );
        let weights = warm_start(&config.net, [&info.shape, &shape], &loaded.weights, config.seed)
            .with_context(|| shown.to_string())?;
        let info = checkpoint_info(game, &config.net, &config.search.at_play(), info.step);
        let network = LoadedNetwork::new(info, weights);
        ensure!(network.is_finite(game), "{shown}: the outputs of its network are not finite");
        Ok(network.weights)
    }
}

/// Starts with random weights, or with those of the network that `run.from` names, which is in the folder.
pub(super) fn new_learner(setup: &Setup<'_>) -> Result<Learner> {
    let Setup { game, config, folder, .. } = *setup;
    let (optimiser, shape) = (config.learn.optimiser(), shape(game.spec()));
    if config.run.from.is_empty() {
        return Ok(Learner::new(shape, &config.net, &optimiser, config.seed)?);
    }
    let path = folder.beginning();
    let beginning = Beginning::read(&path)
        .context("the network that run.from names is missing: give it to a new run with --from CHECKPOINT")?;
    let (found, expected) = (beginning.checksum(), &config.run.from);
    ensure!(found == *expected, "{}: its CRC-32 is {found}, not {expected} as run.from says", path.display());
    let weights = beginning.weights(game, config)?;
    let state = LearnerState::new(shape, config.net.clone(), weights).with_heads(optimiser.heads(), config.seed)?;
    Ok(Learner::from_state(state, &optimiser)?)
}
