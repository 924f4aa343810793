//! Configuration of a run: a strict TOML file whose keys all have a default and a checked range.

mod arena;
mod learn;
mod overrides;
mod keys;
mod continuing;

pub use arena::ArenaConfig;
pub use continuing::CHANGEABLE;
pub use keys::game_of_table;
pub use learn::LearnConfig;
pub use overrides::Override;
use turnstone_base::checksum::crc32_text;
use turnstone_base::files::read_text;
pub use turnstone_selfplay::config::{SearchConfig, SelfPlayConfig};

use keys::Removed;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_agents::shape;
use turnstone_env::{DynGame, Games};
use turnstone_models::{ComputeDevice, NetworkConfig};
use turnstone_selfplay::config::within;

/// Maximum length of a config file in bytes.
pub const LONGEST_CONFIG: u64 = 1 << 20;

/// An invalid configuration. One line that names the file and, where one is at fault, the key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{file}: {fault}")]
pub struct ConfigError {
    file: String,
    fault: String,
}

/// Configuration of a training run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Seed of all random streams.
    #[serde(default)]
    pub seed: u64,
    /// `[game]`: the key `name` and the game's parameters.
    pub game: toml::Table,
    /// `[net]`: kind and size of the network.
    #[serde(default)]
    pub net: NetworkConfig,
    /// `[search]`: the tree search of self-play.
    #[serde(default)]
    pub search: SearchConfig,
    /// `[self_play]`: games, workers and openings.
    #[serde(default)]
    pub self_play: SelfPlayConfig,
    /// `[learn]`: learner and replay window.
    #[serde(default)]
    pub learn: LearnConfig,
    /// `[arena]`: matches during training.
    #[serde(default)]
    pub arena: ArenaConfig,
    /// `[run]`: length of the run and its checkpoints.
    #[serde(default)]
    pub run: RunConfig,
}

/// `[run]`: length of the run and its checkpoints.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunConfig {
    /// Number of iterations of self-play and learning.
    pub iterations: u64,
    /// Number of iterations over which the learning rate and the simulations of self-play go from their first to their
    /// final values, which they keep from then on. 0: over all iterations.
    pub schedule_iterations: u64,
    /// Learner steps between numbered checkpoints, which are written at the end of an iteration.
    pub checkpoint_steps: u64,
    /// Number of newest numbered checkpoints that are all kept. Older ones are thinned, the older the more. 0 keeps
    /// all.
    pub keep_checkpoints: u64,
    /// With 1, the games of an iteration are played while the one before is learned from, by the network of the
    /// iteration before that. With 0, one after the other.
    pub overlap: u64,
    /// CRC-32, as eight hexadecimal digits, of the checkpoint that the learner begins with, which is in the run's folder;
    /// empty for random weights. `train --from` writes it.
    pub from: String,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            iterations: 100,
            schedule_iterations: 0,
            checkpoint_steps: 1000,
            keep_checkpoints: 10,
            overlap: 0,
            from: String::new(),
        }
    }
}

impl RunConfig {
    /// Share of the schedules that is over before an iteration, from 0 to 1.
    #[must_use]
    pub fn progress(&self, iteration: u64) -> f64 {
        ((iteration - 1) as f64 / self.scheduled() as f64).min(1.0)
    }

    /// The number of iterations that the schedules take.
    fn scheduled(&self) -> u64 {
        if self.schedule_iterations == 0 { self.iterations } else { self.schedule_iterations }
    }
}

impl Config {
    /// Reads and validates a file.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, has an unknown key or a value out of range.
    pub fn read<T: DynGame + ?Sized>(path: &Path, games: &Games<T>) -> Result<Self, ConfigError> {
        Self::read_file(path, |text| Self::parse(text, games))
    }

    /// Does the same for what only asks what a run was: keys that were removed are left out, whatever their value.
    ///
    /// # Errors
    /// Those of [`Config::read`].
    pub fn read_past<T: DynGame + ?Sized>(path: &Path, games: &Games<T>) -> Result<Self, ConfigError> {
        Self::read_file(path, |text| Self::parse_past(text, games).map(|(config, _)| config))
    }

    fn read_file(path: &Path, parse: impl FnOnce(&str) -> Result<Self, String>) -> Result<Self, ConfigError> {
        let fault = |fault| ConfigError { file: path.display().to_string(), fault };
        let text = read_text(path, LONGEST_CONFIG).map_err(|error| fault(error.to_string()))?;
        parse(&text).map_err(fault)
    }

    /// Reads and validates a file, then replaces some values and validates the result.
    ///
    /// # Errors
    /// Those of [`Config::read`], for the file alone and for the result.
    pub fn read_with<T: DynGame + ?Sized>(
        path: &Path,
        overrides: &[Override],
        games: &Games<T>,
    ) -> Result<Self, ConfigError> {
        let config = Self::read(path, games)?;
        if overrides.is_empty() {
            return Ok(config);
        }
        let file = format!("{} with --set", path.display());
        config.with(overrides, games).map_err(|fault| ConfigError { file, fault })
    }

    /// Returns the configuration with some values replaced.
    ///
    /// # Errors
    /// Those of [`Config::parse`].
    pub fn with<T: DynGame + ?Sized>(&self, overrides: &[Override], games: &Games<T>) -> Result<Self, String> {
        let mut table = toml::Table::try_from(self).expect("a configuration is a table");
        if overrides.iter().any(|change| change.sets("net", "kind")) {
            // The kinds of networks have different keys.
            table.remove("net");
        }
        overrides.iter().try_for_each(|change| change.apply(&mut table))?;
        keys::read_openings(&mut table, LONGEST_CONFIG)?;
        keys::take_removed(&mut table).fault()?;
        keys::check(&table, known)?;
        let config: Self = table.clone().try_into().map_err(|error| fault_of(&table, &error))?;
        config.validate(games).map(|()| config)
    }

    /// Parses and validates a configuration.
    ///
    /// # Errors
    /// One line that names the key, or the line of a syntax error.
    pub fn parse<T: DynGame + ?Sized>(text: &str, games: &Games<T>) -> Result<Self, String> {
        let (config, removed) = Self::parse_past(text, games)?;
        removed.fault().map(|()| config)
    }

    /// Parses and validates a configuration without the keys that were removed, which come back beside it.
    fn parse_past<T: DynGame + ?Sized>(text: &str, games: &Games<T>) -> Result<(Self, Removed), String> {
        let at_line = |error: &toml::de::Error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            line.map(|line| format!("line {line}: ")).unwrap_or_default()
        };
        let mut table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| at_line(&error) + &error.message().replace('\n', ", "))?;
        let removed = keys::take_removed(&mut table);
        keys::check(&table, known)?;
        let is_text = removed.is_empty() && !keys::read_openings(&mut table, LONGEST_CONFIG)?;
        // The text knows the lines of faults, but still has the keys that were removed, and names of files.
        let read = if is_text { toml::from_str(text) } else { table.clone().try_into() };
        let config: Self = read.map_err(|error| at_line(&error) + &fault_of(&table, &error))?;
        config.validate(games)?;
        Ok((config, removed))
    }

    /// Returns the configuration with self-play and learning on a device.
    ///
    /// # Errors
    /// The precision of self-play is not for this device.
    pub fn on<T: DynGame + ?Sized>(mut self, device: ComputeDevice, games: &Games<T>) -> Result<Self, String> {
        (self.self_play.device, self.learn.device) = (device, device);
        self.validate(games).map(|()| self)
    }

    /// The keys of this name, as `--set` takes them: `run.iterations` for `iterations`.
    #[must_use]
    pub fn keys_named(name: &str) -> Vec<String> {
        let all = keys::by_path(known(NetworkConfig::default())).into_keys();
        all.filter(|key| key.rsplit('.').next() == Some(name)).collect()
    }

    /// Returns the game with its parameters.
    ///
    /// # Errors
    /// One line that names the key.
    pub fn game<T: ?Sized>(&self, games: &Games<T>) -> Result<Arc<T>, String> {
        game_of_table(&self.game, games)
    }

    /// CRC-32, as eight hexadecimal digits, of the settings that decide which weights come out, as far as they differ from
    /// the defaults: threads, batches, caches, matches and what is kept on disk have no part in it, and a key that is added
    /// later leaves the checksums of before.
    #[must_use]
    pub fn result_checksum(&self) -> String {
        let (mut decisive, plain) = (self.clone(), defaults(NetworkConfig::default()));
        decisive.search.play_proof_nodes = 0;
        decisive.self_play.threads = plain.self_play.threads;
        decisive.self_play.concurrent_games = plain.self_play.concurrent_games;
        decisive.self_play.cached_positions = plain.self_play.cached_positions;
        decisive.learn.threads = plain.learn.threads;
        decisive.arena = plain.arena;
        decisive.run.checkpoint_steps = plain.run.checkpoint_steps;
        decisive.run.keep_checkpoints = plain.run.keep_checkpoints;
        let changes = decisive.changes();
        let lines = changes.iter().map(|(key, value)| format!("{key} = {value}\n"));
        crc32_text(lines.collect::<String>().as_bytes())
    }

    /// The keys with other values than the defaults, by path, those of a network than the defaults of its kind, and all keys of
    /// the game.
    fn changes(&self) -> BTreeMap<String, toml::Value> {
        let table = |config: &Self| toml::Table::try_from(config).expect("a configuration is a table");
        let own = table(self);
        let mut plain = keys::by_path(table(&defaults(keys::net_of_kind(&own).unwrap_or_default())));
        plain.insert("net.kind".to_owned(), NetworkConfig::default().kind().into());
        let mut changes = keys::by_path(own);
        changes.retain(|key, value| plain.get(key) != Some(value));
        changes
    }

    /// Checks the range of every value, and that network and learner fit the game.
    ///
    /// # Errors
    /// One line that names the first invalid key.
    pub fn validate<T: DynGame + ?Sized>(&self, games: &Games<T>) -> Result<(), String> {
        within("seed", self.seed, 0, i64::MAX as u64)?;
        let game = self.game(games)?;
        let spec = game.spec();
        self.net.layout(&shape(spec)).map_err(|e| format!("net: {e}"))?;
        self.search.validate()?;
        self.self_play.validate()?;
        self.self_play.opening_states(&*game).map(drop)?;
        self.learn.validate()?;
        self.arena.validate()?;
        within("run.iterations", self.run.iterations, 1, 1_000_000_000)?;
        within("run.schedule_iterations", self.run.schedule_iterations, 0, 1_000_000_000)?;
        within("run.checkpoint_steps", self.run.checkpoint_steps, 1, 1_000_000_000)?;
        within("run.keep_checkpoints", self.run.keep_checkpoints, 0, 1_000_000)?;
        within("run.overlap", self.run.overlap, 0, 1)?;
        let (from, is_digit) = (&self.run.from, |c: char| matches!(c, '0'..='9' | 'a'..='f'));
        if !from.is_empty() && (from.len() != 8 || !from.chars().all(is_digit)) {
            return Err(format!(
                "run.from is {from:?}, but must be eight hexadecimal digits, as train --from writes it"
            ));
        }
        Ok(())
    }
}

/// A configuration with this network and defaults, without a game.
fn defaults(net: NetworkConfig) -> Config {
    Config {
        seed: 0,
        game: toml::Table::new(),
        net,
        search: SearchConfig::default(),
        self_play: SelfPlayConfig::default(),
        learn: LearnConfig::default(),
        arena: ArenaConfig::default(),
        run: RunConfig::default(),
    }
}

/// A table with all keys that a configuration with this network may have.
fn known(net: NetworkConfig) -> toml::Table {
    let mut example = defaults(net);
    // These are left out at their defaults.
    example.self_play.openings = vec![String::new()];
    example.search.constants.proof_nodes = 1;
    toml::Table::try_from(example).expect("a configuration is a table")
}

/// The fault of a configuration that cannot be read, with its key.
fn fault_of(table: &toml::Table, error: &toml::de::Error) -> String {
    keys::fault(table, error, |table| table.try_into::<Config>().err())
}

#[cfg(test)]
mod tests;
