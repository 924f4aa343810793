//! The list of GPUs, and inference on one of them. Batches are submitted and read later, so that several can be in flight.

use crate::device::{ComputeDevice, DeviceError, Gpu, find};
use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::network::OUTCOMES;
use crate::precision::Precision;
use crate::shape::Shape;
use crate::weights::Weights;

#[cfg(feature = "gpu")]
use crate::train::gpu::{Network, Running};

/// Without GPUs there is no such network.
#[cfg(not(feature = "gpu"))]
mod absent {
    #[derive(Debug)]
    pub(super) enum Network {}
    #[derive(Debug)]
    pub(super) struct Running;
}
#[cfg(not(feature = "gpu"))]
use self::absent::{Network, Running};

/// The GPUs that this program can use, in the order of their numbers: those of CUDA first, software last.
///
/// # Errors
/// The program is built without GPUs.
pub fn gpus() -> Result<Vec<Gpu>, DeviceError> {
    #[cfg(feature = "gpu")]
    return Ok(crate::train::gpus());
    #[cfg(not(feature = "gpu"))]
    return Err(DeviceError::NotBuilt);
}

impl ComputeDevice {
    /// Checks that the device can be used.
    ///
    /// # Errors
    /// The program is built without GPUs, or there is no such GPU.
    pub fn check(self) -> Result<(), DeviceError> {
        match self {
            ComputeDevice::Cpu => Ok(()),
            ComputeDevice::Gpu(number) => find(&gpus()?, number).map(drop),
        }
    }
}

/// A network on a GPU. Its results differ from those of [`Inference`](crate::Inference) by rounding, and may differ in the
/// last bits with the size of the batch.
#[derive(Debug)]
pub struct GpuInference {
    shape: Shape,
    max_batch: usize,
    network: Network,
}

/// A batch in flight.
#[derive(Debug)]
pub struct GpuBatch {
    rows: usize,
    running: Running,
}

/// The outputs for each row of a batch, as in [`Predictions`](crate::Predictions).
#[derive(Debug, Clone, PartialEq)]
pub struct GpuPredictions {
    /// Logits of all actions, legal or not, `[batch, actions]`.
    pub policy: Vec<f32>,
    /// Logits of win, draw and loss for the mover, `[batch, 3]`.
    pub value: Vec<f32>,
}

impl GpuInference {
    /// Copies `weights` to the GPU of this number, for batches of up to `max_batch` rows. With [`Precision::Auto`] it
    /// computes with floats of 16 bits if it has them.
    ///
    /// # Errors
    /// There is no such GPU, the program is built without GPUs, the precision is `i8`, a size is out of range, or the weights
    /// are not those of the network.
    ///
    /// # Panics
    /// If `max_batch` is zero.
    pub fn new(
        weights: &Weights,
        config: &NetworkConfig,
        shape: &Shape,
        number: usize,
        precision: Precision,
        max_batch: usize,
    ) -> Result<GpuInference, NetworkError> {
        assert!(max_batch > 0, "an inference engine needs room for at least one row");
        weights.check(&config.layout(shape)?)?;
        if precision == Precision::I8 {
            return Err(NetworkError::NoGpuIntegers);
        }
        #[cfg(feature = "gpu")]
        {
            let network = Network::new(weights, config, shape, number, precision == Precision::Auto)?;
            Ok(GpuInference { shape: shape.clone(), max_batch, network })
        }
        #[cfg(not(feature = "gpu"))]
        {
            let _ = number;
            Err(DeviceError::NotBuilt.into())
        }
    }

    /// Submits observations `[rows, inputs]` and returns before the GPU has evaluated them. Rows of zeros pad them to a power of
    /// two, so that kernels are compiled for few shapes.
    ///
    /// # Panics
    /// If there are no rows, or the length of `inputs` is not `rows` times the number of inputs.
    pub fn begin(&self, rows: usize, mut inputs: Vec<f32>) -> GpuBatch {
        assert!(rows > 0 && rows <= self.max_batch, "a batch of {rows} rows, but there is room for {}", self.max_batch);
        assert_eq!(inputs.len(), rows * self.shape.inputs, "{rows} rows of {} inputs", self.shape.inputs);
        let padded = Self::padded(rows);
        inputs.resize(padded * self.shape.inputs, 0.0);
        GpuBatch { rows, running: self.network.begin(padded, inputs) }
    }

    /// Waits for the outputs of a batch.
    ///
    /// # Errors
    /// The GPU failed.
    pub fn finish(&self, batch: GpuBatch) -> Result<GpuPredictions, DeviceError> {
        let GpuBatch { rows, running } = batch;
        let (mut policy, mut value) = self.network.finish(running)?;
        policy.truncate(rows * self.shape.actions);
        value.truncate(rows * OUTCOMES);
        Ok(GpuPredictions { policy, value })
    }

    /// Evaluates observations `[rows, inputs]`.
    ///
    /// # Errors
    /// The GPU failed.
    ///
    /// # Panics
    /// As for [`GpuInference::begin`].
    pub fn evaluate(&self, rows: usize, inputs: &[f32]) -> Result<GpuPredictions, DeviceError> {
        self.finish(self.begin(rows, inputs.to_vec()))
    }

    /// Evaluates zeros in batches of every size that batches are padded to, so that later ones find their kernels compiled.
    ///
    /// # Errors
    /// The GPU failed.
    pub fn warm_up(&self) -> Result<(), DeviceError> {
        let inputs = vec![0.0; self.max_batch * self.shape.inputs];
        for padded in padded_sizes(self.max_batch) {
            let rows = padded.min(self.max_batch);
            self.evaluate(rows, &inputs[..rows * self.shape.inputs])?;
        }
        Ok(())
    }

    /// Number of rows that a batch of `rows` rows is padded to.
    fn padded(rows: usize) -> usize {
        rows.next_power_of_two().max(SMALLEST_BATCH)
    }

    /// Shape of the game.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Maximum number of rows per batch.
    pub fn max_batch(&self) -> usize {
        self.max_batch
    }
}

/// The numbers of rows that batches of up to `most` rows are padded to.
fn padded_sizes(most: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(SMALLEST_BATCH), move |&size| (size < most).then_some(2 * size))
}

/// Fewer rows are not faster.
const SMALLEST_BATCH: usize = 8;

#[cfg(not(feature = "gpu"))]
impl Network {
    fn begin(&self, _: usize, _: Vec<f32>) -> Running {
        match *self {}
    }

    fn finish(&self, _: Running) -> Result<(Vec<f32>, Vec<f32>), DeviceError> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_that_batches_are_padded_to_is_warmed_up() {
        for most in [1, 7, 8, 9, 24, 64, 65] {
            let sizes: Vec<usize> = padded_sizes(most).collect();
            let mut expected: Vec<usize> = (1..=most).map(GpuInference::padded).collect();
            expected.dedup();
            assert_eq!(sizes, expected, "up to {most} rows");
        }
        assert_eq!([1, 8, 9, 300].map(GpuInference::padded), [8, 8, 16, 512]);
    }

    #[test]
    fn a_build_without_gpus_says_how_to_get_them() {
        assert_eq!(ComputeDevice::Cpu.check(), Ok(()));
        if gpus().is_ok() {
            // A build with GPUs; `tests/gpu.rs` is for it.
            return;
        }
        assert_eq!(ComputeDevice::Gpu(0).check(), Err(DeviceError::NotBuilt));
        let (shape, network) = (Shape::flat(4, 3), NetworkConfig::default());
        let weights = Weights::random(&network.layout(&shape).unwrap(), 1);
        let fault = |precision| GpuInference::new(&weights, &network, &shape, 0, precision, 1).unwrap_err();
        assert_eq!(fault(Precision::I8), NetworkError::NoGpuIntegers);
        let fault = fault(Precision::F32).to_string();
        assert!(fault.contains("--features wgpu") && !fault.contains('\n'), "{fault}");
    }
}
