//! Sums of outer products: the gradient of a layer's weights, in tiles whose sums stay in registers.
//!
//! Every weight's gradient is a sum of chains of multiply-adds over boards and points in order, the same in every tile and
//! for every instruction set.

use super::super::areas::LANES;
use super::tile::Vector;

/// The gradient of the weights of one tap: for each pair of points of each board, the inputs of the source times the
/// gradients of the target's outputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OuterProducts<'a> {
    /// Inputs of the layer, `[boards, points, inputs]`.
    pub(crate) x: &'a [f32],
    /// Gradients of the outputs, `[boards, points, outputs]`.
    pub(crate) dy: &'a [f32],
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) points: usize,
    /// The point that is read and the point that reads it.
    pub(crate) pairs: &'a [[u32; 2]],
}

/// The tiles of an instruction set.
pub(super) trait OuterTiles {
    /// Numbers of strips, most first, each with the numbers of inputs of its tiles, most first; both end with 1.
    const SHAPES: &'static [(usize, &'static [usize])];
    /// Adds the sums of a tile to `dw [inputs, outputs]`. The caller has checked that the processor has the instructions.
    fn add(products: &OuterProducts<'_>, tile: &OuterTile, dw: &mut [f32]);
}

/// Some inputs by some whole strips of outputs, over a range of boards.
#[derive(Debug, Clone, Copy)]
pub(super) struct OuterTile {
    first_board: usize,
    boards: usize,
    first_input: usize,
    /// Number of inputs, the rows of the tile.
    pub(super) rows: usize,
    first_output: usize,
    pub(super) strips: usize,
}

/// Number of inputs and outputs that stay in the cache while all tiles are computed, unless they are fewer than
/// `LEAST_ROWS`.
const NEAR: usize = 6 * 1024;

/// Number of rows that make it pay to read and write the gradients.
const LEAST_ROWS: usize = 64;

/// Divides the sums into tiles, over a few boards at a time.
pub(super) fn over_tiles<T: OuterTiles>(products: &OuterProducts<'_>, boards: usize, dw: &mut [f32]) {
    let whole = products.outputs / LANES * LANES;
    over_strips::<T>(products, boards, 0, whole / LANES, dw);
    if whole < products.outputs {
        // The outputs that do not fill a strip, side by side with zeros.
        let mut dy = Vec::with_capacity(products.dy.len() / products.outputs * LANES);
        for row in products.dy.chunks_exact(products.outputs) {
            dy.extend_from_slice(&row[whole..]);
            dy.resize(dy.len().next_multiple_of(LANES), 0.0);
        }
        let strip = OuterProducts { dy: &dy, outputs: LANES, ..*products };
        let mut sums = vec![0.0; products.inputs * LANES];
        over_strips::<T>(&strip, boards, 0, 1, &mut sums);
        for (row, sums) in dw.chunks_exact_mut(products.outputs).zip(sums.chunks_exact(LANES)) {
            row[whole..].iter_mut().zip(sums).for_each(|(dw, sum)| *dw += sum);
        }
    }
}

/// Adds the gradients of whole strips.
fn over_strips<T: OuterTiles>(
    products: &OuterProducts<'_>,
    all_boards: usize,
    mut first_strip: usize,
    end: usize,
    dw: &mut [f32],
) {
    let points = products.points;
    let near = (NEAR / (points * (products.inputs + products.outputs))).max(LEAST_ROWS.div_ceil(points));
    while first_strip < end {
        let fits = |(strips, _): &&(usize, _)| *strips <= end - first_strip;
        let &(strips, heights) = T::SHAPES.iter().find(fits).expect("the last number of strips is 1");
        let first_output = first_strip * LANES;
        for first_board in (0..all_boards).step_by(near) {
            let boards = near.min(all_boards - first_board);
            let mut first_input = 0;
            while first_input < products.inputs {
                let fits = |rows: &&usize| **rows <= products.inputs - first_input;
                let &rows = heights.iter().find(fits).expect("the last number of inputs is 1");
                let tile = OuterTile { first_board, boards, first_input, rows, first_output, strips };
                T::add(products, &tile, dw);
                first_input += rows;
            }
        }
        first_strip += strips;
    }
}

/// Adds the sums of a tile of `ROWS` inputs and `STRIPS` strips to `dw [inputs, outputs]`. They stay in registers because all their indices are
/// constants once the short loops over `r` and `s` are unrolled.
#[inline(always)]
pub(super) fn add_tile<V: Vector, const ROWS: usize, const STRIPS: usize>(
    products: &OuterProducts<'_>,
    tile: &OuterTile,
    dw: &mut [f32],
) {
    let &OuterTile { first_board, boards, first_input, first_output, .. } = tile;
    let &OuterProducts { x, dy, inputs, outputs, points, pairs } = products;
    let mut sums = [[V::load(&[0.0; LANES]); STRIPS]; ROWS];
    for board in first_board..first_board + boards {
        let x = &x[board * points * inputs..][..points * inputs];
        let dy = &dy[board * points * outputs..][..points * outputs];
        for &[source, target] in pairs {
            let x = &x[source as usize * inputs + first_input..][..ROWS];
            let dy = &dy[target as usize * outputs + first_output..][..STRIPS * LANES];
            let dy = dy.as_chunks::<LANES>().0;
            let mut gradients = [sums[0][0]; STRIPS];
            for s in 0..STRIPS {
                gradients[s] = V::load(&dy[s]);
            }
            for r in 0..ROWS {
                let x = x[r];
                for s in 0..STRIPS {
                    sums[r][s] = sums[r][s].multiply_add(x, gradients[s]);
                }
            }
        }
    }
    let sums = V::settle(sums);
    for r in 0..ROWS {
        let row = &mut dw[(first_input + r) * outputs + first_output..][..STRIPS * LANES];
        let row = row.as_chunks_mut::<LANES>().0;
        for s in 0..STRIPS {
            V::load(&row[s]).add(sums[r][s]).store(&mut row[s]);
        }
    }
}
