//! Numbers for positions: the mover's pieces and the opponent's pieces, up to the board's symmetries.
//!
//! A layer holds all positions with given numbers of pieces of the mover and of the opponent. A symmetry maps the mover's
//! set to the least of its images, its *representative*; the symmetries that keep that set map the opponent's set to the
//! least of its images in turn. Positions that symmetries map onto each other share one entry:
//!
//! `entry = (number of the representative) * C(18 - own, other) + (rank of the opponent's set on the other points)`
//!
//! Entries whose opponent's set is not the least of its images are never used: holes.

use std::sync::LazyLock;

use turnstone_env::Rules;
use turnstone_env::games::{Morris, morris};

use turnstone_exact::binomial;

pub(super) const POINTS: usize = 18;
const ALL: u32 = (1 << POINTS) - 1;

/// The pieces of the side to move and of its opponent, point `p` at bit `p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) own: u32,
    pub(super) other: u32,
}

impl Position {
    pub(super) fn empty(self) -> u32 {
        ALL & !(self.own | self.other)
    }
}

/// All positions with given numbers of pieces of the mover and of the opponent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layer {
    pub(super) own: usize,
    pub(super) other: usize,
    /// Sets of the opponent for each set of the mover.
    width: usize,
    /// Number of entries.
    pub(super) len: usize,
}

/// The entry of a position in its layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) entry: usize,
    /// Number of symmetries that keep the position: 1, 2 or 4.
    pub(super) kept_by: u8,
}

/// A set of the mover's pieces under the symmetries.
#[derive(Clone, Copy, Default)]
struct Own {
    /// Number of its representative among those of as many points.
    number: u16,
    /// The symmetry that leads to it.
    to_representative: u8,
    /// The symmetries that keep the representative, as bits; 1 where only the identity does.
    kept_by: u8,
}

/// Tables by set of points; about 4 MB, which fit into a core's second cache.
pub(super) struct Index {
    own: Vec<Own>,
    /// By number of points, the representatives in increasing order.
    representatives: Vec<Vec<u32>>,
    /// By number of points, all sets in increasing order: the first C(n, k) are those of the first n points.
    sets: Vec<Vec<u32>>,
    /// The number of a set in its list of `sets`.
    rank: Vec<u16>,
    /// Image of a set's low and high nine points under each symmetry.
    images: Vec<[[u32; 512]; 2]>,
    /// `pext` on six bits, `[mask][set]`: the bits of the set that the mask selects, packed to the low end.
    gathered: [[u8; 64]; 64],
    /// `pdep`, its inverse.
    scattered: [[u8; 64]; 64],
    /// The points of a set that stand in its mills.
    in_mills: Vec<u32>,
    /// Neighbours of each point.
    pub(super) near: [u32; POINTS],
}

impl Index {
    /// The one index: it does not depend on the game's parameters.
    pub(super) fn get() -> &'static Self {
        static INDEX: LazyLock<Index> = LazyLock::new(Index::new);
        &INDEX
    }

    fn new() -> Self {
        let mut index = Self {
            own: vec![Own::default(); 1 << POINTS],
            representatives: vec![Vec::new(); POINTS + 1],
            sets: vec![Vec::new(); POINTS + 1],
            rank: vec![0; 1 << POINTS],
            images: Vec::new(),
            gathered: [[0; 64]; 64],
            scattered: [[0; 64]; 64],
            in_mills: vec![0; 1 << POINTS],
            near: morris::neighbours().try_into().expect("the board has 18 points"),
        };
        for symmetry in &Morris::default().spec().symmetries {
            let image = |set: u32| points(set).map(|point| 1 << symmetry.points[point as usize]).sum();
            let half = |shift: u32| std::array::from_fn(|low| image((low as u32) << shift));
            index.images.push([half(0), half(9)]);
        }
        for mask in 0..64u8 {
            for set in (0..64u8).filter(|set| set & !mask == 0) {
                let places = points(u32::from(mask));
                let gathered: u8 = places.enumerate().map(|(i, point)| (set >> point & 1) << i).sum();
                index.gathered[mask as usize][set as usize] = gathered;
                index.scattered[mask as usize][gathered as usize] = set;
            }
        }
        for set in 0..1 << POINTS {
            let list = &mut index.sets[u32::count_ones(set) as usize];
            index.rank[set as usize] = list.len() as u16;
            list.push(set);
            let mills = morris::mills().iter().filter(|&&mill| set & mill == mill);
            index.in_mills[set as usize] = mills.fold(0, |found, mill| found | mill);
        }
        for set in 0..1 << POINTS {
            index.add_own(set);
        }
        index
    }

    /// Sets are added in increasing order, so a set's representative comes before it.
    fn add_own(&mut self, set: u32) {
        let symmetries = 0..self.images.len() as u8;
        let (least, symmetry) = symmetries.clone().map(|g| (self.image(g, set), g)).min().expect("the identity is one");
        let mut own = self.own[least as usize];
        if least == set {
            let list = &mut self.representatives[set.count_ones() as usize];
            own.number = list.len() as u16;
            list.push(set);
            own.kept_by = symmetries.filter(|&g| self.image(g, set) == set).map(|g| 1 << g).sum();
        }
        self.own[set as usize] = Own { to_representative: symmetry, ..own };
    }

    #[inline]
    fn image(&self, symmetry: u8, set: u32) -> u32 {
        let [low, high] = &self.images[symmetry as usize];
        low[set as usize & 511] | high[set as usize >> 9]
    }

    pub(super) fn layer(&self, own: usize, other: usize) -> Layer {
        let width = binomial(POINTS - own, other) as usize;
        Layer { own, other, width, len: self.representatives[own].len() * width }
    }

    /// Where a position of this layer stands.
    #[inline]
    pub(super) fn place(&self, layer: Layer, position: Position) -> Place {
        let own = self.own[position.own as usize];
        let representative = self.image(own.to_representative, position.own);
        let mut other = self.image(own.to_representative, position.other);
        let mut kept_by = 1;
        if own.kept_by != 1 {
            (other, kept_by) = self.least(own.kept_by, other);
        }
        let rank = self.rank[self.gather(ALL & !representative, other) as usize];
        Place { entry: own.number as usize * layer.width + rank as usize, kept_by }
    }

    /// The position of an entry; `None` for a hole.
    #[inline]
    pub(super) fn position(&self, layer: Layer, entry: usize) -> Option<Position> {
        let own = self.representatives[layer.own][entry / layer.width];
        let other = self.scatter(ALL & !own, self.sets[layer.other][entry % layer.width]);
        let kept_by = self.own[own as usize].kept_by;
        (kept_by == 1 || self.least(kept_by, other).0 == other).then_some(Position { own, other })
    }

    /// The least image under the symmetries given as bits, and how many of them keep it.
    #[cold]
    fn least(&self, symmetries: u8, set: u32) -> (u32, u8) {
        let images = || points(u32::from(symmetries)).map(|g| self.image(g as u8, set));
        (images().min().expect("the identity is one"), images().filter(|&image| image == set).count() as u8)
    }

    /// The pieces of a set that stand in no mill, which the opponent may remove.
    #[inline]
    pub(super) fn removable(&self, set: u32) -> u32 {
        set & !self.in_mills[set as usize]
    }

    /// Whether the point stands in a mill of the set.
    #[inline]
    pub(super) fn closed(&self, set: u32, point: u32) -> bool {
        self.in_mills[set as usize] >> point & 1 == 1
    }

    #[inline]
    fn gather(&self, mask: u32, set: u32) -> u32 {
        let mut shift = 0;
        let mut gathered = 0;
        for part in [0, 6, 12] {
            let (mask, set) = (mask as usize >> part & 63, set as usize >> part & 63);
            gathered |= u32::from(self.gathered[mask][set]) << shift;
            shift += u32::from(COUNT[mask]);
        }
        gathered
    }

    #[inline]
    fn scatter(&self, mask: u32, mut set: u32) -> u32 {
        let mut scattered = 0;
        for part in [0, 6, 12] {
            let mask = mask as usize >> part & 63;
            let count = COUNT[mask];
            scattered |= u32::from(self.scattered[mask][set as usize & ((1 << count) - 1)]) << part;
            set >>= count;
        }
        scattered
    }
}

/// Bits in each number up to 63: without a machine instruction for it, counting takes a dozen steps.
static COUNT: [u8; 64] = {
    let mut count = [0; 64];
    let mut i = 0;
    while i < 64 {
        count[i] = (i as u8).count_ones() as u8;
        i += 1;
    }
    count
};

/// The points of a set in increasing order.
#[inline]
pub(super) fn points(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let point = set.trailing_zeros();
        (set != 0).then(|| {
            set &= set - 1;
            point
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_entries_are_one_to_one_up_to_symmetry() {
        let index = Index::get();
        for (own, other) in [(0, 0), (1, 0), (0, 3), (3, 3), (4, 2), (2, 5)] {
            let layer = index.layer(own, other);
            let mut positions = 0;
            for entry in 0..layer.len {
                let Some(position) = index.position(layer, entry) else { continue };
                for g in 0..4 {
                    let image = Position { own: index.image(g, position.own), other: index.image(g, position.other) };
                    let place = index.place(layer, image);
                    assert_eq!(place.entry, entry);
                    let kept = (0..4).filter(|&h| {
                        index.image(h, image.own) == image.own && index.image(h, image.other) == image.other
                    });
                    assert_eq!(usize::from(place.kept_by), kept.count());
                }
                positions += 4 / usize::from(index.place(layer, position).kept_by);
            }
            assert_eq!(positions as u64, binomial(POINTS, own) * binomial(POINTS - own, other));
        }
    }
}
