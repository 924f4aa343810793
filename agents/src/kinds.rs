//! The built-in kinds of agents, and the list of all kinds, by which specs are read.

mod simple;
mod classical;
mod others;
mod tree;

pub(crate) use simple::Random;
pub use tree::{Network, Playouts};

use std::path::PathBuf;
use std::str::FromStr;

use turnstone_base::settings::{Given, Partial, Setting, set};
use turnstone_base::text::{advice, nearest};

use crate::engine_spec::EngineSpec;
use crate::error::AgentError;
use crate::exact_spec::ExactSpec;
use crate::kind::{AgentKind, AnyKind, Entry, Form, add, added};
use crate::options::{given, parts};
use crate::search_settings::SearchSettings;
use crate::spec::AgentSpec;

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
        Entry::of::<ExactSpec>(),
        Entry::of::<EngineSpec>(),
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
    assert!(known.is_none_or(|known| (known.default)().as_any().is::<K>()), "there is an agent `{}` already", K::NAME);
    if known.is_none() {
        add(Entry::of::<K>());
    }
}

/// A kind of agents as help shows it.
#[derive(Debug)]
pub struct KindInfo {
    /// The name that specs begin with.
    pub name: &'static str,
    /// Description, one line.
    pub about: &'static str,
    form: Form,
    default: Box<dyn AnyKind>,
}

impl KindInfo {
    /// Its options, with their defaults.
    pub fn options(&mut self) -> Vec<Setting<'_>> {
        named(self.form, &mut *self.default)
    }
}

/// The settings of a kind that a spec names: all but the one that stands before them.
fn named(form: Form, kind: &mut dyn AnyKind) -> Vec<Setting<'_>> {
    let mut settings = kind.settings();
    settings.drain(..usize::from(form != Form::Options));
    settings
}

/// All kinds of agents, as help shows them.
#[must_use]
pub fn agent_kinds() -> Vec<KindInfo> {
    let info = |Entry { name, about, form, default }: Entry| KindInfo { name, about, form, default: default() };
    entries().into_iter().map(info).collect()
}

impl FromStr for AgentSpec {
    type Err = AgentError;

    fn from_str(spec: &str) -> Result<Self, AgentError> {
        let fault = |fault: String| AgentError::Spec { spec: spec.to_owned(), fault };
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let entries = entries();
        let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            return Err(fault(format!(
                "unknown agent{}",
                advice(nearest(name, names.iter().copied()).as_deref(), &names)
            )));
        };
        read(entry, rest).map(|kind| Self::of(kind.into())).map_err(fault)
    }
}

/// Reads the settings of a kind from what stands behind the colon of a spec.
fn read(entry: &Entry, text: &str) -> Result<Box<dyn AnyKind>, String> {
    let mut kind = (entry.default)();
    // A command line may contain any character, so the options come first.
    let (text, command) = if entry.form == Form::Command { EngineSpec::split(text) } else { (text, "") };
    let parts = parts(text)?;
    let mut parts = parts.into_iter().filter(|part| !part.is_empty()).peekable();
    let is_pair = |part: &str| !part.starts_with('"') && part.contains('=');
    let first = match entry.form {
        Form::Options => None,
        Form::Command => Some(command).filter(|command| !command.is_empty()),
        Form::File => parts.next(),
        Form::OptionalFile => parts.next_if(|part| !is_pair(part)),
    };
    if let (None, Form::File | Form::Command) = (first, entry.form) {
        let (_, form) = entry.about.rsplit_once(": ").unwrap_or(("", entry.about));
        return Err(format!("name a {}: {form}", kind.settings()[0].name()));
    }
    let mut seen: Vec<&str> = Vec::new();
    if let Some(first) = first {
        let first = if entry.form == Form::Command { Given::Word(first.to_owned()) } else { given(first) };
        kind.settings()[0].set(&first)?;
    }
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("`{part}` is not `key=value`"))?;
        if seen.contains(&key) {
            return Err(format!("{key} is given twice"));
        }
        set(named(entry.form, &mut *kind), key, &given(value))?;
        seen.push(key);
    }
    kind.complete()?;
    Ok(kind)
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
    pub fn network(checkpoint: impl Into<PathBuf>, simulations: u32, search: Partial<SearchSettings>) -> Self {
        let (checkpoint, sims) = (checkpoint.into(), Some(simulations));
        Self::new(Network { checkpoint, sims, search, ..Network::default() })
    }

    /// Uniformly random moves.
    #[must_use]
    pub fn random() -> Self {
        Self::new(Random {})
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
        assert_eq!(fault("alphabeta:dept=3"), "agent `alphabeta:dept=3`: unknown key `dept` (did you mean `depth`?)");
        assert!(fault("minimax:depth=0").contains("depth is 0, but must be a whole number from 1 to 128"));
        for time in ["1", "0s", "-1s", "nans", "infs", "1h", "9999m", "s"] {
            assert!(fault(&format!("alphabeta:time={time}")).contains("but must be a time such as"));
        }
        assert!(fault("az").contains("name a checkpoint"));
        assert!(fault("engine").contains("name a command"));
        assert!(fault("engine:nodes=5").contains("name a command"));
        assert!(fault("engine::a 'b").contains("a quote has no end"));
        assert!(fault("engine:sims=5:a").contains("unknown key `sims`"));
        assert!(fault("random:x").contains("not `key=value`"));
        assert!(fault("mcts:sims=10,time=1s").contains("sims or time, not both"));
        assert!(fault("exact:error=2").contains("error is 2, but must be a number from 0 to 1"));
        assert!(fault("exact:x,error=nan").contains("error is nan, but must be a number"));
        assert!(fault("mcts:sims=-1").contains("sims is -1, but must be"));
        assert!(fault("mcts:sims=1,sims=2").contains("sims is given twice"));
        assert!(fault("engine:command=x:y").contains("unknown key `command`"));
        for draw in ["2", "-1.01", "nan", ""] {
            assert!(fault(&format!("az:x,draw={draw}")).contains("but must be a number from -1 to 1"));
        }
        assert!(fault("az:x,precision=int8").contains("precision is int8, but must be f32, i8 or auto"));
        assert!(fault("az:x,device=cuda").contains("device is cuda, but must be cpu, gpu or gpu:1 and the like"));
        assert!(fault("az:x,device=gpu,precision=i8").contains("on a GPU give f32 or auto"));
        for temperature in ["-1", "10.5", "nan", "hot"] {
            let fault = fault(&format!("az:x,temperature={temperature}"));
            assert!(
                fault.contains(&format!("temperature is {temperature}, but must be a number from 0 to 10")),
                "{fault}"
            );
        }
        for (level, expected) in [
            ("level", "name a level: `level:3`"),
            ("level:", "name a level: `level:3`"),
            ("level:0", "level is 0, but must be a whole number from 1 to 255"),
            ("level:300", "level is 300, but must be"),
            ("level:x", "level is x, but must be"),
            ("level:3,sims=2", "unknown key `sims`; there are none"),
        ] {
            assert_eq!(
                fault(level).split_once(": ").map(|(_, fault)| fault.starts_with(expected)),
                Some(true),
                "{}",
                fault(level)
            );
        }
        assert!(fault("mcts:precision=i8").contains("unknown key `precision`"));
    }
}
