//! The division of a product over a board into areas: a few rows by a few strips of outputs.

use super::neighbours::{Class, Neighbours};

/// Number of outputs per strip.
pub(super) const LANES: usize = 16;

/// A range of rows and a range of strips of a product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area<'a> {
    pub(super) class: &'a Class,
    /// The first row: the first point of its board, and its index within the class.
    pub(super) first: (usize, usize),
    pub(super) rows: usize,
    pub(super) first_strip: usize,
    pub(super) strips: usize,
}

/// Parameters of the division.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent<'a> {
    pub(super) neighbours: &'a Neighbours,
    pub(super) boards: usize,
    /// Number of strips of all outputs.
    pub(super) strips: usize,
    /// Number of boards whose inputs stay in the cache while all strips are computed.
    pub(super) near: usize,
    /// Rows of the tallest tile.
    pub(super) most_rows: usize,
}

/// Calls `compute` with each area of a product. Boards are processed in groups of a multiple of twelve, so that every class
/// of points fills its tiles, and each group class by class and strip by strip. `strips` is the number of strips of an area
/// with this number of rows, if this many are left.
pub(super) fn for_each_area(
    extent: &Extent<'_>,
    strips: impl Fn(usize, usize) -> usize,
    mut compute: impl FnMut(&Area<'_>),
) {
    let most_boards = 12 * (extent.near / 12).max(1);
    let points = extent.neighbours.points();
    for first_board in (0..extent.boards).step_by(most_boards) {
        let boards = most_boards.min(extent.boards - first_board);
        for class in extent.neighbours.classes() {
            let rows = boards * class.points();
            let tiles = rows.div_ceil(extent.most_rows);
            // Nothing is divided per tile, which would take as long as much of a tile.
            let (least_rows, taller) = (rows / tiles, rows % tiles);
            let mut first_strip = 0;
            while first_strip < extent.strips {
                let strips = strips(rows.div_ceil(tiles), extent.strips - first_strip);
                let (mut board, mut member) = (first_board * points, 0);
                for i in 0..tiles {
                    let rows = least_rows + usize::from(i < taller);
                    compute(&Area { class, first: (board, member), rows, first_strip, strips });
                    member += rows;
                    while member >= class.points() {
                        (board, member) = (board + points, member - class.points());
                    }
                }
                first_strip += strips;
            }
        }
    }
}

/// The number of strips of the next tile: of the widest, or the next power of two of those that are `left`.
pub(super) fn of_next_tile(most_strips: usize, left: usize) -> usize {
    most_strips.min(1 << left.ilog2())
}

impl Area<'_> {
    /// The rows: the first point of the board, and the index within the class.
    #[inline(always)]
    pub(super) fn places<const ROWS: usize>(&self, points: usize) -> [(usize, usize); ROWS] {
        let (mut board, mut member) = self.first;
        let mut places = [(0, 0); ROWS];
        for place in &mut places {
            *place = (board, member);
            member += 1;
            if member == self.class.points() {
                (board, member) = (board + points, 0);
            }
        }
        places
    }
}

/// Calls a tile function by the shape of the area:
/// `of_shape!(function, product, area, y; rows x strips, ...)`.
macro_rules! of_shape {
    ($function:ident, $product:expr, $area:expr, $y:expr; $($rows:literal x $strips:literal),* $(,)?) => {
        match ($area.rows, $area.strips) {
            $(($rows, $strips) => $function::<$rows, $strips>($product, $area, $y),)*
            (rows, strips) => unreachable!("no tile of {rows} x {strips}"),
        }
    };
}
pub(super) use of_shape;
