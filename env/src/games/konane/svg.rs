//! Konane's chequered board drawn as SVG.

use super::board::colour;
use super::state::{Konane, State};
use crate::action::Action;
use crate::game::Game;
use crate::svg::{BoardPoint, MARGIN, Paint, Sheet, UNIT, status};

/// Size of the numbers of rows and columns.
const NUMBER: f32 = 23.0;

pub(super) fn draw(game: &Konane, state: &State, last: Option<Action>) -> String {
    let edge = UNIT * game.size as f32;
    let mut sheet =
        Sheet::new(&format!("Konane: {}", game.position_text(state)), edge + 2.0 * MARGIN, edge + 2.0 * MARGIN + 10.0);
    for (row, column) in game.points() {
        let corner = centre((row, column)).map(|middle| middle - UNIT / 2.0);
        let fill = [Paint::HOLLOW, Paint::BOARD][colour(row, column).index()];
        sheet.rectangle(corner, [UNIT; 2], 0.0, fill);
    }
    for (row, column) in game.points() {
        if let Some(side) = game.stone_at(state, row, column) {
            sheet.stone(centre((row, column)), side);
        }
    }
    let marked = last.map_or(Vec::new(), |action| game.cells(action));
    for &(row, column) in &marked {
        sheet.mark(centre((game.size - row, column - 1)));
    }
    for n in 0..game.size {
        let middle = MARGIN + UNIT * (n as f32 + 0.5);
        for side in [MARGIN / 2.0, MARGIN * 1.5 + edge] {
            sheet.text([side, middle], NUMBER, game.size - n);
        }
        sheet.text([middle, MARGIN / 2.0], NUMBER, n + 1);
    }
    sheet.caption(status(game.outcome(state), state.mover, ["dark (X)", "light (O)"]));
    sheet.finish()
}

/// The cells as (row, column) in the game's own numbers.
pub(super) fn board_points(game: &Konane) -> Vec<BoardPoint> {
    let label = |(row, column): (usize, usize)| format!("{},{}", game.size - row, column + 1);
    game.points().map(|cell| BoardPoint::new(label(cell), centre(cell), UNIT / 2.0)).collect()
}

fn centre((row, column): (usize, usize)) -> [f32; 2] {
    [column, row].map(|n| MARGIN + UNIT * (n as f32 + 0.5))
}
