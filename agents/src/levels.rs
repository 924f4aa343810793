//! Levels of play: agents of a game by rising strength, with measured ratings.

use std::fmt;

use crate::error::AgentError;
use crate::kind::Role;
use crate::playable_game::PlayableGame;
use crate::spec::AgentSpec;

/// A level of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level {
    /// Its number, from 1, the weakest.
    pub number: u8,
    /// Elo, where `random` has 0.
    pub elo: i32,
    /// Ends of the rating's 95 % interval.
    pub interval: [i32; 2],
    /// The agent that plays it.
    pub agent: AgentSpec,
}

impl Level {
    /// Reads the levels of a ladder: the lines of the table `[levels]`, `number = ["agent", Elo, low, high]` in order. They
    /// are TOML and read as JSON, since a parser of TOML would add a thirtieth to the page's module.
    pub(crate) fn read(ladder: &str) -> Result<Vec<Self>, String> {
        let mut levels: Vec<Self> = Vec::new();
        let lines = ladder.lines().map(str::trim).skip_while(|line| *line != "[levels]").skip(1);
        let table = lines.take_while(|line| !line.starts_with('['));
        for line in table.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let level = Self::of_line(line).ok_or_else(|| format!("`{line}` is not a level"))?;
            if usize::from(level.number) != levels.len() + 1 {
                return Err(format!("level {} does not follow level {}", level.number, levels.len()));
            }
            levels.push(level);
        }
        Ok(levels)
    }

    fn of_line(line: &str) -> Option<Self> {
        let (number, entry) = line.split_once('=')?;
        let (agent, elo, low, high): (String, _, _, _) = serde_json::from_str(entry.trim()).ok()?;
        let agent: AgentSpec = agent.parse().ok()?;
        let is_player = matches!(agent.role(), Role::Player | Role::Program);
        is_player.then_some(Self { number: number.trim().parse().ok()?, elo, interval: [low, high], agent })
    }
}

impl fmt::Display for Level {
    /// `level 3, Elo 640`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "level {}, Elo {}", self.number, self.elo)
    }
}

/// The levels of a game, the weakest first; none if it comes without them. They are the table `[levels]` of its ladder, in
/// order: `number = ["agent", Elo, low, high]`, with the ends of the rating's 95 % interval.
///
/// # Errors
/// The text has a fault.
pub fn levels(game: &dyn PlayableGame) -> Result<Vec<Level>, AgentError> {
    let fault = |fault| AgentError::Levels { game: game.name().to_owned(), fault };
    Level::read(game.files().ladder.unwrap_or_default()).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_in_order() {
        let ladder = |lines: &str| format!("game = \"x\"\n\n[levels]\n{lines}");
        let text = ladder("# measured\n1 = [\"random\", 120, 90, 150]\n\n2 = [\"alphabeta:depth=2\", 300, -5, 330]\n");
        let read = Level::read(&text).expect("levels");
        assert_eq!(read[0], Level { number: 1, elo: 120, interval: [90, 150], agent: AgentSpec::random() });
        assert_eq!((read[1].interval, &read[1].agent.to_string()[..]), ([-5, 330], "alphabeta:depth=2"));
        assert_eq!((read[1].to_string(), read.len()), ("level 2, Elo 300".to_owned(), 2));
        assert_eq!(Level::read("game = \"x\"\n[[rungs]]\n"), Ok(Vec::new()));
        for line in [
            "2 = [\"random\", 1, 0, 2]",
            "1 = [\"random\", 1, 0]",
            "1 = [\"level:1\", 1, 0, 2]",
            "1 = [\"human\", 1, 0, 2]",
            "x",
        ] {
            assert!(Level::read(&ladder(line)).is_err(), "{line}");
        }
        let twice = ladder("1 = [\"random\", 5, 4, 6]\n1 = [\"random\", 5, 4, 6]");
        assert_eq!(Level::read(&twice), Err("level 1 does not follow level 1".to_owned()));
    }
}
