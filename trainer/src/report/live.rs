//! The current state of a run, cheap to read repeatedly, for pages that follow it while it trains.

use std::path::PathBuf;
use std::time::Duration;

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

/// Number of iterations by which the time left is estimated.
const LAST: usize = 10;

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
        let (title, params) = (title(game.name()), params.join(", "));
        let (training, left) = (self.is_training(), self.time_left());
        Ok(overview::header(&title, &params, &network, &self.config, &self.history, training, left))
    }

    /// Whether a process trains the run, if that is known.
    fn is_training(&self) -> Option<bool> {
        FolderLock::is_taken(&self.folder)
    }

    /// Time that a run in training still takes, by its last iterations.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let last = &self.history[self.history.len().saturating_sub(LAST)..];
        let left = self.config.run.iterations.saturating_sub(last.last()?.iteration);
        let seconds = last.iter().map(|iteration| iteration.timing.seconds).sum::<f64>() / last.len() as f64;
        let left = Duration::try_from_secs_f64(seconds * left as f64).ok().filter(|left| !left.is_zero())?;
        (self.is_training() == Some(true)).then_some(left)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_training_says_how_long_it_takes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let games = turnstone_games::list!(turnstone_selfplay::row);
        let text = "[game]\nname = \"mancala\"\n[run]\niterations = 30\n";
        let config = Config::parse(text, &games).expect("valid");
        let line = |iteration| {
            let seconds = if iteration <= 10 { 1 } else { 60 };
            format!(
                r#"{{"iteration":{iteration},"step":1,"games":2,"positions":3,"arena":[],"timing":{{"self_play_seconds":1,"learn_seconds":1,"both_seconds":0,"match_seconds":0,"file_seconds":0,"seconds":{seconds}}}}}"#
            )
        };
        let history: Vec<Metrics> =
            (1..=20).map(|iteration| serde_json::from_str(&line(iteration)).expect("metrics")).collect();
        let path = folder.path().to_owned();
        let mut run = LiveRun { config, text: text.to_owned(), folder: path.clone(), history };
        let game = run.config.game(&games).expect("a game");
        assert_eq!(run.time_left(), None, "nobody trains it");
        let _lock = FolderLock::take(&path).expect("free");
        assert_eq!(run.time_left(), Some(Duration::from_secs(600)));
        let header = run.header(&*game).expect("a header");
        assert!(header.contains("iteration 20 of 30: running, 10 min 00 s left"), "{header}");
        run.config.run.iterations = 20;
        assert_eq!(run.time_left(), None);
        run.history.clear();
        assert_eq!(run.time_left(), None);
    }
}
