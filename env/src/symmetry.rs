//! Board symmetries as permutations of points and of the actions that follow from them.

/// A symmetry of a game: `points[p]` is the image of point `p`, `actions[a]` the image of action `a`.
///
/// Playing commutes with it: the image of the state after `a` is the state after `actions[a]` in the image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symmetry {
    /// Image of each point.
    pub points: Vec<u16>,
    /// Image of each action.
    pub actions: Vec<u16>,
    /// How many planes of a feature vector hold a number per point.
    pub planes: usize,
}

impl Symmetry {
    /// The symmetry that changes nothing.
    #[must_use]
    pub fn identity(points: usize, actions: usize, planes: usize) -> Self {
        Self { points: (0..points as u16).collect(), actions: (0..actions as u16).collect(), planes }
    }

    /// Moves the per-point planes of a feature vector (see [`Spec`](crate::Spec)) to their images; the scalars behind
    /// them stay. Both slices are `[features]` long.
    pub fn apply_to_features(&self, features: &[f32], image: &mut [f32]) {
        let points = self.points.len();
        image.copy_from_slice(features);
        for plane in (0..self.planes * points).step_by(points) {
            for (p, &to) in self.points.iter().enumerate() {
                image[plane + to as usize] = features[plane + p];
            }
        }
    }
}

impl Symmetry {
    /// The image of what is on each point.
    #[must_use]
    pub fn image<T: Copy, const POINTS: usize>(&self, on: &[T; POINTS]) -> [T; POINTS] {
        let mut image = *on;
        self.points.iter().zip(on).for_each(|(&to, &there)| image[usize::from(to)] = there);
        image
    }

    /// The image of a set of points, point `p` at bit `p`.
    #[must_use]
    pub fn image_of_set(&self, mut set: u64) -> u64 {
        let mut image = 0;
        while set != 0 {
            image |= 1 << self.points[set.trailing_zeros() as usize];
            set &= set - 1;
        }
        image
    }
}

/// All permutations of `0..points` that map every line of `lines` onto a line (lines are unordered sets of points).
/// Identity first, then in lexicographic order: the automorphism group of a board drawn as lines.
#[must_use]
pub fn automorphisms(points: usize, lines: &[Vec<u16>]) -> Vec<Vec<u16>> {
    let sorted = |line: &[u16]| {
        let mut line = line.to_vec();
        line.sort_unstable();
        line
    };
    let all: std::collections::BTreeSet<Vec<u16>> = lines.iter().map(|line| sorted(line)).collect();
    // A line can be checked as soon as its last point has an image.
    let mut closing = vec![Vec::new(); points];
    for line in &all {
        closing[*line.last().expect("a line has points") as usize].push(line.clone());
    }
    let mut found = Vec::new();
    let mut image = Vec::with_capacity(points);
    extend(points, &closing, &all, &mut image, &mut found);
    found
}

fn extend(
    points: usize,
    closing: &[Vec<Vec<u16>>],
    all: &std::collections::BTreeSet<Vec<u16>>,
    image: &mut Vec<u16>,
    found: &mut Vec<Vec<u16>>,
) {
    let next = image.len();
    if next == points {
        found.push(image.clone());
        return;
    }
    for candidate in (0..points as u16).filter(|c| !image.contains(c)).collect::<Vec<_>>() {
        image.push(candidate);
        let holds = closing[next].iter().all(|line| {
            let mut mapped: Vec<u16> = line.iter().map(|&p| image[p as usize]).collect();
            mapped.sort_unstable();
            all.contains(&mapped)
        });
        if holds {
            extend(points, closing, all, image, found);
        }
        image.pop();
    }
}
