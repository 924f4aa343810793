//! Configuration of a run: a strict TOML file whose keys all have a default and a checked range.

mod arena;
mod learn;
mod keys;
mod overrides;
mod continuing;

pub use arena::ArenaConfig;
pub use keys::{game_of_table, given, in_text};
pub use learn::LearnConfig;
pub use overrides::Override;
pub use turnstone_selfplay::config::{SearchConfig, SelfPlayConfig};

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use thiserror::Error;
use toml::{Table, Value};
use turnstone_agents::shape;
use turnstone_arena::in_one_line;
use turnstone_base::checksum::crc32_text;
use turnstone_base::files::read_text;
use turnstone_base::settings;
use turnstone_base::settings::{Declared, Fault, Field, Range, Setting, Settings, set};
use turnstone_env::{DynGame, Games};
use turnstone_models::{ComputeDevice, NetworkConfig};

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
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Config {
    /// Seed of all random streams.
    pub seed: u64,
    /// `[game]`: the key `name` and the game's parameters.
    pub game: Table,
    /// `[net]`: kind and size of the network.
    pub net: NetworkConfig,
    /// `[search]`: the tree search of self-play.
    pub search: SearchConfig,
    /// `[self_play]`: games, workers and openings.
    pub self_play: SelfPlayConfig,
    /// `[learn]`: learner and replay window.
    pub learn: LearnConfig,
    /// `[arena]`: matches during training.
    pub arena: ArenaConfig,
    /// `[run]`: length of the run and its checkpoints.
    pub run: RunConfig,
}

settings! {
    /// Length of the run and its checkpoints.
    #[derive(Clone, PartialEq, Debug, Serialize)]
    pub struct RunConfig {
        /// Iterations of self-play and learning.
        pub iterations: u64 = 100, 1..=1_000_000_000;
        /// Iterations over which `learn.learning_rate` and `search.simulations` go to their final values, which they keep from then
        /// on; 0: all iterations.
        pub schedule_iterations: u64 = 0, 0..=1_000_000_000;
        /// Steps between numbered checkpoints, which are written at the end of an iteration.
        pub checkpoint_steps: u64 = 1000, 1..=1_000_000_000;
        /// Number of newest numbered checkpoints that are all kept; older ones are thinned. 0 keeps all.
        pub keep_checkpoints: u64 = 10, 0..=1_000_000;
        /// Whether the games of an iteration are played while the one before is learned from, by the network of the iteration
        /// before that.
        pub overlap: bool;
        /// CRC-32 of the checkpoint that the run begins with, whose network is that of `[net]`; `train --from` writes it.
        pub from: String;
    }
}

impl RunConfig {
    fn validate(&self) -> Result<(), Fault> {
        self.check()?;
        let (from, is_digit) = (&self.from, |c: char| matches!(c, '0'..='9' | 'a'..='f'));
        if !from.is_empty() && (from.len() != 8 || !from.chars().all(is_digit)) {
            let expected = "eight hexadecimal digits, as train --from writes it";
            return Err(Fault::misfit("from", format!("{from:?}"), expected));
        }
        Ok(())
    }

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
    /// Reads and validates a file. Relative paths in it are taken from its folder, and made absolute.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, has an unknown key or a value out of range.
    pub fn read<T: DynGame + ?Sized>(path: &Path, games: &Games<T>) -> Result<Self, ConfigError> {
        let fault = |fault| ConfigError { file: path.display().to_string(), fault };
        let text = read_text(path, LONGEST_CONFIG).map_err(|error| fault(error.to_string()))?;
        Self::parse_in(&text, path.parent(), games).map_err(fault)
    }

    /// Reads and validates a file, then replaces some values and validates the result.
    ///
    /// # Errors
    /// The errors of [`Config::read`], for the file alone and for the result.
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

    /// Parses and validates a configuration. Relative paths in it are taken from the working directory.
    ///
    /// # Errors
    /// One line that names the key, or the line of a syntax error.
    pub fn parse<T: DynGame + ?Sized>(text: &str, games: &Games<T>) -> Result<Self, String> {
        Self::parse_in(text, None, games)
    }

    /// [`Config::parse`] of a file in a folder, from which relative paths are taken.
    ///
    /// # Errors
    /// The errors of [`Config::parse`].
    pub fn parse_in<T: DynGame + ?Sized>(text: &str, folder: Option<&Path>, games: &Games<T>) -> Result<Self, String> {
        let mut table: Table = text.parse().map_err(|error| in_one_line(text, &error))?;
        if let Some(folder) = folder {
            keys::take_paths_from(&mut table, folder);
        }
        let config = Self::of_table(table).map_err(|fault| keys::in_text(text, fault))?;
        config.validate(games)?;
        Ok(config)
    }

    /// Returns the configuration with some values replaced.
    ///
    /// # Errors
    /// The errors of [`Config::parse`].
    pub fn with<T: DynGame + ?Sized>(&self, overrides: &[Override], games: &Games<T>) -> Result<Self, String> {
        let mut table = self.table();
        if overrides.iter().any(|change| change.sets("net", "kind")) {
            // The kinds of networks have different keys.
            table.remove("net");
        }
        overrides.iter().try_for_each(|change| change.apply(&mut table))?;
        Self::of_values(table, games)
    }

    /// [`Config::parse`] of values that have no lines.
    ///
    /// # Errors
    /// One line that names the key.
    pub fn of_values<T: DynGame + ?Sized>(values: Table, games: &Games<T>) -> Result<Self, String> {
        let config = Self::of_table(values)?;
        config.validate(games)?;
        Ok(config)
    }

    /// The configuration of a table. Whether it fits the game is not checked.
    fn of_table(mut table: Table) -> Result<Self, Fault> {
        keys::read_openings(&mut table, LONGEST_CONFIG)?;
        let mut config = Self::default();
        let known = ["seed", "game", "net", "search", "self_play", "learn", "arena", "run"];
        for (name, value) in table {
            match value {
                _ if !known.contains(&name.as_str()) => return Err(Fault::unknown(&name, known.into_iter())),
                Value::Table(values) if name == "game" => config.game = values,
                Value::Table(values) if name != "seed" => {
                    config.set_section(&name, values).map_err(|fault| fault.in_section(&name))?;
                }
                value if name == "seed" => set(config.section(""), &name, &keys::given(value))?,
                value => return Err(Fault::misfit(&name, value, format!("a section, [{name}]"))),
            }
        }
        config.check().map(|()| config)
    }

    fn set_section(&mut self, section: &str, mut values: Table) -> Result<(), Fault> {
        if let Some(kind) = values.remove("kind").filter(|_| section == "net") {
            let name = kind.as_str().ok_or_else(|| Fault::misfit("kind", &kind, "the name of a kind of network"))?;
            self.net = NetworkConfig::of_kind(name).map_err(|fault| Fault::other("kind", fault))?;
        }
        values.into_iter().try_for_each(|(key, value)| set(self.section(section), &key, &keys::given(value)))
    }

    /// The settings of a section; those of no section are in the section without a name.
    fn section(&mut self, section: &str) -> Vec<Setting<'_>> {
        self.sections().into_iter().find(|(name, _)| *name == section).map(|(_, settings)| settings).unwrap_or_default()
    }

    /// The sections by name, each with its settings: first, without a name, those of no section.
    pub fn sections(&mut self) -> Vec<(&'static str, Vec<Setting<'_>>)> {
        let mut plain = Vec::new();
        let help = "Seed of all random streams; the same seed and config repeat a run bit for bit on one machine.";
        self.seed.list(Declared { name: "seed", help, range: Range::ANY.of(0..) }, &mut plain);
        vec![
            ("", plain),
            ("net", self.net.settings()),
            ("search", self.search.settings()),
            ("self_play", self.self_play.settings()),
            ("learn", self.learn.settings()),
            ("arena", self.arena.settings()),
            ("run", self.run.settings()),
        ]
    }

    /// The configuration of a text; `None` if it cannot be read. Whether it fits the game is not checked.
    pub(crate) fn unchecked(text: &str) -> Option<Self> {
        Self::of_table(text.parse().ok()?).ok()
    }

    /// The text of a file with this configuration.
    ///
    /// # Errors
    /// It would not be read back as it is.
    pub fn text<T: DynGame + ?Sized>(&self, games: &Games<T>) -> Result<String, ConfigError> {
        let fault = |fault| ConfigError { file: "the run's config".to_owned(), fault };
        let text = toml::to_string(self).map_err(|error| fault(error.to_string()))?;
        let read_back = Self::parse(&text, games).map_err(fault)?;
        if read_back == *self {
            Ok(text)
        } else {
            Err(fault("it cannot be written so that it is read back".to_owned()))
        }
    }

    fn table(&self) -> Table {
        Table::try_from(self).expect("a configuration is a table")
    }

    /// All values by the paths of their keys, as `learn.batch`, in the order of a file.
    pub(crate) fn by_path(&self) -> Table {
        keys::by_path(self.table())
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
        let mut config = Self::default();
        let paths = config.sections().into_iter().flat_map(|(section, settings)| {
            let named = settings.into_iter().filter(|setting| setting.name() == name);
            named.map(move |_| if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") })
        });
        let mut named: Vec<String> = paths.collect();
        named.sort();
        named
    }

    /// Returns the game with its parameters.
    ///
    /// # Errors
    /// One line that names the key.
    pub fn game<T: ?Sized>(&self, games: &Games<T>) -> Result<Arc<T>, String> {
        game_of_table(&self.game, games)
    }

    /// CRC-32, as eight hexadecimal digits, of the settings that decide which weights come out, as far as they differ from
    /// the defaults: threads, batches, caches, matches and what is kept on disk have no part in it.
    #[must_use]
    pub fn result_checksum(&self) -> String {
        let (mut decisive, plain) = (self.clone(), Self::default());
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
        let net = NetworkConfig::of_kind(self.net.kind()).unwrap_or_default();
        let mut plain = Self { net, ..Self::default() }.by_path();
        plain.insert("net.kind".to_owned(), NetworkConfig::default().kind().into());
        self.by_path().into_iter().filter(|(key, value)| plain.get(key) != Some(value)).collect()
    }

    /// Checks the range of every value, and that network and learner fit the game.
    ///
    /// # Errors
    /// One line that names the first invalid key.
    pub fn validate<T: DynGame + ?Sized>(&self, games: &Games<T>) -> Result<(), String> {
        let game = self.game(games)?;
        let (shape, heads) = (shape(game.spec()), self.learn.optimiser().heads());
        if let Err(fault) = self.net.layout_with(&shape, &heads) {
            let section = if self.net.layout(&shape).is_ok() { "learn.targets" } else { "net" };
            return Err(format!("{section}: {fault}"));
        }
        self.self_play.opening_states(&*game).map(drop)?;
        Ok(self.check()?)
    }

    /// Checks the values of the sections, each alone and with the others of its section.
    fn check(&self) -> Result<(), Fault> {
        self.search.check().map_err(|fault| fault.in_section("search"))?;
        self.self_play.validate().map_err(|fault| fault.in_section("self_play"))?;
        self.learn.validate().map_err(|fault| fault.in_section("learn"))?;
        self.arena.validate().map_err(|fault| fault.in_section("arena"))?;
        self.run.validate().map_err(|fault| fault.in_section("run"))
    }
}

#[cfg(test)]
mod tests;
