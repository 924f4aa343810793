//! `turnstone train`: starts a training run from a config file, continues one, or forks one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use turnstone_agents::path_in_spec;
use turnstone_arena::Remote;
use turnstone_base::files::read_text;
use turnstone_base::terminal::Reporter;
use turnstone_base::text::{shell_path, shell_word};
use turnstone_env::DynGame;
use turnstone_models::{ComputeDevice, Precision};
use turnstone_search::Stop;
use turnstone_selfplay::{Games, TrainableGame};

use crate::args::param_options;
use crate::cluster::{ClusterArgs, Leader, Work};
use crate::program_name::{PROGRAM, as_called};
use crate::signals::stop_on_signals;
use turnstone_trainer::config::{Config, LONGEST_CONFIG, Override};
use turnstone_trainer::run::{
    Ending, InitialCheckpoint, Players, Run, Setup, check_programs, check_requirements, fork, reopen,
};
use turnstone_trainer::run_folder::RunFolder;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone train configs/mu_torere.toml
      twenty seconds to perfect play
  turnstone train configs/mancala.toml --set run.iterations=20 --run runs/short
      a shorter run elsewhere")]
pub(crate) struct Train {
    /// Config file of a new run
    config: Option<PathBuf>,
    /// Folder of the run [default: runs/<name of the config file>]
    #[arg(long, value_name = "FOLDER")]
    run: Option<PathBuf>,
    /// Continue the run in FOLDER, or without FOLDER the run of the config
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, group = "continued")]
    resume: Option<Option<PathBuf>>,
    /// Continue a copy of the run in FOLDER, which --run names; FOLDER stays as it is
    #[arg(long, value_name = "FOLDER", requires = "run", conflicts_with = "config", group = "continued")]
    fork: Option<PathBuf>,
    /// Replace an earlier run in the folder
    #[arg(long, conflicts_with = "resume")]
    overwrite: bool,
    /// Replace a value of the config, e.g. learn.batch=512; may be repeated. With --resume or --fork, of the run's own config,
    /// and only keys that may change
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
    /// Begin with the network of another run's checkpoint or folder in place of a random one
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "continued")]
    from: Option<PathBuf>,
    /// Play and learn on this device in place of the config's: cpu, gpu, gpu:1; see `turnstone doctor --devices`
    #[arg(long)]
    device: Option<ComputeDevice>,
    /// With --resume or --fork: let matches start the programs of `engine:` opponents in the run's config
    #[arg(long, requires = "continued")]
    allow_engines: bool,
    /// Stop at the end of the iteration in which this many minutes have passed; --resume continues
    #[arg(long, value_name = "MINUTES")]
    max_minutes: Option<f64>,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    cluster: ClusterArgs,
}

impl Train {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let cluster = self.cluster.named()?;
        let time = self.max_minutes.map(|minutes| Duration::try_from_secs_f64(60.0 * minutes)).transpose();
        let time = time.context("--max-minutes")?;
        let continued = self.resume.is_some() || self.fork.is_some();
        let (config, folder) = match (&self.resume, &self.fork, &self.run) {
            (Some(named), ..) => self.resumed(named.as_deref(), games)?,
            (None, Some(of), Some(run)) => fork(of, run, &self.set, self.overwrite, games)?,
            _ => self.create(games)?,
        };
        let config = if continued { self.on_device(config, games)? } else { config };
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        let reporter = Reporter::new(self.quiet);
        let stop = stop_on_signals()?;
        self.confirm_engines(&config, continued, &reporter)?;
        let (shown, name) = (folder.path().display(), game.name());
        reporter.line(&match folder.finished() {
            _ if !continued => format!("training {name} in {shown}"),
            done => {
                format!("resuming {name} in {shown} after iteration {done} of {}", config.run.iterations)
            }
        });
        let leader = cluster.map(|named| self.lead(named, &config, &*game, &folder, stop)).transpose()?;
        let players = leader.as_deref().map_or_else(Players::default, |leader| Players {
            self_play: leader,
            // Matches are played with floats, whose bits the self-test has compared only if self-play has them.
            remote: (config.self_play.precision.resolved() == Precision::F32).then_some(leader as &dyn Remote),
        });
        let setup = Setup {
            program: PROGRAM,
            game: &*game,
            config: &config,
            folder: &folder,
            reporter: &reporter,
            stop,
            players,
        };
        let ending = Run::begin(setup)?.train(time, &mut |_| {})?;
        folder.remove_unfinished_parts()?;
        if let Ending::Finished = ending {
            leader.into_iter().for_each(Leader::finish);
        }
        Ok(self.ended(ending, &*game, &folder, &reporter, stop))
    }

    /// Says how the training ended and what can be done next. Returns the exit code.
    fn ended(
        &self,
        ending: Ending,
        game: &dyn TrainableGame,
        folder: &RunFolder,
        reporter: &Reporter,
        stop: &Stop,
    ) -> ExitCode {
        let Ending::Stopped { iteration } = ending else {
            remove_left(&cluster_of(folder), reporter);
            reporter.line(&format!("finished: {}", folder.latest().display()));
            reporter.line(&as_called(&next_steps(game, folder)));
            return ExitCode::SUCCESS;
        };
        let resume = format!("turnstone train --resume {}", shell_path(folder.path()));
        reporter.line(&as_called(&format!("stopped after iteration {iteration}; continue with: {resume}")));
        let in_time = self.max_minutes.is_some() && !stop.is_raised();
        if in_time { ExitCode::SUCCESS } else { ExitCode::from(130) }
    }

    /// The leader of a run that a cluster plays. It keeps its name in the run's folder.
    fn lead(
        &self,
        cluster: &ClusterArgs,
        config: &Config,
        game: &dyn TrainableGame,
        folder: &RunFolder,
        stop: &Stop,
    ) -> Result<Box<dyn Leader>> {
        ensure!(
            config.self_play.device == ComputeDevice::Cpu,
            "a cluster plays on processors, so that a game is the same on every worker: set self_play.device to \"cpu\" \
             (learn.device may be a GPU)"
        );
        let work = Work {
            game,
            network: config.net.clone(),
            search: config.search.clone(),
            precision: config.self_play.precision,
            folder: Some(cluster_of(folder)),
            quiet: self.quiet,
        };
        cluster.lead(&work, stop)
    }

    /// Refuses to continue a run whose config starts other programs, unless that is allowed: the folder may be somebody
    /// else's. A new run has a config that the user has just named, so its programs are only listed.
    fn confirm_engines(&self, config: &Config, continued: bool, reporter: &Reporter) -> Result<()> {
        for engine in config.arena.engines() {
            if continued && !self.allow_engines {
                bail!("arena.opponents: `{engine}` starts a program; --allow-engines lets it, if the run is yours");
            }
            reporter.line(&format!("arena.opponents: matches start the program of `{engine}`"));
        }
        Ok(())
    }

    /// Puts self-play and learning on the device of the command line.
    fn on_device(&self, config: Config, games: &Games) -> Result<Config> {
        match self.device {
            Some(device) => config.on(device, games).map_err(anyhow::Error::msg).context("--device"),
            None => Ok(config),
        }
    }

    /// Creates a new run of the config.
    fn create(&self, games: &Games) -> Result<(Config, RunFolder)> {
        let Some(path) = &self.config else { bail!("name a config file, or a run to --resume") };
        let config = Config::read_with(path, &self.set, games)?;
        let mut config = self.on_device(config, games)?;
        // Refuse what cannot work before the folder is made.
        let game = config.game(games).map_err(anyhow::Error::msg)?;
        check_requirements(&*game, &config)?;
        check_programs(&*game, &config)?;
        let initial = self.initial_checkpoint(&config)?;
        if let Some(initial) = &initial {
            initial.weights(&*game, &config).context("--from")?;
            config.run.from = initial.checksum();
        }
        let (run, given) =
            (self.folder_of(path), read_text(path, LONGEST_CONFIG).with_context(|| path.display().to_string())?);
        // The text of the file remains, unless options change it or it has paths, which are taken from its folder.
        let text = match Config::parse_in(&given, Some(&run), games) {
            Ok(same) if same == config => given,
            _ => config.text(games)?,
        };
        let folder = RunFolder::create(&run, &text, self.overwrite, |folder| match &initial {
            Some(initial) => folder.save_initial(&initial.bytes),
            None => Ok(()),
        })?;
        Ok((config, folder))
    }

    /// The network of `--from`. A config that has `run.from` already repeats a run, and needs the network of that run.
    fn initial_checkpoint(&self, config: &Config) -> Result<Option<InitialCheckpoint>> {
        let expected = &config.run.from;
        let Some(path) = &self.from else {
            ensure!(
                expected.is_empty(),
                "run.from is {expected}: give the network with this CRC-32, start.safetensors in the folder of its run, \
                 with --from"
            );
            return Ok(None);
        };
        let initial = InitialCheckpoint::read(path).context("--from")?;
        let (found, path) = (initial.checksum(), path.display());
        ensure!(
            expected.is_empty() || *expected == found,
            "--from: the CRC-32 of {path} is {found}, and run.from of the config is {expected}: give that network, or \
             leave the key out"
        );
        Ok(Some(initial))
    }

    /// Opens an existing run. If a config is given as well, it must equal the run's own.
    fn resumed(&self, named: Option<&Path>, games: &Games) -> Result<(Config, RunFolder)> {
        // `--resume configs/x.toml` names the run by its config.
        let (folder, given) = match (named, &self.config) {
            (Some(path), given) if !path.is_file() => {
                ensure!(
                    self.run.is_none(),
                    "--resume continues the run in {0}, so --run has no effect: give --fork {0} to continue a copy of it",
                    shell_path(path)
                );
                (path.to_owned(), given.as_deref())
            }
            (Some(path), None) => (self.folder_of(path), Some(path)),
            (None, Some(path)) => (self.folder_of(path), Some(path.as_path())),
            _ => bail!("name the folder of the run to --resume"),
        };
        if let Some(path) = given {
            let own = RunFolder::open(&folder)?.config();
            let config = Config::read(&own, games)?;
            if (Config { seed: config.seed, ..Config::read(path, games)? }) != config {
                bail!(
                    "{} differs from the run's own {}; resume without naming it, or --overwrite the run",
                    path.display(),
                    own.display()
                );
            }
        }
        reopen(&folder, &self.set, games)
    }

    fn folder_of(&self, config: &Path) -> PathBuf {
        let name = config.file_stem().unwrap_or(config.as_os_str());
        self.run.clone().unwrap_or_else(|| Path::new("runs").join(name))
    }
}

/// The folder in which the leader of a run keeps its name and its status.
fn cluster_of(folder: &RunFolder) -> PathBuf {
    folder.path().join("cluster")
}

/// Removes what an earlier leader of a run has left. A leader that finishes a run does so itself.
fn remove_left(cluster: &Path, reporter: &Reporter) {
    match fs::remove_dir_all(cluster) {
        Ok(()) => {
            let left = format!("{} is removed; its server drops what it has within three days", cluster.display());
            reporter.line(&left);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => reporter.warning(&format!("{} is not removed: {error}", cluster.display())),
    }
}

/// What to do with a trained agent: play against it, look at the run, measure it.
fn next_steps(game: &dyn DynGame, folder: &RunFolder) -> String {
    let (run, config) = (shell_path(folder.path()), shell_path(&folder.config()));
    let (agent, name, params) =
        (shell_word(&format!("az:{}", path_in_spec(folder.path()))), game.name(), param_options(game));
    format!(
        "play against it:  turnstone play {name}{params} --p2 {agent}\nlook at the run:  turnstone report {run}\n\
         measure it:       turnstone arena {config}"
    )
}
