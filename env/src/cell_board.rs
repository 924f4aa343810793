//! A board of cells with stones, drawn from a game's lattice, for games without a drawing of their own.

use crate::side::Side;
use crate::svg::{MARGIN, Sheet, UNIT, colour};

/// The centres of the lattice cells in the drawing, in SVG user units.
pub(crate) fn centres(width: usize, cells: &[u16]) -> Vec<[f32; 2]> {
    let place = |index: usize| MARGIN + UNIT * (index as f32 + 0.5);
    cells.iter().map(|&cell| [place(usize::from(cell) % width), place(usize::from(cell) / width)]).collect()
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
    for ([x, y], &stone) in centres(width, cells).into_iter().zip(stones) {
        sheet.rectangle([x - UNIT / 2.0 + 1.0, y - UNIT / 2.0 + 1.0], [UNIT - 2.0; 2], 6.0, colour::BOARD);
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
        assert_eq!(centres(3, &cells), [[68.0, 68.0], [164.0, 68.0], [164.0, 116.0]]);
        let drawing = draw("a board", [2, 3], &cells, &[None, None, Some(Side::Second)], "player 1 to move");
        assert_eq!(drawing.matches("<circle ").count(), 1);
        assert!(drawing.contains(r#"<circle cx="164.00" cy="116.00""#), "{drawing}");
    }
}
