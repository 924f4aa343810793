//! Lines of play, which the page's script shows on a board to step through.

use serde::Serialize;
use turnstone_env::DynGame;

use super::boards::Boards;
use super::frame::data;
use crate::saved_games::Replay;

/// A line of play with what the script says of its moves.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Line {
    /// The positions, encoded by [`Boards`].
    pub boards: String,
    /// Texts of the moves, separated by spaces.
    pub moves: String,
    /// The number of the player of each move.
    pub movers: String,
    /// Number of moves of the opening, which no player chose.
    #[serde(skip_serializing_if = "is_zero")]
    pub opening: usize,
    /// The ply that is shown first.
    #[serde(skip_serializing_if = "is_zero")]
    pub at: usize,
    /// Mark of each move, which may be empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<&'static str>,
    /// A text for each position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Chances of each position per mille, player 1 wins, draw, player 2 wins, which the script draws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<[u16; 3]>,
    /// Another graph over the plies as an SVG element with the ends of its plot in `data-plot` and a path of the class `cursor`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub graph: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Line {
    /// The moves of a game, whose boards are encoded with those of the page.
    #[must_use]
    pub fn new(game: &dyn DynGame, replay: &Replay, boards: &mut Boards) -> Self {
        let Replay { positions, actions } = replay;
        let moves = positions.windows(2).zip(actions);
        let after = moves.map(|(pair, &action)| game.draw_svg(&pair[1], Some((&pair[0], action))));
        let mover = |(state, _)| char::from(b'0' + game.mover(state).number());
        Self {
            boards: boards.pack(std::iter::once(game.draw_svg(&positions[0], None)).chain(after)),
            moves: game.line_display(&positions[0], actions).join(" "),
            movers: positions.iter().zip(actions).map(mover).collect(),
            ..Self::default()
        }
    }

    /// Element with the line, for an element of the class `replay`.
    #[must_use]
    pub fn element(&self) -> String {
        data(None, self)
    }
}
