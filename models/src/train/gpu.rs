//! GPUs through burn: which there are, and a network on one of them.

use std::sync::OnceLock;

use burn::tensor::{Device, DeviceType, FloatDType, Tensor, TensorData};

use super::network::PolicyValueNet;
use crate::device::{DeviceError, Gpu, GpuInterface, HalfFloat, find};
use crate::error::NetworkError;
use crate::kinds::NetworkConfig;
use crate::shape::Shape;
use crate::weights::Weights;

/// The GPUs with their devices in burn, found once.
fn devices() -> &'static [(Gpu, Device)] {
    static DEVICES: OnceLock<Vec<(Gpu, Device)>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let mut all = Vec::new();
        #[cfg(feature = "cuda")]
        all.extend(Device::enumerate(DeviceType::Cuda).into_iter().map(|device| describe(GpuInterface::Cuda, device)));
        #[cfg(feature = "wgpu")]
        all.extend(Device::enumerate(DeviceType::Wgpu).into_iter().map(|device| describe(GpuInterface::Wgpu, device)));
        all.sort_by_key(|(gpu, _)| gpu.is_software);
        all
    })
}

fn describe(interface: GpuInterface, device: Device) -> (Gpu, Device) {
    let identity = device.identity();
    let halves = [(FloatDType::BF16, HalfFloat::Bf16), (FloatDType::F16, HalfFloat::F16)];
    let half = halves.into_iter().find(|&(float, _)| device.supports_dtype(float)).map(|(_, half)| half);
    let gpu = Gpu {
        model: identity.as_ref().map_or_else(|| "unknown".to_owned(), |identity| identity.name.clone()),
        interface,
        is_software: interface == GpuInterface::Wgpu && identity.is_none_or(|identity| identity.physical.is_none()),
        half,
    };
    (gpu, device)
}

/// The GPUs, in the order of their numbers.
pub(crate) fn gpus() -> Vec<Gpu> {
    devices().iter().map(|(gpu, _)| gpu.clone()).collect()
}

/// The device in burn of the GPU of this number.
pub(super) fn burn_device(number: usize) -> Result<Device, DeviceError> {
    find(devices(), number).map(|(_, device)| device.clone())
}

/// A network on a GPU.
#[derive(Debug)]
pub(crate) struct Network {
    net: PolicyValueNet,
    device: Device,
    inputs: usize,
    float: FloatDType,
}

/// Policy and value of a batch, which the GPU may still be computing.
#[derive(Debug)]
pub(crate) struct Running {
    policy: Tensor<2>,
    value: Tensor<2>,
}

impl Network {
    /// Copies weights that have been checked. `half` asks for floats of 16 bits, if the GPU has them.
    pub(crate) fn new(
        weights: &Weights,
        config: &NetworkConfig,
        shape: &Shape,
        number: usize,
        half: bool,
    ) -> Result<Network, NetworkError> {
        let (gpu, device) = find(devices(), number)?;
        let float = match gpu.half.filter(|_| half) {
            Some(HalfFloat::Bf16) => FloatDType::BF16,
            Some(HalfFloat::F16) => FloatDType::F16,
            None => FloatDType::F32,
        };
        let net = PolicyValueNet::new(config, shape, weights, device)?.with_floats(float);
        Ok(Network { net, device: device.clone(), inputs: shape.inputs, float })
    }

    /// Hands a batch over.
    pub(crate) fn begin(&self, rows: usize, inputs: Vec<f32>) -> Running {
        let inputs = Tensor::<2>::from_data(TensorData::new(inputs, [rows, self.inputs]), &self.device);
        let output = self.net.forward(inputs.cast(self.float));
        let running =
            Running { policy: output.policy.cast(FloatDType::F32), value: output.value.cast(FloatDType::F32) };
        // An error shows again when the outputs are read.
        let _ = self.device.flush();
        running
    }

    /// Waits for the outputs.
    pub(crate) fn finish(&self, running: Running) -> Result<(Vec<f32>, Vec<f32>), DeviceError> {
        Ok((read(running.policy)?, read(running.value)?))
    }
}

/// Copies a tensor to the host, row-major.
pub(super) fn read<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, DeviceError> {
    let data = tensor.try_into_data().map_err(|error| DeviceError::Failed(one_line(&format!("{error:?}"))))?;
    data.try_into_vec().map_err(|error| DeviceError::Failed(one_line(&format!("{error:?}"))))
}

/// The first line of a driver's report, without the rest.
fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
