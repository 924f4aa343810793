//! The search of one thread: whether a gain is at least a number.

use super::board::{Board, MAX_PITS, Ply};
use super::knowledge::{Knowledge, Place};
use super::table::Entry;
use turnstone_exact::limits::{NodeCounter, Stopped};
use turnstone_exact::shared_table::{hash, prefetch};

/// Positions with fewer stones above the endgame table are searched so fast that they are not announced.
const SMALL: i16 = 5;

/// A ply with bounds of what its player gains by it in all.
#[derive(Clone, Copy, Default)]
struct Candidate {
    ply: Ply,
    lower: i16,
    upper: i16,
    /// Those with more are tried first.
    promise: i16,
}

impl Candidate {
    /// Converts a value for the player to move after the ply to one for the player who sows.
    #[inline]
    fn gain(&self, value: i16) -> i16 {
        self.ply.gain + if self.ply.again { value } else { -value }
    }
}

/// The search of one thread.
pub(super) struct Search<'a> {
    knowledge: &'a Knowledge,
    counter: NodeCounter<'a>,
    covered: i16,
}

impl<'a> Search<'a> {
    pub(super) fn new(knowledge: &'a Knowledge, counter: NodeCounter<'a>) -> Self {
        let covered = knowledge.endgames.as_ref().map_or(0, |endgames| endgames.stones() as i16);
        Self { knowledge, counter, covered }
    }

    /// A bound of the mover's gain: a lower one if it is at least `beta`, else an upper one. `beta` has the parity of the
    /// stones.
    pub(super) fn test(&mut self, board: Board, beta: i16) -> Result<i16, Stopped> {
        let known = self.knowledge.bounds(board);
        if known.lower >= beta || known.lower == known.upper {
            return Ok(known.lower);
        }
        if known.upper < beta {
            return Ok(known.upper);
        }
        self.search(board, known, beta)
    }

    /// As [`Search::test`], of a position whose bounds leave the answer open.
    fn search(&mut self, board: Board, known: Entry, beta: i16) -> Result<i16, Stopped> {
        self.counter.count()?;
        let mut candidates = [Candidate::default(); MAX_PITS];
        let mut count = 0;
        let (mut lower, mut closed) = (known.lower, i16::MIN);
        let mut best = None;
        // The bounds of all successors are read first: often one of them decides.
        for candidate in self.candidates(board) {
            if candidate.lower > lower {
                (lower, best) = (candidate.lower, Some(candidate.ply.pit));
            }
            if candidate.upper < beta {
                closed = closed.max(candidate.upper);
                continue;
            }
            candidates[count] = candidate;
            count += 1;
        }
        if lower >= beta {
            self.knowledge.table.put(board, Entry { lower, best, ..known });
            return Ok(lower);
        }
        let open = &mut candidates[..count];
        for candidate in open.iter_mut() {
            candidate.promise = promise(candidate, known.best);
        }
        open.sort_unstable_by_key(|candidate| (-candidate.promise, std::cmp::Reverse(candidate.ply.pit)));
        let large = board.stones() - self.covered > SMALL;
        let mut put_off = [false; MAX_PITS];
        for again in [false, true] {
            for at in 0..open.len() {
                let Candidate { ply, .. } = open[at];
                if again && !put_off[at] {
                    continue;
                }
                if !again && at > 0 && large && self.knowledge.busy.contains(key(ply.board)) {
                    put_off[at] = true;
                    continue;
                }
                if large {
                    self.knowledge.busy.enter(key(ply.board));
                }
                // Values of the successor have the parity of its stones, so that `2` leads to the next.
                let found = if ply.again {
                    self.test(ply.board, beta - ply.gain)
                } else {
                    self.test(ply.board, ply.gain - beta + 2)
                };
                if large {
                    self.knowledge.busy.leave(key(ply.board));
                }
                let gain = open[at].gain(found?);
                if gain >= beta {
                    let lower = gain.max(known.lower);
                    self.knowledge.table.put(board, Entry { lower, upper: known.upper, best: Some(ply.pit) });
                    return Ok(lower);
                }
                closed = closed.max(gain);
            }
        }
        let upper = closed.min(known.upper);
        let best = known.best.or(open.first().map(|candidate| candidate.ply.pit));
        self.knowledge.table.put(board, Entry { lower, upper, best });
        Ok(upper)
    }

    /// The plies of a position with the bounds that need no search.
    #[inline]
    fn candidates(&self, board: Board) -> impl Iterator<Item = Candidate> + use<'a> {
        let knowledge = self.knowledge;
        let mut plies = [(Ply::default(), Place::Over(0)); MAX_PITS];
        let mut count = 0;
        for ply in knowledge.rules.plies(board) {
            plies[count] = (ply, knowledge.place(ply.board));
            count += 1;
        }
        prefetch(plies[..count].iter().map(|&(_, place)| knowledge.touch(place)));
        plies.into_iter().take(count).map(move |(ply, place)| {
            let Entry { lower, upper, .. } = knowledge.bounds_at(ply.board, place);
            let mut candidate = Candidate { ply, ..Candidate::default() };
            let ends = [candidate.gain(lower), candidate.gain(upper)];
            [candidate.lower, candidate.upper] = if ply.again { ends } else { [ends[1], ends[0]] };
            candidate
        })
    }
}

/// Key under which a board is announced.
#[inline]
fn key(board: Board) -> u64 {
    hash(board.own, board.other)
}

/// The ply that proved something before, extra turns from the pits nearest to the store, then the others by the stones
/// they gain.
#[inline]
fn promise(candidate: &Candidate, first: Option<u8>) -> i16 {
    let ply = &candidate.ply;
    if Some(ply.pit) == first {
        i16::MAX
    } else if ply.again {
        1000 + i16::from(ply.pit)
    } else {
        ply.gain
    }
}
