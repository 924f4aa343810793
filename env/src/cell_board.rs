//! A board of cells with stones, drawn from a game's lattice, for games without a drawing of their own.

use crate::side::Side;
use crate::svg::{BoardPoint, MARGIN, Paint, Sheet, UNIT};

/// The cells in the drawing, named by row and column from the top left.
pub(crate) fn board_points(width: usize, cells: &[u16]) -> Vec<BoardPoint> {
    let label = |cell: usize| format!("row {}, column {}", cell / width + 1, cell % width + 1);
    let point = |&cell: &u16| BoardPoint::new(label(cell.into()), centre(width, cell), UNIT / 2.0);
    cells.iter().map(point).collect()
}

fn centre(width: usize, cell: u16) -> [f32; 2] {
    let place = |index: usize| MARGIN + UNIT * (index as f32 + 0.5);
    [place(usize::from(cell) % width), place(usize::from(cell) / width)]
}

/// The board as an SVG document: a square for each cell, and the stone on it.
pub(crate) fn draw(
    title: &str,
    [height, width]: [usize; 2],
    cells: &[u16],
    stones: &[Option<Side>],
    caption: &str,
) -> String {
    let (sheet_width, sheet_height) = (UNIT * width as f32 + 2.0 * MARGIN, UNIT * height as f32 + 2.0 * MARGIN + 10.0);
    let mut sheet = Sheet::new(title, sheet_width, sheet_height);
    for (&cell, &stone) in cells.iter().zip(stones) {
        let [x, y] = centre(width, cell);
        sheet.rectangle([x - UNIT / 2.0 + 1.0, y - UNIT / 2.0 + 1.0], [UNIT - 2.0; 2], 6.0, Paint::BOARD);
        if let Some(side) = stone {
            sheet.stone([x, y], side);
        }
    }
    sheet.caption(caption);
    sheet.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stones_lie_on_the_centres_of_their_cells() {
        let cells = [0, 2, 5]; // of two rows of three
        let points = board_points(3, &cells);
        let first = MARGIN + UNIT / 2.0;
        assert_eq!(points[2].at, [first + 2.0 * UNIT, first + UNIT]);
        assert_eq!(points[2].label, "row 2, column 3");
        let drawing = draw("a board", [2, 3], &cells, &[None, None, Some(Side::Second)], "player 1 to move");
        assert_eq!(drawing.matches("<circle ").count(), 1);
        let [x, y] = points[2].at;
        assert!(drawing.contains(&format!(r#"<circle cx="{x:.2}" cy="{y:.2}""#)), "{drawing}");
    }
}
