//! Which losses are marked, and which moments of a game are worth a look.

use super::moves::{Mark, ReviewedMove, Source};

/// Maximum number of moments.
const MOST_MOMENTS: usize = 3;

/// Least losses by a search's estimate that are marked, in expected points. The lower two are those of lichess, which has 0.1
/// and 0.2 on a scale from -1 to 1 (`winningChanceJudgements` in `modules/tree/src/main/Advice.scala` of lila); a blunder costs
/// twice a mistake.
const THRESHOLDS: [(f64, Mark); 3] = [(0.2, Mark::Blunder), (0.1, Mark::Mistake), (0.05, Mark::Inaccuracy)];

/// How much worse all other moves are, by a search's estimate, than an only move: each is a mistake.
pub(super) const ONLY_MARGIN: f64 = THRESHOLDS[1].0;

/// Mark of a move that has lost this many expected points; `is_only` says whether all others are worse.
pub(crate) fn mark(loss: f64, source: Source, is_only: bool) -> Option<Mark> {
    of_loss(loss, source).or((is_only && loss <= 0.0).then_some(Mark::Only))
}

/// By certain values a lost point is a blunder, half a point a mistake.
fn of_loss(loss: f64, source: Source) -> Option<Mark> {
    match source {
        Source::Search => THRESHOLDS.into_iter().find(|&(least, _)| loss >= least).map(|(_, mark)| mark),
        Source::Exact | Source::Proof if loss >= 1.0 => Some(Mark::Blunder),
        Source::Exact | Source::Proof if loss >= 0.5 => Some(Mark::Mistake),
        Source::Exact | Source::Proof => None,
    }
}

/// Plies of the moves to look at: those that have lost most, and if there are fewer than two, only moves. In the order of
/// the game.
#[must_use]
pub fn moments(moves: &[ReviewedMove]) -> Vec<usize> {
    let mut faults: Vec<&ReviewedMove> =
        moves.iter().filter(|played| played.mark.is_some_and(|mark| mark != Mark::Only)).collect();
    // Equal losses stay in the order of the game.
    faults.sort_by(|a, b| b.loss.total_cmp(&a.loss));
    faults.truncate(MOST_MOMENTS);
    let found = moves.iter().filter(|played| played.mark == Some(Mark::Only));
    let few = 2_usize.saturating_sub(faults.len());
    let mut plies: Vec<usize> = faults.into_iter().chain(found.take(few)).map(|played| played.ply).collect();
    plies.sort_unstable();
    plies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_marked_by_their_source() {
        let marks = |source| [0.0, 0.0499, 0.05, 0.0999, 0.1, 0.2, 0.5, 1.0].map(|loss| of_loss(loss, source));
        let (blunder, mistake, inaccuracy) = (Some(Mark::Blunder), Some(Mark::Mistake), Some(Mark::Inaccuracy));
        let by_search = [None, None, inaccuracy, inaccuracy, mistake, blunder, blunder, blunder];
        assert_eq!(marks(Source::Search), by_search);
        for source in [Source::Exact, Source::Proof] {
            assert_eq!(marks(source), [None, None, None, None, None, None, mistake, blunder]);
        }
    }

    #[test]
    fn moments_are_the_greatest_losses_in_the_order_of_the_game() {
        let played = |(loss, ply): (f64, usize)| ReviewedMove {
            ply,
            player: 1,
            opening: false,
            played: String::new(),
            shown: String::new(),
            position: String::new(),
            legal: 2,
            value: 0.0,
            value_after: 0.0,
            source: Source::Search,
            loss: loss.max(0.0),
            mark: if loss < 0.0 { Some(Mark::Only) } else { of_loss(loss, Source::Search) },
            best: Vec::new(),
            best_shown: Vec::new(),
        };
        let plies = |losses: &[f64]| moments(&losses.iter().copied().zip(1..).map(played).collect::<Vec<_>>());
        assert_eq!(plies(&[0.2, 0.0, 0.3, 0.06, 0.5, -1.0]), [1, 3, 5]);
        assert_eq!(plies(&[0.2, 0.2, 0.2, 0.2]), [1, 2, 3]);
        assert_eq!(plies(&[-1.0, 0.0, -1.0, 0.3, -1.0]), [1, 4]);
        assert_eq!(plies(&[-1.0, 0.04]), [1]);
        assert_eq!(plies(&[0.01, 0.04]), [0; 0]);
    }
}
