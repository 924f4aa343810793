//! Mills that a player has just broken and may not form again by the next move.

use super::board::{BOARD, Mills};
use crate::mill_board::points;
use crate::symmetry::Symmetry;

/// The mills that a side's previous move broke and that its next move may not form again.
///
/// They all lack the one cow that moved away, so a ban is the point it left and which of that point's mills are meant
/// (bits in the order of the board's `others`). A mill is dropped from it as soon as it could not be formed anyway: the
/// opponent stands on the point left, or has shot one of the two other cows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Ban(u8);

impl Ban {
    pub(super) const NONE: Self = Self(0);

    #[inline]
    pub(super) fn new(hole: u8, others: impl Fn(u32) -> bool) -> Self {
        let lines = BOARD.others[hole as usize].iter().enumerate();
        let lines = lines.fold(0, |lines, (k, &line)| lines | u8::from(others(line)) << k);
        if lines == 0 { Self::NONE } else { Self(hole << 3 | lines) }
    }

    #[inline]
    fn hole(self) -> u8 {
        self.0 >> 3
    }

    /// The cows that still stand in the banned mills, mill by mill.
    #[inline]
    fn others(self) -> impl Iterator<Item = u32> {
        let lines = BOARD.others[self.hole() as usize].into_iter().enumerate();
        lines.filter(move |&(k, _)| self.0 >> k & 1 == 1).map(|(_, others)| others)
    }

    /// The banned mills as sets of points.
    pub(super) fn mills(self) -> impl Iterator<Item = u32> {
        self.others().map(move |others| others | 1 << self.hole())
    }

    /// The point left, as a set, and the cows that may move there all the same: one that stands in every banned mill
    /// completes none of them.
    #[inline]
    pub(super) fn hole_and_exempt(self) -> (u32, u32) {
        let exempt = self.others().fold(Mills::ALL, |exempt, others| exempt & others);
        (u32::from(self != Self::NONE) << self.hole(), exempt)
    }

    /// The ban after the opponent's cow has come to `point`.
    #[inline]
    pub(super) fn occupied(self, point: u8) -> Self {
        if self.hole() == point { Self::NONE } else { self }
    }

    /// The ban after the cow at `point` was shot.
    #[inline]
    pub(super) fn shot(self, point: u8) -> Self {
        if self == Self::NONE {
            return self;
        }
        Self::new(self.hole(), |line| self.others().any(|others| others == line && others >> point & 1 == 0))
    }

    pub(super) fn permuted(self, symmetry: &Symmetry) -> Self {
        if self == Self::NONE {
            return self;
        }
        let hole = symmetry.points[self.hole() as usize] as u8;
        Self::new(hole, |line| self.others().any(|others| symmetry.image_of_set(others.into()) as u32 == line))
    }

    /// The mills by name: `-`, or `a1a4a7,a1b2c3`.
    pub(super) fn text(self) -> String {
        let banned = BOARD.mills.iter().filter(|&&mill| self.mills().any(|banned| banned == mill));
        let names: Vec<String> = banned.map(|&mill| mill_name(mill)).collect();
        if names.is_empty() { "-".to_owned() } else { names.join(",") }
    }

    /// The ban that a list of mills describes, less the mills that could not be formed anyway.
    pub(super) fn parse(text: &str, own: u32, opponents: u32) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::NONE);
        }
        let mut banned = Vec::new();
        for name in text.split(',') {
            let mill = BOARD.mills.iter().copied().find(|&mill| mill_name(mill) == name);
            let mill = mill.ok_or_else(|| format!("banned mill `{}`: there is no such mill", name.escape_debug()))?;
            if banned.contains(&mill) {
                return Err(format!("banned mill `{name}` is named twice"));
            }
            if own & mill == mill {
                return Err(format!("banned mill `{name}` stands on the board"));
            }
            banned.push(mill);
        }
        let shared = banned.iter().fold(Mills::ALL, |shared, mill| shared & mill);
        if shared == 0 {
            return Err(format!("the banned mills `{text}` have no point in common that one move could have left"));
        }
        banned.retain(|mill| (own & mill).count_ones() == 2 && opponents & mill == 0);
        let Some(&first) = banned.first() else { return Ok(Self::NONE) };
        let hole = first & !own;
        if hole & shared == 0 {
            return Err(format!("the banned mills `{text}` do not lack the point that they have in common"));
        }
        Ok(Self::new(hole.trailing_zeros() as u8, |others| banned.contains(&(others | hole))))
    }
}

fn mill_name(mill: u32) -> String {
    points(mill).map(|point| BOARD.names[point as usize]).collect()
}
