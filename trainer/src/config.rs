//! Configuration of a run: a strict TOML file whose keys all have a default and a checked range.

mod arena;
mod learn;
mod overrides;
mod keys;

pub use arena::ArenaConfig;
pub use keys::game_of_table;
pub use learn::LearnConfig;
pub use overrides::Override;
pub use turnstone_selfplay::config::{SearchConfig, SelfPlayConfig, cores};

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_agents::shape;
use turnstone_env::{DynGame, Games};
use turnstone_models::{ComputeDevice, NetworkConfig, NetworkError, Precision, read_text};
use turnstone_selfplay::config::within;

/// Maximum length of a config file in bytes.
pub const LONGEST_CONFIG: u64 = 1 << 20;

/// Keys that versions before lacked, at their defaults: left out of [`Config::result_checksum`], which so remains for
/// configs without them.
const KEYS_ADDED_LATER: [&str; 6] = [
    "\"precision\":\"f32\",",
    "\"device\":\"cpu\",",
    "\"backend\":\"kernels\",",
    "\"device\":\"cpu\",",
    ",\"proof_nodes\":0",
    ",\"play_proof_nodes\":0",
];

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
    /// Learner steps between numbered checkpoints, which are written at the end of an iteration.
    pub checkpoint_steps: u64,
    /// Number of newest numbered checkpoints that are all kept. Older ones are thinned, the older the more. 0 keeps
    /// all.
    pub keep_checkpoints: u64,
    /// With 1, the games of an iteration are played while the one before is learned from, by the network of the
    /// iteration before that. With 0, one after the other.
    pub overlap: u64,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self { iterations: 100, checkpoint_steps: 1000, keep_checkpoints: 10, overlap: 0 }
    }
}

impl Config {
    /// Reads and validates a file.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, has an unknown key or a value out of range.
    pub fn read<T: DynGame + ?Sized>(path: &Path, games: &Games<T>) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let text =
            read_text(path, LONGEST_CONFIG).map_err(|e| ConfigError { file: file.clone(), fault: e.to_string() })?;
        Self::parse(&text, games).map_err(|fault| ConfigError { file, fault })
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
        if overrides.iter().any(Override::is_network_kind) {
            // The kinds of networks have different keys.
            table.remove("net");
        }
        overrides.iter().try_for_each(|change| change.apply(&mut table))?;
        keys::check(&table, known)?;
        let config: Self = table.clone().try_into().map_err(|error| fault_of(&table, &error))?;
        config.validate(games).map(|()| config)
    }

    /// Parses and validates a configuration.
    ///
    /// # Errors
    /// One line that names the key, or the line of a syntax error.
    pub fn parse<T: DynGame + ?Sized>(text: &str, games: &Games<T>) -> Result<Self, String> {
        let at_line = |error: &toml::de::Error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            line.map(|line| format!("line {line}: ")).unwrap_or_default()
        };
        let table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| at_line(&error) + &error.message().replace('\n', ", "))?;
        keys::check(&table, known)?;
        let config: Self = toml::from_str(text).map_err(|error| at_line(&error) + &fault_of(&table, &error))?;
        config.validate(games)?;
        Ok(config)
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
        let all = keys::all(known(NetworkConfig::default()));
        all.into_iter().filter(|key| key.rsplit('.').next() == Some(name)).collect()
    }

    /// Returns the game with its parameters.
    ///
    /// # Errors
    /// One line that names the key.
    pub fn game<T: ?Sized>(&self, games: &Games<T>) -> Result<Arc<T>, String> {
        game_of_table(&self.game, games)
    }

    /// CRC-32, as eight hexadecimal digits, of the settings that decide which weights come out: threads, batches, caches,
    /// matches and what is kept on disk have no part in it.
    #[must_use]
    pub fn result_checksum(&self) -> String {
        let defaults = SelfPlayConfig::default();
        let self_play = SelfPlayConfig {
            threads: defaults.threads,
            concurrent_games: defaults.concurrent_games,
            cached_positions: defaults.cached_positions,
            ..self.self_play.clone()
        };
        let search = SearchConfig { play_proof_nodes: 0, ..self.search.clone() };
        let learn = LearnConfig { threads: LearnConfig::default().threads, ..self.learn.clone() };
        let decisive = (self.seed, &self.game, &self.net, search, self_play, learn, self.run.iterations);
        let mut text = serde_json::to_string(&decisive).expect("numbers, texts and tables");
        for later in KEYS_ADDED_LATER {
            text = text.replacen(later, "", 1);
        }
        if self.run.overlap > 0 {
            // Nothing is added at 0, so that the checksums of configs from before the key existed are unchanged.
            text += &format!("overlap {}", self.run.overlap);
        }
        format!("{:08x}", crc32fast::hash(text.as_bytes()))
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
        if self.self_play.precision == Precision::I8 && !self.net.has_integers() {
            return Err(format!("self_play.precision: {}", NetworkError::NoIntegers));
        }
        self.learn.validate(spec)?;
        self.arena.validate()?;
        within("run.iterations", self.run.iterations, 1, 1_000_000_000)?;
        within("run.checkpoint_steps", self.run.checkpoint_steps, 1, 1_000_000_000)?;
        within("run.keep_checkpoints", self.run.keep_checkpoints, 0, 1_000_000)?;
        within("run.overlap", self.run.overlap, 0, 1)
    }
}

/// A configuration with this network and defaults, as a table.
fn known(net: NetworkConfig) -> toml::Table {
    let example = Config {
        seed: 0,
        game: toml::Table::new(),
        net,
        search: SearchConfig::default(),
        self_play: SelfPlayConfig::default(),
        learn: LearnConfig::default(),
        arena: ArenaConfig::default(),
        run: RunConfig::default(),
    };
    toml::Table::try_from(example).expect("a configuration is a table")
}

/// The fault of a configuration that cannot be read, with its key.
fn fault_of(table: &toml::Table, error: &toml::de::Error) -> String {
    keys::fault(table, error, |table| table.try_into::<Config>().err())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, &turnstone_env::games::built_in())
    }

    fn fault(text: &str) -> String {
        parse(text).expect_err("a fault")
    }

    #[test]
    fn the_smallest_config_takes_all_defaults() {
        let config = parse("[game]\nname = \"mancala\"\nstones = 3").expect("valid");
        assert_eq!(config.learn, LearnConfig::default());
        let again = parse(&toml::to_string(&config).expect("a table")).expect("what is written can be read");
        assert_eq!(again, config);
    }

    #[test]
    fn the_checksum_is_of_what_decides_the_weights() {
        let checksum = |text: &str| {
            let config = parse(&format!("{text}\n[game]\nname = \"mancala\"")).expect("valid");
            config.result_checksum()
        };
        let plain = checksum("");
        assert_eq!(plain, "eb034d06", "checkpoints of earlier versions have it");
        let without_part = "self_play.threads = 3|self_play.concurrent_games = 7|self_play.cached_positions = 0|\
            search.play_proof_nodes = 9|learn.threads = 2|arena.games = 8|run.checkpoint_steps = 7|run.overlap = 0";
        for change in without_part.split('|') {
            assert_eq!(checksum(change), plain, "{change}");
        }
        let decisive = "seed = 2|learn.batch = 64|search.simulations = 9|search.proof_nodes = 9|run.iterations = 3|\
            run.overlap = 1|learn.device = \"gpu\"|self_play.device = \"gpu\"|net.kind = \"mixer\"|\
            self_play.games_per_iteration = 9|self_play.precision = \"i8\"";
        for change in decisive.split('|') {
            assert_ne!(checksum(change), plain, "{change}");
        }
    }

    #[test]
    fn every_kind_of_network_has_defaults() {
        for kind in ["residual_mlp", "residual_graph", "residual_conv", "mixer"] {
            let config = parse(&format!("[game]\nname = \"konane\"\n[net]\nkind = \"{kind}\"")).expect("valid");
            let again = parse(&toml::to_string(&config).expect("a table")).expect("what is written can be read");
            assert_eq!(again, config);
        }
        let square = "[game]\nname = \"morris\"\n[net]\nkind = \"residual_graph\"\nneighbourhood = \"square\"";
        assert!(
            fault(square).starts_with("net: a residual_graph over a square, like a residual_conv, needs a lattice")
        );
    }

    #[test]
    fn faults_name_the_key() {
        let game = "[game]\nname = \"mancala\"\n";
        let with = |section: &str| fault(&format!("{game}{section}"));
        assert_eq!(
            with("[learn]\nlearning_rat = 1e-3"),
            "unknown key `learn.learning_rat` (did you mean `learn.learning_rate`?)"
        );
        assert_eq!(with("[lern]\n"), "unknown key `lern` (did you mean `learn`?)");
        for key in ["search.c_puct", "self_play.temperature", "self_play.threads", "learn.batch", "arena.games"] {
            let (section, name) = key.split_once('.').expect("a section");
            let fault = with(&format!("[{section}]\n{name} = 2097152"));
            assert!(fault.starts_with(&format!("{key} is 2097152, but must be")), "{fault}");
        }
        assert!(with("[learn]\nlearning_rate = -0.1").starts_with("learn.learning_rate is -0.1, but must be from"));
        assert!(with("[learn]\nlearning_rate = nan").contains("learn.learning_rate is NaN"));
        assert!(with("[learn]\nema_decay = 1.5").starts_with("learn.ema_decay is 1.5"));
        assert!(
            with("[learn]\nmargin_weight = -1").starts_with("learn.margin_weight is -1, but must be from 0 to 100")
        );
        assert!(with("[learn]\nplies_left_weight = 1e3").starts_with("learn.plies_left_weight is 1000"));
        assert_eq!(
            fault("[game]\nname = \"konane\"\n[learn]\nmargin_weight = 0.5"),
            "learn.margin_weight is 0.5, but konane has no margin to learn"
        );
        assert_eq!(
            with("[self_play]\nthreads = \"two\""),
            "line 4: self_play.threads is \"two\", but must be a whole number from 0"
        );
        assert_eq!(with("[learn]\nbatch = -5"), "line 4: learn.batch is -5, but must be a whole number from 0");
        assert_eq!(
            with("[search]\nsimulations = 5_000_000_000"),
            "line 4: search.simulations is 5000000000, but must be a whole number from 0 to 4294967295"
        );
        assert_eq!(with("[learn]\naugment = 1"), "line 4: learn.augment is 1, but must be true or false");
        assert_eq!(
            with("[learn]\nwindow = 1.5\nbatch = 8"),
            "line 4: learn.window is 1.5, but must be a whole number from 0"
        );
        assert_eq!(with("[learn]\nema_decay = \"\""), "line 4: learn.ema_decay is \"\", but must be a number");
        assert_eq!(
            with("[net]\nblocks = \"4\"\nkind = \"mixer\""),
            "line 3: net.blocks is \"4\", but must be a whole number from 0"
        );
        assert!(with("[net]\nblocks = 4").contains("missing field `kind`"), "{}", with("[net]\nblocks = 4"));
        assert_eq!(
            fault("seed = -1\n[game]\nname = \"mancala\""),
            "line 1: seed is -1, but must be a whole number from 0"
        );
        assert_eq!(
            with("[self_play]\nprecision = \"int8\""),
            "line 4: self_play.precision: unknown variant `int8`, expected one of `f32`, `i8`, `auto`"
        );
        assert!(with("[net]\nkind = \"residual_mlp\"\nblocks = 3\nwidth = 0").contains("width"));
        assert_eq!(
            with("[net]\nkind = \"residual_conv\"\n[self_play]\nprecision = \"i8\""),
            "self_play.precision: a residual_conv has floats only, no integers of eight bits: give f32 or auto as its precision"
        );
        assert_eq!(
            with("[net]\nkind = \"mixer\"\nchanels = 8"),
            "unknown key `net.chanels` (did you mean `net.channels`?)"
        );
        assert!(with("[net]\nkind = \"residual_mlp\"\nreach = 2").starts_with("unknown key `net.reach`"));
        assert!(with("[net]\nkind = \"residual_graph\"\nreach = 0").starts_with("net: the reach is 0"));
        assert!(with("[net]\nkind = \"conv\"").contains("unknown variant `conv`"));
        assert!(with("[arena]\nopponents = [\"alphabeta:dept=3\"]").contains("did you mean `depth`"));
        assert!(with("[run]\niterations = 0").starts_with("run.iterations is 0"));
        assert_eq!(with("[run]\noverlap = 2"), "run.overlap is 2, but must be from 0 to 1");
        assert_eq!(
            fault("[game]\nname = \"mancla\""),
            "game: unknown game `mancla` (did you mean `mancala`?); the games are \
             mu_torere, mancala, morris, konane, morabaraba"
        );
        assert!(fault("[game]\nname = \"mancala\"\nstone = 4").contains("did you mean `stones`"));
        assert!(fault("[game]\nname = \"mancala\"\nstones = 0").contains("must be an integer from 1 to 21"));
        assert!(fault("").contains("game"));
        assert!(fault("[game").starts_with("line 1: "));
        assert!(!fault("a = \"").contains('\n'));
    }
}
