//! Tables of neighbours: the points that a layer reads for each point.

use std::sync::LazyLock;

use crate::shape::Taps;

/// A table of neighbours, `[taps, points]`, each a point or missing.
///
/// Points whose neighbours are missing at the same taps form a class. Products are computed class by class without
/// multiplications for missing neighbours: on an 8x8 board with 3x3 taps this saves 16 % of the work.
#[derive(Debug, Clone)]
pub struct Neighbours {
    taps: usize,
    points: usize,
    classes: Vec<Class>,
    /// For each tap, the neighbours and the points that read them, by point.
    pairs: Vec<Vec<[u32; 2]>>,
}

/// Points that have neighbours at the same taps.
#[derive(Debug, Clone)]
pub(super) struct Class {
    members: Vec<u32>,
    taps: Vec<u32>,
    /// Point that each member reads at each tap, `[taps, members]`.
    sources: Vec<u32>,
}

impl Neighbours {
    /// Creates the table from a function of tap and point.
    ///
    /// # Panics
    /// If there are no taps or no points, or a neighbour is not a point.
    pub fn new(taps: usize, points: usize, neighbour: impl Fn(usize, usize) -> Option<usize>) -> Neighbours {
        assert!(taps > 0 && points > 0, "a neighbourhood has taps and points");
        assert!(u32::try_from(taps.max(points)).is_ok(), "taps and points are numbered with 32 bits");
        let checked = |tap, point| {
            let neighbour = neighbour(tap, point);
            assert!(neighbour.is_none_or(|n| n < points), "neighbour {neighbour:?} of {points} points");
            neighbour
        };
        let mut classes: Vec<Class> = Vec::new();
        for point in 0..points {
            let taps: Vec<u32> = (0..taps).filter(|&tap| checked(tap, point).is_some()).map(|tap| tap as u32).collect();
            match classes.iter_mut().find(|class| class.taps == taps) {
                Some(class) => class.members.push(point as u32),
                None => classes.push(Class { members: vec![point as u32], taps, sources: Vec::new() }),
            }
        }
        for class in &mut classes {
            let of_tap = |&tap: &u32| class.members.iter().filter_map(move |&p| checked(tap as usize, p as usize));
            class.sources = class.taps.iter().flat_map(of_tap).map(|point| point as u32).collect();
        }
        let pairs_of = |tap: usize| {
            (0..points).filter_map(|point| neighbour(tap, point).map(|n| [n as u32, point as u32])).collect()
        };
        Neighbours { taps, points, classes, pairs: (0..taps).map(pairs_of).collect() }
    }

    /// The table of a network's taps, on a board with this number of points.
    pub(crate) fn of_taps(taps: &Taps, points: usize) -> Neighbours {
        let neighbour = |tap: usize, point: usize| taps.table[point * taps.count + tap].map(usize::from);
        Neighbours::new(taps.count, points, neighbour)
    }

    /// The table of a dense layer: one point and one tap, which is the point itself.
    pub fn none() -> Neighbours {
        Neighbours::new(1, 1, |_, point| Some(point))
    }

    /// [`Neighbours::none`], made once.
    pub(super) fn rows() -> &'static Neighbours {
        static ROWS: LazyLock<Neighbours> = LazyLock::new(Neighbours::none);
        &ROWS
    }

    /// The table of a convolution: the points are the squares of a grid, row by row, and the taps the `size x size` squares
    /// around each, row by row. `size` is odd.
    ///
    /// # Panics
    /// If there are no squares, or `size` is even.
    pub fn grid(rows: usize, columns: usize, size: usize) -> Neighbours {
        assert!(size % 2 == 1, "a square of {size}x{size} has no middle");
        Neighbours::new(size * size, rows * columns, |tap, point| {
            let row = (point / columns + tap / size).checked_sub(size / 2).filter(|&row| row < rows)?;
            let column = (point % columns + tap % size).checked_sub(size / 2).filter(|&column| column < columns)?;
            Some(row * columns + column)
        })
    }

    /// The table by which gradients flow back: each point reads the points that read it. Returns the tap of this table that
    /// each of its taps corresponds to; a tap at which several points read the same point occurs several times.
    pub fn reversed(&self) -> (Neighbours, Vec<usize>) {
        let mut tables: Vec<(usize, Vec<Option<usize>>)> = Vec::new();
        for (tap, pairs) in self.pairs.iter().enumerate() {
            let first = tables.len();
            for &[source, target] in pairs {
                let free = tables[first..].iter().position(|(_, readers)| readers[source as usize].is_none());
                let table = free.map_or(tables.len(), |free| first + free);
                if table == tables.len() {
                    tables.push((tap, vec![None; self.points]));
                }
                tables[table].1[source as usize] = Some(target as usize);
            }
        }
        let reversed = Neighbours::new(tables.len(), self.points, |tap, point| tables[tap].1[point]);
        (reversed, tables.iter().map(|(tap, _)| *tap).collect())
    }

    /// Number of taps.
    pub fn taps(&self) -> usize {
        self.taps
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// The neighbours at a tap and the points that read them.
    pub(super) fn pairs(&self, tap: usize) -> &[[u32; 2]] {
        &self.pairs[tap]
    }

    pub(super) fn classes(&self) -> &[Class] {
        &self.classes
    }
}

impl Class {
    pub(super) fn points(&self) -> usize {
        self.members.len()
    }

    pub(super) fn member(&self, index: usize) -> usize {
        self.members[index] as usize
    }

    /// The taps, each with the points that the members read.
    pub(super) fn taps(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let members = self.members.len();
        self.taps.iter().enumerate().map(move |(i, &tap)| (tap as usize, &self.sources[i * members..][..members]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_nine_classes() {
        let grid = Neighbours::grid(4, 5, 3);
        assert_eq!((grid.taps(), grid.points(), grid.classes().len()), (9, 20, 9));
        let corner = &grid.classes()[0];
        assert_eq!(corner.members, [0]);
        let taps: Vec<(usize, &[u32])> = corner.taps().collect();
        assert_eq!(taps, [(4, &[0_u32][..]), (5, &[1]), (7, &[5]), (8, &[6])]);
        let inner = &grid.classes()[4];
        assert_eq!(inner.members, [6, 7, 8, 11, 12, 13]);
        assert_eq!(inner.taps().next(), Some((0, &[0_u32, 1, 2, 5, 6, 7][..])));
    }

    #[test]
    #[should_panic(expected = "neighbour Some(3) of 3 points")]
    fn a_neighbour_off_the_board_is_refused() {
        Neighbours::new(1, 3, |_, point| Some(point + 1));
    }
}
