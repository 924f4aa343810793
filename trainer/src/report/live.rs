//! The current state of a run, cheap to read repeatedly, for pages that follow it while it trains.

use std::path::PathBuf;

use anyhow::{Context, Result};
use turnstone_agents::{LoadedNetwork, shape};
use turnstone_arena::page::{Boards, Section, grouped, title};
use turnstone_base::files::read_text;
use turnstone_base::folder_lock::FolderLock;
use turnstone_search::Stop;
use turnstone_selfplay::{Games, TrainableGame};

use super::history;
use super::{cluster, curves, games, overview, strength};
use crate::config::{Config, LONGEST_CONFIG};
use crate::metrics::Metrics;
use crate::run_folder::RunFolder;

/// A run's config and the metrics so far.
#[derive(Clone, Debug)]
pub struct LiveRun {
    /// The config.
    pub config: Config,
    /// The config's file.
    pub text: String,
    /// The folder.
    pub folder: PathBuf,
    /// The iterations so far.
    pub history: Vec<Metrics>,
}

impl LiveRun {
    /// Reads config and metrics of a run.
    ///
    /// # Errors
    /// A file is missing or damaged; the message names it.
    pub fn read(folder: &RunFolder, games: &Games) -> Result<Self> {
        let path = folder.config();
        let text = read_text(&path, LONGEST_CONFIG).with_context(|| path.display().to_string())?;
        let config = Config::read(&path, games)?;
        let path = folder.path().to_owned();
        Ok(Self { config, text, folder: path, history: history::read(&folder.metrics())? })
    }

    /// The header of its page.
    ///
    /// # Errors
    /// The network's size does not fit the game.
    pub fn header(&self, game: &dyn TrainableGame) -> Result<String> {
        let params: Vec<String> = game.params().iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let parameters = self.config.net.cost(&shape(game.spec()))?.parameters;
        let mut network = format!("{}, {} parameters", self.config.net, grouped(parameters as u64));
        if let Some(first) = network.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let training = FolderLock::is_taken(&self.folder);
        Ok(overview::header(&title(game.name()), &params.join(", "), &network, &self.config, &self.history, training))
    }

    /// The sections with what the metrics say: strength and curves; and the cluster that plays, if there is one.
    #[must_use]
    pub fn parts(&self) -> Vec<Section> {
        let mut parts = vec![strength::strength(&self.config, &self.history)];
        if !self.history.is_empty() {
            parts.push(curves::learning(&self.history));
            parts.push(curves::throughput(&self.history));
        }
        parts.extend(cluster::cluster(&self.folder));
        parts.push(curves::config(&self.text, &self.config));
        parts
    }

    /// The section with sample games of a checkpoint of the run against itself; calls `played` after each of them. `None` if
    /// `stop` was raised before they were finished.
    ///
    /// # Errors
    /// The network cannot be built.
    pub fn sample_games(
        &self,
        game: &dyn TrainableGame,
        network: &LoadedNetwork,
        simulations: u32,
        played: &dyn Fn(),
        stop: &Stop,
    ) -> Result<Option<Section>> {
        let (mut html, mut boards) = (String::new(), Boards::default());
        for number in 0..games::GAMES {
            if stop.is_raised() {
                return Ok(None);
            }
            html += &games::card(game, network, &self.config, simulations, number, &mut boards)?;
            played();
        }
        html += &boards.element();
        let lead = format!("The newest checkpoint (step {}) against itself.", network.info.step);
        Ok(Some(Section { id: "games", heading: "Sample games", lead, html }))
    }

    /// The score by which the best checkpoint is chosen, of the last iteration that has one.
    #[must_use]
    pub fn newest_score(&self) -> Option<f64> {
        self.history.iter().rev().find_map(Metrics::mean_score)
    }
}
