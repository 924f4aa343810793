//! Agent specs: parsing and formatting of the one-line form.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use turnstone_base::files::in_folder;
use turnstone_env::nearest;

use crate::classical::{self, ClassicalMethod, ClassicalSpec};
use crate::engine_spec::EngineSpec;
use crate::error::AgentError;
use crate::exact_spec::{ExactSpec, TABLES};
use crate::network::PRETRAINED;
use crate::options::{Options, path_in_spec};
use crate::threads::Threads;
use crate::tree_spec::{Budget, TreeSpec};

/// Spec of an agent.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum AgentSpec {
    /// A person at the terminal; only in `play`.
    Human,
    /// Uniformly random legal actions.
    Random,
    /// A classical search.
    Classical(ClassicalSpec),
    /// Tree search with random playouts.
    Mcts {
        /// Limit of the search.
        budget: Budget,
        /// Threads of one search.
        threads: Threads,
    },
    /// Player with exact values.
    Exact(ExactSpec),
    /// Tree search with a trained network.
    Az {
        /// Checkpoint file, run folder (for its `latest.safetensors`), or `pretrained` for the agent shipped with the
        /// program (`./pretrained` is a file of that name).
        checkpoint: PathBuf,
        /// Settings of the search; 0 simulations play the network's policy without search.
        tree: TreeSpec,
        /// Folder with tables of exact values (see `turnstone solve`), by which covered positions are proven in the search.
        tables: Option<PathBuf>,
    },
    /// The agent of a level of the game, 1 being the weakest; [`Agent::load`](crate::Agent::load) puts that agent's spec in
    /// its place.
    Level(u8),
    /// Another program that speaks the Universal Game Interface (UGI).
    Engine(EngineSpec),
}

/// Names of the agents that are not classical searches.
const OTHERS: [&str; 7] = ["human", "random", "level", "mcts", "az", "exact", "engine"];

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(spec: &str) -> Result<Self, AgentError> {
        let fault = |fault: String| AgentError::Spec { spec: spec.to_owned(), fault };
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        // An engine's command line may contain any character, so its options come first.
        let (rest, command) = match name {
            "engine" => EngineSpec::split(rest),
            _ => (rest, ""),
        };
        let with_file = match name {
            "az" => true,
            "level" => true,
            "exact" => rest.starts_with('"') || !rest.split(',').next().is_some_and(|first| first.contains('=')),
            _ => false,
        };
        let mut options = Options::parse(rest, with_file).map_err(fault)?;
        let parsed = match name {
            "human" => Ok(Self::Human),
            "random" => Ok(Self::Random),
            "level" => level(&mut options).map(Self::Level),
            "mcts" => Budget::parse(&mut options, 1, 200)
                .and_then(|budget| Ok(Self::Mcts { budget, threads: Threads::parse(&mut options)? })),
            "az" => TreeSpec::parse(&mut options).and_then(|tree| {
                let checkpoint = options.file.take().ok_or("name a checkpoint: az:<file>,sims=100 or az:pretrained")?;
                Ok(Self::Az { checkpoint, tree, tables: options.take("tables").map(PathBuf::from) })
            }),
            "exact" => ExactSpec::parse(&mut options).map(Self::Exact),
            "engine" => EngineSpec::parse(command, &mut options).map(Self::Engine),
            _ if classical::NAMES.contains(&name) => ClassicalSpec::parse(name, &mut options).map(Self::Classical),
            _ => {
                let agents = [&OTHERS[..], &classical::NAMES].concat();
                Err(match nearest(name, agents.iter().copied()) {
                    Some(near) => format!("unknown agent (did you mean `{near}`?)"),
                    None => format!("unknown agent; the agents are {}", agents.join(", ")),
                })
            }
        };
        parsed.and_then(|spec| options.finish().map(|()| spec)).map_err(fault)
    }
}

/// The number of a level, which stands in the place of a file.
fn level(options: &mut Options) -> Result<u8, String> {
    let number = options.file.take().and_then(|text| text.to_str()?.parse().ok()).filter(|level| *level > 0);
    number.ok_or_else(|| "name a level by its number, as in level:3; 1 is the weakest".to_owned())
}

impl AgentSpec {
    /// The limit of a tree search per move; `None` if the agent searches no tree.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        match self {
            Self::Mcts { budget, .. } | Self::Az { tree: TreeSpec { budget, .. }, .. } => Some(*budget),
            _ => None,
        }
    }

    /// Temperature of the choice of moves; 0 plays the best one.
    #[must_use]
    pub fn temperature(&self) -> f32 {
        match self {
            Self::Az { tree, .. } => tree.temperature(),
            _ => 0.0,
        }
    }

    /// Why two games of the agent from one seed may differ; `None` if they are equal, as far as its spec tells.
    #[must_use]
    pub fn varies_by(&self) -> Option<&'static str> {
        let time = match self {
            Self::Classical(spec) => matches!(spec.method, ClassicalMethod::Deepening { time: Some(_), .. }),
            Self::Exact(spec) => spec.time.is_some(),
            Self::Engine(spec) => spec.time.is_some(),
            _ => matches!(self.budget(), Some(Budget::Time(_))),
        };
        match self {
            _ if time => Some("its moves depend on time"),
            _ if self.threads().is_several() => Some("its searches have several threads"),
            _ => None,
        }
    }

    /// The spec with its relative paths taken from a folder and made absolute, as those of a file in it. The default folder
    /// of tables and the command line of an engine are left as they are.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Self {
        let resolve = |path: &mut PathBuf| *path = in_folder(folder, path);
        let mut spec = self.clone();
        match &mut spec {
            Self::Az { checkpoint, tables, .. } => {
                if checkpoint.as_os_str() != PRETRAINED {
                    resolve(checkpoint);
                }
                tables.iter_mut().for_each(resolve);
            }
            Self::Exact(exact) if exact.tables.as_os_str() != TABLES => resolve(&mut exact.tables),
            _ => {}
        }
        spec
    }

    /// Threads of one search.
    #[must_use]
    pub fn threads(&self) -> Threads {
        match self {
            Self::Mcts { threads, .. } | Self::Az { tree: TreeSpec { threads, .. }, .. } => *threads,
            Self::Classical(classical) => classical.threads,
            Self::Human | Self::Random | Self::Level(_) | Self::Exact(_) | Self::Engine(_) => Threads::default(),
        }
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Human => write!(f, "human"),
            Self::Random => write!(f, "random"),
            Self::Level(number) => write!(f, "level:{number}"),
            Self::Classical(classical) => classical.fmt(f),
            Self::Engine(engine) => engine.fmt(f),
            Self::Mcts { budget, threads } => write!(f, "mcts:{budget}{threads}"),
            Self::Exact(exact) => exact.fmt(f),
            Self::Az { checkpoint, tree, tables } => {
                write!(f, "az:{},{tree}", path_in_spec(checkpoint))?;
                tables.as_ref().map_or(Ok(()), |tables| write!(f, ",tables={}", path_in_spec(tables)))
            }
        }
    }
}

impl TryFrom<String> for AgentSpec {
    type Error = AgentError;

    fn try_from(spec: String) -> Result<Self, AgentError> {
        spec.parse()
    }
}

impl From<AgentSpec> for String {
    fn from(spec: AgentSpec) -> Self {
        spec.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_round_trip() {
        for spec in [
            "human",
            "random",
            "minimax:depth=6",
            "alphabeta:depth=8,heuristic=store_difference",
            "alphabeta:depth=8,hash=64",
            "alphabeta:depth=8,hash=64,threads=4",
            "mcts:sims=200,threads=0",
            "az:runs/a,sims=100,threads=2",
            "alphabeta:nodes=100000",
            "alphabeta:depth=20,nodes=5,time=1500ms,hash=0",
            "breadthfirst:depth=2",
            "bestfirst:nodes=1000,heuristic=win_loss",
            "mcts:sims=200",
            "mcts:time=50ms",
            "az:x,time=1s,method=puct",
            "exact",
            "exact:error=0.5",
            "exact:other/tables,error=0.05",
            "exact:nodes=1000,time=1500ms",
            "az:runs/a b/latest.safetensors,sims=100",
            "az:\"runs/a,b\",sims=100,tables=\"c,d=e\"",
            "exact:\"a=b\",error=0.5",
            "az:x,sims=16,method=puct",
            "az:x,sims=16,method=gumbel,c_visit=50,c_scale=0.25,considered=4",
            "az:x,time=1s,c_puct=1.125,fpu_reduction=0.2",
            "az:x,sims=10,considered=4,proof_nodes=200",
            "az:x,sims=200,draw=0.3",
            "az:x,sims=200,method=puct,draw=-0.07",
            "az:pretrained,sims=200",
            "az:x,sims=0,precision=i8",
            "az:x,time=1s,draw=0.3,precision=auto",
            "az:x,sims=100,precision=auto,device=gpu:1",
            "az:x,sims=200,tables=a/b",
            "az:x,sims=0,temperature=1.5",
            "az:x,sims=8,method=puct,precision=auto,temperature=0.25",
            "level:3",
            "engine::my-engine",
            "engine::C:\\engines\\own.exe --a=b:c",
            "engine:time=500ms,patience=5s:./my engine --agent az:a b,sims=5,time=1s",
        ] {
            assert_eq!(spec.parse::<AgentSpec>().map(|s| s.to_string()).ok().as_deref(), Some(spec));
        }
        assert_eq!("alphabeta".parse::<AgentSpec>().expect("valid").to_string(), "alphabeta:depth=6");
        assert_eq!("alphabeta:time=2m,hash=64".parse::<AgentSpec>().expect("valid").to_string(), "alphabeta:time=120s");
        let engine = |spec: &str| spec.parse::<AgentSpec>().expect("valid").to_string();
        assert_eq!(engine("engine:my-engine"), "engine::my-engine");
        assert_eq!(engine(r"engine:C:\own.exe a=b:c"), r"engine::C:\own.exe a=b:c");
        assert_eq!(engine("engine:nodes=5:a"), "engine:nodes=5:a");
        assert_eq!("az:x".parse::<AgentSpec>().expect("valid").to_string(), "az:x,sims=100");
        assert_eq!("az:x,device=gpu:0".parse::<AgentSpec>().expect("valid").to_string(), "az:x,sims=100,device=gpu");
        assert_eq!("az:x,precision=f32".parse::<AgentSpec>().expect("valid").to_string(), "az:x,sims=100");
    }

    #[test]
    fn faults_are_named() {
        let fault = |spec: &str| spec.parse::<AgentSpec>().expect_err("a fault").to_string();
        assert_eq!(fault("rando"), "agent `rando`: unknown agent (did you mean `random`?)");
        assert_eq!(
            fault("alphabeta:dept=3"),
            "agent `alphabeta:dept=3`: unknown option `dept` (did you mean `depth`?)"
        );
        assert!(fault("minimax:depth=0").contains("depth must be a number from 1 to 128"));
        for time in ["1", "0s", "-1s", "nans", "infs", "1h", "9999m", "s"] {
            assert!(fault(&format!("alphabeta:time={time}")).contains("time must be a time such as"));
        }
        assert!(fault("az").contains("name a checkpoint"));
        assert!(fault("engine").contains("name a program"));
        assert!(fault("engine:nodes=5").contains("name a program"));
        assert!(fault("engine::a 'b").contains("a quote has no end"));
        assert!(fault("engine:sims=5:a").contains("unknown option `sims`"));
        assert!(fault("random:x").contains("not `key=value`"));
        assert!(fault("mcts:sims=10,time=1s").contains("sims or time, not both"));
        assert!(fault("exact:error=2").contains("error must be a rate from 0 to 1"));
        assert!(fault("exact:x,error=nan").contains("error must be a rate"));
        assert!(fault("mcts:sims=-1").contains("sims must be"));
        for draw in ["2", "-1.01", "nan", ""] {
            assert!(fault(&format!("az:x,draw={draw}")).contains("draw must be a number from -1 to 1"));
        }
        assert!(fault("az:x,precision=int8").contains("precision must be f32, i8 or auto, not `int8`"));
        assert!(fault("az:x,device=cuda").contains("device must be cpu, gpu or gpu:1 and the like, not `cuda`"));
        assert!(fault("az:x,device=gpu,precision=i8").contains("on a GPU give f32 or auto"));
        for temperature in ["-1", "10.5", "nan", "hot"] {
            let fault = fault(&format!("az:x,temperature={temperature}"));
            assert!(fault.contains("temperature must be a number from 0 to 10"), "{fault}");
        }
        for level in ["level", "level:", "level:0", "level:300", "level:x", "level:3,sims=2"] {
            let fault = fault(level);
            assert!(fault.contains("name a level by its number") || fault.contains("unknown option `sims`"), "{fault}");
        }
        assert!(fault("mcts:precision=i8").contains("unknown option `precision`"));
    }
}
