//! Agents with exact values, and other programs.

use std::path::Path;

use turnstone_base::files::in_folder;

use crate::engine_spec::EngineSpec;
use crate::error::AgentError;
use crate::exact_player;
use crate::exact_spec::{ExactSpec, TABLES};
use crate::interface::Search;
use crate::kind::{AgentKind, Change, Form, Role, Setup, Traits};
use crate::network::LoadedNetwork;
use crate::options::Options;
use crate::playable::Effort;
use crate::playable_game::PlayableGame;

/// A player with exact values.
#[derive(Clone, Debug)]
pub(crate) struct Exact(pub(crate) ExactSpec);

impl AgentKind for Exact {
    const NAME: &'static str = "exact";
    const ABOUT: &'static str = "plays by the game's exact values: exact or exact:<folder of tables>";
    const FORM: Form = Form::OptionalFile;

    fn parse(options: &mut Options) -> Result<Self, String> {
        ExactSpec::parse(options).map(Self)
    }

    fn options(&self) -> Option<String> {
        Some(self.0.options())
    }

    fn traits(&self) -> Traits {
        Traits { depends_on_time: self.0.time.is_some(), has_tables: true, even: Some(0), ..Traits::default() }
    }

    fn load(&self, game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError> {
        check_exact_values(game, &self.0.tables).map(|()| None)
    }

    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        game.exact_player(&self.0)
    }

    fn adjust(&mut self, change: Change<'_>) {
        if let Change::Folder(folder) = change
            && self.0.tables.as_os_str() != TABLES
        {
            self.0.tables = in_folder(folder, &self.0.tables);
        }
    }
}

/// Checks that the game has exact values, with its tables in this folder.
pub(super) fn check_exact_values(game: &dyn PlayableGame, tables: &Path) -> Result<(), AgentError> {
    exact_player::check(tables)?;
    let truth = game.exact_values(tables, Effort::Quick).map_err(|error| error.to_string())?;
    truth.map(drop).ok_or_else(|| exact_player::missing(game.name()))
}

/// Another program that speaks the Universal Game Interface (UGI).
#[derive(Clone, Debug)]
pub(crate) struct Engine(pub(crate) EngineSpec);

impl AgentKind for Engine {
    const NAME: &'static str = "engine";
    const ABOUT: &'static str = "another program, over the Universal Game Interface: engine:<options>:<command line>";
    const FORM: Form = Form::Command;

    fn parse(options: &mut Options) -> Result<Self, String> {
        EngineSpec::parse(options).map(Self)
    }

    fn options(&self) -> Option<String> {
        Some(self.0.options())
    }

    fn traits(&self) -> Traits {
        Traits { role: Role::Program, depends_on_time: self.0.time.is_some(), ..Traits::default() }
    }

    #[cfg(not(target_family = "wasm"))]
    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Ok(Box::new(crate::external::External::new(game.shared(), &self.0)))
    }

    #[cfg(target_family = "wasm")]
    fn search(&self, _: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Err("this build cannot start other programs".to_owned().into())
    }
}
