//! Where the names of points are written: beside their points, clear of lines, stones and each other.

/// Clearance that is enough for a label, in user units; more earns nothing.
const CLEAR: f32 = 4.0;
/// Distances from a point's centre to its label's, in the order of preference, as parts of a stone's ring.
const DISTANCES: [f32; 6] = [1.4, 1.5, 1.6, 1.7, 1.8, 1.9];
/// Directions that are tried.
const DIRECTIONS: u8 = 32;

/// What labels keep away from, in user units.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    /// Straight lines.
    pub(crate) lines: Vec<[[f32; 2]; 2]>,
    /// Circular lines: centre and radius.
    pub(crate) circles: Vec<([f32; 2], f32)>,
    /// Centres of the points, on which stones may lie.
    pub(crate) points: Vec<[f32; 2]>,
    /// Radius of the ring around a marked stone.
    pub(crate) ring: f32,
}

/// A rectangle by its centre and half its width and height.
#[derive(Clone, Copy, Debug)]
struct Area {
    centre: [f32; 2],
    half: [f32; 2],
}

impl Drawing {
    /// The centres of the points' labels, for text of this size with these names.
    pub(crate) fn labels(&self, names: &[String], size: f32) -> Vec<[f32; 2]> {
        let mut placed: Vec<Area> = Vec::new();
        for (&point, name) in self.points.iter().zip(names) {
            let half = [0.31 * size * name.chars().count() as f32, 0.38 * size];
            let centre = self.label(point, half, &placed);
            placed.push(Area { centre, half });
        }
        placed.iter().map(|area| area.centre).collect()
    }

    /// The place with the most room up to [`CLEAR`]; among equals the nearest, then the outermost.
    fn label(&self, point: [f32; 2], half: [f32; 2], placed: &[Area]) -> [f32; 2] {
        let middle = self.middle();
        let here = Area { centre: point, half: [0.0; 2] };
        let lines: Vec<_> = self.lines.iter().copied().filter(|&line| here.to_line(line) < 4.0 * self.ring).collect();
        let candidates = DISTANCES.iter().enumerate().flat_map(|(rank, distance)| {
            (0..DIRECTIONS).map(move |k| {
                let angle = std::f32::consts::TAU * f32::from(k) / f32::from(DIRECTIONS);
                (rank, [angle.cos(), angle.sin()], distance * self.ring)
            })
        });
        let scored = candidates.map(|(rank, [dx, dy], distance)| {
            let centre = [point[0] + distance * dx, point[1] + distance * dy];
            let outward = dx * (point[0] - middle[0]) + dy * (point[1] - middle[1]);
            let room = self.room(Area { centre, half }, &lines, placed).min(CLEAR);
            // Directions decide among equals only: a board is some hundreds of units wide.
            (room - 0.3 * rank as f32 - 0.3 * self.doubt(point, centre) + outward / 1000.0, centre)
        });
        scored.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are candidates").1
    }

    fn middle(&self) -> [f32; 2] {
        let count = self.points.len() as f32;
        [0, 1].map(|axis| self.points.iter().map(|point| point[axis]).sum::<f32>() / count)
    }

    /// Ambiguity penalty, in user units: 0 if every other point is 1.33 times as far from the label as its own.
    fn doubt(&self, own: [f32; 2], label: [f32; 2]) -> f32 {
        let distance = |point: [f32; 2]| (point[0] - label[0]).hypot(point[1] - label[1]);
        let others = self.points.iter().filter(|&&point| point != own).map(|&point| distance(point));
        (1.33 * distance(own) - others.fold(f32::INFINITY, f32::min)).max(0.0)
    }

    /// Distance of an area from the nearest line, ring or label; 0 or less if it touches one.
    fn room(&self, area: Area, lines: &[[[f32; 2]; 2]], placed: &[Area]) -> f32 {
        let lines = lines.iter().map(|&line| area.to_line(line));
        let circles = self.circles.iter().map(|&(centre, radius)| area.to_circle(centre, radius));
        let stones = self.points.iter().map(|&point| area.to_point(point) - self.ring);
        let labels = placed.iter().map(|other| {
            let gap = [0, 1].map(|i| (area.centre[i] - other.centre[i]).abs() - area.half[i] - other.half[i]);
            gap[0].max(gap[1])
        });
        lines.chain(circles).chain(stones).chain(labels).fold(f32::INFINITY, f32::min)
    }
}

impl Area {
    fn corners(self) -> [[f32; 2]; 4] {
        [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
            .map(|sign| [0, 1].map(|i| self.centre[i] + sign[i] * self.half[i]))
    }

    fn to_point(self, point: [f32; 2]) -> f32 {
        let beyond = [0, 1].map(|i| ((point[i] - self.centre[i]).abs() - self.half[i]).max(0.0));
        beyond[0].hypot(beyond[1])
    }

    fn to_circle(self, centre: [f32; 2], radius: f32) -> f32 {
        let far = self.corners().map(|[x, y]| (x - centre[0]).hypot(y - centre[1])).into_iter().fold(0.0, f32::max);
        (self.to_point(centre) - radius).max(radius - far).max(0.0)
    }

    /// Distance from a segment: 0 if they meet, else between a corner and the segment or an end and the area.
    fn to_line(self, [from, to]: [[f32; 2]; 2]) -> f32 {
        if self.meets([from, to]) {
            return 0.0;
        }
        let along = [to[0] - from[0], to[1] - from[1]];
        let length = along[0] * along[0] + along[1] * along[1];
        let corners = self.corners().map(|corner| {
            let dot = (corner[0] - from[0]) * along[0] + (corner[1] - from[1]) * along[1];
            let t = if length > 0.0 { (dot / length).clamp(0.0, 1.0) } else { 0.0 };
            (from[0] + t * along[0] - corner[0]).hypot(from[1] + t * along[1] - corner[1])
        });
        let ends = [from, to].map(|end| self.to_point(end));
        corners.into_iter().chain(ends).fold(f32::INFINITY, f32::min)
    }

    /// Whether a segment has a point in the area (Liang and Barsky's clipping).
    fn meets(self, [from, to]: [[f32; 2]; 2]) -> bool {
        let (mut enter, mut leave) = (0.0f32, 1.0f32);
        for axis in [0, 1] {
            let (start, step) = (from[axis] - self.centre[axis], to[axis] - from[axis]);
            if step == 0.0 {
                if start.abs() > self.half[axis] {
                    return false;
                }
                continue;
            }
            let [a, b] = [-self.half[axis], self.half[axis]].map(|side| (side - start) / step);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        enter <= leave
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: Area = Area { centre: [10.0, 20.0], half: [4.0, 2.0] };

    #[test]
    fn distances_of_an_area() {
        assert_eq!(SQUARE.to_point([10.0, 20.0]), 0.0);
        assert_eq!(SQUARE.to_point([17.0, 26.0]), 5.0); // 3 to the right, 4 below
        assert_eq!(SQUARE.to_line([[0.0, 20.0], [30.0, 20.0]]), 0.0);
        assert_eq!(SQUARE.to_line([[0.0, 25.0], [30.0, 25.0]]), 3.0);
        assert_eq!(SQUARE.to_line([[0.0, 20.0], [3.0, 20.0]]), 3.0);
        assert!((SQUARE.to_line([[14.0, 26.0], [18.0, 22.0]]) - 8f32.sqrt()).abs() < 1e-5); // falling line at a corner
        assert_eq!(SQUARE.to_circle([10.0, 20.0], 9.0), 9.0 - 20f32.sqrt());
        assert_eq!(SQUARE.to_circle([10.0, 30.0], 5.0), 3.0);
        assert_eq!(SQUARE.to_circle([10.0, 30.0], 9.0), 0.0);
    }

    #[test]
    fn a_label_takes_the_free_quarter() {
        let at = [100.0, 100.0];
        let ends = [[200.0, 100.0], [0.0, 100.0], [100.0, 0.0]];
        let drawing =
            Drawing { lines: ends.map(|end| [at, end]).to_vec(), circles: vec![], points: vec![at], ring: 20.0 };
        let label = drawing.labels(&["a1".into()], 19.0)[0];
        assert!(label[1] > 120.0, "{label:?}");
    }
}
