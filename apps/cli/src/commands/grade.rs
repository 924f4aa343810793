//! `turnstone grade`: an agent's moves compared with exact values.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use turnstone_base::files::{atomic_write, confirm_writable, read_text};
use turnstone_base::machine::cores;
use turnstone_base::terminal::{Reporter, print_stderr};
use turnstone_base::text::entries;
use turnstone_search::Stop;
use turnstone_selfplay::{Games, TrainableGame};

use crate::args::GameArgs;
use crate::cluster::{ClusterArgs, Work};
use crate::output::{print_json, print_prose};
use crate::signals::stop_on_signals;
use turnstone_agents::{Agent, AgentSpec, Effort, Phase, PlayableGame};
use turnstone_arena::grading::{Grade as Grading, Sampling, Share, TruthSet, grade, grade_remotely, known, sample};
use turnstone_env::AnyState;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone grade mu_torere --agent az:pretrained
      every reachable position
  turnstone grade mancala --agent alphabeta:depth=8
      positions with known values")]
pub(crate) struct Grade {
    #[command(flatten)]
    game: GameArgs,
    /// Agent to grade
    #[arg(long, required_unless_present = "save")]
    agent: Option<AgentSpec>,
    /// File of positions with exact values [default: the one that comes with the game; every position of a small game]
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["sample", "phase", "critical", "starts", "save", "tables"],
    )]
    positions: Option<PathBuf>,
    /// Draw this many positions from games and look up their exact values (see `turnstone solve`)
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Draw positions of this phase only: opening, midgame or endgame
    #[arg(long, requires = "sample", value_parser = phase())]
    phase: Option<Phase>,
    /// Draw critical positions only: some legal move gives the value away
    #[arg(long, requires = "sample")]
    critical: bool,
    /// File of positions, one per line, that the games begin with, for endings that games from the start rarely reach
    #[arg(long, value_name = "FILE", requires = "sample")]
    starts: Option<PathBuf>,
    /// Write the positions and their exact values to a file
    #[arg(long, value_name = "FILE", requires = "sample")]
    save: Option<PathBuf>,
    /// Folder with tables of exact values
    #[arg(long, value_name = "FOLDER", default_value = "tables", requires = "sample")]
    tables: PathBuf,
    /// Seed of the sample and of the agents' random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print the grade as one JSON object
    #[arg(long, requires = "agent")]
    json: bool,
    #[command(flatten)]
    cluster: ClusterArgs,
}

fn phase() -> impl TypedValueParser<Value = Phase> {
    PossibleValuesParser::new(Phase::ALL.map(Phase::name)).map(|name| name.parse().expect("a name of a phase"))
}

impl Grade {
    pub(crate) fn run(&self, games: &Games) -> Result<ExitCode> {
        let cluster = self.cluster.named()?;
        ensure!(cluster.is_none() || self.agent.is_some(), "--cluster is for grading: give an --agent too");
        let agents: Vec<&AgentSpec> = self.agent.iter().collect();
        let game = self.game.game_of(&agents, games)?;
        self.grade(&*game, cluster)
    }

    fn grade(&self, game: &dyn TrainableGame, cluster: Option<&ClusterArgs>) -> Result<ExitCode> {
        if let Some(path) = &self.save {
            confirm_writable(path).with_context(|| path.display().to_string())?;
        }
        let stop = stop_on_signals()?;
        let reporter = Reporter::new(false);
        let agent = self.agent.as_ref().map(|spec| Agent::load(spec, game)).transpose()?;
        let set = self.truth_set(game, &reporter, stop)?;
        if let Some(path) = &self.save {
            atomic_write(path, set.to_text().as_bytes()).with_context(|| path.display().to_string())?;
            reporter.line(&format!("{} positions in {}", set.positions.len(), path.display()));
        }
        let Some(agent) = agent else { return Ok(ExitCode::SUCCESS) };
        let steps = reporter.steps("grading", set.positions.len() as u64);
        let progress = || steps.done();
        let grading = match cluster {
            None => grade(game, &agent, &set, self.seed, cores(), &progress, stop)?,
            Some(cluster) => {
                let leader = cluster.lead(&Work::of_agents(game, &[&agent]), stop)?;
                let grading = grade_remotely(game, &agent, &set, self.seed, &*leader, &progress, stop)?;
                leader.finish();
                grading
            }
        };
        steps.clear();
        let Some(grading) = grading else {
            print_stderr("the grading was interrupted before its end");
            return Ok(ExitCode::from(130));
        };
        if self.json {
            let object = json!({
                "game": game.name(),
                "params": game.params(),
                "agent": agent.spec.to_string(),
                "grade": grading,
            });
            print_json(&object);
        } else {
            let head = format!("{} on {} positions of {}", agent.spec, set.positions.len(), game.name());
            print_prose(&format!("{head}\n{}", text(&grading)));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn truth_set(&self, game: &dyn PlayableGame, reporter: &Reporter, stop: &Stop) -> Result<TruthSet> {
        if let Some(path) = &self.positions {
            return Ok(TruthSet::read(path, game)?);
        }
        if let Some(count) = self.sample {
            let Some(truth) = game.exact_values(&self.tables, Effort::Full)? else {
                bail!("{} has no exact values with these parameters", game.name());
            };
            let steps = reporter.steps("sampling", count as u64);
            let starts = self.starts.as_deref().map_or(Ok(Vec::new()), |path| read_starts(path, game))?;
            let sampling = Sampling { count, phase: self.phase, critical: self.critical, seed: self.seed, starts };
            let set = sample(game, &*truth, &sampling, &|| steps.done(), stop)?;
            steps.clear();
            return Ok(set);
        }
        let Some(set) = known(game)? else {
            bail!("{} with these parameters comes without exact values: give --positions or --sample", game.name());
        };
        Ok(set)
    }
}

/// Maximum length of a file of positions in bytes.
const LONGEST_STARTS: u64 = 1 << 26;

/// Reads running positions, one per line.
fn read_starts(path: &Path, game: &dyn PlayableGame) -> Result<Vec<AnyState>> {
    let text = read_text(path, LONGEST_STARTS).with_context(|| path.display().to_string())?;
    let position = |(number, line): (usize, &str)| {
        let at = || format!("{}, line {number}", path.display());
        let state = game.parse_position(line).with_context(at)?;
        if game.outcome(&state).is_some() {
            bail!("{}: the game is over in this position", at());
        }
        Ok(state)
    };
    let starts = entries(&text).map(position).collect::<Result<Vec<_>>>()?;
    if starts.is_empty() {
        bail!("{}: there is no position", path.display());
    }
    Ok(starts)
}

fn text(grade: &Grading) -> String {
    let head =
        format!("{:<22} {:>10} {:>8} {:>9}   95 % interval", "moves that keep value", "positions", "kept", "share");
    let line = |name: &str, share: &Share| {
        let [low, high] = share.interval.map(|end| 100.0 * end);
        let (value, Share { positions, kept, .. }) = (100.0 * share.value(), share);
        if *positions == 0 {
            return format!("{name:<22} {positions:>10} {kept:>8} {:>9}", "-");
        }
        format!("{name:<22} {positions:>10} {kept:>8} {value:>7.2} %   [{low:.2}, {high:.2}]")
    };
    let mut lines = vec![head, line("all", &grade.all), line("critical", &grade.critical)];
    for (phase, [all, critical]) in grade.phases.iter().filter(|_| grade.phases.len() > 1) {
        lines.push(line(&format!("  {phase}"), all));
        lines.push(line(&format!("  {phase}, critical"), critical));
    }
    let [regret, low, high] = grade.regret;
    lines.push(format!("mean regret {regret:.4} [{low:.4}, {high:.4}] (win 1, draw 0, loss -1)"));
    if let Some(head) = &grade.value_head {
        let [low, high] = head.accuracy.interval.map(|end| 100.0 * end);
        lines.push(format!(
            "value head alone: right in {:.2} % [{low:.2}, {high:.2}], Brier {:.3}, calibration error {:.3}",
            100.0 * head.accuracy.value(),
            head.brier,
            head.calibration_error
        ));
    }
    lines.push("critical: at least one legal move loses value".to_owned());
    lines.join("\n")
}
