//! Agents without settings: a person, random moves, and the levels of a game.

use crate::error::AgentError;
use crate::interface::Search;
use crate::kind::{AgentKind, Form, Role, Setup, Traits};
use crate::levels::levels;
use crate::options::Options;
use crate::playable_game::PlayableGame;

/// A person at the terminal.
#[derive(Clone, Debug)]
pub(crate) struct Human;

impl AgentKind for Human {
    const NAME: &'static str = "human";
    const ABOUT: &'static str = "a person at the terminal; only in `play`";

    fn parse(_: &mut Options) -> Result<Self, String> {
        Ok(Self)
    }

    fn traits(&self) -> Traits {
        Traits { role: Role::Person, ..Traits::default() }
    }

    fn search(&self, _: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Err("a person can only `play`".to_owned().into())
    }
}

/// Uniformly random legal actions.
#[derive(Clone, Debug)]
pub(crate) struct Random;

impl AgentKind for Random {
    const NAME: &'static str = "random";
    const ABOUT: &'static str = "uniformly random legal moves";

    fn parse(_: &mut Options) -> Result<Self, String> {
        Ok(Self)
    }

    fn traits(&self) -> Traits {
        Traits { is_portable: true, ..Traits::default() }
    }

    fn search(&self, game: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Ok(game.random_search())
    }
}

/// The agent of a level of the game, 1 being the weakest.
#[derive(Clone, Debug)]
pub(crate) struct Level(pub(crate) u8);

impl AgentKind for Level {
    const NAME: &'static str = "level";
    const ABOUT: &'static str = "the agent of a level of the game, 1 being the weakest: level:3";
    const FORM: Form = Form::File;

    fn parse(options: &mut Options) -> Result<Self, String> {
        let number = options.file.take().and_then(|text| text.to_str()?.parse().ok()).filter(|level| *level > 0);
        number.map(Self).ok_or_else(|| "name a level by its number, as in level:3; 1 is the weakest".to_owned())
    }

    fn options(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn traits(&self) -> Traits {
        Traits { role: Role::Level(self.0), ..Traits::default() }
    }

    fn search(&self, _: &dyn PlayableGame, _: &Setup<'_>) -> Result<Box<dyn Search>, AgentError> {
        Err("a level is loaded as the agent that it stands for".to_owned().into())
    }

    fn stands_for(&self, game: &dyn PlayableGame) -> Result<Option<String>, AgentError> {
        let level = levels(game)?.into_iter().find(|level| level.number == self.0);
        let missing = || AgentError::from(format!("{} has no such level", game.name()));
        Ok(Some(level.ok_or_else(missing)?.agent.to_string()))
    }
}
