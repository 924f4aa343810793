//! What the adviser of a game says of its positions.

use anyhow::Result;

use super::Session;
use crate::commands::play::adviser::Adviser;
use crate::commands::play::view::{in_words, soft};

impl Session<'_> {
    fn adviser(&mut self) -> Result<&mut Adviser> {
        if self.adviser.is_none() {
            self.adviser = Some(Adviser::new(self.game, self.settings.seed)?);
        }
        Ok(self.adviser.as_mut().expect("it was just made"))
    }

    pub(super) fn hint(&mut self) -> Result<()> {
        let state = self.state().clone();
        let adviser = self.adviser()?;
        let (advice, name) = (adviser.advise(&state)?, adviser.name().to_owned());
        let value = advice.win_draw_loss.map(|p| format!(" ({})", in_words(p))).unwrap_or_default();
        let line: Vec<String> = self.game.line_texts(&state, &advice.line).into_iter().skip(1).take(6).collect();
        let line = if line.is_empty() { String::new() } else { format!(", expecting {}", line.join(" ")) };
        let (action, name) = (self.game.action_text_in(&state, advice.action), soft(&format!("[{name}]")));
        self.screen.say(&format!("hint: {action}{value}{line} {name}"));
        Ok(())
    }

    /// Prints the adviser's probabilities for the player to move.
    pub(super) fn evaluate(&mut self) -> Result<()> {
        let state = self.state().clone();
        let adviser = self.adviser()?;
        let (advice, name) = (adviser.advise(&state)?, adviser.name().to_owned());
        let mover = self.game.mover(&state);
        match advice.win_draw_loss {
            Some(p) => {
                let name = soft(&format!("[{name}]"));
                self.screen.say(&format!("evaluation for {mover}: {} {name}", in_words(p)));
            }
            None => self.screen.say(&format!("{name} gives no evaluation")),
        }
        Ok(())
    }
}
