//! Agents without options: a person, random moves, and the levels of a game.

use turnstone_base::settings;

use crate::error::AgentError;
use crate::interface::Search;
use crate::kind::{AgentKind, Form, Role, Setup, Traits};
use crate::levels::levels;
use crate::playable_game::PlayableGame;

settings! {
    /// A person at the terminal; only in `play`.
    #[derive(Clone, Debug)]
    pub(crate) struct Human {}
}

impl AgentKind for Human {
    const NAME: &'static str = "human";

    fn traits(&self) -> Traits {
        Traits { role: Role::Person, ..Traits::default() }
    }

    fn search(&self, _: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Err("a person can only `play`".to_owned().into())
    }
}

settings! {
    /// Uniformly random legal moves.
    #[derive(Clone, Debug)]
    pub(crate) struct Random {}
}

impl AgentKind for Random {
    const NAME: &'static str = "random";

    fn traits(&self) -> Traits {
        Traits { is_portable: true, ..Traits::default() }
    }

    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Ok(game.random_search())
    }
}

settings! {
    /// The agent of a level of the game, by its number, 1 being the weakest: `level:3`.
    #[derive(Clone, Debug)]
    pub(crate) struct Level {
        /// Number of the level.
        level: u8 = 1, 1..=u8::MAX;
    }
}

impl AgentKind for Level {
    const NAME: &'static str = "level";
    const FORM: Form = Form::File;

    fn traits(&self) -> Traits {
        Traits { role: Role::Level(self.level), ..Traits::default() }
    }

    fn search(&self, _: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Err("a level is loaded as the agent that it stands for".to_owned().into())
    }

    fn stands_for(&self, game: &dyn PlayableGame) -> Result<Option<String>, AgentError> {
        let level = levels(game)?.into_iter().find(|level| level.number == self.level);
        let missing = || AgentError::from(format!("{} has no such level", game.name()));
        Ok(Some(level.ok_or_else(missing)?.agent.to_string()))
    }
}
