//! Exact values of Morabaraba's last endgame: three cows against three, both flying.
//!
//! The first mill wins, since its shot leaves the opponent two cows; when a ply limit is reached the scores are equal, a
//! draw. The table holds the number of plies after which a mill can be forced, and the game is won if it is within the
//! nearer of the two limits, whatever they are. Both counts of plies and the bans on forming a mill that was just broken
//! are taken into account. Endgames with more cows are not covered: there a limit gives the game to the higher score, so
//! that their values depend on the limits themselves.

use std::io;
use std::path::Path;

use turnstone_env::games::{
    Morabaraba,
    morabaraba::{State, reference},
};
use turnstone_env::{Game, Params, Side};

use crate::progress::Progress;
use crate::stored::Stored;
use crate::table_file::{TableError, TableIdentity};
use crate::values::ExactValues;

const POINTS: usize = 24;
const KIND: &str = "three against three 1";
/// Neither side can force a mill.
const NEVER: u8 = 0;

/// Number of plies to a forced mill, for every position of three cows against three.
///
/// ```
/// use turnstone_env::{Game, games::Morabaraba};
/// use turnstone_exact::{MorabarabaEndgames, Silent, ExactValues};
///
/// let game = Morabaraba::default();
/// let endgames = MorabarabaEndgames::build(&Silent);
/// let state = game.parse_position("BB.B.................WWW B 0 0 - 0 0 - -")?; // b2-a7 makes a mill
/// assert_eq!(endgames.value(&game, &state), Some(1));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Debug)]
pub struct MorabarabaEndgames {
    herds: Herds,
    /// Plies to the mill, by [`Herds::number`]: odd where the mover wins, even where the mover loses.
    plies: Stored,
}

impl MorabarabaEndgames {
    /// Builds the table, which takes a second or two. It cannot be stopped.
    #[must_use]
    pub fn build(progress: &dyn Progress) -> Self {
        let herds = Herds::new();
        let mut plies = vec![NEVER; herds.positions()];
        let mut open: Vec<Position> = herds.all().collect();
        progress.begin("3 against 3", open.len() as u64);
        let mut idle = 0;
        for length in 1..=u8::MAX {
            let before = open.len();
            open.retain(|position| {
                let decided = herds.decided(position, length, &plies);
                if decided {
                    plies[herds.number(position)] = length;
                }
                !decided
            });
            progress.advance((before - open.len()) as u64);
            idle = if before == open.len() { idle + 1 } else { 0 };
            if idle == 2 {
                progress.end("3 against 3", &format!("the longest win takes {} plies", length - 2));
                return Self { herds, plies: Stored::Built(plies) };
            }
        }
        unreachable!("no win takes 255 plies")
    }

    /// Writes the table to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        self.plies.save(path, &identity())
    }

    /// Maps the table from a file.
    ///
    /// # Errors
    /// The file is missing, damaged or something else.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let herds = Herds::new();
        let plies = Stored::open(path, &identity(), |len| len == herds.positions())?;
        Ok(Self { herds, plies })
    }

    /// The usual name of the table's file.
    #[must_use]
    pub fn file_name() -> String {
        "morabaraba-3v3.table".to_owned()
    }

    /// The side that can force a mill and the number of plies to it, ply limits aside: 0 if a shot is pending. `None` if
    /// neither side can, or if the state is not three against three with all cows placed.
    #[must_use]
    pub fn mill(&self, game: &Morabaraba, state: &State) -> Option<(Side, u8)> {
        let position = self.herds.position(game, state)?;
        if state.shot_pending() {
            return Some((game.mover(state), 0));
        }
        let plies = self.plies.get(self.herds.number(&position));
        let winner = if plies % 2 == 1 { game.mover(state) } else { game.mover(state).other() };
        (plies != NEVER).then_some((winner, plies))
    }
}

impl ExactValues<Morabaraba> for MorabarabaEndgames {
    fn value(&self, game: &Morabaraba, state: &State) -> Option<i8> {
        if let Some(outcome) = game.outcome(state) {
            return Some(outcome.value());
        }
        self.herds.position(game, state)?;
        let limits = [(game.quiet_limit(), state.quiet_plies()), (game.fly_limit(), state.flight_plies())];
        let left = limits.into_iter().filter(|&(limit, _)| limit > 0).map(|(limit, plies)| limit.saturating_sub(plies));
        let left = left.min().unwrap_or(u8::MAX);
        Some(match self.mill(game, state) {
            Some((Side::First, plies)) if plies <= left => 1,
            Some((Side::Second, plies)) if plies <= left => -1,
            _ => 0,
        })
    }
}

fn identity() -> TableIdentity {
    TableIdentity::of::<Morabaraba>(&Params::new(), KIND)
}

/// Three cows and the mill that they may not form by their next move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Herd {
    cows: u32,
    /// The one cow that stands outside the banned mill, as a set; empty if there is no ban. It must not enter the point
    /// that the mill lacks; the other two may, for that completes nothing.
    outside: u32,
}

/// A position with no shot pending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Position {
    own: Herd,
    other: Herd,
}

/// The board's mills, and the numbers of herds.
#[derive(Debug)]
struct Herds {
    mills: Vec<u32>,
    /// Every herd, by its number.
    all: Vec<Herd>,
    /// Number of the first herd, that without a ban, of three points; by the points, `576 a + 24 b + c` with a < b < c.
    first: Vec<u16>,
    /// Which of the herds that symmetries make of a herd stands for it, and the symmetry that leads there.
    standing: Vec<(u16, u8)>,
    /// For each symmetry and herd, the herd's image.
    images: Vec<Vec<u16>>,
}

impl Herds {
    fn new() -> Self {
        let game = Morabaraba::default();
        // A point's number is that of the action that places a cow there.
        let point = |cell| game.parse_action(reference::names(cell)?).ok();
        let bit = |cell| 1 << point(cell).expect("mills are of points").index();
        let set = |mill: [_; 3]| mill.into_iter().map(bit).sum::<u32>();
        let mills: Vec<u32> = reference::mills().into_iter().map(set).collect();
        let mut herds = Self { mills, all: vec![], first: vec![0; POINTS.pow(3)], standing: vec![], images: vec![] };
        for cows in (0_u32..1 << POINTS).filter(|set| set.count_ones() == 3) {
            herds.first[three(cows)] = herds.all.len() as u16;
            herds.all.push(Herd { cows, outside: 0 });
            for outside in points(cows).map(|point| 1 << point) {
                if herds.lacking(cows & !outside) & !cows != 0 {
                    herds.all.push(Herd { cows, outside });
                }
            }
        }
        for symmetry in &game.spec().symmetries {
            let image = |set| points(set).fold(0, |image, point| image | 1 << symmetry.points[point]);
            let images = herds
                .all
                .iter()
                .map(|herd| herds.herd_number(&Herd { cows: image(herd.cows), outside: image(herd.outside) }) as u16);
            let images = images.collect();
            herds.images.push(images);
        }
        let least = |herd: usize| (0..herds.images.len()).map(|s| (herds.images[s][herd], s as u8)).min();
        let mut standing: Vec<_> = (0..herds.all.len()).map(|herd| least(herd).expect("sixteen symmetries")).collect();
        let mut reached: Vec<u16> = standing.iter().map(|&(herd, _)| herd).collect();
        reached.sort_unstable();
        reached.dedup();
        for (herd, _) in &mut standing {
            *herd = reached.binary_search(herd).expect("it is among them") as u16;
        }
        herds.standing = standing;
        herds
    }

    /// The third point of the mill that two points belong to, as a set; empty if there is none.
    fn lacking(&self, two: u32) -> u32 {
        self.mills.iter().find(|&&mill| mill & two == two).map_or(0, |mill| mill & !two)
    }

    fn herd_number(&self, herd: &Herd) -> usize {
        let mut number = usize::from(self.first[three(herd.cows)]);
        while self.all[number].outside != herd.outside {
            number += 1; // at most three bans
        }
        number
    }

    /// Numbers of positions, which count each class of the own herd under the symmetries once.
    fn positions(&self) -> usize {
        let classes = self.standing.iter().map(|&(herd, _)| usize::from(herd) + 1).max().unwrap_or(0);
        classes * self.all.len()
    }

    fn number(&self, position: &Position) -> usize {
        let [own, other] = [position.own, position.other].map(|herd| self.herd_number(&herd));
        let (class, symmetry) = self.standing[own];
        usize::from(class) * self.all.len() + usize::from(self.images[usize::from(symmetry)][other])
    }

    /// One position of each number.
    fn all(&self) -> impl Iterator<Item = Position> {
        let stands = |&(number, _): &(usize, &Herd)| {
            let (_, symmetry) = self.standing[number];
            usize::from(self.images[usize::from(symmetry)][number]) == number
        };
        let own = self.all.iter().enumerate().filter(stands);
        own.flat_map(|(_, &own)| self.all.iter().map(move |&other| Position { own, other }))
            .filter(|position| position.own.cows & position.other.cows == 0)
    }

    /// Whether a position that is not decided in fewer plies is decided in `length` plies.
    fn decided(&self, position: &Position, length: u8, plies: &[u8]) -> bool {
        let after = |next: Option<Position>| next.map(|next| plies[self.number(&next)]);
        if length == 1 {
            self.next(position).any(|next| next.is_none())
        } else if length % 2 == 1 {
            self.next(position).any(|next| after(next) == Some(length - 1))
        } else {
            self.next(position).all(|next| after(next).is_some_and(|plies| plies % 2 == 1))
        }
    }

    /// What the mover's flights lead to; `None` for a mill.
    fn next(&self, position: &Position) -> impl Iterator<Item = Option<Position>> {
        let Position { own, other } = *position;
        let empty = !(own.cows | other.cows) & ((1 << POINTS) - 1);
        let hole = if own.outside == 0 { 0 } else { self.lacking(own.cows & !own.outside) };
        let broken = self.mills.contains(&own.cows);
        let other_hole = if other.outside == 0 { 0 } else { self.lacking(other.cows & !other.outside) };
        points(own.cows).flat_map(move |from| {
            let reach = if 1 << from == own.outside { empty & !hole } else { empty };
            let rest = own.cows & !(1 << from);
            points(reach).map(move |to| {
                let cows = rest | 1 << to;
                if self.mills.contains(&cows) {
                    return None;
                }
                let moved = Herd { cows, outside: if broken { 1 << to } else { 0 } };
                // A ban ends when the point that the mill lacks is taken.
                let outside = if other_hole == 1 << to { 0 } else { other.outside };
                Some(Position { own: Herd { outside, ..other }, other: moved })
            })
        })
    }

    /// The position of a state with three cows against three, all placed.
    fn position(&self, game: &Morabaraba, state: &State) -> Option<Position> {
        let covered = Side::BOTH.iter().all(|&side| state.cows(side).count_ones() == 3 && state.in_hand(side) == 0);
        let herd = |side| {
            let cows = state.cows(side);
            Herd { cows, outside: state.banned_mills(side).next().map_or(0, |mill| cows & !mill) }
        };
        let mover = game.mover(state);
        covered.then(|| Position { own: herd(mover), other: herd(mover.other()) })
    }
}

/// The points of a set in increasing order.
fn points(set: u32) -> impl Iterator<Item = usize> {
    (0..POINTS).filter(move |point| set >> point & 1 == 1)
}

/// A number of three points.
fn three(cows: u32) -> usize {
    points(cows).fold(0, |number, point| POINTS * number + point)
}
