//! The devices that networks run on: this processor, and GPUs if the program is built for them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use turnstone_base::settings::{Given, Value};

/// A device, as configs and specs name it: `cpu`, `gpu` or `gpu:1`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ComputeDevice {
    /// This processor, with our kernels.
    #[default]
    Cpu,
    /// A GPU by its number in the list of [`gpus`](crate::gpus), through burn; `gpu` is the first.
    Gpu(usize),
}

/// A GPU that this program can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// Its model, as the driver names it.
    pub model: String,
    /// What it is reached through.
    pub interface: GpuInterface,
    /// Whether it is a program on the processor that stands for a GPU, such as Mesa's lavapipe: for tests only.
    pub is_software: bool,
    /// Its floats of 16 bits, if it computes with them.
    pub half: Option<HalfFloat>,
}

/// An interface to GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuInterface {
    /// NVIDIA's CUDA.
    Cuda,
    /// Vulkan, Metal or DirectX 12, whichever the system has, through wgpu.
    Wgpu,
}

/// Floats of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfFloat {
    /// 5 bits of exponent, 10 of mantissa.
    F16,
    /// 8 bits of exponent, 7 of mantissa.
    Bf16,
}

/// Why a GPU cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The program has been built without GPUs.
    #[error(
        "this program is built for the processor only: for GPUs build it with `--features wgpu` (Vulkan, Metal, DirectX 12) \
         or `--features cuda` (NVIDIA)"
    )]
    NotBuilt,
    /// No GPU is found.
    #[error("no GPU is found: install its driver ({0}), then see `turnstone doctor --devices`")]
    None(&'static str),
    /// There are fewer GPUs.
    #[error("there is no gpu:{asked}: the last one is gpu:{last}; see `turnstone doctor --devices`")]
    OutOfRange {
        /// The number asked for.
        asked: usize,
        /// The greatest number.
        last: usize,
    },
    /// The GPU or its driver failed.
    #[error("the GPU failed: {0}")]
    Failed(String),
}

impl fmt::Display for ComputeDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComputeDevice::Cpu => write!(f, "cpu"),
            ComputeDevice::Gpu(0) => write!(f, "gpu"),
            ComputeDevice::Gpu(number) => write!(f, "gpu:{number}"),
        }
    }
}

impl FromStr for ComputeDevice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| digits)
        };
        let found = match text {
            "cpu" => Some(ComputeDevice::Cpu),
            "gpu" => Some(ComputeDevice::Gpu(0)),
            _ => text.strip_prefix("gpu:").and_then(number).map(ComputeDevice::Gpu),
        };
        found.ok_or_else(|| format!("must be {}, not `{text}`", Self::expected()))
    }
}

impl Value for ComputeDevice {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        Ok(given.text().and_then(|text| text.parse().ok()))
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Text(self.to_string()))
    }

    fn expected() -> String {
        "cpu, gpu or gpu:1 and the like".to_owned()
    }
}

impl TryFrom<String> for ComputeDevice {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ComputeDevice> for String {
    fn from(device: ComputeDevice) -> Self {
        device.to_string()
    }
}

impl fmt::Display for GpuInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GpuInterface::Cuda => "cuda",
            GpuInterface::Wgpu => "wgpu",
        })
    }
}

impl fmt::Display for HalfFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HalfFloat::F16 => "f16",
            HalfFloat::Bf16 => "bf16",
        })
    }
}

/// The GPU of this number.
pub(crate) fn find<T>(all: &[T], number: usize) -> Result<&T, DeviceError> {
    match (all.get(number), all.len().checked_sub(1)) {
        (Some(gpu), _) => Ok(gpu),
        (None, Some(last)) => Err(DeviceError::OutOfRange { asked: number, last }),
        (None, None) => Err(DeviceError::None(ADVICE)),
    }
}

/// Advice on what to install for a GPU.
const ADVICE: &str = match (cfg!(feature = "wgpu"), cfg!(feature = "cuda")) {
    (false, _) => "CUDA needs that of NVIDIA",
    _ if cfg!(target_os = "linux") => "Vulkan needs libvulkan1 and mesa-vulkan-drivers or that of the vendor",
    _ => "that of the vendor",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_specs_and_configs() {
        for (name, device) in
            [("cpu", ComputeDevice::Cpu), ("gpu", ComputeDevice::Gpu(0)), ("gpu:3", ComputeDevice::Gpu(3))]
        {
            assert_eq!(name.parse::<ComputeDevice>().as_ref(), Ok(&device));
            assert_eq!(serde_json::to_string(&device).unwrap(), format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<ComputeDevice>(&format!("\"{name}\"")).unwrap(), device);
        }
        assert_eq!("gpu:0".parse(), Ok(ComputeDevice::Gpu(0)));
        for name in ["", "cuda", "GPU", "gpu:", "gpu:-1", "gpu:+1", "gpu:1 ", "gpu:99999999999999999999"] {
            let fault = name.parse::<ComputeDevice>().unwrap_err();
            assert_eq!(fault, format!("must be cpu, gpu or gpu:1 and the like, not `{name}`"));
        }
    }

    #[test]
    fn a_missing_gpu_is_named() {
        assert_eq!(find(&['a', 'b'], 1), Ok(&'b'));
        let fault = find(&['a', 'b'], 2).unwrap_err().to_string();
        assert_eq!(fault, "there is no gpu:2: the last one is gpu:1; see `turnstone doctor --devices`");
        assert!(find::<char>(&[], 0).unwrap_err().to_string().starts_with("no GPU is found: install its driver"));
    }
}
