//! Levels of play: agents of a game by rising strength, with measured ratings.

use std::fmt;

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
    /// Reads the levels of a game: a line each, in order, with number, Elo, the ends of the interval and the agent's spec,
    /// separated by spaces. Lines that begin with `#` are comments.
    pub(crate) fn read(text: &str) -> Result<Vec<Self>, String> {
        let mut levels: Vec<Self> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let level = Self::of_line(line).ok_or_else(|| format!("`{line}` is no level"))?;
            if usize::from(level.number) != levels.len() + 1 {
                return Err(format!("level {} does not follow level {}", level.number, levels.len()));
            }
            levels.push(level);
        }
        Ok(levels)
    }

    fn of_line(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut elo = || words.next()?.parse().ok();
        let (elo, interval) = (elo()?, [elo()?, elo()?]);
        let agent = words.collect::<Vec<_>>().join(" ").parse().ok()?;
        let is_player = !matches!(agent, AgentSpec::Human | AgentSpec::Level(_));
        is_player.then_some(Self { number, elo, interval, agent })
    }
}

impl fmt::Display for Level {
    /// `level 3, Elo 640`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "level {}, Elo {}", self.number, self.elo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_in_order() {
        let read =
            Level::read("# measured\n1 120 90 150 random\n\n2   300 -5 330 alphabeta:depth=2\n").expect("levels");
        assert_eq!(read[0], Level { number: 1, elo: 120, interval: [90, 150], agent: AgentSpec::Random });
        assert_eq!((read[1].interval, &read[1].agent.to_string()[..]), ([-5, 330], "alphabeta:depth=2"));
        assert_eq!(read[1].to_string(), "level 2, Elo 300");
        for text in ["2 1 0 2 random", "1 1 0 random", "1 1 0 2", "1 1 0 2 level:1", "1 1 0 2 human", "x"] {
            assert!(Level::read(text).is_err(), "{text}");
        }
        assert_eq!(Level::read("1 5 4 6 random\n1 5 4 6 random"), Err("level 1 does not follow level 1".to_owned()));
    }
}
