//! Targets: what the heads of a network learn to predict. Policy and outcome are the first two; a program adds others.

use std::any::TypeId;
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};

use serde::Serialize;
use turnstone_agents::shape;
use turnstone_base::settings::{Given, Range, Value};
use turnstone_base::text::{advice, nearest};
use turnstone_env::{Outcome, Spec, Symmetry};
use turnstone_models::{HeadSpec, ILLEGAL, Objective, RowLoss};

pub use turnstone_models::{TargetShape, tensor};
pub use turnstone_selfplay::replay::{Position, Shard};

/// A target beside policy and outcome. [`register_target`] lets configs name it in `learn.targets`. Its head belongs to the
/// network in training only: checkpoints do not have it, and play costs nothing more.
pub trait Target: 'static {
    /// The name in configs, and of its loss in metrics: lower-case letters, digits and `_`.
    const NAME: &'static str;
    /// The numbers that its head gives.
    const SHAPE: TargetShape;
    /// Weight of its loss, 0 to 1000, where the config gives none. The losses of policy and outcome have 1.
    const WEIGHT: f64;

    /// Writes what the head should give in a position to a row of zeros. Returns `None` where that is not known: the position
    /// then does not teach this head.
    fn target(at: &Moment<'_>, row: &mut Row<'_>) -> Option<()>;

    /// The loss of each position, `[positions, 1]`, from the outputs of the head and what they should be, both `[positions,
    /// numbers]`: the mean squared error, unless the target has another. Each row must depend on itself alone, or results
    /// depend on the number of threads.
    fn loss(output: tensor::Tensor<2>, target: tensor::Tensor<2>) -> tensor::Tensor<2> {
        (output - target).square().mean_dim(1)
    }
}

/// How a row is written.
pub(crate) type Source = fn(&Moment<'_>, &mut Row<'_>) -> Option<()>;

/// A searched position of self-play, in its game.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) shard: &'a Shard,
    pub(crate) index: usize,
    pub(crate) root_value_share: f32,
}

impl<'a> Moment<'a> {
    /// The game.
    #[must_use]
    pub fn spec(&self) -> &'a Spec {
        self.spec
    }

    /// The position, with the result of its search and of its game. Features and policy are as its mover sees them, values
    /// are for the first side.
    #[must_use]
    pub fn now(&self) -> Position<'a> {
        self.shard.position(self.index)
    }

    /// The position of the game after some plies, as its own mover sees it; `None` if the game was over by then.
    #[must_use]
    pub fn later(&self, plies: u16) -> Option<Position<'a>> {
        let index = self.index + usize::from(plies);
        (plies < self.now().plies_left && index < self.shard.len()).then(|| self.shard.position(index))
    }

    /// The last position of the game that was searched, which its last move was made in.
    #[must_use]
    pub fn last(&self) -> Position<'a> {
        self.later(self.now().plies_left.saturating_sub(1)).unwrap_or_else(|| self.now())
    }
}

/// The numbers of a head for a position. They are written as its mover sees the board, and kept as a symmetry maps it.
#[derive(Debug)]
pub struct Row<'a> {
    numbers: &'a mut [f32],
    /// The place of each number, unless it is the same.
    images: Option<&'a [u16]>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(numbers: &'a mut [f32], shape: TargetShape, symmetry: &'a Symmetry) -> Self {
        let images = match shape {
            TargetShape::Points => Some(&symmetry.points[..]),
            TargetShape::Actions => Some(&symmetry.actions[..]),
            TargetShape::Scalar | TargetShape::Classes(_) => None,
        };
        Self { numbers, images }
    }

    /// Sets the number of a point, of an action by its index in the policy, or of a class; a scalar has the index 0.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn set(&mut self, index: usize, number: f32) {
        let place = self.images.map_or(index, |images| usize::from(images[index]));
        self.numbers[place] = number;
    }

    /// Sets all numbers.
    pub fn fill(&mut self, number: f32) {
        self.numbers.fill(number);
    }
}

/// The policy: the search's probability of each action.
pub(crate) fn policy(at: &Moment<'_>, row: &mut Row<'_>) -> Option<()> {
    let now = at.now();
    row.fill(ILLEGAL);
    now.policy_indices.iter().zip(now.policy).for_each(|(&index, &share)| row.set(usize::from(index), share));
    Some(())
}

/// The outcome: probabilities of win, draw and loss for the mover.
pub(crate) fn outcome(at: &Moment<'_>, row: &mut Row<'_>) -> Option<()> {
    let probabilities = value_target(&at.now(), at.root_value_share);
    probabilities.into_iter().enumerate().for_each(|(class, probability)| row.set(class, probability));
    Some(())
}

/// `(1 - root_share)` times the game's result plus `root_share` times the root evaluation of the search, for the mover.
pub(crate) fn value_target(position: &Position<'_>, root_share: f32) -> [f32; 3] {
    let result = Outcome::by_margin(position.result.into()).value_for(position.mover);
    let played = [1, 0, -1].map(|r| f32::from(u8::from(r == result)));
    let searched = position.root.win_draw_loss(position.mover);
    let sum: f32 = searched.iter().sum();
    std::array::from_fn(|i| (1.0 - root_share) * played[i] + root_share * searched[i] / sum)
}

/// What a target gives for a position of a shard, by point, action or class; `None` where it is not known. A test compares it
/// with the rules.
#[must_use]
pub fn target_of<T: Target>(spec: &Spec, shard: &Shard, index: usize) -> Option<Vec<f32>> {
    let mut numbers = vec![0.0; T::SHAPE.numbers(&shape(spec))];
    let at = Moment { spec, shard, index, root_value_share: 0.0 };
    T::target(&at, &mut Row::new(&mut numbers, T::SHAPE, &spec.symmetries[0])).map(|()| numbers)
}

/// A [`Target`] of any type.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: TypeId,
    name: &'static str,
    shape: TargetShape,
    weight: f64,
    source: Source,
    loss: RowLoss,
}

/// The targets that this program has added.
static ADDED: RwLock<Vec<Entry>> = RwLock::new(Vec::new());

/// Adds a target to those that configs can name in this program.
///
/// # Panics
/// If there is another target of this name, or the name has other characters than it may have.
pub fn register_target<T: Target>() {
    let plain = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_');
    assert!(!T::NAME.is_empty() && T::NAME.chars().all(plain), "`{}` is no name of a target", T::NAME);
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    let id = TypeId::of::<T>();
    let other = ["policy", "value"].contains(&T::NAME) || added.iter().any(|at| at.name == T::NAME && at.id != id);
    assert!(!other, "there is a target `{}` already", T::NAME);
    added.retain(|entry| entry.id != id);
    let (source, loss): (Source, RowLoss) = (T::target, T::loss);
    added.push(Entry { id, name: T::NAME, shape: T::SHAPE, weight: T::WEIGHT, source, loss });
}

/// A target as a config names it, `ownership`, or with a weight, `ownership:weight=0.2`.
#[derive(Clone, Debug, Serialize)]
#[serde(into = "String")]
pub struct TargetSpec {
    text: String,
    entry: Entry,
}

impl TargetSpec {
    /// The objective of its head.
    pub(crate) fn objective(&self) -> Objective {
        let Entry { name, shape, weight, loss, .. } = self.entry;
        Objective { head: HeadSpec { name: name.to_owned(), shape }, weight, loss }
    }

    /// How its rows are written.
    pub(crate) fn source(&self) -> (TargetShape, Source) {
        (self.entry.shape, self.entry.source)
    }
}

impl FromStr for TargetSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, weight) = text.split_once(":weight=").map_or((text, None), |(name, weight)| (name, Some(weight)));
        let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
        let Some(mut entry) = added.iter().find(|entry| entry.name == name).copied() else {
            let names: Vec<&str> = added.iter().map(|entry| entry.name).collect();
            let advice = advice(nearest(name, names.iter().copied()).as_deref(), &names);
            return Err(format!("unknown target `{name}`{advice}"));
        };
        if let Some(weight) = weight {
            let what = format!("the weight of `{name}`");
            let weight = weight.parse().map_err(|_| format!("{what} is {weight:?}, not a number"))?;
            entry.weight = Range::ANY.of(0..=1000).check(&what, weight)?;
        }
        Ok(Self { text: text.to_owned(), entry })
    }
}

impl Value for TargetSpec {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        given.text().map(str::parse).transpose()
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Text(self.text.clone()))
    }

    fn expected() -> String {
        "a target".to_owned()
    }
}

impl From<TargetSpec> for String {
    fn from(spec: TargetSpec) -> Self {
        spec.text
    }
}

impl PartialEq for TargetSpec {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_env::Side;
    use turnstone_search::Evaluation;

    fn position(mover: Side, result: i8) -> Position<'static> {
        Position {
            features: &[],
            policy_indices: &[],
            policy: &[],
            mover,
            root: Evaluation { value: 0.5, draw: 0.2 },
            result,
            margin: 12 * i16::from(result),
            plies_left: 30,
        }
    }

    #[test]
    fn value_targets_are_for_the_mover() {
        assert_eq!(value_target(&position(Side::First, 1), 0.0), [1.0, 0.0, 0.0]);
        assert_eq!(value_target(&position(Side::Second, 1), 0.0), [0.0, 0.0, 1.0]);
        assert_eq!(value_target(&position(Side::Second, 0), 0.0), [0.0, 1.0, 0.0]);
        let [win, draw, loss] = value_target(&position(Side::Second, -1), 1.0);
        assert!((win - 0.15).abs() < 1e-6 && (draw - 0.2).abs() < 1e-6 && (loss - 0.65).abs() < 1e-6);
    }

    struct Constant;

    impl Target for Constant {
        const NAME: &'static str = "constant";
        const SHAPE: TargetShape = TargetShape::Classes(2);
        const WEIGHT: f64 = 0.25;

        fn target(_: &Moment<'_>, row: &mut Row<'_>) -> Option<()> {
            row.set(1, 1.0);
            Some(())
        }
    }

    #[test]
    fn specs_name_a_target_and_its_weight() {
        register_target::<Constant>();
        let spec = |text: &str| text.parse::<TargetSpec>();
        let weight = |text: &str| spec(text).expect("valid").objective().weight;
        assert_eq!((weight("constant"), weight("constant:weight=3"), weight("constant:weight=0")), (0.25, 3.0, 0.0));
        let fault = |text: &str| spec(text).expect_err("a fault");
        assert_eq!(fault("constnt"), "unknown target `constnt` (did you mean `constant`?)");
        assert!(fault("ownership").starts_with("unknown target `ownership`; known are "), "{}", fault("ownership"));
        assert_eq!(fault("constant:weight=much"), "the weight of `constant` is \"much\", not a number");
        for weight in ["-1", "nan", "1001"] {
            let fault = fault(&format!("constant:weight={weight}"));
            assert!(fault.starts_with("the weight of `constant` is ") && fault.contains("from 0 to 1000"), "{fault}");
        }
    }
}
