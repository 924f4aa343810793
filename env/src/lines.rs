//! The lines of a board as [`Spec::directions`](crate::Spec::directions): for each direction, every point's next point.

/// One direction from its steps, pairs of a point and the next one: for each of `points` points the next one in this
/// direction, `None` where the line ends.
///
/// # Panics
/// If a step begins at a point that is not below `points`.
#[must_use]
pub fn direction(points: usize, steps: impl IntoIterator<Item = (usize, usize)>) -> Vec<Option<u16>> {
    let mut next = vec![None; points];
    for (from, to) in steps {
        next[from] = Some(to as u16);
    }
    next
}

/// The two directions round a ring: as its points are given, and back.
#[must_use]
pub fn both_ways(points: usize, ring: &[usize]) -> [Vec<Option<u16>>; 2] {
    let steps = || ring.iter().copied().zip(ring.iter().copied().cycle().skip(1));
    [direction(points, steps()), direction(points, steps().map(|(from, to)| (to, from)))]
}
