//! Kinds of agents: the [`AgentKind`] trait and the list of all kinds, to which a program may add its own.

use std::any::Any;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use turnstone_base::settings::{Given, Setting, Settings};
use turnstone_models::ComputeDevice;

use crate::budget::Budget;
use crate::classical::ClassicalSpec;
use crate::error::AgentError;
use crate::interface::Search;
use crate::network::LoadedNetwork;
use crate::options::value_text;
use crate::playable_game::PlayableGame;
use crate::threads::Threads;

/// A kind of agents, its values being the settings of one agent, which [`settings!`](turnstone_base::settings!) declares.
/// [`register_agent`](crate::register_agent) makes it available wherever a spec of an agent is given: in matches, games, the
/// engine, configs, Python and the page.
///
/// Other parts of the program change the settings `device`, `threads` and `sims` where a kind has them, and take relative paths
/// from the folder of the file that names them.
pub trait AgentKind: Settings + Debug + Send + Sync + 'static {
    /// The name that specs begin with.
    const NAME: &'static str;

    /// What may stand behind the name's colon besides `key=value`, as the first of the settings.
    const FORM: Form = Form::Options;

    /// Completes settings that depend on others once all are read, and checks them together.
    ///
    /// # Errors
    /// One line that names the fault.
    fn complete(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// What others need to know of the agent.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// Checks that the agent can play the game, and reads its network if it has one. A plain text as an error is shown behind
    /// the agent's spec.
    ///
    /// # Errors
    /// It cannot play the game, or a file has a fault.
    fn load(&self, _game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError> {
        Ok(None)
    }

    /// Creates the search of an agent that [`AgentKind::load`] has accepted.
    ///
    /// # Errors
    /// Something that it needs cannot be had.
    fn search(&self, game: &dyn PlayableGame, setup: &Setup<'_>) -> Result<Box<dyn Search>, AgentError>;

    /// The spec of the agent that plays the game instead of this one; a [level](crate::Level) names another agent.
    ///
    /// # Errors
    /// There is none.
    fn stands_for(&self, _game: &dyn PlayableGame) -> Result<Option<String>, AgentError> {
        Ok(None)
    }
}

/// What may stand behind the colon of a spec besides `key=value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Nothing else.
    Options,
    /// A file or another word as the first part.
    File,
    /// A file as the first part where it is no `key=value`.
    OptionalFile,
    /// A command line behind a second colon.
    Command,
}

/// Arguments of a search besides the settings of its agent.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The network that [`AgentKind::load`] has read.
    pub network: Option<&'a LoadedNetwork>,
    /// Most positions that are evaluated in one batch.
    pub seats: usize,
}

/// A change of a setting.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// The device of its network.
    Device(ComputeDevice),
    /// Threads of one search, if the spec gives none.
    Threads(usize),
    /// Simulations of a tree search per move, if its spec gives no time.
    Simulations(u32),
    /// The folder that relative paths are taken from.
    Folder(&'a Path),
}

/// Who chooses the moves of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Role {
    /// This program.
    #[default]
    Player,
    /// A person at the terminal; only in `play`.
    Person,
    /// Another program.
    Program,
    /// The agent of this level of the game.
    Level(u8),
}

/// Traits of an agent that its callers ask about.
#[derive(Clone, Default, Debug)]
pub struct Traits {
    /// Who chooses.
    pub role: Role,
    /// The limit of a tree search per move; `None` if the agent searches no tree.
    pub budget: Option<Budget>,
    /// Temperature of the choice of moves; 0 plays the best one.
    pub temperature: f32,
    /// Threads of one search.
    pub threads: Threads,
    /// Whether its moves depend on the time that it takes.
    pub depends_on_time: bool,
    /// Whether its moves are the same on every machine that has its network.
    pub is_portable: bool,
    /// Whether it looks exact values up, which may be in files.
    pub has_tables: bool,
    /// Its checkpoint: a file, a run folder, or [`PRETRAINED`](crate::PRETRAINED).
    pub checkpoint: Option<PathBuf>,
    /// Its classical search, if it has one.
    pub classical: Option<ClassicalSpec>,
    /// The greatest evaluation of an opening that it calls even, by default, in its own units.
    pub even: Option<u32>,
}

/// [`AgentKind`] for any type.
pub(crate) trait AnyKind: Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn settings(&mut self) -> Vec<Setting<'_>>;
    fn options(&self) -> String;
    fn complete(&mut self) -> Result<(), String>;
    fn traits(&self) -> Traits;
    fn load(&self, game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError>;
    fn search(&self, game: &dyn PlayableGame, setup: &Setup<'_>) -> Result<Box<dyn Search>, AgentError>;
    fn stands_for(&self, game: &dyn PlayableGame) -> Result<Option<String>, AgentError>;
    fn copy(&self) -> Box<dyn AnyKind>;
    fn fresh(&self) -> Box<dyn AnyKind>;
    fn as_any(&self) -> &dyn Any;
}

impl<K: AgentKind> AnyKind for K {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Settings::settings(self)
    }

    fn options(&self) -> String {
        options(K::FORM, &self.values(), &self.changes())
    }

    fn complete(&mut self) -> Result<(), String> {
        AgentKind::complete(self)
    }

    fn traits(&self) -> Traits {
        AgentKind::traits(self)
    }

    fn load(&self, game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError> {
        AgentKind::load(self, game)
    }

    fn search(&self, game: &dyn PlayableGame, setup: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        AgentKind::search(self, game, setup)
    }

    fn stands_for(&self, game: &dyn PlayableGame) -> Result<Option<String>, AgentError> {
        AgentKind::stands_for(self, game)
    }

    fn copy(&self) -> Box<dyn AnyKind> {
        Box::new(self.clone())
    }

    fn fresh(&self) -> Box<dyn AnyKind> {
        Box::new(K::default())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Settings as a spec has them behind its colon: the first of them by the form, of the others those that are not the default.
fn options(form: Form, values: &[(&str, Given)], changes: &[(&str, Given)]) -> String {
    let pair = |(name, value): &(&str, Given)| format!("{name}={}", value_text(value));
    let is_first =
        |change: &&(&str, Given)| form != Form::Options && values.first().is_some_and(|first| first.0 == change.0);
    let pairs: Vec<String> = changes.iter().filter(|change| !is_first(change)).map(pair).collect();
    match (form, values.first()) {
        (Form::Command, Some((_, command))) => format!("{}:{}", pairs.join(","), command.text().unwrap_or_default()),
        (Form::File, Some((_, file))) => [vec![value_text(file)], pairs].concat().join(","),
        (Form::OptionalFile, Some((_, file))) if changes.iter().any(|change| is_first(&change)) => {
            [vec![value_text(file)], pairs].concat().join(",")
        }
        _ => pairs.join(","),
    }
}

/// A kind in the list.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) form: Form,
    pub(crate) default: fn() -> Box<dyn AnyKind>,
}

impl Entry {
    pub(crate) fn of<K: AgentKind>() -> Self {
        let about = K::ABOUT.trim().trim_end_matches('.');
        Self { name: K::NAME, about, form: K::FORM, default: || Box::new(K::default()) }
    }
}

static KINDS: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// The kinds that were added.
pub(crate) fn added() -> Vec<Entry> {
    KINDS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Adds a kind that is not there.
pub(crate) fn add(entry: Entry) {
    KINDS.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
}
