//! Solving a game by enumerating every reachable position, with its ply limits or without: backward induction, in which
//! infinite play is a draw.

use std::collections::{HashMap, VecDeque};

use turnstone_env::{ActionList, Error, Notation, Rules, Side, without_limits};

use crate::values::{ExactValues, unlimited};

/// The exact value of every position that can be reached from the start.
///
/// ```
/// use turnstone_env::{Rules, Params, games::MuTorere};
/// use turnstone_exact::Solution;
///
/// let game = MuTorere::default().with_params(&Params::new().with("max_plies", 0))?;
/// let solution = Solution::of(&game, 10_000).expect("the game is small");
/// assert_eq!(solution.states().len(), 1180);
/// assert_eq!(solution.value(&game.start()), Some(0));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solution<G: Rules> {
    states: Vec<G::State>,
    /// `None` for draws by infinite play.
    values: Vec<Option<i8>>,
    /// Plies to the end where the value is known to come about, else 0.
    distances: Vec<u32>,
    numbers: HashMap<G::State, u32>,
}

impl<G: Rules> Solution<G> {
    /// Solves the game. `None` if more than `most` positions are reachable.
    pub fn of(game: &G, most: usize) -> Option<Self> {
        let mut solution =
            Self { states: Vec::new(), values: Vec::new(), distances: Vec::new(), numbers: HashMap::new() };
        solution.add(game.start());
        // Edges of the game's graph, backwards: for every position those that lead to it.
        let mut predecessors: Vec<Vec<u32>> = Vec::new();
        let mut open_moves = Vec::new();
        let mut legal = ActionList::new();
        let mut number = 0;
        while number < solution.states.len() {
            let state = solution.states[number];
            game.legal(&state, &mut legal);
            open_moves.push(legal.len() as u32);
            for &action in &legal {
                let mut next = state;
                game.play(&mut next, action);
                let next = solution.add(next) as usize;
                predecessors.resize(predecessors.len().max(next + 1), Vec::new());
                predecessors[next].push(number as u32);
            }
            if solution.states.len() > most {
                return None;
            }
            number += 1;
        }
        predecessors.resize(solution.states.len(), Vec::new());
        solution.induce(game, &predecessors, open_moves);
        Some(solution)
    }

    /// All reachable positions, the start first.
    #[must_use]
    pub fn states(&self) -> &[G::State] {
        &self.states
    }

    /// The value of a position for the first side: 1, 0 or -1; `None` if it cannot be reached.
    #[must_use]
    pub fn value(&self, state: &G::State) -> Option<i8> {
        self.numbers.get(state).map(|&number| self.values[number as usize].unwrap_or(0))
    }

    /// Whether a position is a draw in which the game can go on forever without loss to either player; `None` if it cannot
    /// be reached. From other draws the game comes to an end by the rules, whatever is played of the moves that keep it.
    #[must_use]
    pub fn is_endless(&self, state: &G::State) -> Option<bool> {
        self.numbers.get(state).map(|&number| self.values[number as usize].is_none())
    }

    /// Plies to the end of a won game, where the winner takes the shortest way and the loser the longest; `None` for draws
    /// and for positions that cannot be reached.
    #[must_use]
    pub fn plies_to_end(&self, state: &G::State) -> Option<u32> {
        let number = *self.numbers.get(state)? as usize;
        self.values[number].is_some_and(|value| value != 0).then_some(self.distances[number])
    }

    fn add(&mut self, state: G::State) -> u32 {
        let next = self.states.len() as u32;
        *self.numbers.entry(state).or_insert_with(|| {
            self.states.push(state);
            next
        })
    }

    /// Retrograde analysis, breadth-first from the finished games. A position is decided by its first winning move, or when
    /// all of its moves are known; the rest are draws by infinite play. Breadth-first order makes the distances shortest.
    fn induce(&mut self, game: &G, predecessors: &[Vec<u32>], mut open_moves: Vec<u32>) {
        let mut decided: Vec<Option<i8>> = vec![None; self.states.len()];
        let mut best: Vec<i8> = vec![-1; self.states.len()];
        let mut distances = vec![0; self.states.len()];
        let mut queue = VecDeque::new();
        for (number, state) in self.states.iter().enumerate() {
            if let Some(outcome) = game.outcome(state) {
                decided[number] = Some(outcome.value());
                queue.push_back(number as u32);
            }
        }
        while let Some(number) = queue.pop_front() {
            let value = decided[number as usize].expect("only decided positions are queued");
            for &before in &predecessors[number as usize] {
                let before = before as usize;
                if decided[before].is_some() {
                    continue;
                }
                let sign = if game.mover(&self.states[before]) == Side::First { 1 } else { -1 };
                best[before] = best[before].max(sign * value);
                open_moves[before] -= 1;
                if sign * value == 1 || open_moves[before] == 0 {
                    decided[before] = Some(sign * best[before]);
                    distances[before] = distances[number as usize] + 1;
                    queue.push_back(before as u32);
                }
            }
        }
        self.distances = distances;
        self.values = decided;
    }
}

impl<G: Rules> ExactValues<G> for Solution<G> {
    fn value(&self, _: &G, state: &G::State) -> Option<i8> {
        self.value(state)
    }
}

/// Exact values of a small game without its ply limits, looked up with states of the game with them.
///
/// ```
/// use turnstone_env::{Rules, games::MuTorere, play_text};
/// use turnstone_exact::{Unlimited, ExactValues};
///
/// let game = MuTorere::default(); // a draw after 100 plies
/// let truth = Unlimited::of(&game, 10_000)?.expect("the game is small");
/// let mut state = game.start();
/// play_text(&game, &mut state, "0,4 1,0")?;
/// assert_eq!(truth.value(&game, &state), Some(0));
/// # Ok::<(), turnstone_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Unlimited<G: Notation> {
    game: G,
    solution: Solution<G>,
}

impl<G: Notation> Unlimited<G> {
    /// Solves the game. `None` if more than `most` positions are reachable.
    ///
    /// # Errors
    /// The errors of [`without_limits`].
    pub fn of(game: &G, most: usize) -> Result<Option<Self>, Error> {
        let game = without_limits(game)?;
        Ok(Solution::of(&game, most).map(|solution| Self { game, solution }))
    }

    /// The game without its limits.
    #[must_use]
    pub fn game(&self) -> &G {
        &self.game
    }

    /// [`Solution::plies_to_end`] of a state of the game with its limits.
    #[must_use]
    pub fn plies_to_end(&self, game: &G, state: &G::State) -> Option<u32> {
        self.solution.plies_to_end(&unlimited(game, state, &self.game)?)
    }

    /// The values of all reachable positions.
    #[must_use]
    pub fn solution(&self) -> &Solution<G> {
        &self.solution
    }
}

impl<G: Notation> ExactValues<G> for Unlimited<G> {
    fn value(&self, game: &G, state: &G::State) -> Option<i8> {
        self.solution.value(&unlimited(game, state, &self.game)?)
    }
}

#[cfg(test)]
mod tests {
    use turnstone_env::games::MuTorere;
    use turnstone_env::toy::Toy;

    use super::*;

    #[test]
    fn draws_by_the_rules_are_told_from_endless_ones() {
        // Player 1 wins on the left; on the right player 2 chooses between two draws; the middle is lost for player 1.
        let toy: Toy = "1(2(+1 +1) 2(-1 0) 2(0 1(0 -1)))".parse().expect("a tree");
        let solution = Solution::of(&toy, 100).expect("small");
        let endless = |state: &_| solution.is_endless(state) == Some(true);
        assert!(!solution.states().iter().any(endless));
        let draws = solution.states().iter().filter(|state| solution.value(state) == Some(0)).count();
        assert_eq!(draws, 5);
        let game = without_limits(&MuTorere::default()).expect("it can be 0");
        let solution = Solution::of(&game, 10_000).expect("small");
        assert_eq!(solution.is_endless(&game.start()), Some(true));
        let (mut won, mut all) = (0, 0);
        for state in solution.states() {
            assert_eq!(solution.is_endless(state), Some(solution.value(state) == Some(0)));
            won += usize::from(solution.value(state) != Some(0));
            all += 1;
        }
        assert!(won > 50 && won < all, "{won} of {all}");
    }
}
