//! Exact values of Morabaraba's endgames with few cows, all placed, under the rules' limits of plies.
//!
//! A shot leads to an endgame with fewer cows and fresh counts of plies; a limit gives the game to the side with more
//! cows. The side that this would not suit is the *attacker*: it has to reach a better result by a shot while plies are
//! left, and what it can reach within `n` plies it can reach within more. So the tables hold, for every position and goal
//! (at least a draw, a win), the number of plies within which the attacker reaches it, and one table serves every count of
//! plies. What a shot leads to is worth depends on the limits themselves, so that each pair of limits has its tables. With
//! equal numbers of cows a limit is a draw, and both sides attack. Without a limit endless play is a draw.
//!
//! The bans on mills that were just broken are part of the positions. Positions that the board's symmetries make of each
//! other are one.

mod herds;
mod slice;

use std::fmt;
use std::io;
use std::path::Path;

use turnstone_env::games::{Morabaraba, morabaraba::State};
use turnstone_env::{Rules, Side};

use self::herds::{Board, Herd, Herds};
use self::slice::{Goal, Position, Solve, Space, limit};
use turnstone_exact::ExactValues;
use turnstone_exact::Progress;
use turnstone_exact::TableBytes;
use turnstone_exact::{TableError, TableIdentity};

/// The endgames in the order in which they are built: the cows of the side with more, and of the other.
const ENDGAMES: [[usize; 2]; 6] = [[3, 3], [4, 3], [4, 4], [5, 3], [5, 4], [6, 3]];

/// Exact values of the endgames whose tables are there.
///
/// ```
/// use turnstone_env::{Notation, Rules, games::Morabaraba};
/// use turnstone_exact::{ExactValues, Silent};
/// use turnstone_games::morabaraba::MorabarabaEndgames;
///
/// let game = Morabaraba::default();
/// let folder = tempfile::tempdir()?;
/// MorabarabaEndgames::build(&game, folder.path(), 6, 1, &Silent)?;
/// let endgames = MorabarabaEndgames::open(&game, folder.path())?;
/// let state = game.parse_position("BB.B.................WWW B 0 0 - 0 0 - -")?; // b2-a7 makes a mill
/// assert_eq!(endgames.value(&game, &state), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MorabarabaEndgames {
    game: Morabaraba,
    board: Board,
    /// By the number of cows.
    herds: Vec<Herds>,
    tables: Vec<Table>,
}

/// The table of one endgame: for every goal the positions with the attacker on turn, then those with the defender on turn.
struct Table {
    counts: [usize; 2],
    goals: Vec<Goal>,
    plies: TableBytes,
}

impl MorabarabaEndgames {
    /// The fewest and the most cows on the board of the endgames that can be built.
    pub const COWS: [usize; 2] = [6, 9];

    /// Builds the tables of the endgames with at most `cows` cows in all that are not in the folder yet, each on those with
    /// fewer cows. A table is written when it is complete. Returns whether all are, or it was stopped before.
    ///
    /// # Errors
    /// A table in the folder is damaged, or a file cannot be written.
    pub fn build(
        game: &Morabaraba,
        folder: &Path,
        cows: usize,
        threads: usize,
        progress: &dyn Progress,
    ) -> Result<bool, TableError> {
        let mut known = Self::new(game);
        for counts in endgames(cows) {
            let path = folder.join(Self::file_name(game, counts));
            known.prepare(counts[0]);
            if !path.exists() {
                let Some(plies) = known.solve(counts, threads, progress) else { return Ok(false) };
                let saved = TableBytes::Built(plies).save(&path, &identity(game, counts));
                let fault = |error: io::Error| TableError {
                    path: path.clone(),
                    game: game.spec().name.into(),
                    fault: error.into(),
                };
                saved.map_err(fault)?;
            }
            known.add(folder, counts)?;
        }
        Ok(true)
    }

    /// Checks the table of an endgame.
    ///
    /// # Errors
    /// It is missing, damaged or of something else.
    pub fn check(game: &Morabaraba, path: &Path, counts: [usize; 2]) -> Result<(), TableError> {
        TableBytes::open(path, &identity(game, counts), |_| true).map(|_| ())
    }

    /// Maps the tables of a game from a folder: that of three cows against three and whatever others there are.
    ///
    /// # Errors
    /// The first is missing, or one is damaged or of something else.
    pub fn open(game: &Morabaraba, folder: &Path) -> Result<Self, TableError> {
        let mut known = Self::new(game);
        for counts in ENDGAMES {
            if counts == ENDGAMES[0] || folder.join(Self::file_name(game, counts)).exists() {
                known.add(folder, counts)?;
            }
        }
        Ok(known)
    }

    /// The name of the file of an endgame.
    #[must_use]
    pub fn file_name(game: &Morabaraba, counts: [usize; 2]) -> String {
        let [more, fewer] = counts;
        format!("morabaraba-{more}v{fewer}-quiet_limit{}-fly_limit{}.table", game.quiet_limit(), game.fly_limit())
    }

    /// The endgames with at most this number of cows in all and the bytes of their tables.
    #[must_use]
    pub fn sizes(game: &Morabaraba, cows: usize) -> Vec<([usize; 2], u64)> {
        let mut known = Self::new(game);
        let size = |counts: [usize; 2]| {
            known.prepare(counts[0]);
            (counts, known.len(counts, &Goal::all(counts, limit(game, counts))) as u64)
        };
        endgames(cows).map(size).collect()
    }

    /// The endgames that are covered.
    pub fn covered(&self) -> impl Iterator<Item = [usize; 2]> {
        self.tables.iter().map(|table| table.counts)
    }

    fn new(game: &Morabaraba) -> Self {
        Self { game: *game, board: Board::new(), herds: Vec::new(), tables: Vec::new() }
    }

    /// Numbers the herds of up to `count` cows. Those of fewer than three are never asked for.
    fn prepare(&mut self, count: usize) {
        for count in self.herds.len()..=count {
            self.herds.push(Herds::new(&self.board, if count < 3 { 0 } else { count }));
        }
    }

    fn len(&self, counts: [usize; 2], goals: &[Goal]) -> usize {
        debug_assert!(counts[0] < self.herds.len(), "the herds are numbered");
        goals.iter().flat_map(|goal| goal.spaces(&self.herds)).map(|space| space.len()).sum()
    }

    fn add(&mut self, folder: &Path, counts: [usize; 2]) -> Result<(), TableError> {
        self.prepare(counts[0]);
        let goals = Goal::all(counts, limit(&self.game, counts));
        let size = self.len(counts, &goals);
        let path = folder.join(Self::file_name(&self.game, counts));
        let plies = TableBytes::open(&path, &identity(&self.game, counts), |len| len == size)?;
        self.tables.push(Table { counts, goals, plies });
        Ok(())
    }

    fn solve(&self, counts: [usize; 2], threads: usize, progress: &dyn Progress) -> Option<Vec<u8>> {
        let most = limit(&self.game, counts);
        let goals = Goal::all(counts, most);
        let after_shot = |position: &Position| -> i8 {
            let own = self.position_value(position, None).expect("endgames with fewer cows come first");
            -own
        };
        let mut plies = Vec::with_capacity(self.len(counts, &goals));
        for &goal in &goals {
            let name = format!("{} against {}, {}", counts[0], counts[1], name(goal));
            progress.begin(&name, goal.spaces(&self.herds).iter().map(|space| space.len() as u64).sum());
            let (board, herds) = (&self.board, &self.herds[..]);
            let solve = Solve { board, herds, goal, after_shot: &after_shot, threads, progress };
            // Three against three serves every limit: its shots end the game.
            let solved = solve.run(if counts == ENDGAMES[0] { 0 } else { most })?;
            let longest = solved.0.iter().flatten().filter(|&&plies| plies < u8::MAX).max().copied().unwrap_or(0);
            progress.end(&name, &format!("takes up to {longest} plies"));
            solved.0.iter().for_each(|part| plies.extend_from_slice(part));
        }
        Some(plies)
    }

    /// The value for the mover with this number of plies left, by default as many as the limits leave after a shot. `None`
    /// if there is no table.
    fn position_value(&self, position: &Position, left: Option<u8>) -> Option<i8> {
        let counts = position.counts();
        let sorted = if counts[0] >= counts[1] { counts } else { [counts[1], counts[0]] };
        let table = self.tables.iter().find(|table| table.counts == sorted)?;
        let left = left.unwrap_or_else(|| unlimited(limit(&self.game, sorted)));
        let reached = |goal: usize, attacks: bool| self.plies(table, goal, attacks, position) <= left;
        let attacks = |goal: usize| table.goals[goal].counts == counts;
        Some(match table.goals[..] {
            // Equal numbers: the mover as the attacker, or the opponent.
            [_] if reached(0, true) => 1,
            [_] => -i8::from(reached(0, false)),
            [Goal { least: 0, .. }, _] => {
                let value = i8::from(reached(0, attacks(0))) + i8::from(reached(1, attacks(1))) - 1;
                if attacks(0) { value } else { -value }
            }
            _ => {
                let value = |goal| if attacks(goal) { 1 } else { -1 } * i8::from(reached(goal, attacks(goal)));
                value(0) + value(1)
            }
        })
    }

    /// The plies within which a goal is reached; more than there are if never.
    fn plies(&self, table: &Table, goal: usize, attacks: bool, position: &Position) -> u8 {
        let spaces = |goal: &Goal| goal.spaces(&self.herds);
        let before: usize = table.goals[..goal].iter().flat_map(spaces).map(|space| space.len()).sum();
        let [attack, defence]: [Space<'_>; 2] = spaces(&table.goals[goal]);
        let (space, before) = if attacks { (attack, before) } else { (defence, before + attack.len()) };
        table.plies.get(before + space.number(position))
    }

    fn herd(&self, state: &State, side: Side) -> Herd {
        self.board.herd(state.cows(side), state.banned_mills(side))
    }
}

impl ExactValues<Morabaraba> for MorabarabaEndgames {
    fn value(&self, game: &Morabaraba, state: &State) -> Option<i8> {
        if let Some(outcome) = game.outcome(state) {
            return Some(outcome.value());
        }
        let cows = |side: Side| state.cows(side).count_ones() as usize;
        let placed = Side::BOTH.iter().all(|&side| state.in_hand(side) == 0 && cows(side) >= 3);
        let limits = |game: &Morabaraba| [game.quiet_limit(), game.fly_limit()];
        if !placed || limits(game) != limits(&self.game) {
            return None;
        }
        let mover = game.mover(state);
        let [own, other] = [mover, mover.other()].map(|side| self.herd(state, side));
        let value = if state.shot_pending() {
            let shots = self.board.shots(other).map(|victim| {
                let position = Position { own: victim, other: own };
                if victim.count() <= 2 { Some(1) } else { self.position_value(&position, None).map(|value| -value) }
            });
            shots.collect::<Option<Vec<_>>>()?.into_iter().max()?
        } else {
            let flight = if own.count() == 3 || other.count() == 3 { game.fly_limit() } else { 0 };
            let counted = [(game.quiet_limit(), state.quiet_plies()), (flight, state.flight_plies())];
            let left = counted.into_iter().filter(|&(limit, _)| limit > 0).map(|(limit, plies)| limit - plies).min();
            self.position_value(&Position { own, other }, Some(left.unwrap_or(unlimited(0))))?
        };
        Some(if mover == Side::First { value } else { -value })
    }
}

impl fmt::Debug for MorabarabaEndgames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let covered: Vec<_> = self.covered().collect();
        f.debug_struct("MorabarabaEndgames").field("covered", &covered).finish_non_exhaustive()
    }
}

fn endgames(cows: usize) -> impl Iterator<Item = [usize; 2]> {
    ENDGAMES.into_iter().filter(move |counts| counts.iter().sum::<usize>() <= cows)
}

/// More plies than any goal takes, where a limit of 0 means none.
fn unlimited(limit: u8) -> u8 {
    if limit == 0 { u8::MAX - 1 } else { limit }
}

fn name(goal: Goal) -> String {
    let [attacker, defender] = goal.counts;
    match (attacker == defender, goal.least) {
        (true, _) => "a win".to_owned(),
        (false, 1) => format!("a win of the {attacker}"),
        (false, _) => format!("a draw of the {attacker}"),
    }
}

fn identity(game: &Morabaraba, counts: [usize; 2]) -> TableIdentity {
    let params =
        turnstone_env::Params::new().with("quiet_limit", game.quiet_limit()).with("fly_limit", game.fly_limit());
    TableIdentity::of(game, &params, &format!("{} against {} 1", counts[0], counts[1]))
}
