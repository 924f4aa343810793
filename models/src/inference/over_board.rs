//! What the blocks of a network of convolutions compute of a whole board: means, maxima and gates per channel.
//!
//! `x` is always `[boards, points, channels]`, where the number of boards follows from the other slice.

/// Writes the mean and the maximum over the points of each channel, `[boards, 2, channels]`.
pub(crate) fn pool(x: &[f32], channels: usize, y: &mut [f32]) {
    let board = x.len() / (y.len() / (2 * channels));
    for (x, y) in x.chunks_exact(board).zip(y.chunks_exact_mut(2 * channels)) {
        let (means, maxima) = y.split_at_mut(channels);
        mean(x, channels, means);
        maxima.fill(f32::NEG_INFINITY);
        for row in x.chunks_exact(channels) {
            maxima.iter_mut().zip(row).for_each(|(most, &x)| *most = most.max(x));
        }
    }
}

/// Writes the mean over the points of each channel, `[boards, channels]`.
pub(crate) fn mean(x: &[f32], channels: usize, y: &mut [f32]) {
    let board = x.len() / (y.len() / channels);
    let share = channels as f32 / board as f32;
    for (x, y) in x.chunks_exact(board).zip(y.chunks_exact_mut(channels)) {
        y.fill(0.0);
        for row in x.chunks_exact(channels) {
            y.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        y.iter_mut().for_each(|sum| *sum *= share);
    }
}

/// Adds `y`, `[boards, channels]`, to every point.
pub(crate) fn add_to_points(y: &[f32], channels: usize, x: &mut [f32]) {
    let board = x.len() / (y.len() / channels);
    for (x, y) in x.chunks_exact_mut(board).zip(y.chunks_exact(channels)) {
        for row in x.chunks_exact_mut(channels) {
            row.iter_mut().zip(y).for_each(|(x, y)| *x += y);
        }
    }
}

/// `stream = relu(stream + gates x)`, with a gate per channel of each board, `[boards, channels]`.
pub(crate) fn add_gated(x: &[f32], gates: &[f32], channels: usize, stream: &mut [f32]) {
    let board = x.len() / (gates.len() / channels);
    let boards = x.chunks_exact(board).zip(stream.chunks_exact_mut(board));
    for ((x, stream), gates) in boards.zip(gates.chunks_exact(channels)) {
        for (x, stream) in x.chunks_exact(channels).zip(stream.chunks_exact_mut(channels)) {
            for ((s, x), gate) in stream.iter_mut().zip(x).zip(gates) {
                *s = (*s + gate * x).max(0.0);
            }
        }
    }
}

/// `1 / (1 + exp(-x))` of every number.
pub(crate) fn sigmoid(x: &mut [f32]) {
    x.iter_mut().for_each(|x| *x = 1.0 / (1.0 + (-*x).exp()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two boards of three points with two channels.
    const X: [f32; 12] = [1.0, -1.0, 2.0, -3.0, 6.0, -2.0, 0.0, 0.0, 0.0, 3.0, 3.0, 0.0];

    #[test]
    fn means_and_maxima_are_of_each_board() {
        let mut y = [0.0; 8];
        pool(&X, 2, &mut y);
        assert_eq!(y, [3.0, -2.0, 6.0, -1.0, 1.0, 1.0, 3.0, 3.0]);
    }

    #[test]
    fn gates_are_of_each_board_and_channel() {
        let mut stream = [1.0; 12];
        add_gated(&X, &[0.5, 1.0, 2.0, -1.0], 2, &mut stream);
        assert_eq!(stream, [1.5, 0.0, 2.0, 0.0, 4.0, 0.0, 1.0, 1.0, 1.0, 0.0, 7.0, 1.0]);
        let mut x = [0.0; 12];
        add_to_points(&[1.0, 2.0, 3.0, 4.0], 2, &mut x);
        assert_eq!(x, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 3.0, 4.0]);
        let mut x = [0.0, 100.0, -100.0, 1.0];
        sigmoid(&mut x);
        assert_eq!(x, [0.5, 1.0, 0.0, 0.731_058_6]);
    }
}
