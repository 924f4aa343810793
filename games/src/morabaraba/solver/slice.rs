//! One endgame: all positions with these numbers of cows, all placed, and how many plies decide them.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

use turnstone_env::games::Morabaraba;

use super::herds::{Board, Herd, Herds, points};
use turnstone_exact::Progress;

/// The goal is out of reach.
const NEVER: u8 = u8::MAX;
/// The most plies that an entry can hold.
const MOST_PLIES: u8 = NEVER - 1;

/// A position without a shot pending, as the mover sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) own: Herd,
    pub(super) other: Herd,
}

impl Position {
    /// Cows of the mover and of the opponent.
    pub(super) fn counts(&self) -> [usize; 2] {
        [self.own.count(), self.other.count()]
    }
}

/// The numbers of all positions with these cows of the mover and of the opponent, up to symmetry. The side with more cows
/// is counted by classes. Positions that a symmetry takes to themselves in part have several numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space<'h> {
    own: &'h Herds,
    other: &'h Herds,
    /// Whether the mover's herd is counted by classes.
    own_classes: bool,
}

impl<'h> Space<'h> {
    pub(super) fn new(herds: &'h [Herds], counts: [usize; 2]) -> Self {
        let [own, other] = counts.map(|count| &herds[count]);
        Self { own, other, own_classes: counts[0] >= counts[1] }
    }

    fn sides(&self) -> [&'h Herds; 2] {
        if self.own_classes { [self.own, self.other] } else { [self.other, self.own] }
    }

    fn classes(&self) -> usize {
        self.sides()[0].classes()
    }

    pub(super) fn len(&self) -> usize {
        self.classes() * self.sides()[1].len()
    }

    /// The class and the number of the other herd within it.
    #[inline]
    fn place(&self, position: &Position) -> (usize, usize) {
        let [large, small] = self.sides();
        let Position { own, other } = *position;
        let [first, second] = if self.own_classes { [own, other] } else { [other, own] };
        let (class, symmetry) = large.class(large.number(first));
        (class, small.image(small.number(second), symmetry))
    }

    #[inline]
    pub(super) fn number(&self, position: &Position) -> usize {
        let (class, other) = self.place(position);
        class * self.sides()[1].len() + other
    }

    /// All numbers of a position.
    fn numbers(&self, position: &Position) -> impl Iterator<Item = usize> + use<'h> {
        let ([large, small], (class, other)) = (self.sides(), self.place(position));
        large.fixing(class).iter().map(move |&symmetry| class * small.len() + small.image(other, symmetry))
    }

    /// The positions of a class with their numbers.
    fn of_class(&self, class: usize) -> impl Iterator<Item = (usize, Position)> + use<'h> {
        let ([large, small], own_classes) = (self.sides(), self.own_classes);
        let first = large.of_class(class);
        (0..small.len()).filter_map(move |at| {
            let second = small.herd(at);
            let position = if own_classes {
                Position { own: first, other: second }
            } else {
                Position { own: second, other: first }
            };
            let apart = first.cows & second.cows == 0 && first.lacks_none_of(second) && second.lacks_none_of(first);
            apart.then_some((class * small.len() + at, position))
        })
    }
}

/// What the attacker wants: a result for the attacker of at least `least`, reached by a shot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Goal {
    /// Cows of the attacker and of the defender.
    pub(super) counts: [usize; 2],
    pub(super) least: i8,
}

impl Goal {
    /// The goals that decide an endgame. Where a limit ends the game, the side with more cows has won, so the other side is
    /// the attacker. Without a limit endless play is a draw, and either side may attack.
    pub(super) fn all(counts: [usize; 2], limit: u8) -> Vec<Self> {
        let [more, fewer] = counts;
        let turned = [fewer, more];
        match (more == fewer, limit) {
            (true, _) => vec![Self { counts, least: 1 }],
            (false, 0) => vec![Self { counts, least: 1 }, Self { counts: turned, least: 1 }],
            (false, _) => vec![Self { counts: turned, least: 0 }, Self { counts: turned, least: 1 }],
        }
    }

    /// Whether the attacker, having more cows, has won when a player is blocked. Four cows border on at least five points, so
    /// this takes five against four.
    fn is_blocking(&self) -> bool {
        self.counts[0] > self.counts[1]
    }

    /// The spaces of the positions with the attacker and with the defender on turn.
    pub(super) fn spaces<'h>(&self, herds: &'h [Herds]) -> [Space<'h>; 2] {
        let [attacker, defender] = self.counts;
        [Space::new(herds, [attacker, defender]), Space::new(herds, [defender, attacker])]
    }
}

/// The limit of plies that counts in an endgame; 0 if there is none.
pub(super) fn limit(game: &Morabaraba, counts: [usize; 2]) -> u8 {
    let flight = counts.contains(&3);
    let limits = [game.quiet_limit(), if flight { game.fly_limit() } else { 0 }];
    limits.into_iter().filter(|&limit| limit > 0).min().unwrap_or(0)
}

/// Plies within which the attacker reaches the goal, for all positions with the attacker and with the defender on turn.
pub(super) struct Solved(pub(super) [Vec<u8>; 2]);

/// The computation of one goal. The value of a position within `n` plies follows from those within `n - 1`.
pub(super) struct Solve<'a> {
    pub(super) board: &'a Board,
    pub(super) herds: &'a [Herds],
    pub(super) goal: Goal,
    /// The value for the player who shoots of what the shot leaves, with the victim to move.
    pub(super) after_shot: &'a (dyn Fn(&Position) -> i8 + Sync),
    pub(super) threads: usize,
    pub(super) progress: &'a dyn Progress,
}

impl Solve<'_> {
    /// Computes all plies up to the limit (0: all there are). `None` if it is stopped.
    pub(super) fn run(&self, limit: u8) -> Option<Solved> {
        let spaces = self.goal.spaces(self.herds);
        let plies = spaces.map(|space| (0..space.len()).map(|_| AtomicU8::new(NEVER)).collect::<Vec<_>>());
        let safe: Vec<AtomicBool> = (0..spaces[1].len()).map(|_| AtomicBool::new(false)).collect();
        let most = if limit == 0 { MOST_PLIES } else { limit };
        if self.goal.is_blocking() {
            for (space, plies) in spaces.iter().zip(&plies) {
                self.each(space.classes(), &|class| self.blocked(*space, class, plies))?;
            }
        }
        self.each(spaces[0].classes(), &|class| self.attack_by_shots(spaces[0], class, &plies[0]))?;
        self.each(spaces[1].classes(), &|class| self.find_safe(spaces[1], class, &safe))?;
        for now in 1..=most {
            let before = self.each(spaces[1].classes(), &|class| self.attack_from(spaces, class, now, &plies))?;
            let defended = self.each(spaces[1].classes(), &|class| self.defend(spaces, class, now, &plies, &safe))?;
            // The shots of the first ply were counted above.
            if now > 1 && before + defended == 0 {
                break;
            }
        }
        Some(Solved(plies.map(|plies| plies.into_iter().map(AtomicU8::into_inner).collect())))
    }

    /// Calls `work` with every class, on all threads, and adds up the numbers of positions that it decides.
    fn each(&self, classes: usize, work: &(dyn Fn(usize) -> u64 + Sync)) -> Option<u64> {
        let (next, decided) = (AtomicUsize::new(0), AtomicU64::new(0));
        let run = || {
            while let Some(class) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&class| class < classes) {
                if self.progress.stopped() {
                    return;
                }
                let found = work(class);
                decided.fetch_add(found, Ordering::Relaxed);
                self.progress.advance(found);
            }
        };
        if self.threads <= 1 {
            run();
        } else {
            std::thread::scope(|scope| (0..self.threads).for_each(|_| drop(scope.spawn(run))));
        }
        (!self.progress.stopped()).then(|| decided.into_inner())
    }

    /// Marks the positions of a class in which the mover is blocked, which is what an attacker with more cows wants.
    fn blocked(&self, space: Space<'_>, class: usize, plies: &[AtomicU8]) -> u64 {
        let blocked = space.of_class(class).filter(|&(_, position)| moves(self.board, position).next().is_none());
        blocked.map(|(number, _)| plies[number].store(0, Ordering::Relaxed)).count() as u64
    }

    /// Marks the positions of a class in which the attacker reaches the goal by a shot at once.
    fn attack_by_shots(&self, space: Space<'_>, class: usize, plies: &[AtomicU8]) -> u64 {
        let mut found = 0;
        for (number, position) in space.of_class(class) {
            let good = moves(self.board, position).any(|moved| match moved {
                Moved::Mill(own) => self.shots(own, position.other).any(|value| value >= self.goal.least),
                Moved::Quiet(_) => false,
            });
            if good {
                plies[number].store(1, Ordering::Relaxed);
                found += 1;
            }
        }
        found
    }

    /// Marks the positions from which the attacker's quiet moves lead to those of a class that were decided a ply before.
    fn attack_from(&self, spaces: [Space<'_>; 2], class: usize, now: u8, plies: &[Vec<AtomicU8>; 2]) -> u64 {
        let mut found = 0;
        for (number, position) in spaces[1].of_class(class) {
            if plies[1][number].load(Ordering::Relaxed) != now - 1 {
                continue;
            }
            self.each_before(position, |before| {
                for number in spaces[0].numbers(&before) {
                    if plies[0][number].load(Ordering::Relaxed) == NEVER {
                        plies[0][number].store(now, Ordering::Relaxed);
                        found += 1;
                    }
                }
            });
        }
        found
    }

    /// Marks the positions of a class in which the defender never has to let the attacker reach the goal: by a mill whose
    /// shot spoils it, or since the game is over.
    fn find_safe(&self, space: Space<'_>, class: usize, safe: &[AtomicBool]) -> u64 {
        for (number, position) in space.of_class(class) {
            let mut blocked = true;
            let spoils = moves(self.board, position).any(|moved| {
                blocked = false;
                match moved {
                    Moved::Mill(own) => self.shots(own, position.other).any(|value| -value < self.goal.least),
                    Moved::Quiet(_) => false,
                }
            });
            if spoils || blocked {
                safe[number].store(true, Ordering::Relaxed);
            }
        }
        0
    }

    /// Marks the positions of a class in which every move of the defender lets the attacker reach the goal in time.
    fn defend(
        &self,
        spaces: [Space<'_>; 2],
        class: usize,
        now: u8,
        plies: &[Vec<AtomicU8>; 2],
        safe: &[AtomicBool],
    ) -> u64 {
        let mut found = 0;
        for (number, position) in spaces[1].of_class(class) {
            if safe[number].load(Ordering::Relaxed) || plies[1][number].load(Ordering::Relaxed) != NEVER {
                continue;
            }
            let hopeless = moves(self.board, position).all(|moved| match moved {
                Moved::Mill(_) => true, // or the defender would be safe
                Moved::Quiet(next) => plies[0][spaces[0].number(&next)].load(Ordering::Relaxed) < now,
            });
            if hopeless {
                plies[1][number].store(now, Ordering::Relaxed);
                found += 1;
            }
        }
        found
    }

    /// The values of the shots for the player who made a mill.
    fn shots(&self, own: Herd, other: Herd) -> impl Iterator<Item = i8> {
        self.board.shots(other).map(move |victim| {
            if victim.count() <= 2 { 1 } else { (self.after_shot)(&Position { own: victim, other: own }) }
        })
    }

    /// Calls `visit` with all positions from which a quiet move of the player who is not on turn leads to this one.
    fn each_before(&self, position: Position, mut visit: impl FnMut(Position)) {
        let Position { own, other: moved } = position;
        let [own_herds, moved_herds] = position.counts().map(|count| &self.herds[count]);
        let empty = !(own.cows | moved.cows) & ((1 << super::herds::POINTS) - 1);
        for to in points(moved.cows).filter(|&to| !self.board.closes(moved.cows, to)) {
            let rest = moved.cows & !(1 << to);
            // A ban names the point that the cow came from.
            let hole = if moved.lines > 0 { 1 << moved.hole } else { u32::MAX };
            for from in points(self.board.around(moved.cows, to) & empty & hole) {
                let cows = rest | 1 << from;
                for mover in moved_herds.same_cows(cows) {
                    let legal = self.board.reach(mover, from, own.cows) >> to & 1 == 1;
                    if !legal || self.board.moved(mover, from, to) != moved {
                        continue;
                    }
                    let others = own_herds.same_cows(own.cows).filter(|other| other.occupied(to) == own);
                    others.for_each(|other| visit(Position { own: mover, other }));
                }
            }
        }
    }
}

/// Successor of a move.
pub(super) enum Moved {
    /// The position with the other side on turn.
    Quiet(Position),
    /// A mill, with the herd that made it.
    Mill(Herd),
}

/// The mover's moves.
pub(super) fn moves(board: &Board, position: Position) -> impl Iterator<Item = Moved> + use<'_> {
    let Position { own, other } = position;
    points(own.cows).flat_map(move |from| {
        points(board.reach(own, from, other.cows)).map(move |to| {
            let moved = board.moved(own, from, to);
            if board.closes(moved.cows, to) {
                Moved::Mill(moved)
            } else {
                Moved::Quiet(Position { own: other.occupied(to), other: moved })
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::games::morabaraba::neighbours;

    #[test]
    fn five_cows_block_four_which_is_what_the_five_want_without_limits() {
        let board = Board::new();
        let border = |set: u32| points(set).fold(0, |near, point| near | neighbours()[usize::from(point)]) & !set;
        let fours = (0_u32..1 << 24).filter(|set| set.count_ones() == 4);
        let blocked: Vec<u32> = fours.filter(|&set| border(set).count_ones() <= 5).collect();
        assert_eq!(blocked.len(), 16);
        for set in blocked {
            let position = Position { own: Herd::free(set), other: Herd::free(border(set)) };
            assert_eq!(position.counts(), [4, 5]);
            assert!(moves(&board, position).next().is_none());
            let open = Herd::free(border(set) & (border(set) - 1));
            assert!(moves(&board, Position { other: open, ..position }).next().is_some());
        }
        let blocking = |goals: Vec<Goal>| goals.iter().map(Goal::is_blocking).collect::<Vec<_>>();
        assert_eq!(blocking(Goal::all([5, 4], 0)), [true, false]);
        assert_eq!(blocking(Goal::all([5, 4], 50)), [false, false]);
        assert_eq!(blocking(Goal::all([4, 4], 0)), [false]);
    }
}
