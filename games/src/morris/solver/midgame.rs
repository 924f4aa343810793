//! Retrograde analysis of the midgame: distances to the end for all positions with no piece in hand.
//!
//! A turn is a move together with the removal that it earns. Turns without a removal lead from layer (own, other) to
//! layer (other, own) and back, so the two are solved together; turns with one lead to layer (other - 1, own), which
//! has been solved before. Distances grow one turn at a time: a position is won in `d + 1` turns if some turn leads to
//! one that is lost in `d`; it is lost when its last turn has been found to lead to a won one, in one turn more than
//! the longest of these. What is never reached so is a draw.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};

use super::index::{Index, Layer, Position, points};
use turnstone_exact::Progress;

/// The byte of a draw. All other bytes are the number of turns left: odd for a win of the mover, even for a loss.
pub(super) const DRAW: u8 = u8::MAX;
/// In the counts: the position cannot become lost.
const NEVER_LOST: u8 = u8::MAX;
/// Entries that a thread takes at a time.
const CHUNK: usize = 1 << 13;

/// The distances of all layers solved so far, by pieces of the mover and of the opponent.
#[derive(Default)]
pub(super) struct Distances([[Vec<u8>; 10]; 10]);

impl Distances {
    pub(super) fn layer(&self, own: usize, other: usize) -> &[u8] {
        &self.0[own][other]
    }

    pub(super) fn set(&mut self, own: usize, other: usize, distances: Vec<u8>) {
        self.0[own][other] = distances;
    }

    /// The distance in a layer that has been solved. A player with two pieces has lost.
    #[inline]
    pub(super) fn get(&self, index: &Index, layer: Layer, position: Position) -> u8 {
        if layer.own <= 2 { 0 } else { self.0[layer.own][layer.other][index.place(layer, position).entry] }
    }
}

/// The position after a turn.
enum Turn {
    /// The same pieces, with the opponent to move.
    Quiet(Position),
    /// One piece of the opponent less, with the opponent to move.
    Removal(Position),
}

/// Calls `visit` with every turn of the midgame, one for each removal.
#[inline]
fn turns(index: &Index, position: Position, mut visit: impl FnMut(Turn)) {
    let removable = index.removable(position.other);
    let hops = position.own.count_ones() == 3;
    for from in points(position.own) {
        let targets = position.empty() & if hops { !0 } else { index.near[from as usize] };
        for to in points(targets) {
            let own = position.own ^ (1 << from | 1 << to);
            if removable != 0 && index.closed(own, to) {
                points(removable).for_each(|point| {
                    visit(Turn::Removal(Position { own: position.other ^ 1 << point, other: own }));
                });
            } else {
                visit(Turn::Quiet(Position { own: position.other, other: own }));
            }
        }
    }
}

/// Calls `visit` with every position from which a turn without removal leads here.
#[inline]
fn turns_back(index: &Index, position: Position, mut visit: impl FnMut(Position)) {
    // A mill earns nothing where no piece can be removed.
    let closing = if index.removable(position.own) == 0 { position.other } else { index.removable(position.other) };
    let hops = position.other.count_ones() == 3;
    for to in points(closing) {
        let sources = position.empty() & if hops { !0 } else { index.near[to as usize] };
        for from in points(sources) {
            visit(Position { own: position.other ^ (1 << from | 1 << to), other: position.own });
        }
    }
}

/// A layer in work.
struct Half {
    layer: Layer,
    /// Where removals lead.
    below: Layer,
    /// The least distance known; [`DRAW`] where none is.
    distance: Vec<AtomicU8>,
    /// Four times the turns that are not known to lead to a position won for the opponent.
    count: Vec<AtomicU8>,
}

/// Two layers that lead to each other, or one that leads to itself.
pub(super) struct Pair<'a> {
    index: &'static Index,
    below: &'a Distances,
    halves: Vec<Half>,
    threads: usize,
    progress: &'a dyn Progress,
}

impl<'a> Pair<'a> {
    pub(super) fn new(
        own: usize,
        other: usize,
        below: &'a Distances,
        threads: usize,
        progress: &'a dyn Progress,
    ) -> Self {
        let index = Index::get();
        let half = |own, other: usize| {
            let (layer, below) = (index.layer(own, other), index.layer(other - 1, own));
            let bytes = |byte| std::iter::repeat_with(|| AtomicU8::new(byte)).take(layer.len).collect();
            Half { layer, below, distance: bytes(DRAW), count: bytes(NEVER_LOST) }
        };
        let mut halves = vec![half(own, other)];
        if own != other {
            halves.push(half(other, own));
        }
        Self { index, below, halves, threads, progress }
    }

    /// The distances of layer (own, other) and, where it is another, of (other, own). `None` if it was stopped.
    pub(super) fn solve(self) -> Option<Vec<Vec<u8>>> {
        for half in &self.halves {
            self.in_chunks(half.layer.len, |entries| {
                self.progress.advance(entries.len() as u64);
                entries.for_each(|entry| self.begin(half, entry));
            })?;
        }
        for distance in 0..DRAW {
            let more = AtomicBool::new(false);
            for (number, half) in self.halves.iter().enumerate() {
                let before = &self.halves[self.halves.len() - 1 - number];
                self.in_chunks(half.layer.len, |entries| {
                    if self.spread(half, before, distance, entries) {
                        more.store(true, Relaxed);
                    }
                })?;
            }
            if !more.into_inner() {
                break;
            }
        }
        let plain = |half: Half| half.distance.into_iter().map(AtomicU8::into_inner).collect();
        Some(self.halves.into_iter().map(plain).collect())
    }

    /// Counts an entry's turns within the pair and takes what its removals lead to.
    fn begin(&self, half: &Half, entry: usize) {
        let Some(position) = self.index.position(half.layer, entry) else { return };
        let (mut quiet, mut win, mut loss, mut draw) = (0, DRAW, 0, false);
        turns(self.index, position, |turn| match turn {
            Turn::Quiet(_) => quiet += 1,
            Turn::Removal(after) => match self.below.get(self.index, half.below, after) {
                DRAW => draw = true,
                won if won % 2 == 1 => loss = loss.max(won + 1),
                lost => win = win.min(one_more(lost)),
            },
        });
        if win != DRAW {
            half.distance[entry].store(win, Relaxed);
        } else if !draw && quiet > 0 {
            half.count[entry].store(4 * quiet, Relaxed); // at most 36 turns
        } else if !draw {
            half.distance[entry].store(loss, Relaxed); // 0 if there is no turn at all
        }
    }

    /// Tells the entries before those at this distance. Whether there are entries beyond it.
    fn spread(&self, half: &Half, before: &Half, distance: u8, entries: Range<usize>) -> bool {
        let mut more = false;
        for entry in entries {
            let known = half.distance[entry].load(Relaxed);
            if known == DRAW || known < distance {
                continue;
            }
            more = true;
            if known > distance {
                continue;
            }
            let position = self.index.position(half.layer, entry).expect("holes have no distance");
            let here = self.index.place(half.layer, position);
            turns_back(self.index, position, |source| {
                let place = self.index.place(before.layer, source);
                if distance.is_multiple_of(2) {
                    before.distance[place.entry].fetch_min(one_more(distance), Relaxed);
                    return;
                }
                let count = &before.count[place.entry];
                if count.load(Relaxed) == NEVER_LOST {
                    return;
                }
                // Symmetric positions stand for fewer than four: of the turns that lead from one orbit to another
                // there are 4 / kept_by on either side in all.
                let turns = 4 * place.kept_by / here.kept_by;
                if count.fetch_sub(turns, Relaxed) == turns {
                    before.distance[place.entry].store(self.longest_loss(before, half, source), Relaxed);
                }
            });
        }
        more
    }

    /// The distance of a position all of whose turns lead to positions known to be won for the opponent.
    #[cold]
    fn longest_loss(&self, half: &Half, after: &Half, position: Position) -> u8 {
        let mut longest = 0;
        turns(self.index, position, |turn| {
            longest = longest.max(match turn {
                Turn::Quiet(next) => after.distance[self.index.place(after.layer, next).entry].load(Relaxed),
                Turn::Removal(next) => self.below.get(self.index, half.below, next),
            });
        });
        longest + 1
    }

    fn in_chunks(&self, len: usize, work: impl Fn(Range<usize>) + Sync) -> Option<()> {
        in_chunks(len, self.threads, self.progress, work)
    }
}

/// The distance of a won position from that of the lost one it leads to.
#[inline]
fn one_more(lost: u8) -> u8 {
    // The longest win is 73 turns away with any number of pieces that the game allows.
    assert!(lost < DRAW - 1, "a distance does not fit into a byte");
    lost + 1
}

/// Splits `0..len` among threads. `None` if it was stopped before all was done.
pub(super) fn in_chunks(
    len: usize,
    threads: usize,
    progress: &dyn Progress,
    work: impl Fn(Range<usize>) + Sync,
) -> Option<()> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let run = || {
        loop {
            let start = next.fetch_add(CHUNK, Relaxed);
            if start >= len {
                return;
            }
            if progress.stopped() {
                stopped.store(true, Relaxed);
                return;
            }
            work(start..(start + CHUNK).min(len));
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(run)));
        run();
    });
    (!stopped.into_inner()).then_some(())
}
