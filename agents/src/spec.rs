//! Specs of agents in their one-line form.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use turnstone_base::files::in_folder;
use turnstone_base::settings::{Given, Setting, Value};
use turnstone_models::ComputeDevice;

use crate::budget::Budget;
use crate::classical::ClassicalSpec;
use crate::error::AgentError;
use crate::kind::{AgentKind, AnyKind, Change, Role, Traits};
use crate::network::PRETRAINED;
use crate::threads::Threads;

/// Spec of an agent: a kind with its settings. Specs are equal if their texts are.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentSpec {
    text: String,
    pub(crate) kind: Arc<dyn AnyKind>,
}

impl AgentSpec {
    /// The spec of an agent with these settings.
    #[must_use]
    pub fn new<K: AgentKind>(kind: K) -> Self {
        Self::of(Arc::new(kind))
    }

    pub(crate) fn of(kind: Arc<dyn AnyKind>) -> Self {
        let options = kind.options();
        let colon = if options.is_empty() { "" } else { ":" };
        Self { text: format!("{}{colon}{options}", kind.name()), kind }
    }

    /// What others need to know of the agent.
    #[must_use]
    pub fn traits(&self) -> Traits {
        self.kind.traits()
    }

    /// Who chooses its moves.
    #[must_use]
    pub fn role(&self) -> Role {
        self.traits().role
    }

    /// Whether a person chooses its moves.
    #[must_use]
    pub fn is_human(&self) -> bool {
        self.role() == Role::Person
    }

    /// The settings of an agent of this kind.
    #[must_use]
    pub fn settings<K: AgentKind>(&self) -> Option<&K> {
        self.kind.as_any().downcast_ref()
    }

    /// The limit of a tree search per move; `None` if the agent searches no tree.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        self.traits().budget
    }

    /// Its classical search, if it has one.
    #[must_use]
    pub fn classical(&self) -> Option<ClassicalSpec> {
        self.traits().classical
    }

    /// Threads of one search.
    #[must_use]
    pub fn threads(&self) -> Threads {
        self.traits().threads
    }

    /// Why two games of the agent from one seed may differ; `None` if they are equal, as far as its spec tells.
    #[must_use]
    pub fn varies_by(&self) -> Option<&'static str> {
        match self.traits() {
            Traits { depends_on_time: true, .. } => Some("its moves depend on time"),
            Traits { threads, .. } if threads.is_several() => Some("its searches have several threads"),
            _ => None,
        }
    }

    /// The spec with a setting changed, where its kind has it.
    #[must_use]
    pub fn adjusted(&self, change: Change<'_>) -> Self {
        let mut kind = self.kind.copy();
        let mut settings = kind.settings();
        let value = |name: &str| settings.iter().find(|setting| setting.name() == name).map(Setting::value);
        // A network on a GPU is searched by one thread.
        let takes_threads = value("device") == Some(ComputeDevice::Cpu.give()) && value("threads") == Some(None);
        let takes_simulations = value("time") == Some(None);
        let mut put = |name: &str, given: Option<Given>| {
            let setting = settings.iter_mut().find(|setting| setting.name() == name);
            if let (Some(setting), Some(given)) = (setting, given) {
                setting.set(&given).expect("a value of this setting");
            }
        };
        match change {
            Change::Device(device) => put("device", device.give()),
            Change::Threads(threads) if takes_threads => put("threads", threads.give()),
            Change::Simulations(simulations) if takes_simulations => put("sims", simulations.give()),
            Change::Threads(_) | Change::Simulations(_) => {}
            Change::Folder(folder) => {
                let mut fresh = self.kind.fresh();
                let changed =
                    settings.iter_mut().zip(fresh.settings()).filter(|(own, usual)| own.value() != usual.value());
                let paths = changed.filter_map(|(own, _)| own.path());
                paths.filter(|path| path.as_os_str() != PRETRAINED).for_each(|path| *path = in_folder(folder, path));
            }
        }
        drop(settings);
        Self::of(kind.into())
    }

    /// The spec with its relative paths taken from a folder and made absolute, as those of a file in it. The default folder
    /// of tables and the command line of an engine are left as they are.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Self {
        self.adjusted(Change::Folder(folder))
    }
}

impl PartialEq for AgentSpec {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for AgentSpec {}

impl Hash for AgentSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Value for AgentSpec {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        given.text().map(str::parse).transpose().map_err(|fault: AgentError| fault.to_string())
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Text(self.text.clone()))
    }

    fn expected() -> String {
        "an agent".to_owned()
    }
}

impl From<AgentSpec> for String {
    fn from(spec: AgentSpec) -> Self {
        spec.text
    }
}
