//! The order of the layers, and resuming an interrupted run from the finished ones.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use turnstone_env::games::Morris;

use super::index::Index;
use super::layers::{FEWEST, identity, midgame_name, opening_name, pieces};
use super::midgame::{DRAW, Distances, Pair};
use super::opening::{self, Hands, Next, Values, pack, unpack};
use turnstone_exact::Progress;
use turnstone_exact::{TableFile, TableIdentity, TableWriter};

/// Size of a solver's task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Entries of the midgame, a byte each.
    pub midgame: u64,
    /// Entries of the opening, four to a byte in the file.
    pub opening: u64,
    /// Peak memory in bytes.
    pub memory: u64,
}

impl Size {
    /// The task for this game.
    #[must_use]
    pub fn of(game: &Morris) -> Self {
        let (index, pieces) = (Index::get(), pieces(game));
        let layer = |own, other| index.layer(own, other).len as u64;
        let all = FEWEST..=pieces;
        let midgame = all.clone().flat_map(|own| all.clone().map(move |other| layer(own, other))).sum();
        let opening = |in_hand| Hands { in_hand, pieces }.len(index) as u64;
        let widest = (2..=2 * pieces).map(|in_hand| opening(in_hand) + opening(in_hand - 1)).max().unwrap_or(0);
        let fixed = 16 << 20; // the index, buffers
        Self { midgame, opening: (1..=2 * pieces).map(opening).sum(), memory: midgame + widest * 5 / 4 + fixed }
    }

    /// Estimated seconds with `threads` threads, each on a core of its own.
    #[must_use]
    pub fn seconds(&self, threads: usize) -> f64 {
        (self.midgame as f64 * 330e-9 + self.opening as f64 * 110e-9) / threads as f64
    }

    /// Bytes of the finished table. While it is being built, the finished layers take as many again.
    #[must_use]
    pub fn table(&self) -> u64 {
        self.midgame + self.opening.div_ceil(4)
    }
}

/// Solves the game and writes its table to `path`. Finished layers are kept in a folder beside it until the table is
/// complete; a later run reads those that are there. Returns false if it was stopped early.
///
/// # Errors
/// A file cannot be read or written.
pub fn solve(game: &Morris, path: &Path, threads: usize, progress: &dyn Progress) -> io::Result<bool> {
    let solver = Solver { pieces: pieces(game), layers: path.with_extension("partial"), threads, progress };
    solver.run(path, &identity(game))
}

struct Solver<'a> {
    pieces: usize,
    /// The folder of finished layers.
    layers: PathBuf,
    threads: usize,
    progress: &'a dyn Progress,
}

impl Solver<'_> {
    fn run(&self, path: &Path, identity: &TableIdentity) -> io::Result<bool> {
        fs::create_dir_all(&self.layers)?;
        let part = TableIdentity { kind: format!("{}, layers", identity.kind), ..identity.clone() };
        let Some(distances) = self.midgame(&part)? else { return Ok(false) };
        if !self.opening(&part, &distances)? {
            return Ok(false);
        }
        let mut writer = TableWriter::create(path, identity)?;
        let all = FEWEST..=self.pieces;
        for (own, other) in all.clone().flat_map(|own| all.clone().map(move |other| (own, other))) {
            writer.section(&midgame_name(own, other), distances.layer(own, other))?;
        }
        for in_hand in 1..=2 * self.pieces {
            let [values] = self.read(&part, [&opening_name(in_hand)]).ok_or(io::ErrorKind::InvalidData)?;
            writer.section(&opening_name(in_hand), &values)?;
        }
        writer.finish()?;
        fs::remove_dir_all(&self.layers)?;
        Ok(true)
    }

    /// Solves or reads the layers with no piece in hand, those with fewer pieces first.
    fn midgame(&self, part: &TableIdentity) -> io::Result<Option<Distances>> {
        let (index, least) = (Index::get(), FEWEST);
        let mut distances = Distances::default();
        for total in 2 * least..=2 * self.pieces {
            for own in total.div_ceil(2)..=self.pieces.min(total - least) {
                let other = total - own;
                let names = [midgame_name(own, other), midgame_name(other, own)];
                if let Some([half, turned]) = self.read(part, [&names[0], &names[1]]) {
                    distances.set(own, other, half);
                    distances.set(other, own, turned);
                    continue;
                }
                let entries = index.layer(own, other).len + if own == other { 0 } else { index.layer(other, own).len };
                self.progress.begin(&names[0], entries as u64);
                let pair = Pair::new(own, other, &distances, self.threads, self.progress);
                let Some(mut solved) = pair.solve() else { return Ok(None) };
                let turned = solved.pop().expect("there is a layer");
                let half = solved.pop().unwrap_or_else(|| turned.clone());
                let mut writer = TableWriter::create(&self.file(&names[0]), part)?;
                writer.section(&names[0], &half)?;
                if own != other {
                    writer.section(&names[1], &turned)?;
                }
                writer.finish()?;
                let longest = half.iter().chain(&turned).filter(|&&distance| distance != DRAW).max();
                let summary = format!("{entries} entries, longest win {} turns", longest.unwrap_or(&0));
                self.progress.end(&names[0], &summary);
                distances.set(own, other, half);
                distances.set(other, own, turned);
            }
        }
        Ok(Some(distances))
    }

    /// Solves the layers with pieces in hand that are not there yet; false if it was stopped.
    fn opening(&self, part: &TableIdentity, distances: &Distances) -> io::Result<bool> {
        let mut last: Option<Values> = None;
        for in_hand in 1..=2 * self.pieces {
            let (name, hands) = (opening_name(in_hand), Hands { in_hand, pieces: self.pieces });
            if let Some([packed]) = self.read(part, [&name]) {
                last = Some(Values::new(hands, unpack(&packed)));
                continue;
            }
            let entries = hands.len(Index::get());
            self.progress.begin(&name, entries as u64);
            let next = last.as_ref().map_or(Next::Midgame(distances), Next::Opening);
            let Some(values) = opening::solve(hands, &next, self.threads, self.progress) else { return Ok(false) };
            let mut writer = TableWriter::create(&self.file(&name), part)?;
            writer.section(&name, &pack(&values.values))?;
            writer.finish()?;
            self.progress.end(&name, &format!("{entries} entries"));
            last = Some(values);
        }
        Ok(true)
    }

    /// The file of a layer, named after its first section.
    fn file(&self, name: &str) -> PathBuf {
        self.layers.join(format!("{name}.table"))
    }

    /// The sections of a layer's file; `None` if it is not there whole, and then the layer is to be solved again.
    fn read<const N: usize>(&self, part: &TableIdentity, names: [&str; N]) -> Option<[Vec<u8>; N]> {
        let file = TableFile::open(&self.file(names[0]), part).ok()?;
        let read = |name: &&str| {
            let (_, section) = file.sections().find(|(known, _)| known == name)?;
            Some(file.bytes(section).to_vec())
        };
        let sections: Option<Vec<Vec<u8>>> = names.iter().map(read).collect();
        sections?.try_into().ok()
    }
}
