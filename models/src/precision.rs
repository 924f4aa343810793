//! The arithmetic of inference, as specs and configs name it.

use turnstone_base::words;

use crate::device::ComputeDevice;
use crate::error::NetworkError;
use crate::inference::IntegerInstructions;

words! {
    /// Arithmetic of inference.
    pub enum Precision {
        /// Floats of 32 bits.
        F32 = "f32",
        /// Integers of eight bits; see [`QuantisedNetwork`](crate::QuantisedNetwork).
        I8 = "i8",
        /// `i8` on processors with instructions that make it faster, otherwise `f32`. On a GPU floats of 16 bits where it has
        /// them.
        Auto = "auto",
    }
}

impl Precision {
    /// Checks that networks can be computed on a device at this precision.
    ///
    /// # Errors
    /// The device has no such arithmetic, the program is built without GPUs, or there is no such GPU.
    pub fn check(self, device: ComputeDevice) -> Result<(), NetworkError> {
        match (self, device) {
            (Precision::I8, ComputeDevice::Gpu(_)) => Err(NetworkError::NoGpuIntegers),
            _ => Ok(device.check()?),
        }
    }

    /// Whether this processor computes with integers of eight bits at this precision.
    #[must_use]
    pub fn is_quantised(self) -> bool {
        match self {
            Precision::F32 => false,
            Precision::I8 => true,
            // NEON alone does about as many multiply-adds per instruction in floats.
            Precision::Auto => {
                !matches!(IntegerInstructions::best(), IntegerInstructions::Neon | IntegerInstructions::Portable)
            }
        }
    }

    /// The arithmetic of this processor at this precision, by its own name: never `auto`.
    #[must_use]
    pub fn resolved(self) -> Self {
        if self.is_quantised() { Precision::I8 } else { Precision::F32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_specs_and_configs() {
        for (name, quantised) in [("f32", Some(false)), ("i8", Some(true)), ("auto", None)] {
            let precision: Precision = name.parse().unwrap();
            assert_eq!(serde_json::to_string(&precision).unwrap(), format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<Precision>(&format!("\"{name}\"")).unwrap(), precision);
            let slow = [IntegerInstructions::Neon, IntegerInstructions::Portable];
            let fast = IntegerInstructions::available().any(|instructions| !slow.contains(&instructions));
            assert_eq!(precision.is_quantised(), quantised.unwrap_or(fast));
            let resolved = precision.resolved();
            assert_eq!(resolved == Precision::I8, quantised.unwrap_or(fast));
            assert_ne!(resolved, Precision::Auto);
        }
        for precision in [Precision::F32, Precision::I8, Precision::Auto] {
            assert_eq!(precision.check(ComputeDevice::Cpu), Ok(()));
        }
        let no_gpu = ComputeDevice::Gpu(1_000_000);
        assert_eq!(Precision::I8.check(no_gpu), Err(NetworkError::NoGpuIntegers));
        assert!(matches!(Precision::Auto.check(no_gpu), Err(NetworkError::Device(_))));
        assert_eq!("int8".parse::<Precision>().unwrap_err(), "must be f32, i8 or auto, not `int8`");
        assert_eq!(Precision::default(), Precision::F32);
    }
}
