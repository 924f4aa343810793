//! A target: what lies on each cell at the end of the game.

use turnstone_trainer::targets::tensor::Tensor;
use turnstone_trainer::targets::{Moment, Row, Target, TargetShape};

/// The cells in the game's last position: 1 for a disc of the mover, -1 for one of the opponent, 0 for none.
pub struct Ending;

impl Target for Ending {
    const NAME: &'static str = "ending";
    const SHAPE: TargetShape = TargetShape::Points;
    const WEIGHT: f64 = 0.2;

    fn target(at: &Moment<'_>, row: &mut Row<'_>) -> Option<()> {
        let ([own, opponents], points) = (at.spec().piece_planes?, at.spec().points);
        let (mover, last) = (at.now().mover, at.last());
        // Features are as the mover of their position sees it.
        let sign = mover.sign() * last.mover.sign();
        for point in 0..points {
            let disc = |plane: usize| last.features[plane * points + point];
            row.set(point, sign * (disc(own) - disc(opponents)));
        }
        Some(())
    }

    fn loss(output: Tensor<2>, target: Tensor<2>) -> Tensor<2> {
        (output.tanh() - target).square().mean_dim(1)
    }
}
