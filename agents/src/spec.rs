//! Specs of agents in their one-line form.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kind::{AgentKind, AnyKind, Change, Role, Traits};
use crate::threads::Threads;
use crate::tree_spec::Budget;

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
        Self::of(Arc::new(kind), "")
    }

    pub(crate) fn of(kind: Arc<dyn AnyKind>, given: &str) -> Self {
        let options = kind.options().unwrap_or_else(|| given.to_owned());
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
        let given = self.text.split_once(':').map_or("", |(_, given)| given);
        Self::of(self.kind.adjusted(change), given)
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

impl From<AgentSpec> for String {
    fn from(spec: AgentSpec) -> Self {
        spec.text
    }
}
