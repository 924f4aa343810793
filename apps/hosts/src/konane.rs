//! The functions of Pyro's random Konane player: boards of 'O', 'X' and empty cells, moves as lists of coordinates.
//!
//! Coordinates are (row, column) from 1 and a board's rows are kept from row 1 up, as there. Two things differ from the
//! program, which the rules above it in the source rule out: it also jumps diagonally, and it lists only the longest
//! jump in each direction, where the rules let a player stop after any of them.

/// `'O'`, `'X'`, or `None` for an empty cell, in rows from row 1.
pub type Board = [[Option<char>; 8]; 8];

/// The board before the first removal: O where row and column are both even or both odd.
#[must_use]
pub fn initial_board() -> Board {
    std::array::from_fn(|i| std::array::from_fn(|j| Some(if (i + j) % 2 == 0 { 'O' } else { 'X' })))
}

/// `otherPiece`: the opponent's shape.
#[must_use]
pub fn other_piece(piece: char) -> char {
    if piece == 'O' { 'X' } else { 'O' }
}

/// `getEmpties`: all empty positions of the board, by row and column.
#[must_use]
pub fn get_empties(board: &Board) -> Vec<(usize, usize)> {
    let cells = (1..=8).flat_map(|i| (1..=8).map(move |j| (i, j)));
    cells.filter(|&(i, j)| board[i - 1][j - 1].is_none()).collect()
}

/// `validPos`: the position moved by an offset, if that is on the board.
#[must_use]
pub fn valid_pos(position: (usize, usize), offset: (isize, isize)) -> Option<(usize, usize)> {
    let row = position.0.checked_add_signed(offset.0)?;
    let column = position.1.checked_add_signed(offset.1)?;
    ((1..=8).contains(&row) && (1..=8).contains(&column)).then_some((row, column))
}

/// `moveGenerator`: all moves of a player, each `[row, column]` for a removal or the start and all landings of a jump.
///
/// On the first move that is one of the four cells of the opening, or, with one gap on the board, its neighbours in the
/// program's order. Later moves come by start, direction and length.
///
/// ```
/// use turnstone_hosts::konane::{format_move, initial_board, move_generator, play};
///
/// let mut board = initial_board();
/// assert_eq!(move_generator(&board, 'X', true), [[5, 4], [4, 5], [1, 8], [8, 1]]);
/// play(&mut board, &[5, 4]);
/// play(&mut board, &[5, 5]);
/// let commands: Vec<String> = move_generator(&board, 'X', false).iter().map(|jump| format_move(jump)).collect();
/// assert_eq!(commands, ["jump(3,4,5,4)", "jump(5,2,5,4)", "jump(7,4,5,4)"]);
/// ```
#[must_use]
pub fn move_generator(board: &Board, my_piece: char, first_move: bool) -> Vec<Vec<usize>> {
    if !first_move {
        return jumps(board, my_piece);
    }
    match get_empties(board)[..] {
        [] if my_piece == 'O' => vec![vec![4, 4], vec![5, 5], vec![1, 1], vec![8, 8]],
        [] => vec![vec![5, 4], vec![4, 5], vec![1, 8], vec![8, 1]],
        [open, ..] => {
            let around = [(-1, 0), (1, 0), (0, -1), (0, 1)];
            around.into_iter().filter_map(|offset| valid_pos(open, offset)).map(|(i, j)| vec![i, j]).collect()
        }
    }
}

fn jumps(board: &Board, my_piece: char) -> Vec<Vec<usize>> {
    let at = |(i, j): (usize, usize)| board[i - 1][j - 1];
    let mut moves = Vec::new();
    for start in (1..=8).flat_map(|i| (1..=8).map(move |j| (i, j))).filter(|&cell| at(cell) == Some(my_piece)) {
        for (a, b) in [(0, -2), (2, 0), (0, 2), (-2, 0)] {
            let mut from = start;
            let mut jump = vec![start.0, start.1];
            while let Some(to) = valid_pos(from, (a, b)) {
                let between = (from.0.midpoint(to.0), from.1.midpoint(to.1));
                if at(to).is_some() || at(between) != Some(other_piece(my_piece)) {
                    break;
                }
                jump.extend([to.0, to.1]);
                moves.push(jump.clone());
                from = to;
            }
        }
    }
    moves
}

/// `formatMove`, for removals too: the command string `remove(row,column)` or `jump(row,column,row,column,...)`.
#[must_use]
pub fn format_move(positions: &[usize]) -> String {
    let name = if positions.len() == 2 { "remove" } else { "jump" };
    let numbers: Vec<String> = positions.iter().map(usize::to_string).collect();
    format!("{name}({})", numbers.join(","))
}

/// What the simulator does on a command: takes the removed stone off, or moves the jumping one and takes off those
/// between. The move is not checked.
///
/// # Panics
/// If a position is not on the board.
pub fn play(board: &mut Board, positions: &[usize]) {
    let cells: Vec<(usize, usize)> = positions.chunks_exact(2).map(|cell| (cell[0] - 1, cell[1] - 1)).collect();
    let Some((&first, &last)) = cells.first().zip(cells.last()) else { return };
    let piece = board[first.0][first.1].take();
    for jump in cells.windows(2) {
        board[jump[0].0.midpoint(jump[1].0)][jump[0].1.midpoint(jump[1].1)] = None;
    }
    if cells.len() > 1 {
        board[last.0][last.1] = piece;
    }
}
