//! Backward induction through the opening: every ply is a placement and leads to the layer with one piece less in hand.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::index::{Index, Layer, Position, points};
use super::midgame::{DRAW, Distances, in_chunks};
use turnstone_exact::Progress;

/// Values for the mover, as stored.
pub(super) const LOSS: u8 = 0;
pub(super) const DRAWN: u8 = 1;
pub(super) const WIN: u8 = 2;

/// How the pieces stand in layer `in_hand`: the mover has the odd one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hands {
    pub(super) in_hand: usize,
    /// Pieces of each side at the start.
    pub(super) pieces: usize,
}

impl Hands {
    pub(super) fn own(self) -> usize {
        self.in_hand.div_ceil(2)
    }

    pub(super) fn other(self) -> usize {
        self.in_hand / 2
    }

    /// Pieces on the board, of the mover and of the opponent, for which there are positions to store.
    pub(super) fn boards(self) -> impl Iterator<Item = (usize, usize)> {
        let placed = [self.pieces - self.own(), self.pieces - self.other()];
        (0..=placed[0]).flat_map(move |own| (0..=placed[1]).map(move |other| (own, other))).filter(
            move |&(own, other)| {
                // The first mill takes three placements, and each mill removes at most one piece. Two pieces are lost.
                placed[0] - own <= placed[1].saturating_sub(2)
                    && placed[1] - other <= placed[0].saturating_sub(2)
                    && own + self.own() > 2
                    && other + self.other() > 2
            },
        )
    }

    /// The layers of these boards and where each starts in a list of all entries, a multiple of four.
    pub(super) fn layers(self, index: &Index) -> Vec<(Layer, usize)> {
        let mut start = 0;
        let place = |(own, other)| {
            let layer = index.layer(own, other);
            start += layer.len.next_multiple_of(4);
            (layer, start - layer.len.next_multiple_of(4))
        };
        self.boards().map(place).collect()
    }

    /// Length of that list.
    pub(super) fn len(self, index: &Index) -> usize {
        self.layers(index).last().map_or(0, |(layer, start)| start + layer.len.next_multiple_of(4))
    }
}

/// Where the layers of some hands start in the list of their entries.
#[derive(Debug)]
pub(super) struct Places {
    hands: Hands,
    layers: [[Option<(Layer, usize)>; 10]; 10],
}

impl Places {
    pub(super) fn new(index: &Index, hands: Hands) -> Self {
        let mut layers = [[None; 10]; 10];
        for (layer, start) in hands.layers(index) {
            layers[layer.own][layer.other] = Some((layer, start));
        }
        Self { hands, layers }
    }

    /// Index in the list of a position with these numbers of pieces of the mover and of the opponent.
    #[inline]
    pub(super) fn find(&self, index: &Index, own: usize, other: usize, position: Position) -> Option<usize> {
        self.layers[own][other].map(|(layer, start)| start + index.place(layer, position).entry)
    }
}

/// The values of all positions with as many pieces in hand, by entry.
pub(super) struct Values {
    places: Places,
    pub(super) values: Vec<u8>,
}

impl Values {
    pub(super) fn new(hands: Hands, values: Vec<u8>) -> Self {
        Self { places: Places::new(Index::get(), hands), values }
    }

    /// The value of a position for its mover.
    #[inline]
    fn get(&self, index: &Index, own: usize, other: usize, position: Position) -> u8 {
        if own + self.places.hands.own() <= 2 {
            return LOSS;
        }
        let place = self.places.find(index, own, other, position);
        self.values[place.expect("placements lead to stored layers")]
    }
}

/// Where placements lead.
pub(super) enum Next<'a> {
    /// One piece less in hand.
    Opening(&'a Values),
    /// None in hand.
    Midgame(&'a Distances),
}

impl Next<'_> {
    #[inline]
    fn get(&self, index: &Index, own: usize, other: usize, position: Position) -> u8 {
        match self {
            Self::Opening(values) => values.get(index, own, other, position),
            Self::Midgame(distances) => value_of_distance(distances.get(index, index.layer(own, other), position)),
        }
    }
}

/// The value that a distance of the midgame stands for.
#[inline]
pub(super) fn value_of_distance(distance: u8) -> u8 {
    match distance {
        DRAW => DRAWN,
        odd if odd % 2 == 1 => WIN,
        _ => LOSS,
    }
}

/// The values of all positions with these hands; `None` if it was stopped.
pub(super) fn solve(hands: Hands, next: &Next<'_>, threads: usize, progress: &dyn Progress) -> Option<Values> {
    let index = Index::get();
    let values: Vec<AtomicU8> = std::iter::repeat_with(|| AtomicU8::new(LOSS)).take(hands.len(index)).collect();
    for (layer, start) in hands.layers(index) {
        in_chunks(layer.len, threads, progress, |entries| {
            progress.advance(entries.len() as u64);
            for entry in entries {
                if let Some(position) = index.position(layer, entry) {
                    values[start + entry].store(best(index, next, layer, position), Relaxed);
                }
            }
        })?;
    }
    Some(Values::new(hands, values.into_iter().map(AtomicU8::into_inner).collect()))
}

/// The best that a placement reaches, for the mover.
fn best(index: &Index, next: &Next<'_>, layer: Layer, position: Position) -> u8 {
    let removable = index.removable(position.other);
    let mut worst_after = WIN;
    for to in points(position.empty()) {
        let own = position.own | 1 << to;
        if removable != 0 && index.closed(own, to) {
            for point in points(removable) {
                let after = Position { own: position.other ^ 1 << point, other: own };
                worst_after = worst_after.min(next.get(index, layer.other - 1, layer.own + 1, after));
            }
        } else {
            let after = Position { own: position.other, other: own };
            worst_after = worst_after.min(next.get(index, layer.other, layer.own + 1, after));
        }
        if worst_after == LOSS {
            break;
        }
    }
    WIN - worst_after
}

/// Four values in a byte.
pub(super) fn pack(values: &[u8]) -> Vec<u8> {
    let byte = |four: &[u8]| four.iter().enumerate().map(|(i, value)| value << (2 * i)).sum::<u8>();
    values.chunks(4).map(byte).collect()
}

/// The inverse of [`pack`] for a multiple of four values.
pub(super) fn unpack(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [0, 2, 4, 6].map(|shift| byte >> shift & 3)).collect()
}
