//! Every position that can arise while one side follows an agent and the other plays anything, and the worst result that can
//! come of each.

use std::collections::{HashMap, HashSet, VecDeque};

use turnstone_env::{Action, ActionList, Rules, Side};
use turnstone_search::hash::hash;

/// The positions that can arise from some starts while the side `seat` follows an agent, whose move depends on the position
/// alone, and the other side plays anything.
///
/// Positions are numbered as they are met, breadth-first: the starts, then the successors of each position in the order of
/// numbers and actions. So the agent's moves in this order are enough to walk again. A position contains all that decides
/// its future, counters of plies included; two positions are the same only if their states are equal.
///
/// The other side is the only one that chooses, so the worst result from a position is the worst end that can be reached from
/// it, and a draw if there is none or play can go on forever.
///
/// ```
/// use turnstone_env::{Rules, Side, games::Konane, Params};
/// use turnstone_exact::{Extent, Walk};
///
/// // Player 2, who plays the first legal action, can be beaten.
/// let game = Konane::default().with_params(&Params::new().with("size", 4))?;
/// let mut walk = Walk::new(&game, Side::Second, &[game.start()]);
/// assert_eq!(walk.extend(10_000, &mut |_, _| Some(0)), Ok(Extent::Complete));
/// assert_eq!(walk.values()[0], -1);
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Walk<G: Rules> {
    game: G,
    seat: Side,
    /// Numbers of the starts.
    starts: Vec<u32>,
    positions: Vec<G::State>,
    /// A hash table of numbers, at most three quarters full.
    slots: Vec<u32>,
    /// Number of successors of each position that is expanded; 0 where the game is over.
    counts: Vec<u16>,
    /// Numbers of the successors, one position after the other.
    successors: Vec<u32>,
    moves: Moves,
    /// The agent's moves that are known before they are asked for, each as its place among the legal actions.
    known: HashMap<G::State, u16>,
    /// Positions from which the agent loses whatever it plays, as this walk and those that it was corrected from have found.
    lost: HashSet<G::State>,
}

/// Progress of a [`Walk`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// All positions are met.
    Complete,
    /// The agent's next move is not known.
    Open,
    /// There are more positions than were allowed.
    Full,
}

/// The agent's move is not legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("move {0} of the agent is not legal")]
pub struct IllegalMove(pub u64);

/// Most positions of a walk.
pub const MOST_WALKED: usize = (EMPTY - 1) as usize;

/// An empty slot.
const EMPTY: u32 = u32::MAX;

/// Gives the place of the agent's move among the legal actions of a position; `None` if it is not known yet.
pub type Choose<'a, S> = dyn FnMut(&S, &[Action]) -> Option<usize> + 'a;

impl<G: Rules> Walk<G> {
    /// A walk that has met the starts only.
    #[must_use]
    pub fn new(game: &G, seat: Side, starts: &[G::State]) -> Self {
        let mut walk = Self {
            game: game.clone(),
            seat,
            starts: Vec::new(),
            positions: Vec::new(),
            slots: vec![EMPTY; 1 << 10],
            counts: Vec::new(),
            successors: Vec::new(),
            moves: Moves::default(),
            known: HashMap::new(),
            lost: HashSet::new(),
        };
        walk.starts = starts.iter().map(|&start| walk.number(start)).collect();
        walk
    }

    /// Bytes of memory for each position, about, without its moves, which take four bytes each.
    #[must_use]
    pub const fn bytes_per_position() -> usize {
        // Twice the state, the slots and the count, as they grow by doubling.
        2 * (size_of::<G::State>() + size_of::<u16>()) + 3 * size_of::<u32>()
    }

    /// Walks on by the agent's moves, until one is not known or there are more than `most` positions.
    ///
    /// # Errors
    /// The agent's move is none of the legal ones.
    pub fn extend(&mut self, most: usize, choose: &mut Choose<'_, G::State>) -> Result<Extent, IllegalMove> {
        let mut legal = ActionList::new();
        while let Some(&state) = self.positions.get(self.counts.len()) {
            if self.positions.len() > most.min(MOST_WALKED) {
                return Ok(Extent::Full);
            }
            self.game.legal(&state, &mut legal);
            let mut played = &legal[..];
            if self.decides(&state) {
                let known = self.known.get(&state).map(|&place| usize::from(place));
                let Some(place) = known.or_else(|| choose(&state, &legal)) else { return Ok(Extent::Open) };
                played = legal.get(place..=place).ok_or(IllegalMove(self.moves.count + 1))?;
                self.moves.push(place, legal.len());
            }
            for &action in played {
                let mut next = state;
                self.game.play(&mut next, action);
                let next = self.number(next);
                self.successors.push(next);
            }
            self.counts.push(played.len() as u16);
        }
        Ok(Extent::Complete)
    }

    /// The positions in which the agent is asked next, `most` of those that are met.
    pub fn questions(&self, most: usize) -> impl Iterator<Item = &G::State> {
        let is_open = |state: &&G::State| self.decides(state) && !self.known.contains_key(state);
        self.positions[self.counts.len()..].iter().filter(is_open).take(most)
    }

    /// Number of positions that are met.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.positions.len()
    }

    /// Number of positions that are met, but whose successors are not.
    #[must_use]
    pub fn frontier(&self) -> usize {
        self.positions.len() - self.counts.len()
    }

    /// The agent's moves.
    #[must_use]
    pub fn moves(&self) -> &Moves {
        &self.moves
    }

    /// The worst result for the agent from each start: 1, 0 or -1. Of a walk that is not complete, -1 and 1 are certain.
    #[must_use]
    pub fn of_starts(&self, values: &[i8]) -> Vec<i8> {
        self.starts.iter().map(|&start| values[start as usize]).collect()
    }

    /// The worst result for the agent from every position that is met: 1, 0 or -1. Of a walk that is not complete, -1 and 1
    /// are certain.
    ///
    /// A result spreads backwards through the positions until nothing changes: a loss to all from which it can be reached,
    /// then a win to all whose successors are won. A cycle is never among these, so it is a draw, as is a position that is
    /// not expanded.
    #[must_use]
    pub fn values(&self) -> Vec<i8> {
        let mut values = vec![0; self.positions.len()];
        for ((state, count), value) in self.positions.iter().zip(&self.counts).zip(&mut values) {
            if *count == 0 {
                *value = self.game.outcome(state).map_or(0, |outcome| outcome.value_for(self.seat));
            }
        }
        self.spread(&mut values, -1, |successors, values| successors.iter().any(|&next| values[next as usize] == -1));
        self.spread(&mut values, 1, |successors, values| successors.iter().all(|&next| values[next as usize] == 1));
        values
    }

    /// Gives a value to positions that have none, until `follows` holds for no more of them.
    fn spread(&self, values: &mut [i8], value: i8, follows: impl Fn(&[u32], &[i8]) -> bool) {
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            let mut end = self.successors.len();
            for (position, &count) in self.counts.iter().enumerate().rev() {
                let begin = end - usize::from(count);
                if count > 0 && values[position] == 0 && follows(&self.successors[begin..end], values) {
                    values[position] = value;
                    has_changed = true;
                }
                end = begin;
            }
        }
    }

    /// The actions of a shortest game that the agent loses from a start, by its place among the starts; `None` if it cannot be
    /// beaten from there, as far as the walk goes.
    #[must_use]
    pub fn refutation(&self, values: &[i8], start: usize) -> Option<Vec<Action>> {
        let start = self.starts[start];
        if values[start as usize] != -1 {
            return None;
        }
        let begins = self.begins();
        let mut before = vec![EMPTY; self.positions.len()];
        before[start as usize] = start;
        let mut queue = VecDeque::from([start]);
        let mut last = loop {
            let position = queue.pop_front().expect("a lost end can be reached");
            let [begin, end] = [0, 1].map(|more| begins[position as usize + more]);
            if begin == end {
                break position;
            }
            for &next in &self.successors[begin..end] {
                if values[next as usize] == -1 && before[next as usize] == EMPTY {
                    before[next as usize] = position;
                    queue.push_back(next);
                }
            }
        };
        let mut line = Vec::new();
        while last != start {
            let position = before[last as usize];
            let [from, to] = [position, last].map(|number| self.positions[number as usize]);
            line.push(self.actions_to(&from, |next| *next == to)[0]);
            last = position;
        }
        line.reverse();
        Some(line)
    }

    /// The last ply of a line from a start at which the agent has another action to a position that is met and from which it
    /// cannot be beaten, and this action. Only for a walk that is complete.
    #[must_use]
    pub fn last_escape(&self, values: &[i8], start: usize, line: &[Action]) -> Option<(usize, Action)> {
        let mut state = self.positions[self.starts[start] as usize];
        let is_safe = |next: &G::State| self.value_of(values, next).is_some_and(|value| value >= 0);
        let mut found = None;
        for (ply, &action) in line.iter().enumerate() {
            if self.decides(&state)
                && let Some(&other) = self.actions_to(&state, is_safe).first()
            {
                found = Some((ply, other));
            }
            self.game.play(&mut state, action);
        }
        found
    }

    /// The positions in which the agent first gives away a result of at least `least`, on the ways from the starts to worse
    /// ones: its move leads to a position of which `is_worse` holds.
    pub fn first_mistakes(
        &self,
        values: &[i8],
        least: i8,
        is_worse: &mut dyn FnMut(&G::State) -> bool,
    ) -> Vec<G::State> {
        let mut is_mistake = |position: usize, next: &[u32]| {
            self.decides(&self.positions[position]) && next.iter().any(|&next| is_worse(&self.positions[next as usize]))
        };
        let mistakes = self.first_on_ways(|position| values[position] < least, &mut is_mistake);
        mistakes.into_iter().map(|position| self.positions[position]).collect()
    }

    /// The positions in which the agent's move leads to one that is lost whatever it plays from there, on the ways from the
    /// starts, each with the legal actions that do not.
    ///
    /// Lost are lost ends, positions of the other side with an action to a lost one, and those of the agent all of whose
    /// actions lead to lost ones. What is lost is kept in the walks that are [`Walk::corrected`] from this one.
    pub fn losing_moves(&mut self) -> Vec<(G::State, Vec<Action>)> {
        let ended = |state: &G::State| self.game.outcome(state).is_some_and(|outcome| outcome.value_for(self.seat) < 0);
        let mut lost: Vec<bool> =
            self.positions.iter().map(|state| self.lost.contains(state) || ended(state)).collect();
        let begins = self.begins();
        let others = |position: usize, lost: &[bool]| {
            let is_lost = |next: &G::State| match self.find(next) {
                Ok(number) => lost[number as usize],
                Err(_) => self.lost.contains(next) || ended(next),
            };
            self.actions_to(&self.positions[position], |next| !is_lost(next))
        };
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            for position in (0..self.counts.len()).rev().filter(|&position| begins[position] < begins[position + 1]) {
                let next = &self.successors[begins[position]..begins[position + 1]];
                if lost[position] || !next.iter().any(|&next| lost[next as usize]) {
                    continue;
                }
                let has_another = self.decides(&self.positions[position]) && !others(position, &lost).is_empty();
                lost[position] = !has_another;
                has_changed |= !has_another;
            }
        }
        let mut loses = |_, next: &[u32]| next.iter().any(|&next| lost[next as usize]);
        let found = self.first_on_ways(|position| !lost[position], &mut loses).into_iter();
        let found = found.map(|position| (self.positions[position], others(position, &lost))).collect();
        self.lost.extend(self.positions.iter().zip(&lost).filter(|(_, is_lost)| **is_lost).map(|(state, _)| *state));
        found
    }

    /// The first positions of which `holds`, asked with their successors, on every way from the starts through positions that
    /// `is_passed` allows, breadth-first.
    fn first_on_ways(
        &self,
        is_passed: impl Fn(usize) -> bool,
        holds: &mut dyn FnMut(usize, &[u32]) -> bool,
    ) -> Vec<usize> {
        let begins = self.begins();
        let mut seen = vec![false; self.positions.len()];
        let mut queue: VecDeque<u32> = self.starts.iter().copied().collect();
        let mut found = Vec::new();
        while let Some(position) = queue.pop_front() {
            let position = position as usize;
            if !is_passed(position) || std::mem::replace(&mut seen[position], true) {
                continue;
            }
            let next = &self.successors[begins[position]..begins[position + 1]];
            if holds(position, next) {
                found.push(position);
            } else {
                queue.extend(next);
            }
        }
        found
    }

    /// Whether a position is lost whatever the agent plays, as far as [`Walk::losing_moves`] has found.
    #[must_use]
    pub fn is_lost(&self, state: &G::State) -> bool {
        self.lost.contains(state)
    }

    /// The worst result for the agent from a position; `None` if it is not met.
    #[must_use]
    pub fn value_of(&self, values: &[i8], state: &G::State) -> Option<i8> {
        self.find(state).ok().map(|number| values[number as usize])
    }

    /// Whether a position is met.
    #[must_use]
    pub fn has_met(&self, state: &G::State) -> bool {
        self.find(state).is_ok()
    }

    /// The legal actions of a position that lead to positions of which `holds` is true.
    pub fn actions_to(&self, state: &G::State, holds: impl Fn(&G::State) -> bool) -> Vec<Action> {
        let mut legal = ActionList::new();
        self.game.legal(state, &mut legal);
        let leads = |&&action: &&Action| {
            let mut next = *state;
            self.game.play(&mut next, action);
            holds(&next)
        };
        legal.iter().filter(leads).copied().collect()
    }

    /// A walk from the same starts in which the agent is asked for no move that it has been asked for, and has these ones in
    /// some positions.
    ///
    /// # Panics
    /// If an action is not legal.
    #[must_use]
    pub fn corrected(&self, corrections: &[(G::State, Action)]) -> Self {
        let starts: Vec<_> = self.starts.iter().map(|&start| self.positions[start as usize]).collect();
        let mut known = self.known.clone();
        let (mut moves, mut legal) = (MoveReader::new(self.moves.bytes()), ActionList::new());
        for state in self.positions[..self.counts.len()].iter().filter(|state| self.decides(state)) {
            self.game.legal(state, &mut legal);
            known.insert(*state, moves.next(legal.len()).expect("a move for each decision") as u16);
        }
        for (state, action) in corrections {
            self.game.legal(state, &mut legal);
            known.insert(*state, legal.binary_search(action).expect("a correction is legal") as u16);
        }
        Self { known, lost: self.lost.clone(), ..Self::new(&self.game, self.seat, &starts) }
    }

    /// Whether the agent has to choose.
    fn decides(&self, state: &G::State) -> bool {
        self.game.mover(state) == self.seat && self.game.outcome(state).is_none()
    }

    /// Where the successors of each position begin, and where the last ones end.
    fn begins(&self) -> Vec<usize> {
        let mut end = 0;
        let mut begins = vec![0];
        begins.extend(self.counts.iter().map(|&count| {
            end += usize::from(count);
            end
        }));
        begins.resize(self.positions.len() + 1, end);
        begins
    }

    /// The number of a position, which is a new one if it has none.
    fn number(&mut self, state: G::State) -> u32 {
        if 4 * (self.positions.len() + 1) > 3 * self.slots.len() {
            self.slots = vec![EMPTY; 2 * self.slots.len()];
            for number in 0..self.positions.len() {
                if let Err(slot) = self.find(&self.positions[number]) {
                    self.slots[slot] = number as u32;
                }
            }
        }
        self.find(&state).unwrap_or_else(|slot| {
            self.slots[slot] = self.positions.len() as u32;
            self.positions.push(state);
            self.slots[slot]
        })
    }

    /// The number of a position, or the slot where it belongs.
    fn find(&self, state: &G::State) -> Result<u32, usize> {
        let last = self.slots.len() - 1;
        let mut slot = hash(state) as usize & last;
        loop {
            match self.slots[slot] {
                EMPTY => return Err(slot),
                number if self.positions[number as usize] == *state => return Ok(number),
                _ => slot = (slot + 1) & last,
            }
        }
    }
}

/// Moves of an agent, each as its place among the legal actions, in as few bits as their number needs: none if there is one.
/// The first move is in the lowest bits of the first byte.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Moves {
    bytes: Vec<u8>,
    /// Bits in use.
    bits: usize,
    count: u64,
}

/// Bits of the places among so many actions.
fn width(actions: usize) -> u32 {
    actions.max(1).next_power_of_two().trailing_zeros()
}

impl Moves {
    /// Adds the move at a place among so many actions.
    pub fn push(&mut self, place: usize, actions: usize) {
        for bit in 0..width(actions) {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            self.bytes[self.bits / 8] |= (place >> bit & 1) as u8 * (1 << (self.bits % 8));
            self.bits += 1;
        }
        self.count += 1;
    }

    /// Number of moves.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The bits; those that are not in use are 0.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes whose bits are all in use.
    #[must_use]
    pub fn whole_bytes(&self) -> &[u8] {
        &self.bytes[..self.bits / 8]
    }
}

/// Reads [`Moves`].
#[derive(Clone, Debug)]
pub struct MoveReader<'a> {
    bytes: &'a [u8],
    bit: usize,
}

impl<'a> MoveReader<'a> {
    /// From the first one.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, bit: 0 }
    }

    /// The place of the next move among so many actions; `None` at the end, where bits that are too few for a move are dropped.
    pub fn next(&mut self, actions: usize) -> Option<usize> {
        let mut place = 0;
        let end = self.bit + width(actions) as usize;
        if end > 8 * self.bytes.len() {
            self.bit = 8 * self.bytes.len();
            return None;
        }
        for bit in self.bit..end {
            place |= usize::from(self.bytes[bit / 8] >> (bit % 8) & 1) << (bit - self.bit);
        }
        self.bit = end;
        Some(place)
    }

    /// Whether nothing is left but bits of the last byte that are 0.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        let rest = 8 * self.bytes.len() - self.bit;
        rest < 8 && self.bytes.last().is_none_or(|last| u32::from(*last) >> (8 - rest) == 0)
    }
}

#[cfg(test)]
mod tests;
