//! Drawings of the two mill games, as text and as SVG, both from the same text with the points' names.
//!
//! In that text a point's name stands at column 4 x and line 2 y, which are its coordinates on the sheet.

use crate::action::Action;
use crate::mill_board::{MillBoard, Ply, owner, points};
use crate::side::Side;
use crate::svg::{BoardPoint, PointBoard};

/// What the picture of a position shows besides its title.
pub(crate) struct Picture<'a> {
    pub(crate) pieces: [u32; 2],
    /// The side whose pieces are the dark ones.
    pub(crate) dark: Side,
    /// The action to be marked.
    pub(crate) last: Option<Action>,
    /// Mills that may not be formed.
    pub(crate) banned: Vec<u32>,
    /// A line for each side: pieces in hand and lost, and the like.
    pub(crate) notes: [String; 2],
    pub(crate) caption: &'a str,
}

impl<const POINTS: usize, const MILLS: usize> MillBoard<POINTS, MILLS> {
    /// The position as an SVG document.
    pub(crate) fn draw_svg(&self, drawing: &str, title: &str, picture: Picture) -> String {
        let Picture { pieces, dark, last, banned, notes, caption } = picture;
        let shade = |side: Side| if side == dark { Side::First } else { Side::Second };
        let edges: Vec<[u8; 2]> = (0..POINTS as u8)
            .flat_map(|p| points(self.near[usize::from(p)]).filter(move |&q| p < q).map(move |q| [p, q]))
            .collect();
        let stones: Vec<Option<Side>> = (0..POINTS as u8).map(|p| owner(pieces, p).map(shade)).collect();
        let marked: Vec<usize> = match last.map(Self::ply) {
            None => vec![],
            Some(Ply::Place(p) | Ply::Remove(p)) => vec![p.into()],
            Some(Ply::Move(from, to)) => vec![from.into(), to.into()],
        };
        // A mill's points in increasing order follow its line.
        let banned: Vec<Vec<u8>> = banned.into_iter().map(|mill| points(mill).collect()).collect();
        let notes: Vec<(Side, String)> = Side::BOTH.into_iter().map(shade).zip(notes).collect();
        let (places, names) = (self.places(drawing), self.names.map(str::to_owned));
        let lines: Vec<&[u8]> = edges.iter().map(|edge| &edge[..]).collect();
        let board = PointBoard { points: &places, lines: &lines, names: &names, ..PointBoard::default() };
        PointBoard {
            title,
            labels: self.labels.get_or_init(|| board.labels()),
            stones: &stones,
            marked: &marked,
            banned: &banned,
            notes: &notes,
            caption,
            ..board
        }
        .draw()
    }

    /// The points as [`MillBoard::draw_svg`] draws them.
    pub(crate) fn board_points(&self, drawing: &str) -> Vec<BoardPoint> {
        let (points, names) = (&self.places(drawing), &self.names.map(str::to_owned));
        PointBoard { points, names, ..PointBoard::default() }.board_points()
    }

    /// The points in lattice units, x to the right and y down.
    fn places(&self, drawing: &str) -> [[f32; 2]; POINTS] {
        self.names.map(|name| {
            let mut lines = drawing.lines().enumerate();
            let (line, column) = lines
                .find_map(|(line, text)| Some((line, text.find(name)?)))
                .expect("the drawing has every point's name");
            [column as f32 / 4.0, line as f32 / 2.0]
        })
    }

    /// The drawing with each point's letter instead of its name, and the drawing itself beside it.
    pub(crate) fn draw(&self, drawing: &str, pieces: [u32; 2], letters: [char; 3]) -> String {
        let mut text = String::new();
        for names in drawing.lines() {
            let (mut board, mut rest) = (String::new(), names);
            while let Some(next) = rest.chars().next() {
                if let Some(point) = rest.get(..2).and_then(|name| self.point(name)) {
                    board.push(letters[owner(pieces, point).map_or(2, Side::index)]);
                    rest = &rest[2..];
                    // A name is two letters wide; behind the one letter the line continues.
                    board.push(if rest.starts_with('-') { '-' } else { ' ' });
                } else {
                    board.push(next);
                    rest = &rest[next.len_utf8()..];
                }
            }
            text.push_str(&format!("{board:<31}{names}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::mill_board::MillBoard;

    #[test]
    fn a_point_lies_where_the_text_has_its_name() {
        let board: MillBoard<3, 1> = MillBoard::new(["a1", "b1", "c1"], [[0, 1, 2]], &[]);
        assert_eq!(board.places("    a1--b1\n\n    c1\n"), [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]);
    }
}
