//! The shape of a game ([`Spec`]): planes, points, actions, symmetries.

use crate::action::Action;
use crate::outcome::Outcome;
use crate::side::Side;
use crate::symmetry::Symmetry;

/// The shape of a game with its parameters: all that a network, a replay record or a drawing needs to know of it.
///
/// A state is observed as a vector of *features* `[point_planes * points + scalars]`: first the planes that hold a
/// number per point, each `[points]` long, then the scalars. [`Spec::expand`] turns it into the full tensor
/// `[planes, height, width]`, where a scalar fills a plane of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Spec {
    /// The game's name, by which commands, configs and checkpoints call it.
    pub name: &'static str,
    /// Raised when rules, action indices or planes change meaning; old replays and checkpoints are refused by it.
    pub version: u32,
    /// Number of points (cells, pits) of the board.
    pub points: usize,
    /// Height and width of the lattice that the board is laid on.
    pub lattice: [usize; 2],
    /// Lattice cell (`row * width + column`) of each point; cells that are no point stay zero.
    pub cells: Vec<u16>,
    /// The lines of the board: for each direction, the next point in it from every point, `None` where the line ends.
    /// Going on in one direction follows one line of the board, a ring round and round; no two points have the same
    /// next point in a direction, and none is its own. Symmetries keep the lines, though they may turn their
    /// directions. Empty where the points lie on no lines.
    pub directions: Vec<Vec<Option<u16>>>,
    /// Names of the planes that hold a number per point.
    pub point_planes: Vec<String>,
    /// Names of the planes that are constant over the board.
    pub scalars: Vec<String>,
    /// The least and the greatest number that a feature can be; neither exceeds [`Spec::MAX_FEATURE`] in size.
    pub bounds: [f32; 2],
    /// Number of actions.
    pub actions: usize,
    /// The blocks that the actions are numbered in: names, and how many actions each has. An action that is played at no
    /// point, such as a pass, has a block of its own.
    pub blocks: Vec<(&'static str, usize)>,
    /// The board's symmetries, the identity first.
    pub symmetries: Vec<Symmetry>,
    /// Where the players act on different points (the pits of Mancala) or in opposite directions (Breakthrough): for each
    /// action, the action that it becomes when the board is turned so that the second player sits in the first player's
    /// place. A network then sees both players' actions under the same indices, as it sees both players' features from
    /// the mover's side. `None` where an action means the same for both players (placing a stone on a point), or
    /// where actions are numbered as the mover sees the board. Its own inverse.
    pub second_player_map: Option<Vec<u16>>,
    /// The planes of points that have a 1 where the mover's pieces are, and where the opponent's are; `None` where no two
    /// planes say that. The default drawing shows these pieces.
    pub piece_planes: Option<[usize; 2]>,
    /// The players' names, that of the first side first.
    pub sides: [&'static str; 2],
    /// Those of [`Rules::params`](crate::Rules::params) that end a game after a number of plies; 0 switches each of them off.
    /// Exact values are those of the game without such limits ([`without_limits`](crate::without_limits)).
    pub ply_limits: Vec<&'static str>,
    /// Whether [`Outcome::margin`] counts half points, as where a komi of 6.5 decides a game of Go: 13 is then 6.5 points.
    pub half_points: bool,
    /// Whether games can end in a draw. Proofs in a search of a game without draws take half the work.
    pub draws: bool,
}

impl Spec {
    /// Most actions of a game: indices have 16 bits, and the greatest one stands for no action.
    pub const MAX_ACTIONS: usize = u16::MAX as usize - 1;

    /// Greatest size of a feature, far above what a network can learn from: good ones are around 1.
    pub const MAX_FEATURE: f32 = 1e6;

    /// The spec of a game whose points are all cells of its lattice, row by row from the top left,
    /// with these planes of points and this many actions in one block; with draws, without scalars, directions, symmetries
    /// but the identity, limits of plies, and bounds of the features but [`Spec::MAX_FEATURE`]. Fields that are different
    /// are replaced:
    ///
    /// ```
    /// # use turnstone_env::Spec;
    /// let planes = ["own stones", "opponent's stones"];
    /// let scalars = vec!["removal due".into()];
    /// let spec = Spec { scalars, piece_planes: Some([0, 1]), ..Spec::new("my_game", 1, [6, 6], &planes, 108) };
    /// assert_eq!((spec.points, spec.features()), (36, 73));
    /// ```
    #[must_use]
    pub fn new(name: &'static str, version: u32, lattice: [usize; 2], point_planes: &[&str], actions: usize) -> Self {
        let points = lattice[0] * lattice[1];
        Self {
            name,
            version,
            points,
            lattice,
            cells: (0..points as u16).collect(),
            directions: Vec::new(),
            point_planes: point_planes.iter().map(|&name| name.to_owned()).collect(),
            scalars: Vec::new(),
            bounds: [-Self::MAX_FEATURE, Self::MAX_FEATURE],
            actions,
            blocks: vec![("ACTION", actions)],
            symmetries: vec![Symmetry::identity(points, actions, point_planes.len())],
            second_player_map: None,
            piece_planes: None,
            sides: ["player 1", "player 2"],
            ply_limits: Vec::new(),
            half_points: false,
            draws: true,
        }
    }

    /// A side's name as a sentence begins with it, without what stands in parentheses: `Dark`.
    #[must_use]
    pub fn side_name(&self, side: Side) -> String {
        let name = self.sides[side.index()];
        let name = name.split(" (").next().unwrap_or(name);
        let mut letters = name.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// Who is to move, or how the game ended, with the players' names.
    #[must_use]
    pub fn status(&self, outcome: Option<Outcome>, mover: Side) -> String {
        let Some(outcome) = outcome else { return format!("{} to move", self.sides[mover.index()]) };
        let points = f32::from(outcome.margin.unsigned_abs()) / if self.half_points { 2.0 } else { 1.0 };
        match outcome.winner {
            Some(winner) if points == 0.0 => format!("{} has won", self.sides[winner.index()]),
            Some(winner) => format!("{} has won by {points}", self.sides[winner.index()]),
            None if outcome.truncated => "drawn by the limit of plies".to_owned(),
            None => "drawn".to_owned(),
        }
    }

    /// Length of a feature vector.
    #[must_use]
    pub fn features(&self) -> usize {
        self.point_planes.len() * self.points + self.scalars.len()
    }

    /// Number of planes of the full tensor.
    #[must_use]
    pub fn planes(&self) -> usize {
        self.point_planes.len() + self.scalars.len()
    }

    /// Length of the full tensor `[planes, height, width]`.
    #[must_use]
    pub fn tensor_len(&self) -> usize {
        self.planes() * self.lattice[0] * self.lattice[1]
    }

    /// The action's index in a policy vector, which is seen by the mover as the features are: the two players' sides
    /// of a turned board share their indices. Its own inverse.
    #[must_use]
    pub fn policy_index(&self, mover: Side, action: Action) -> usize {
        match (&self.second_player_map, mover) {
            (Some(turned), Side::Second) => turned[action.index()] as usize,
            _ => action.index(),
        }
    }

    /// The points of an action by the block that it belongs to: one in a block with as many actions as points, two in a block
    /// with an action for every ordered pair of points, or of different points; none in other blocks.
    #[must_use]
    pub fn points_of(&self, action: Action) -> Vec<usize> {
        let mut index = action.index();
        for &(_, length) in &self.blocks {
            if index < length {
                let points = self.points;
                return if length == points {
                    vec![index]
                } else if length == points * points {
                    vec![index / points, index % points]
                } else if length == points * (points - 1) {
                    let (from, rest) = (index / (points - 1), index % (points - 1));
                    vec![from, rest + usize::from(rest >= from)]
                } else {
                    Vec::new()
                };
            }
            index -= length;
        }
        Vec::new()
    }

    /// Spreads a feature vector over the full tensor `[planes, height, width]`.
    ///
    /// # Panics
    /// If the slices do not have the lengths [`Spec::features`] and [`Spec::tensor_len`].
    pub fn expand(&self, features: &[f32], tensor: &mut [f32]) {
        assert_eq!(features.len(), self.features(), "feature vector length");
        assert_eq!(tensor.len(), self.tensor_len(), "observation tensor length");
        let area = self.lattice[0] * self.lattice[1];
        let (per_point, scalars) = features.split_at(self.point_planes.len() * self.points);
        let (point_planes, scalar_planes) = tensor.split_at_mut(self.point_planes.len() * area);
        point_planes.fill(0.0);
        for (plane, values) in point_planes.chunks_exact_mut(area).zip(per_point.chunks_exact(self.points)) {
            for (&cell, &value) in self.cells.iter().zip(values) {
                plane[cell as usize] = value;
            }
        }
        for (plane, &value) in scalar_planes.chunks_exact_mut(area).zip(scalars) {
            plane.fill(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_at_points_and_of_pairs_have_their_points() {
        let blocks = vec![("PLACE", 3), ("MOVE", 6), ("PASS", 1), ("LEAP", 9)];
        let spec = Spec { blocks, ..Spec::new("hops", 1, [1, 3], &[], 19) };
        let points = |action| spec.points_of(Action(action));
        assert_eq!([0, 2].map(points), [[0], [2]]);
        let moved = [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]];
        assert!((3..9).map(points).eq(moved), "between different points");
        assert!(points(9).is_empty() && points(19).is_empty());
        assert_eq!([10, 13, 18].map(points), [[0, 0], [1, 0], [2, 2]]);
    }

    #[test]
    fn results_name_the_winner_and_the_points() {
        let spec = Spec { sides: ["black", "white"], ..Spec::new("go", 1, [9, 9], &[], 82) };
        let halves = Spec { half_points: true, ..spec.clone() };
        let by = |margin| Some(Outcome::by_margin(margin));
        assert_eq!(spec.status(None, Side::Second), "white to move");
        assert_eq!(spec.status(Some(Outcome::win(Side::First)), Side::Second), "black has won");
        assert_eq!(spec.status(by(-3), Side::First), "white has won by 3");
        assert_eq!(halves.status(by(-13), Side::First), "white has won by 6.5");
        assert_eq!(halves.status(by(4), Side::First), "black has won by 2");
        assert_eq!(spec.status(by(0), Side::First), "drawn");
        assert_eq!(spec.status(Some(Outcome::truncation()), Side::First), "drawn by the limit of plies");
    }
}
