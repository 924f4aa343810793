//! Evaluations of the 18-point Morris variant.

use turnstone_env::Side;
use turnstone_env::games::{Morris, morris};

use crate::mills::{MillGame, Mills, Position, Weights};
use turnstone_search::classic::Heuristic;

/// The score of a won game in the handout's static estimations.
const HANDOUT_WON: i32 = 10_000;

/// The handout's "static estimation for Opening": white pieces minus black pieces on the board.
#[derive(Clone, Copy, Default, Debug)]
pub struct Opening;

impl Heuristic<Morris> for Opening {
    fn name(&self) -> &'static str {
        "static_estimation_opening"
    }

    fn lead(&self) -> f32 {
        0.8
    }

    fn estimate(&self, _: &Morris, state: &morris::State) -> i32 {
        let [white, black] = Side::BOTH.map(|side| state.pieces(side).count_ones() as i32);
        white - black
    }

    fn won(&self) -> i32 {
        HANDOUT_WON
    }
}

/// The handout's "static estimation for MidgameEndgame": 10000 for White if Black has two pieces or no move, -10000 if
/// White has two pieces, else `1000 (white pieces - black pieces) - black moves`, where a move that can remove several
/// pieces counts as several.
#[derive(Clone, Copy, Default, Debug)]
pub struct MidgameEndgame;

impl Heuristic<Morris> for MidgameEndgame {
    fn name(&self) -> &'static str {
        "static_estimation_midgame_endgame"
    }

    fn lead(&self) -> f32 {
        1000.0
    }

    fn estimate(&self, _: &Morris, state: &morris::State) -> i32 {
        let pieces = Side::BOTH.map(|side| state.pieces(side));
        let [white, black] = pieces.map(|set| set.count_ones() as i32);
        if black <= 2 {
            return HANDOUT_WON;
        }
        if white <= 2 {
            return -HANDOUT_WON;
        }
        match black_moves(pieces) {
            0 => HANDOUT_WON,
            moves => 1000 * (white - black) - moves,
        }
    }

    fn won(&self) -> i32 {
        HANDOUT_WON
    }
}

/// The handout's numBlackMoves: the length of the list that its generator makes for Black.
fn black_moves([white, black]: [u32; 2]) -> i32 {
    let (mills, near) = (morris::mills(), morris::neighbours());
    let all = (1 << near.len()) - 1;
    let (empty, hops) = (all & !(white | black), black.count_ones() == 3);
    let in_mills = mills.iter().filter(|&&mill| white & mill == mill).fold(0, |set, mill| set | mill);
    // A mill removes any of these, or nothing if there is none; either way a move is one board at least.
    let removals = (white & !in_mills).count_ones().max(1) as i32;
    let mut moves = 0;
    for from in points(black) {
        let rest = black & !(1 << from);
        let reach = if hops { empty } else { near[from] & empty };
        let closing = points(reach).filter(|to| {
            let after = rest | 1 << to;
            mills.iter().any(|&mill| mill >> to & 1 == 1 && after & mill == mill)
        });
        moves += reach.count_ones() as i32 + closing.count() as i32 * (removals - 1);
    }
    moves
}

fn points(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let point = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            point
        })
    })
}

/// The handout's estimations together: [`Opening`] while a piece is in hand, then [`MidgameEndgame`].
#[derive(Clone, Copy, Default, Debug)]
pub struct StaticEstimation;

impl Heuristic<Morris> for StaticEstimation {
    fn name(&self) -> &'static str {
        "static_estimation"
    }

    fn lead(&self) -> f32 {
        350.0
    }

    fn estimate(&self, game: &Morris, state: &morris::State) -> i32 {
        let placing = Side::BOTH.iter().any(|&side| state.in_hand(side) > 0);
        if placing { Opening.estimate(game, state) } else { MidgameEndgame.estimate(game, state) }
    }

    fn won(&self) -> i32 {
        HANDOUT_WON
    }
}

/// The weights of [`Mills`]; a piece is a hundred.
pub const MILLS: Mills = Mills(Weights {
    piece: 100,
    mill: 10,
    open_line: 10,
    threat: 10,
    double_mill: 0,
    mobility: 2,
    blocked: 5,
    tempo: 32,
});

impl MillGame for Morris {
    fn position(state: &morris::State) -> Position {
        Position {
            mills: morris::mills(),
            near: morris::neighbours(),
            pieces: Side::BOTH.map(|side| state.pieces(side)),
            hands: Side::BOTH.map(|side| state.in_hand(side)),
        }
    }
}
