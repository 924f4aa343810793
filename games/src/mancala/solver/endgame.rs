//! The table of all positions up to a number of stones in play.
//!
//! Positions are grouped by the stones in play, then by those in the mover's row. Within a group a row is numbered among
//! the rows with as many stones: `C(t_1, 1) + C(t_2 + 1, 2) + ...` where `t_i` counts the stones in its first `i` pits.
//! Sowing takes stones forward, so a game never returns to a position: plies that reach the store lead to fewer stones,
//! and the others take stones nearer to it.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicI8, AtomicUsize, Ordering};

use turnstone_env::games::Mancala;

use super::board::{Board, Sowing, rules_params, sums};
use turnstone_exact::Progress;
use turnstone_exact::TableBytes;
use turnstone_exact::binomial;
use turnstone_exact::{TableError, TableIdentity};

/// The largest gain that a byte holds.
const MOST_STONES: usize = 127;
const KIND: &str = "endgames 1";
const UNKNOWN: i8 = i8::MIN;

/// The gains of the mover in all positions with few stones.
#[derive(Debug)]
pub struct MancalaEndgames {
    identity: TableIdentity,
    numbering: Numbering,
    gains: TableBytes,
}

impl MancalaEndgames {
    /// Number of positions, and bytes, of the table with at most `stones` stones in play; `None` if it is too large for
    /// memory or for bytes as gains.
    #[must_use]
    pub fn size(game: &Mancala, stones: usize) -> Option<usize> {
        let mut size = 1_u128;
        for k in 1..=2 * game.pits() as u128 {
            size = size * (stones as u128 + k) / k;
        }
        let fits = size < 1 << 40 && stones <= MOST_STONES;
        usize::try_from(size).ok().filter(|_| fits)
    }

    /// Builds the table. If it is stopped early, the table ends with the last complete number of stones.
    ///
    /// # Panics
    /// If [`MancalaEndgames::size`] is `None`.
    #[must_use]
    pub fn build(game: &Mancala, stones: usize, threads: usize, progress: &dyn Progress) -> Self {
        Self::extend(game, None, stones, threads, progress)
    }

    /// Builds the table on a smaller one of the same rules, whose positions are taken over. If it is stopped early, the
    /// table ends with the last complete number of stones.
    ///
    /// # Panics
    /// If [`MancalaEndgames::size`] is `None`, or if the smaller table is larger or of other rules.
    #[must_use]
    pub fn extend(
        game: &Mancala,
        smaller: Option<&Self>,
        stones: usize,
        threads: usize,
        progress: &dyn Progress,
    ) -> Self {
        let size = Self::size(game, stones).expect("the table must fit");
        assert!(smaller.is_none_or(|smaller| smaller.rules_are(game)), "the smaller table must have the game's rules");
        let known = smaller.map_or(0, |smaller| smaller.gains.len());
        assert!(known <= size, "the table must grow");
        let taken_over = smaller.into_iter().flat_map(|smaller| smaller.gains.bytes());
        let gains = taken_over.map(|&gain| gain as i8).chain((known..size).map(|_| UNKNOWN));
        let build = Build {
            rules: Sowing::of(game),
            numbering: Numbering::new(game.pits(), stones),
            gains: gains.map(AtomicI8::new).collect(),
        };
        progress.begin(&format!("endgames of {stones} stones"), (size - known) as u64);
        let mut done = known;
        for layer in smaller.map_or(0, |smaller| smaller.stones() + 1)..=stones {
            build.layer(layer, threads, progress);
            if progress.stopped() {
                break;
            }
            done = build.numbering.layer_end(layer);
        }
        progress.end("endgames", &format!("{done} positions"));
        let gains = build.gains.into_iter().take(done).map(|gain| gain.into_inner() as u8).collect();
        let numbering = Numbering { stones: build.numbering.stones_within(done), ..build.numbering };
        Self { identity: identity(game), numbering, gains: TableBytes::Built(gains) }
    }

    /// Writes the table to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        self.gains.save(path, &self.identity)
    }

    /// Maps the table of a game's rules from a file.
    ///
    /// # Errors
    /// The file is missing, damaged or of other rules.
    pub fn open(game: &Mancala, path: &Path) -> Result<Self, TableError> {
        let sized = |len| (0..=MOST_STONES).find(|&stones| Self::size(game, stones) == Some(len));
        let identity = identity(game);
        let gains = TableBytes::open(path, &identity, |len| sized(len).is_some())?;
        let stones = sized(gains.len()).expect("checked at opening");
        Ok(Self { identity, numbering: Numbering::new(game.pits(), stones), gains })
    }

    /// The usual name of the file of a game's table.
    #[must_use]
    pub fn file_name(game: &Mancala) -> String {
        identity(game).file_name()
    }

    /// Maximum number of stones in play that the table covers.
    #[must_use]
    pub fn stones(&self) -> usize {
        self.numbering.stones
    }

    pub(super) fn rules_are(&self, game: &Mancala) -> bool {
        self.identity == identity(game)
    }

    /// Where the table has the gain of a position, if it covers it.
    #[inline]
    pub(super) fn place(&self, board: Board) -> Option<usize> {
        (board.stones() as usize <= self.numbering.stones).then(|| self.numbering.number(board))
    }

    /// The mover's gain at a place.
    #[inline]
    pub(super) fn gain_at(&self, place: usize) -> i16 {
        i16::from(self.gains.get(place) as i8)
    }
}

fn identity(game: &Mancala) -> TableIdentity {
    TableIdentity::of(game, &rules_params(game), KIND)
}

/// The numbers of positions.
#[derive(Debug)]
struct Numbering {
    pits: usize,
    /// Maximum number of stones of the numbered positions.
    stones: usize,
    /// `terms[i][t]`: what `t` stones in the first `i + 1` pits add to the number of a row.
    terms: Vec<[u32; MOST_STONES + 1]>,
    /// Number of rows by their stones.
    rows: Vec<usize>,
    /// `groups[stones][own]`: the number of the first position of a group.
    groups: Vec<Vec<usize>>,
}

impl Numbering {
    fn new(pits: usize, stones: usize) -> Self {
        // Only sums up to `stones` are looked up, whose terms fit.
        let term = |pit: usize, sum: usize| if sum <= stones { binomial(sum + pit, pit + 1) as u32 } else { 0 };
        let terms = (0..pits - 1).map(|pit| std::array::from_fn(|sum| term(pit, sum))).collect();
        let rows: Vec<usize> = (0..=stones).map(|k| binomial(k + pits - 1, pits - 1) as usize).collect();
        let mut next = 0;
        let mut groups = Vec::new();
        for layer in 0..=stones {
            let mut layer_groups = Vec::new();
            for own in 0..=layer {
                layer_groups.push(next);
                next += rows[own] * rows[layer - own];
            }
            groups.push(layer_groups);
        }
        Self { pits, stones, terms, rows, groups }
    }

    #[inline]
    fn row(&self, sums: u64) -> usize {
        let number = |(i, terms): (usize, &[u32; MOST_STONES + 1])| terms[(sums >> (8 * i)) as usize & 0x7f] as usize;
        self.terms.iter().enumerate().map(number).sum()
    }

    #[inline]
    fn number(&self, board: Board) -> usize {
        let [own, other] = [sums(board.own), sums(board.other)];
        let [own_stones, other_stones] = [own, other].map(|sums| (sums >> 56) as usize);
        self.groups[own_stones + other_stones][own_stones] + self.row(own) * self.rows[other_stones] + self.row(other)
    }

    /// Number of positions with at most this number of stones.
    fn layer_end(&self, layer: usize) -> usize {
        self.groups[layer][layer] + self.rows[layer]
    }

    /// The most stones whose positions all have numbers below `end`.
    fn stones_within(&self, end: usize) -> usize {
        (0..=self.stones).rev().find(|&layer| self.layer_end(layer) <= end).unwrap_or(0)
    }

    /// All rows with this number of stones, in the order of their numbers.
    fn all_rows(&self, stones: usize) -> Vec<u64> {
        let mut rows = Vec::with_capacity(self.rows[stones]);
        self.push_rows(self.pits - 1, stones as u64, 0, &mut rows);
        rows
    }

    /// All ways to put `left` stones into the pits up to `pit`, those with the fewest in the first pits first.
    fn push_rows(&self, pit: usize, left: u64, row: u64, rows: &mut Vec<u64>) {
        if pit == 0 {
            rows.push(row | left);
            return;
        }
        for before in 0..=left {
            self.push_rows(pit - 1, before, row | (left - before) << (8 * pit), rows);
        }
    }
}

/// A table being built. Threads that need the same gain may both compute it; they find the same.
struct Build {
    rules: Sowing,
    numbering: Numbering,
    gains: Vec<AtomicI8>,
}

impl Build {
    /// Computes all positions with this number of stones, after those with fewer.
    fn layer(&self, stones: usize, threads: usize, progress: &dyn Progress) {
        for own in 0..=stones {
            let (rows, others) = (self.numbering.all_rows(own), self.numbering.all_rows(stones - own));
            let next = AtomicUsize::new(0);
            let work = || {
                while let Some(&own) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if progress.stopped() {
                        return;
                    }
                    progress.advance(others.len() as u64);
                    for &other in &others {
                        self.gain(Board { own, other });
                    }
                }
            };
            if threads <= 1 || rows.len() * others.len() < 1 << 14 {
                work();
                continue;
            }
            std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        }
    }

    fn gain(&self, board: Board) -> i8 {
        let place = &self.gains[self.numbering.number(board)];
        let known = place.load(Ordering::Relaxed);
        if known != UNKNOWN {
            return known;
        }
        let gain = self.rules.over(board).unwrap_or_else(|| self.best(board)) as i8;
        place.store(gain, Ordering::Relaxed);
        gain
    }

    fn best(&self, board: Board) -> i16 {
        let pits = (0..self.rules.pits).filter(|pit| board.own >> (8 * pit) & 0xff > 0);
        let gains = pits.map(|pit| {
            let ply = self.rules.play(board, pit);
            let rest = i16::from(self.gain(ply.board));
            ply.gain + if ply.again { rest } else { -rest }
        });
        gains.max().expect("who has stones can sow")
    }
}
