//! Agents with exact values, and other programs.

use std::path::Path;

use crate::engine_spec::{EngineSpec, words};
use crate::error::AgentError;
use crate::exact_player;
use crate::exact_spec::ExactSpec;
use crate::interface::Search;
use crate::kind::{AgentKind, Form, Role, Setup, Traits};
use crate::network::LoadedNetwork;
use crate::playable::Effort;
use crate::playable_game::PlayableGame;

impl AgentKind for ExactSpec {
    const NAME: &'static str = "exact";
    const FORM: Form = Form::OptionalFile;

    fn traits(&self) -> Traits {
        Traits { depends_on_time: self.time.is_some(), has_tables: true, even: Some(0), ..Traits::default() }
    }

    fn load(&self, game: &dyn PlayableGame) -> Result<Option<LoadedNetwork>, AgentError> {
        check_exact_values(game, &self.tables).map(|()| None)
    }

    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        game.exact_player(self)
    }
}

/// Checks that the game has exact values, with its tables in this folder.
pub(super) fn check_exact_values(game: &dyn PlayableGame, tables: &Path) -> Result<(), AgentError> {
    exact_player::check(tables)?;
    let truth = game.exact_values(tables, Effort::Quick).map_err(|error| error.to_string())?;
    truth.map(drop).ok_or_else(|| exact_player::missing(game.name()))
}

impl AgentKind for EngineSpec {
    const NAME: &'static str = "engine";
    const FORM: Form = Form::Command;

    fn complete(&mut self) -> Result<(), String> {
        if words(&self.command)?.is_empty() { Err("name a program".to_owned()) } else { Ok(()) }
    }

    fn traits(&self) -> Traits {
        Traits { role: Role::Program, depends_on_time: self.time.is_some(), ..Traits::default() }
    }

    #[cfg(not(target_family = "wasm"))]
    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Ok(Box::new(crate::external::External::new(game.shared(), self)))
    }

    #[cfg(target_family = "wasm")]
    fn search(&self, _: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Err("this build cannot start other programs".to_owned().into())
    }
}
