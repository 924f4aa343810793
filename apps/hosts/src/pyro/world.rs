//! The world and its referee: the board, the mover, and the mover's commands before `done`.
//!
//! Pyro's own world executes every command. This one accepts legal moves only; a refused command changes nothing.

use std::fmt;

use turnstone_env::games::{Konane, konane};
use turnstone_env::{Action, Notation, Rules, Side, try_play};

use super::letter;
use super::pickle::Value;
use crate::konane::format_move;

/// Number of rows and of columns of the board.
pub const SIZE: usize = 8;

/// A game in progress.
pub struct World {
    game: Konane,
    /// The position at the start of the turn.
    state: konane::State,
    /// The mover's action in this turn, and the position after it.
    pending: Option<(Action, konane::State)>,
    /// Number of moves played.
    moves: usize,
}

/// A completed move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completed {
    /// Number of the move in the game, from 1.
    pub number: usize,
    /// The side that made it.
    pub side: Side,
    /// The move, e.g. `jump(3,4,5,4)`.
    pub text: String,
    /// Whether it wins the game, i.e. the other player cannot move.
    pub wins: bool,
}

impl fmt::Display for Completed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {} {}", self.number, letter(self.side), self.text)?;
        if self.wins { write!(f, ", and wins") } else { Ok(()) }
    }
}

impl World {
    /// Creates a full board, on which `first` removes the first stone.
    #[must_use]
    pub fn new(first: Side) -> Self {
        let game = Konane::default();
        let full = game.position_text(&game.start());
        let board = full.split(' ').next().expect("a position begins with its board");
        let start = game.parse_position(&format!("{board} {}", letter(first)));
        Self { state: start.expect("either player may begin"), game, pending: None, moves: 0 }
    }

    /// The side to move; at the end of a game the side that has lost.
    #[must_use]
    pub fn mover(&self) -> Side {
        self.game.mover(&self.state)
    }

    /// The current board, including the commands of an unfinished turn.
    #[must_use]
    pub fn board(&self) -> Value {
        let state = self.pending.map_or(self.state, |(_, after)| after);
        let cell = |x, y| Value::from(self.game.stone(&state, x, y).map_or("", letter));
        let column = |x| Value::List((1..=SIZE).map(|y| cell(x, y)).collect());
        Value::List((1..=SIZE).map(column).collect())
    }

    /// Plays `remove(x,y)` or `jump(x1,y1,x2,y2,...)`. Within a turn, a jump may be continued by another jump of the
    /// same stone in the same direction.
    ///
    /// # Errors
    /// It is not this side's move, or the move is illegal. The world is then unchanged.
    pub fn play(&mut self, side: Side, command: &str) -> Result<(), String> {
        if side != self.mover() {
            return Err(format!("it is the move of {}", letter(self.mover())));
        }
        let mut action = self.game.parse_action(&self.state, command).map_err(|error| error.to_string())?;
        if let Some((pending, _)) = self.pending {
            let (mut path, next) = (self.game.cells(pending), self.game.cells(action));
            if path.len() < 2 || next.len() < 2 || path.last() != next.first() {
                return Err(format!(
                    "{} is played, only `done` can follow",
                    self.game.action_text(&self.state, pending)
                ));
            }
            path.extend(&next[1..]);
            let numbers: Vec<usize> = path.iter().flat_map(|&(x, y)| [x, y]).collect();
            action = self.game.parse_action(&self.state, &format_move(&numbers)).map_err(|error| error.to_string())?;
        }
        let mut after = self.state;
        try_play(&self.game, &mut after, action).map_err(|error| error.to_string())?;
        self.pending = Some((action, after));
        Ok(())
    }

    /// Ends the turn.
    ///
    /// # Errors
    /// It is not this side's move, or it has not moved yet.
    pub fn done(&mut self, side: Side) -> Result<Completed, String> {
        if side != self.mover() {
            return Err(format!("it is the move of {}", letter(self.mover())));
        }
        let (action, after) = self.pending.take().ok_or("no move has been made")?;
        self.state = after;
        self.moves += 1;
        let wins = self.game.outcome(&self.state).is_some();
        Ok(Completed { number: self.moves, side, text: self.game.action_text(&self.state, action), wins })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Side = Side::First;
    const O: Side = Side::Second;

    fn turn(world: &mut World, side: Side, commands: &[&str]) -> Completed {
        commands.iter().for_each(|command| world.play(side, command).expect("legal"));
        world.done(side).expect("a move was made")
    }

    /// The game that the source shows, its last jump in one command, then in two.
    #[test]
    fn the_sources_game() {
        for last in [&["jump(2,4,4,4,6,4)"][..], &["jump(2,4,4,4)", "jump(4,4,6,4)"]] {
            let mut world = World::new(X);
            for (x, o) in [
                ("remove(5,4)", "remove(5,5)"),
                ("jump(3,4,5,4)", "jump(5,7,5,5)"),
                ("jump(3,2,3,4)", "jump(5,3,3,3)"),
                ("jump(7,6,5,6)", "jump(6,4,6,6)"),
            ] {
                turn(&mut world, X, &[x]);
                turn(&mut world, O, &[o]);
            }
            turn(&mut world, X, &["jump(7,8,7,6)"]);
            let done = turn(&mut world, O, last);
            assert_eq!(done.to_string(), "10. O jump(2,4,4,4,6,4)");
            let shown = "XOXOXOXO/OXOXOX../XOXO.OXO/OX..OX.X/XO..XOXO/O.O.OXOX/XOX.XOXO/OXOXOXOX X";
            assert_eq!(world.game.position_text(&world.state), shown);
        }
    }

    #[test]
    fn what_is_not_legal_is_refused_and_changes_nothing() {
        let mut world = World::new(O);
        let full = world.board();
        let fault = |world: &mut World, side, command: &str| world.play(side, command).expect_err("a fault");
        assert_eq!(fault(&mut world, X, "remove(5,4)"), "it is the move of O");
        assert!(fault(&mut world, O, "remove(2,2)").contains("remove(1,1)"), "the legal ones are named");
        assert!(fault(&mut world, O, "remove(9,9)").contains("from 1 to 8"));
        assert!(world.done(O).is_err() && world.done(X).is_err());
        assert_eq!(world.board(), full);
        world.play(O, "remove(4,4)").expect("legal");
        assert_eq!(fault(&mut world, O, "remove(5,5)"), "remove(4,4) is played, only `done` can follow");
        world.done(O).expect("a move was made");
        turn(&mut world, X, &["remove(4,5)"]);
        world.play(O, "jump(6,4,4,4)").expect("legal");
        assert!(world.play(O, "jump(4,4,4,2)").is_err(), "round a corner");
        assert!(world.play(O, "jump(2,4,4,4)").is_err(), "another stone");
    }
}
