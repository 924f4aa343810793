//! Parameters on the host: named `f32` tensors in a fixed order, the form in which all parts of the crate exchange them.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Name, shape and initial distribution of one tensor of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorSpec {
    /// Dotted name, as in `blocks.0.first.weight`.
    pub name: String,
    /// Length of each axis: `[in, out]` for a matrix, `[out]` for a bias.
    pub shape: Vec<usize>,
    /// Standard deviation of the initial values, which are drawn from a normal distribution with mean 0; all zeros if 0.
    pub deviation: f64,
}

impl TensorSpec {
    /// Number of elements.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A tensor with its name. The length of `data` is the product of `shape`.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTensor {
    /// Dotted name, as in `policy.bias`.
    pub name: String,
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The elements, row-major.
    pub data: Vec<f32>,
}

/// The parameters of one network, in the order of its layout.
///
/// A linear layer is a matrix `<name>.weight` of shape `[in, out]`, row-major, and a vector `<name>.bias` of
/// shape `[out]`, with `y = x W + b` for a row `x`. This is burn's layout; PyTorch's `nn.Linear` stores the transpose
/// `[out, in]`.
///
/// Two `Weights` are equal if names, shapes and elements are; as always with floats, `0.0 == -0.0`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights {
    tensors: Vec<NamedTensor>,
}

/// Why tensors are not the parameters of a given network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// A tensor of the layout is missing.
    #[error("tensor `{0}` is missing")]
    Missing(String),
    /// A tensor is not part of the layout, or occurs twice.
    #[error("tensor `{0}` does not belong to this network")]
    Unexpected(String),
    /// The shape of a tensor differs from that of the layout, or its number of elements from its shape.
    #[error("tensor `{name}` has shape {found:?}, not {expected:?}")]
    Shape {
        /// The tensor's name.
        name: String,
        /// The shape found.
        found: Vec<usize>,
        /// The shape in the layout.
        expected: Vec<usize>,
    },
    /// A tensor contains an infinity or a NaN.
    #[error("tensor `{0}` holds a number that is not finite")]
    NotFinite(String),
}

impl Weights {
    /// Draws initial parameters, tensor by tensor in the order of `layout`. Equal seeds give equal parameters.
    pub fn random(layout: &[TensorSpec], seed: u64) -> Weights {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draw = |spec: &TensorSpec| -> Vec<f32> {
            if spec.deviation == 0.0 {
                return vec![0.0; spec.count()];
            }
            let normal = StandardNormal.sample_iter(&mut rng);
            normal.take(spec.count()).map(|z: f64| (z * spec.deviation) as f32).collect()
        };
        let tensor =
            |spec: &TensorSpec| NamedTensor { name: spec.name.clone(), shape: spec.shape.clone(), data: draw(spec) };
        Weights { tensors: layout.iter().map(tensor).collect() }
    }

    /// Sorts `tensors`, given in any order, into the order of `layout` and checks them.
    ///
    /// # Errors
    /// A tensor is missing, unexpected, of another shape, or contains a NaN or an infinity.
    pub fn new(layout: &[TensorSpec], mut tensors: Vec<NamedTensor>) -> Result<Weights, WeightsError> {
        let mut ordered = Vec::with_capacity(layout.len());
        for spec in layout {
            let found = tensors.iter().position(|tensor| tensor.name == spec.name);
            let index = found.ok_or_else(|| WeightsError::Missing(spec.name.clone()))?;
            ordered.push(tensors.remove(index));
        }
        if let Some(tensor) = tensors.into_iter().next() {
            return Err(WeightsError::Unexpected(tensor.name));
        }
        let weights = Weights { tensors: ordered };
        weights.check(layout)?;
        Ok(weights)
    }

    /// Checks that these are finite parameters of the network with this `layout`.
    ///
    /// # Errors
    /// As for [`Weights::new`].
    pub fn check(&self, layout: &[TensorSpec]) -> Result<(), WeightsError> {
        for (tensor, spec) in self.tensors.iter().zip(layout) {
            if tensor.name != spec.name {
                return Err(WeightsError::Missing(spec.name.clone()));
            }
            if tensor.shape != spec.shape || tensor.data.len() != spec.count() {
                let (found, expected) = (tensor.shape.clone(), spec.shape.clone());
                return Err(WeightsError::Shape { name: spec.name.clone(), found, expected });
            }
            if !tensor.data.iter().all(|x| x.is_finite()) {
                return Err(WeightsError::NotFinite(spec.name.clone()));
            }
        }
        match (self.tensors.get(layout.len()), layout.get(self.tensors.len())) {
            (Some(extra), _) => Err(WeightsError::Unexpected(extra.name.clone())),
            (_, Some(missing)) => Err(WeightsError::Missing(missing.name.clone())),
            (None, None) => Ok(()),
        }
    }

    /// Tensors of the same names and shapes, all zeros.
    pub fn zeros_like(&self) -> Weights {
        let mut zeros = self.clone();
        zeros.tensors.iter_mut().for_each(|tensor| tensor.data.fill(0.0));
        zeros
    }

    /// The tensors in the order of the network's layout.
    pub fn tensors(&self) -> &[NamedTensor] {
        &self.tensors
    }

    /// Matrix and bias of the layer of this index, if these are the parameters of a network.
    pub(crate) fn of_layer(&self, index: usize) -> [&[f32]; 2] {
        [2 * index, 2 * index + 1].map(|tensor| &self.tensors[tensor].data[..])
    }

    /// The tensor of this name, if there is one.
    pub fn get(&self, name: &str) -> Option<&NamedTensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Number of elements of all tensors.
    pub fn count(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.data.len()).sum()
    }
}

#[cfg(feature = "train")]
impl Weights {
    /// Adds tensors with the same names and shapes, in order.
    pub(crate) fn add_all(&mut self, others: &[&Weights]) {
        /// Numbers that stay in the nearest cache while those of all others are added.
        const NEAR: usize = 2048;
        for (index, tensor) in self.tensors.iter_mut().enumerate() {
            for (chunk, sums) in tensor.data.chunks_mut(NEAR).enumerate() {
                for other in others {
                    let numbers = &other.tensors[index].data[chunk * NEAR..];
                    sums.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += x);
                }
            }
        }
    }

    /// The tensors for changes in place. Names and shapes must not change.
    pub(crate) fn tensors_mut(&mut self) -> &mut [NamedTensor] {
        &mut self.tensors
    }

    /// [`Weights::of_layer`] for changes in place.
    pub(crate) fn of_layer_mut(&mut self, index: usize) -> [&mut [f32]; 2] {
        let [matrix, bias] = &mut self.tensors[2 * index..][..2] else { unreachable!("a matrix and a bias") };
        [&mut matrix.data, &mut bias.data]
    }

    /// The tensors in the order of the network's layout, owned.
    pub(crate) fn into_tensors(self) -> Vec<NamedTensor> {
        self.tensors
    }

    /// Adds tensors at the end.
    pub(crate) fn append(&mut self, tensors: Vec<NamedTensor>) {
        self.tensors.extend(tensors);
    }

    /// Wraps tensors that are known to follow a layout.
    pub(crate) fn from_ordered(tensors: Vec<NamedTensor>) -> Weights {
        Weights { tensors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Vec<TensorSpec> {
        let spec =
            |name: &str, shape: &[usize], deviation| TensorSpec { name: name.into(), shape: shape.into(), deviation };
        vec![spec("a.weight", &[300, 40], 0.5), spec("a.bias", &[40], 0.0), spec("b.weight", &[40, 2], 2.0)]
    }

    #[test]
    fn the_seed_decides_the_weights() {
        let weights = Weights::random(&layout(), 3);
        assert_eq!(weights, Weights::random(&layout(), 3));
        assert_ne!(weights, Weights::random(&layout(), 4));
        let a = &weights.get("a.weight").unwrap().data;
        let variance = a.iter().map(|x| f64::from(x * x)).sum::<f64>() / a.len() as f64;
        assert!((variance.sqrt() - 0.5).abs() < 0.02, "deviation {}", variance.sqrt());
        assert!(weights.get("a.bias").unwrap().data.iter().all(|&x| x == 0.0));
        assert_eq!(weights.count(), 300 * 40 + 40 + 80);
    }

    #[test]
    fn tensors_are_put_in_order_and_faults_are_named() {
        let weights = Weights::random(&layout(), 3);
        let mut tensors = weights.tensors().to_vec();
        tensors.reverse();
        assert_eq!(Weights::new(&layout(), tensors.clone()), Ok(weights));

        let error = |change: &dyn Fn(&mut Vec<NamedTensor>)| {
            let mut changed = tensors.clone();
            change(&mut changed);
            Weights::new(&layout(), changed).unwrap_err().to_string()
        };
        assert_eq!(error(&|t| t.truncate(2)), "tensor `a.weight` is missing");
        assert_eq!(error(&|t| t.push(t[0].clone())), "tensor `b.weight` does not belong to this network");
        assert_eq!(error(&|t| t[1].shape = vec![5, 8]), "tensor `a.bias` has shape [5, 8], not [40]");
        assert_eq!(error(&|t| t[1].data[7] = f32::NAN), "tensor `a.bias` holds a number that is not finite");
    }
}
