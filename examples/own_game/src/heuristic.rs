//! The static evaluation of Connect Four: the lines of four that are still open.

use turnstone_env::Side;
use turnstone_search::classic::Heuristic;

use crate::game::{BOARD, ConnectFour, STEPS, State};

/// Lines of four cells without an opponent's disc, by the number of own discs on them: 1 for one disc, 4 for two, 16
/// for three. The estimate is the first side's sum minus the second's.
#[derive(Clone, Copy, Default, Debug)]
pub struct OpenLines;

impl Heuristic<ConnectFour> for OpenLines {
    fn name(&self) -> &'static str {
        "open_lines"
    }

    fn lead(&self) -> f32 {
        16.0
    }

    fn estimate(&self, _: &ConnectFour, state: &State) -> i32 {
        let [first, second] = Side::BOTH.map(|side| {
            let [one, two, three] = open_lines(state.discs[side.index()], state.discs[side.other().index()]);
            one + 4 * two + 16 * three
        });
        first - second
    }
}

/// Number of lines without an opponent's disc that hold one, two and three own discs. All lines of a direction are
/// counted at once: bit by bit, as the sum of the four cells that begin at it.
fn open_lines(own: u64, opponents: u64) -> [i32; 3] {
    let mut counts = [0; 3];
    for step in STEPS {
        let cells = |board: u64| [board, board >> step, board >> (2 * step), board >> (3 * step)];
        let [a, b, c, d] = cells(BOARD & !opponents);
        let open = a & b & c & d;
        let [a, b, c, d] = cells(own);
        // Four own discs in a line do not occur: the game is over.
        let (odd, pair) = (a ^ b ^ c ^ d, a & b | c & d);
        let lines = [odd & !pair, !odd & (pair | (a ^ b) & (c ^ d)), odd & pair];
        for (count, lines) in counts.iter_mut().zip(lines) {
            *count += (open & lines).count_ones() as i32;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use turnstone_env::{ActionList, Notation, Rules, play_text};

    /// All lines of four cells as sets of bits, built from rows and columns.
    fn lines() -> Vec<u64> {
        let mut lines = Vec::new();
        for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
            for (column, row) in (0..7).flat_map(|column| (0..6).map(move |row| (column, row))) {
                let cells: Vec<(i32, i32)> = (0..4).map(|i| (column + i * right, row + i * up)).collect();
                if cells.iter().all(|&(column, row)| (0..7).contains(&column) && (0..6).contains(&row)) {
                    lines.push(cells.iter().map(|(column, row)| 1 << (7 * column + row)).sum());
                }
            }
        }
        lines
    }

    #[test]
    fn open_lines_are_counted_as_one_by_one() {
        let lines = lines();
        assert_eq!(lines.len(), 69);
        let mut legal = ActionList::new();
        for seed in 0..200 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut state = ConnectFour.start();
            while ConnectFour.outcome(&state).is_none() {
                let [own, opponents] = state.discs;
                let open = |discs| {
                    let holds = |line: &&u64| *line & opponents == 0 && (*line & own).count_ones() == discs;
                    lines.iter().filter(holds).count() as i32
                };
                assert_eq!(
                    open_lines(own, opponents),
                    [open(1), open(2), open(3)],
                    "{}",
                    ConnectFour.position_text(&state)
                );
                ConnectFour.legal(&state, &mut legal);
                ConnectFour.play(&mut state, legal[rng.random_range(0..legal.len())]);
            }
        }
    }

    #[test]
    fn the_estimate_is_for_the_first_side() {
        let estimate = |moves| {
            let mut state = ConnectFour.start();
            play_text(&ConnectFour, &mut state, moves).expect("legal");
            OpenLines.estimate(&ConnectFour, &state)
        };
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("4"), 7); // four lines along the row, one up the column, two diagonals
        assert_eq!(estimate("1 4"), 2 - 6); // each disc takes the line from 1 to 4 away from the other
        assert_eq!(estimate("4 1 5 1"), (5 + 4 * 3) - (4 + 4)); // ones and twos of X, of O
        assert!(estimate("3 3 4 4 5") > 0 && estimate("1 3 3 4 4 5") < 0);
    }
}
