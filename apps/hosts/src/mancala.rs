//! The functions of the Mancala assignment's `class Board` (CSE 140, assignment 3).

use std::fmt;

/// The two players of the assignment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Player {
    /// Player 1: pits B2 to B7, the bottom row, and the Mancala at block 8.
    One,
    /// Player 2: pits A2 to A7, the top row, and the Mancala at block 1.
    Two,
}

/// The assignment's `Board`: the stones of every block.
///
/// ```
/// use turnstone_hosts::mancala::{Board, Player};
///
/// let mut board = Board::default();
/// assert_eq!(board.find_moves(Player::One), ["B2", "B3", "B4", "B5", "B6", "B7"]);
/// let again = board.update_board("B5");
/// assert_eq!(again, Ok(false)); // the last stone fell into A7
/// let table = "        Player-2
///      1  2  3  4  5  6  7  8
/// A    0  4  4  4  4  4  5  1
/// B       4  4  4  0  5  5
///         Player-1
/// ";
/// assert_eq!(board.to_string(), table);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Board {
    /// B2 to B7, the Mancala of player 1, A7 to A2, the Mancala of player 2: the order of sowing.
    blocks: [u8; 14],
}

impl Default for Board {
    /// The default starting condition: four stones in every pit.
    fn default() -> Self {
        Self::new([4; 6], [4; 6], [0; 2])
    }
}

const STORES: [usize; 2] = [6, 13];

impl Board {
    /// A custom starting position: B2 to B7, A2 to A7, and the Mancalas of players 1 and 2.
    #[must_use]
    pub fn new(bottom: [u8; 6], mut top: [u8; 6], [store1, store2]: [u8; 2]) -> Self {
        top.reverse();
        let mut blocks = [0; 14];
        blocks[..6].copy_from_slice(&bottom);
        blocks[7..13].copy_from_slice(&top);
        (blocks[STORES[0]], blocks[STORES[1]]) = (store1, store2);
        Self { blocks }
    }

    /// The stones of a pit (`B2`..`B7`, `A2`..`A7`), if there is one of this name.
    #[must_use]
    pub fn stones(&self, position: &str) -> Option<u8> {
        block(position).map(|block| self.blocks[block])
    }

    /// `player1_points`: the stones in the Mancala of player 1.
    #[must_use]
    pub fn player1_points(&self) -> u8 {
        self.blocks[STORES[0]]
    }

    /// `player2_points`: the stones in the Mancala of player 2.
    #[must_use]
    pub fn player2_points(&self) -> u8 {
        self.blocks[STORES[1]]
    }

    /// `find_moves`: the pits that the player may choose, lower numbers first.
    #[must_use]
    pub fn find_moves(&self, player: Player) -> Vec<String> {
        let row = if player == Player::One { 'B' } else { 'A' };
        let pits = (2..=7).map(|number| format!("{row}{number}"));
        pits.filter(|pit| self.stones(pit).is_some_and(|stones| stones > 0)).collect()
    }

    /// `no_moves_remaining`: whether the player cannot move, which ends the game on that player's turn.
    #[must_use]
    pub fn no_moves_remaining(&self, player: Player) -> bool {
        self.find_moves(player).is_empty()
    }

    /// `update_board`: sows the stones of a pit of either player, captures included, and says whether the pit's owner
    /// moves again. It does not end the game: see [`Board::collect_remaining`].
    ///
    /// # Errors
    /// There is no such pit, or it is empty; the board is then unchanged.
    pub fn update_board(&mut self, position: &str) -> Result<bool, String> {
        let start = block(position).ok_or_else(|| format!("`{}` is no pit", position.escape_debug()))?;
        if self.blocks[start] == 0 {
            return Err(format!("pit {position} is empty"));
        }
        let (own, opponents) = if start < 6 { (STORES[0], STORES[1]) } else { (STORES[1], STORES[0]) };
        let mut last = start;
        for _ in 0..std::mem::take(&mut self.blocks[start]) {
            last = (last + 1) % 14;
            if last == opponents {
                last = (last + 1) % 14;
            }
            self.blocks[last] += 1;
        }
        if (own - 6..own).contains(&last) && self.blocks[last] == 1 {
            let opposite = 12 - last;
            self.blocks[own] += self.blocks[opposite] + 1;
            self.blocks[opposite] = 0;
            self.blocks[last] = 0;
        }
        Ok(last == own)
    }

    /// The end of the game: each player takes the stones left on the own side.
    pub fn collect_remaining(&mut self) {
        for store in STORES {
            let row: u8 = self.blocks[store - 6..store].iter().sum();
            self.blocks[store - 6..store].fill(0);
            self.blocks[store] += row;
        }
    }

    /// `calculate_heuristic_score`: E(p), the player's stones in the Mancala less the opponent's.
    #[must_use]
    pub fn calculate_heuristic_score(&self, player: Player) -> i16 {
        let margin = i16::from(self.player1_points()) - i16::from(self.player2_points());
        if player == Player::One { margin } else { -margin }
    }
}

/// The assignment's `print`: the table that it shows.
impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = |cells: &[u8]| cells.iter().map(|n| format!("{n:>3}")).collect::<String>();
        let top: Vec<u8> = self.blocks[7..14].iter().rev().copied().collect();
        writeln!(f, "        Player-2\n   {}", cells(&[1, 2, 3, 4, 5, 6, 7, 8]))?;
        writeln!(f, "A  {}{:>3}", cells(&top), self.player1_points())?;
        writeln!(f, "B     {}\n        Player-1", cells(&self.blocks[..6]))
    }
}

/// The place of a pit in the order of sowing.
fn block(position: &str) -> Option<usize> {
    match position.as_bytes() {
        [b'B', digit @ b'2'..=b'7'] => Some(usize::from(digit - b'2')),
        [b'A', digit @ b'2'..=b'7'] => Some(usize::from(12 - (digit - b'2'))),
        _ => None,
    }
}
