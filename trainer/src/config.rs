//! The run's configuration: a strict TOML file, every key range-checked, every default here.

mod overrides;

pub use overrides::Override;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use turnstone_env::games::{AnyGame, NAMES};
use turnstone_env::{Params, nearest};
use turnstone_models::{NetworkConfig, OptimiserConfig};
use turnstone_search::{Gumbel, Method, Puct, RootNoise};

use crate::agents::AgentSpec;
use crate::network::shape;

/// What is wrong with a configuration, in one line that names the key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{file}: {fault}")]
pub struct ConfigError {
    file: String,
    fault: String,
}

/// All that decides a training run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The seed of all random streams.
    #[serde(default)]
    pub seed: u64,
    /// `name` and the game's parameters.
    pub game: toml::Table,
    /// The network.
    #[serde(default)]
    pub net: NetworkConfig,
    /// The tree search of self-play.
    #[serde(default)]
    pub search: SearchConfig,
    /// Self-play.
    #[serde(default)]
    pub self_play: SelfPlayConfig,
    /// The learner.
    #[serde(default)]
    pub learn: LearnConfig,
    /// Matches during training.
    #[serde(default)]
    pub arena: ArenaConfig,
    /// Length of the run and its files.
    #[serde(default)]
    pub run: RunConfig,
}

/// Which tree search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// AlphaZero's formula, with Dirichlet noise at the root in self-play.
    Puct,
    /// Sequential halving over sampled actions at the root.
    #[default]
    Gumbel,
}

impl SearchKind {
    /// The search for varied play with so many simulations: at temperature 1 it draws actions as it weighs them.
    #[must_use]
    pub fn sampling(self, simulations: u32) -> Method {
        match self.strongest(simulations) {
            Method::Gumbel(gumbel) => Method::Gumbel(Gumbel { noise_scale: 1.0, ..gumbel }),
            puct @ Method::Puct(_) => puct,
        }
    }

    /// The search without noise, for the strongest play with so many simulations.
    #[must_use]
    pub fn strongest(self, simulations: u32) -> Method {
        match self {
            Self::Puct => Method::Puct(Puct::default()),
            Self::Gumbel => Method::Gumbel(Gumbel::strongest(simulations)),
        }
    }
}

/// `[search]`: the tree search of self-play.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// Which search.
    pub method: SearchKind,
    /// Simulations per move at the start of the run.
    pub simulations: u32,
    /// Simulations per move at its end, reached evenly; 0 means as many as at the start.
    pub final_simulations: u32,
    /// PUCT: weight of the exploration term.
    pub c_puct: f32,
    /// PUCT: first-play-urgency reduction.
    pub fpu_reduction: f32,
    /// PUCT: total concentration of the root's Dirichlet noise, spread over the legal actions.
    pub noise_concentration: f32,
    /// PUCT: share of the noise in the root's priors; 0 switches it off.
    pub noise_fraction: f32,
    /// PUCT: weight of forced playouts, whose visits are pruned from the policy target; 0 forces none.
    pub forced_playouts: f32,
    /// Gumbel: actions considered at the root.
    pub considered: u32,
    /// Gumbel: added to the greatest visit count in the weight of values against logits.
    pub c_visit: f32,
    /// Gumbel: weight of values against logits.
    pub c_scale: f32,
}

impl Default for SearchConfig {
    fn default() -> Self {
        let (puct, gumbel) = (Puct::default(), Gumbel::default());
        Self {
            method: SearchKind::default(),
            simulations: 64,
            final_simulations: 0,
            c_puct: puct.c_puct,
            fpu_reduction: puct.fpu_reduction,
            noise_concentration: 10.0,
            noise_fraction: 0.25,
            forced_playouts: 2.0,
            considered: gumbel.considered,
            c_visit: gumbel.c_visit,
            c_scale: gumbel.c_scale,
        }
    }
}

impl SearchConfig {
    /// Simulations per move, `progress` (0..=1) of the way through the run.
    #[must_use]
    pub fn simulations_at(&self, progress: f64) -> u32 {
        let first = f64::from(self.simulations);
        let last = if self.final_simulations == 0 { first } else { f64::from(self.final_simulations) };
        (first + (last - first) * progress.clamp(0.0, 1.0)).round() as u32
    }

    /// The search of self-play, at a ply with this temperature: PUCT draws its move with it later, Gumbel search scales
    /// its noise by it, which samples actions in the same proportions.
    #[must_use]
    pub fn self_play(&self, temperature: f32) -> Method {
        match self.plain() {
            Method::Puct(puct) => {
                let noise = RootNoise { concentration: self.noise_concentration, fraction: self.noise_fraction };
                let noise = (noise.fraction > 0.0).then_some(noise);
                Method::Puct(Puct { noise, forced_playouts: self.forced_playouts, ..puct })
            }
            Method::Gumbel(gumbel) => Method::Gumbel(Gumbel { noise_scale: temperature, ..gumbel }),
        }
    }

    /// The search without noise and forced playouts.
    #[must_use]
    pub fn plain(&self) -> Method {
        match self.method {
            SearchKind::Puct => {
                Method::Puct(Puct { c_puct: self.c_puct, fpu_reduction: self.fpu_reduction, ..Puct::default() })
            }
            SearchKind::Gumbel => Method::Gumbel(Gumbel {
                considered: self.considered,
                c_visit: self.c_visit,
                c_scale: self.c_scale,
                noise_scale: 0.0,
            }),
        }
    }
}

/// `[self_play]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfPlayConfig {
    /// Games per iteration.
    pub games_per_iteration: usize,
    /// Games that one worker steps at the same time: the size of its batches.
    pub concurrent_games: usize,
    /// Positions whose evaluation each worker keeps during an iteration; 0 keeps none. It changes no game.
    pub cached_positions: usize,
    /// Worker threads; 0 means one per core. Their number changes no game.
    pub threads: usize,
    /// Share of the moves that are searched in full and learned from (playout-cap randomisation); the others are
    /// searched with `fast_simulations` and without noise.
    pub full_search_share: f32,
    /// Simulations of a move that is not searched in full.
    pub fast_simulations: u32,
    /// A game starts with 0 to this many uniformly random plies, which are not learned from.
    pub opening_plies: u16,
    /// Share of the games that start from a position of an earlier game in the replay window instead (Trudeau and
    /// Bowling, "Targeted search control in AlphaZero", 2023).
    pub archived_starts: f32,
    /// Temperature of the choice of moves in the first plies.
    pub temperature: f32,
    /// How many plies, counted from the start of the game, that temperature holds.
    pub temperature_plies: u16,
    /// Temperature of the later plies; 0 plays the best move.
    pub final_temperature: f32,
}

impl Default for SelfPlayConfig {
    fn default() -> Self {
        Self {
            games_per_iteration: 256,
            concurrent_games: 64,
            cached_positions: 1 << 13,
            threads: 0,
            full_search_share: 1.0,
            fast_simulations: 16,
            opening_plies: 4,
            archived_starts: 0.0,
            temperature: 1.0,
            temperature_plies: 12,
            final_temperature: 0.3,
        }
    }
}

impl SelfPlayConfig {
    /// Temperature at a ply of the game.
    #[must_use]
    pub fn temperature_at(&self, ply: u16) -> f32 {
        if ply < self.temperature_plies { self.temperature } else { self.final_temperature }
    }

    /// Worker threads in force.
    #[must_use]
    pub fn workers(&self) -> usize {
        or_all_cores(self.threads)
    }
}

fn or_all_cores(threads: usize) -> usize {
    if threads == 0 { cores() } else { threads }
}

/// Cores that this program may use.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// `[learn]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnConfig {
    /// Positions per step.
    pub batch: usize,
    /// Threads of a step; 0 means one per core. Their number changes no result.
    pub threads: usize,
    /// Peak learning rate of AdamW.
    pub learning_rate: f64,
    /// Learning rate at the end of the run; cosine decay leads to it.
    pub final_learning_rate: f64,
    /// Steps of linear warm-up.
    pub warmup_steps: u64,
    /// How often each new position is drawn, on average.
    pub samples_per_position: f64,
    /// Positions in the replay window at the start; it grows with a power of the data.
    pub window: usize,
    /// The largest replay window.
    pub max_window: usize,
    /// Share of the search's root value in the value target; the rest is the game's result.
    pub root_value_share: f32,
    /// Whether positions are mapped by a random symmetry of the board.
    pub augment: bool,
    /// Decoupled weight decay of matrices.
    pub weight_decay: f64,
    /// Largest norm of the whole gradient.
    pub clip_norm: f64,
    /// Decay of the averaged weights, which play and are exported.
    pub ema_decay: f64,
    /// Weight of the value loss.
    pub value_weight: f64,
    /// Weight of the squared error of the final margin, an auxiliary target; 0 does not learn it.
    pub margin_weight: f64,
    /// Weight of the squared error of the plies left, an auxiliary target; 0 does not learn it.
    pub plies_left_weight: f64,
}

impl Default for LearnConfig {
    fn default() -> Self {
        let optimiser = OptimiserConfig::default();
        Self {
            batch: 256,
            threads: 0,
            learning_rate: 2e-3,
            final_learning_rate: 2e-4,
            warmup_steps: 100,
            samples_per_position: 4.0,
            window: 20_000,
            max_window: 400_000,
            root_value_share: 0.5,
            augment: true,
            weight_decay: optimiser.weight_decay,
            clip_norm: optimiser.clip_norm,
            ema_decay: optimiser.ema_decay,
            value_weight: optimiser.value_weight,
            margin_weight: optimiser.margin_weight,
            plies_left_weight: optimiser.plies_left_weight,
        }
    }
}

impl LearnConfig {
    /// Threads in force.
    #[must_use]
    pub fn threads(&self) -> usize {
        or_all_cores(self.threads)
    }

    /// The optimiser's constants.
    #[must_use]
    pub fn optimiser(&self) -> OptimiserConfig {
        OptimiserConfig {
            weight_decay: self.weight_decay,
            clip_norm: self.clip_norm,
            ema_decay: self.ema_decay,
            value_weight: self.value_weight,
            margin_weight: self.margin_weight,
            plies_left_weight: self.plies_left_weight,
            ..OptimiserConfig::default()
        }
    }
}

/// `[arena]`: matches during training.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArenaConfig {
    /// Iterations between matches; 0 plays them only at the end of the run.
    pub every: u64,
    /// Games per match, in pairs from the same opening with seats swapped.
    pub games: usize,
    /// Games per match at the end of the run.
    pub final_games: usize,
    /// Simulations per move of the network's search.
    pub simulations: u32,
    /// Which search the network plays with.
    pub search: SearchKind,
    /// Fewest and most random plies of an opening.
    pub opening_plies: [u16; 2],
    /// The opponents.
    pub opponents: Vec<AgentSpec>,
    /// Whether the network is graded against the exact truth beside every match, if the program has it for the game.
    pub grade: bool,
    /// Games against each rung of the game's ladder; 0 does not climb it.
    pub ladder_games: usize,
    /// Games against the best checkpoint so far; 0 does not meet it.
    pub best_games: usize,
}

impl Default for ArenaConfig {
    fn default() -> Self {
        Self {
            every: 20,
            games: 40,
            final_games: 200,
            simulations: 100,
            search: SearchKind::default(),
            opening_plies: [2, 6],
            opponents: vec![AgentSpec::Random],
            grade: true,
            ladder_games: 0,
            best_games: 0,
        }
    }
}

/// `[run]`: length of the run and its files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunConfig {
    /// Iterations of self-play and learning.
    pub iterations: u64,
    /// Steps between numbered checkpoints, which are written at the end of an iteration.
    pub checkpoint_steps: u64,
    /// The newest numbered checkpoints that are all kept; older ones are thinned the more the older they are. 0 keeps
    /// all.
    pub keep_checkpoints: u64,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self { iterations: 100, checkpoint_steps: 1000, keep_checkpoints: 10 }
    }
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// One line: the file cannot be read, is not TOML, has an unknown key or a value out of range.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|e| ConfigError { file: file.clone(), fault: e.to_string() })?;
        Self::parse(&text).map_err(|fault| ConfigError { file, fault })
    }

    /// Reads and checks a file, and again with some values replaced.
    ///
    /// # Errors
    /// As [`Config::read`], for the file by itself and for the result.
    pub fn read_with(path: &Path, overrides: &[Override]) -> Result<Self, ConfigError> {
        let config = Self::read(path)?;
        if overrides.is_empty() {
            return Ok(config);
        }
        let file = format!("{} with --set", path.display());
        config.with(overrides).map_err(|fault| ConfigError { file, fault })
    }

    /// The configuration with some values replaced.
    ///
    /// # Errors
    /// One line that names the fault, as [`Config::parse`].
    pub fn with(&self, overrides: &[Override]) -> Result<Self, String> {
        let mut table = toml::Table::try_from(self).expect("a configuration is a table");
        if overrides.iter().any(Override::is_network_kind) {
            // The keys of one kind are not those of another.
            table.remove("net");
        }
        overrides.iter().try_for_each(|change| change.apply(&mut table))?;
        Self::parse(&toml::to_string(&table).map_err(|e| e.to_string())?)
    }

    /// Checks the text of a configuration.
    ///
    /// # Errors
    /// One line that names the fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        let at_line = |error: &toml::de::Error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            line.map(|line| format!("line {line}: ")).unwrap_or_default()
        };
        let one_line = |error: toml::de::Error| {
            let message = error.message().replace('\n', ", ");
            format!("{}{message}", at_line(&error))
        };
        let table: toml::Table = text.parse().map_err(one_line)?;
        check_keys(&table)?;
        let config: Self = toml::from_str(text).map_err(one_line)?;
        config.validate()?;
        Ok(config)
    }

    /// The game with its parameters.
    ///
    /// # Errors
    /// One line that names the key.
    pub fn any_game(&self) -> Result<AnyGame, String> {
        game_of_table(&self.game)
    }

    /// Checks every value.
    ///
    /// # Errors
    /// One line that names the first key whose value is out of range.
    pub fn validate(&self) -> Result<(), String> {
        let spec = self.any_game()?.spec();
        self.net.layout(&shape(&spec)).map_err(|e| format!("net: {e}"))?;
        let search = &self.search;
        within("search.simulations", search.simulations, 1, 1_000_000)?;
        within("search.final_simulations", search.final_simulations, 0, 1_000_000)?;
        within("search.c_puct", search.c_puct, 0.0, 100.0)?;
        within("search.fpu_reduction", search.fpu_reduction, 0.0, 2.0)?;
        within("search.noise_concentration", search.noise_concentration, 1e-3, 1e4)?;
        within("search.noise_fraction", search.noise_fraction, 0.0, 1.0)?;
        within("search.forced_playouts", search.forced_playouts, 0.0, 100.0)?;
        within("search.considered", search.considered, 1, 65_536)?;
        within("search.c_visit", search.c_visit, 0.0, 1e4)?;
        within("search.c_scale", search.c_scale, 0.0, 1e3)?;
        let play = &self.self_play;
        within("self_play.games_per_iteration", play.games_per_iteration, 1, 1_000_000)?;
        within("self_play.concurrent_games", play.concurrent_games, 1, 4096)?;
        within("self_play.cached_positions", play.cached_positions, 0, 1 << 26)?;
        within("self_play.threads", play.threads, 0, 1024)?;
        within("self_play.full_search_share", play.full_search_share, 0.01, 1.0)?;
        within("self_play.fast_simulations", play.fast_simulations, 1, 1_000_000)?;
        within("self_play.opening_plies", play.opening_plies, 0, 1000)?;
        within("self_play.archived_starts", play.archived_starts, 0.0, 1.0)?;
        within("self_play.temperature", play.temperature, 0.0, 10.0)?;
        within("self_play.final_temperature", play.final_temperature, 0.0, 10.0)?;
        let learn = &self.learn;
        within("learn.batch", learn.batch, 1, 65_536)?;
        within("learn.threads", learn.threads, 0, 1024)?;
        within("learn.learning_rate", learn.learning_rate, 1e-8, 1.0)?;
        within("learn.final_learning_rate", learn.final_learning_rate, 0.0, learn.learning_rate)?;
        within("learn.warmup_steps", learn.warmup_steps, 0, 1_000_000_000)?;
        within("learn.samples_per_position", learn.samples_per_position, 0.01, 1000.0)?;
        within("learn.window", learn.window, 1, 100_000_000)?;
        within("learn.max_window", learn.max_window, learn.window, 100_000_000)?;
        within("learn.root_value_share", learn.root_value_share, 0.0, 1.0)?;
        learn.optimiser().validate().map_err(|e| format!("learn.{e}"))?;
        if learn.margin_weight > 0.0 && spec.margin_scale.is_none() {
            return Err(format!(
                "learn.margin_weight is {}, but {} has no margin to learn",
                learn.margin_weight, spec.name
            ));
        }
        let arena = &self.arena;
        within("arena.every", arena.every, 0, 1_000_000_000)?;
        within("arena.games", arena.games, 2, 1_000_000)?;
        within("arena.final_games", arena.final_games, 2, 1_000_000)?;
        within("arena.ladder_games", arena.ladder_games, 0, 1_000_000)?;
        within("arena.best_games", arena.best_games, 0, 1_000_000)?;
        within("arena.simulations", arena.simulations, 1, 1_000_000)?;
        within("arena.opening_plies[1]", arena.opening_plies[1], arena.opening_plies[0], 1000)?;
        if let Some(human) = arena.opponents.iter().find(|spec| matches!(spec, AgentSpec::Human)) {
            return Err(format!("arena.opponents: `{human}` cannot play in a match"));
        }
        within("run.iterations", self.run.iterations, 1, 1_000_000_000)?;
        within("run.checkpoint_steps", self.run.checkpoint_steps, 1, 1_000_000_000)?;
        within("run.keep_checkpoints", self.run.keep_checkpoints, 0, 1_000_000)
    }
}

/// The game of a `[game]` section.
///
/// # Errors
/// One line that names the key.
pub fn game_of_table(section: &toml::Table) -> Result<AnyGame, String> {
    let mut params = Params::new();
    for (key, value) in section.iter().filter(|(key, _)| *key != "name") {
        match value {
            toml::Value::String(text) => params.set(key, text),
            toml::Value::Integer(number) => params.set(key, number),
            toml::Value::Boolean(flag) => params.set(key, flag),
            other => return Err(format!("game.{key} is {}, but must be a plain value", other.type_str())),
        }
    }
    let name = section.get("name").ok_or_else(|| format!("game.name is missing; it is one of {}", NAMES.join(", ")))?;
    let name = name.as_str().ok_or("game.name must be a string")?;
    AnyGame::new(name, &params).map_err(|e| format!("game: {e}"))
}

fn within<T: PartialOrd + std::fmt::Display + Copy>(key: &str, value: T, least: T, most: T) -> Result<(), String> {
    if least <= value && value <= most {
        return Ok(());
    }
    Err(format!("{key} is {value}, but must be from {least} to {most}"))
}

/// Names the first key that no configuration has, and the nearest one that it may have. Keys of `[game]` are checked
/// with the game.
fn check_keys(table: &toml::Table) -> Result<(), String> {
    let example = Config {
        seed: 0,
        game: toml::Table::new(),
        net: net_of_kind(table),
        search: SearchConfig::default(),
        self_play: SelfPlayConfig::default(),
        learn: LearnConfig::default(),
        arena: ArenaConfig::default(),
        run: RunConfig::default(),
    };
    let known = toml::Table::try_from(example).expect("a configuration is a table");
    for (key, value) in table {
        let Some(section) = known.get(key) else { return Err(unknown("", key, &known)) };
        let (Some(known), Some(value)) = (section.as_table(), value.as_table()) else { continue };
        if key == "game" {
            continue;
        }
        if let Some(unknown_key) = value.keys().find(|k| !known.contains_key(*k)) {
            return Err(unknown(&format!("{key}."), unknown_key, known));
        }
    }
    Ok(())
}

/// The default network of the kind that is asked for.
fn net_of_kind(table: &toml::Table) -> NetworkConfig {
    let kind = table.get("net").and_then(|net| net.get("kind")).cloned();
    let only_kind = kind.map(|kind| toml::Table::from_iter([("kind".to_owned(), kind)]));
    only_kind.and_then(|table| table.try_into().ok()).unwrap_or_default()
}

fn unknown(prefix: &str, key: &str, known: &toml::Table) -> String {
    let names = known.keys().map(String::as_str);
    match nearest(key, names) {
        Some(near) => format!("unknown key `{prefix}{key}` (did you mean `{prefix}{near}`?)"),
        None => {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            format!("unknown key `{prefix}{key}`; known are {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        Config::parse(text).expect_err("a fault")
    }

    #[test]
    fn the_smallest_config_takes_all_defaults() {
        let config = Config::parse("[game]\nname = \"mancala\"\nstones = 3").expect("valid");
        assert_eq!(config.learn, LearnConfig::default());
        let again = Config::parse(&toml::to_string(&config).expect("a table")).expect("what is written can be read");
        assert_eq!(again, config);
    }

    #[test]
    fn every_kind_of_network_has_defaults() {
        for kind in ["residual_mlp", "residual_graph", "mixer"] {
            let config = Config::parse(&format!("[game]\nname = \"konane\"\n[net]\nkind = \"{kind}\"")).expect("valid");
            let again =
                Config::parse(&toml::to_string(&config).expect("a table")).expect("what is written can be read");
            assert_eq!(again, config);
        }
        let square = "[game]\nname = \"morris\"\n[net]\nkind = \"residual_graph\"\nneighbourhood = \"square\"";
        assert!(fault(square).starts_with("net: a residual_graph over a square needs a lattice"));
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
        assert!(with("[self_play]\nthreads = \"two\"").starts_with("line 4: invalid type"));
        assert!(with("[net]\nkind = \"residual_mlp\"\nblocks = 3\nwidth = 0").contains("width"));
        assert_eq!(
            with("[net]\nkind = \"mixer\"\nchanels = 8"),
            "unknown key `net.chanels` (did you mean `net.channels`?)"
        );
        assert!(with("[net]\nkind = \"residual_mlp\"\nreach = 2").starts_with("unknown key `net.reach`"));
        assert!(with("[net]\nkind = \"residual_graph\"\nreach = 0").starts_with("net: the reach is 0"));
        assert!(with("[net]\nkind = \"conv\"").contains("unknown variant `conv`"));
        assert!(with("[arena]\nopponents = [\"alphabeta:dept=3\"]").contains("did you mean `depth`"));
        assert!(with("[run]\niterations = 0").starts_with("run.iterations is 0"));
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
