//! The built-in kinds of agents, and the list of all kinds, by which specs are read.

mod simple;
mod classical;
mod others;
mod tree;

pub(crate) use classical::{AlphaBeta, BestFirst, BreadthFirst, ClassicalKind, Minimax};
#[cfg(test)]
pub(crate) use others::Exact;
pub(crate) use simple::Random;
pub use tree::{Network, Playouts};

use std::path::PathBuf;
use std::str::FromStr;

use turnstone_env::nearest;

use crate::classical::ClassicalSpec;
use crate::engine_spec::EngineSpec;
use crate::error::AgentError;
use crate::kind::{AgentKind, Entry, Form, add, added};
use crate::options::{OptionInfo, Options};
use crate::spec::AgentSpec;
use crate::tree_spec::TreeSpec;

/// The built-in kinds.
fn built_in() -> Vec<Entry> {
    vec![
        Entry::of::<simple::Human>(),
        Entry::of::<simple::Random>(),
        Entry::of::<simple::Level>(),
        Entry::of::<classical::Minimax>(),
        Entry::of::<classical::AlphaBeta>(),
        Entry::of::<classical::BreadthFirst>(),
        Entry::of::<classical::BestFirst>(),
        Entry::of::<Playouts>(),
        Entry::of::<Network>(),
        Entry::of::<others::Exact>(),
        Entry::of::<others::Engine>(),
    ]
}

/// All kinds, the built-in ones first.
fn entries() -> Vec<Entry> {
    built_in().into_iter().chain(added()).collect()
}

/// Adds a kind of agents to those that specs can name.
///
/// # Panics
/// If there is another kind of this name.
pub fn register_agent<K: AgentKind>() {
    let known = entries().into_iter().find(|entry| entry.name == K::NAME);
    assert!(known.is_none_or(|known| known.about == K::ABOUT), "there is an agent `{}` already", K::NAME);
    if known.is_none() {
        add(Entry::of::<K>());
    }
}

/// A kind of agents as help shows it.
#[derive(Clone, Debug)]
pub struct KindInfo {
    /// The name that specs begin with.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Its options in the order in which they are read.
    pub options: Vec<OptionInfo>,
}

/// All kinds of agents, as help shows them.
#[must_use]
pub fn agent_kinds() -> Vec<KindInfo> {
    let describe = |Entry { name, about, parse, .. }: Entry| {
        let mut options = Options::describing();
        let _ = parse(&mut options); // without a file or a command some are incomplete, which does not matter here
        KindInfo { name, about, options: options.into_infos() }
    };
    entries().into_iter().map(describe).collect()
}

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(spec: &str) -> Result<Self, AgentError> {
        let fault = |fault: String| AgentError::Spec { spec: spec.to_owned(), fault };
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let entries = entries();
        let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
            return Err(fault(match nearest(name, entries.iter().map(|entry| entry.name)) {
                Some(near) => format!("unknown agent (did you mean `{near}`?)"),
                None => {
                    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
                    format!("unknown agent; the agents are {}", names.join(", "))
                }
            }));
        };
        // A command line may contain any character, so the options come first.
        let (rest, command) = if entry.form == Form::Command { EngineSpec::split(rest) } else { (rest, "") };
        let with_file = match entry.form {
            Form::File => true,
            Form::OptionalFile => {
                rest.starts_with('"') || !rest.split(',').next().is_some_and(|first| first.contains('='))
            }
            Form::Options | Form::Command => false,
        };
        let mut options = Options::parse(rest, with_file).map_err(fault)?;
        options.command = command.to_owned();
        let given = options.given();
        let kind = (entry.parse)(&mut options).map_err(fault)?;
        options.finish().map_err(fault)?;
        Ok(Self::of(kind, &given))
    }
}

impl TryFrom<String> for AgentSpec {
    type Error = AgentError;

    fn try_from(spec: String) -> Result<Self, AgentError> {
        spec.parse()
    }
}

impl AgentSpec {
    /// Tree search with a trained network: a checkpoint file, or a run folder for its newest one.
    #[must_use]
    pub fn network(checkpoint: impl Into<PathBuf>, tree: TreeSpec) -> Self {
        Self::new(Network { checkpoint: checkpoint.into(), tree, tables: None })
    }

    /// Uniformly random moves.
    #[must_use]
    pub fn random() -> Self {
        Self::new(Random)
    }

    /// Its classical search, if it has one.
    #[must_use]
    pub fn classical(&self) -> Option<&ClassicalSpec> {
        let minimax = self.settings::<Minimax>().map(ClassicalKind::spec);
        let alpha_beta = self.settings::<AlphaBeta>().map(ClassicalKind::spec);
        let breadth = self.settings::<BreadthFirst>().map(ClassicalKind::spec);
        minimax.or(alpha_beta).or(breadth).or(self.settings::<BestFirst>().map(ClassicalKind::spec))
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
