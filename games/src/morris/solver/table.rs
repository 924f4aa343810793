//! Looking positions up in the table of Morris.

use std::path::Path;

use turnstone_env::games::{Morris, morris::State};
use turnstone_env::{Rules, Side};

use super::index::{Index, Position, points};
use super::layers::{FEWEST, identity, midgame_name, opening_name, pieces};
use super::midgame::DRAW;
use super::opening::{self, DRAWN, Hands, LOSS, Places, WIN};
use turnstone_exact::ExactValues;
use turnstone_exact::{Section, TableError, TableFile};

/// The exact values of all positions, in a file mapped into memory.
#[derive(Debug)]
pub struct MorrisTable {
    file: TableFile,
    /// By pieces of the mover and of the opponent.
    midgame: [[Option<Section>; 10]; 10],
    /// By pieces in hand, less one.
    opening: Vec<(Section, Places)>,
}

/// An entry of the table, from the mover's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    /// [`LOSS`], [`DRAWN`] or [`WIN`].
    value: u8,
    /// Turns left, in a midgame that is not drawn.
    turns: Option<u8>,
}

impl MorrisTable {
    /// Opens the table of this game.
    ///
    /// # Errors
    /// The file is missing, damaged or about something else.
    pub fn open(game: &Morris, path: &Path) -> Result<Self, TableError> {
        let file = TableFile::open(path, &identity(game))?;
        let (index, pieces) = (Index::get(), pieces(game));
        let mut midgame = [[None; 10]; 10];
        for (own, row) in midgame.iter_mut().enumerate().take(pieces + 1).skip(FEWEST) {
            for (other, section) in row.iter_mut().enumerate().take(pieces + 1).skip(FEWEST) {
                let len = index.layer(own, other).len as u64;
                *section = Some(file.section(&midgame_name(own, other), len)?);
            }
        }
        let opening = |in_hand| {
            let hands = Hands { in_hand, pieces };
            let section = file.section(&opening_name(in_hand), hands.len(index) as u64 / 4)?;
            Ok((section, Places::new(index, hands)))
        };
        let opening = (1..=2 * pieces).map(opening).collect::<Result<_, TableError>>()?;
        Ok(Self { file, midgame, opening })
    }

    /// The usual name of this game's table.
    #[must_use]
    pub fn file_name(game: &Morris) -> String {
        identity(game).file_name()
    }

    /// What is known of a state for its mover. `None` if it is not covered: no game leads to it.
    fn entry(&self, state: &State, mover: Side) -> Option<Entry> {
        let other = mover.other();
        let position = Position { own: state.pieces(mover), other: state.pieces(other) };
        let hands = [state.in_hand(mover), state.in_hand(other)].map(usize::from);
        if !state.removal_pending() {
            return self.at_turn(position, hands);
        }
        let removable = points(Index::get().removable(position.other));
        let after = removable.map(|point| {
            let after = Position { own: position.other ^ 1 << point, other: position.own };
            self.at_turn(after, [hands[1], hands[0]])
        });
        let after: Vec<Entry> = after.collect::<Option<_>>()?;
        let worst = after.iter().map(|entry| entry.value).min()?;
        let turns = after.iter().filter(|entry| entry.value == worst).map(|entry| entry.turns);
        // The winner hurries, the loser delays; where one of the distances is missing, so is the result.
        let turns: Option<Vec<u8>> = turns.collect();
        let turns =
            turns.and_then(|turns| if worst == LOSS { turns.into_iter().min() } else { turns.into_iter().max() });
        Some(Entry { value: WIN - worst, turns: turns.map(|turns| turns + 1) })
    }

    /// The same where no removal is pending. `hands` are those of the mover and of the opponent.
    fn at_turn(&self, position: Position, hands: [usize; 2]) -> Option<Entry> {
        let index = Index::get();
        let [own, other] = [position.own, position.other].map(|set| set.count_ones() as usize);
        if own + hands[0] <= 2 {
            return Some(Entry { value: LOSS, turns: Some(0) });
        }
        if own > 9 || other > 9 {
            return None;
        }
        if hands == [0, 0] {
            let place = index.place(index.layer(own, other), position);
            let distance = self.file.bytes(self.midgame[own][other]?)[place.entry];
            let turns = (distance != DRAW).then_some(distance);
            return Some(Entry { value: opening::value_of_distance(distance), turns });
        }
        let in_hand = hands[0] + hands[1];
        let (section, places) = self.opening.get(in_hand - 1).filter(|_| hands[0] == in_hand.div_ceil(2))?;
        let place = places.find(index, own, other, position)?;
        let four = self.file.bytes(*section)[place / 4];
        Some(Entry { value: four >> (2 * (place % 4)) & 3, turns: None })
    }
}

impl ExactValues<Morris> for MorrisTable {
    fn value(&self, game: &Morris, state: &State) -> Option<i8> {
        let mover = game.mover(state);
        let relative = self.entry(state, mover)?.value as i8 - DRAWN as i8;
        Some(if mover == Side::First { relative } else { -relative })
    }

    fn distance(&self, game: &Morris, state: &State) -> Option<u32> {
        self.entry(state, game.mover(state))?.turns.map(u32::from)
    }
}
