//! What networks can run on: the processor, and GPUs if the program is built for them.

use serde_json::{Value, json};
use turnstone_base::machine::cores;
use turnstone_models::{ComputeDevice, Gpu, Instructions, IntegerInstructions, gpus};

/// The processor and the GPUs with the names that configs and specs use, one a line.
pub(super) fn text() -> String {
    let (floats, integers) = (Instructions::best(), IntegerInstructions::best());
    let mut lines =
        vec![format!("cpu    {} cores; floats by {floats:?}, integers of eight bits by {integers:?}", cores())];
    for (number, gpu) in gpus().iter().flatten().enumerate() {
        let half = gpu.half.map_or_else(|| "no floats of 16 bits".to_owned(), |half| half.to_string());
        let software = if gpu.is_software { "; software on the processor, for tests only" } else { "" };
        lines.push(format!("gpu:{number}  {} by {}, {half}{software}", gpu.model, gpu.interface));
    }
    if let Err(none) = ComputeDevice::Gpu(0).check() {
        lines.push(format!("gpu    {none}"));
    }
    lines.join("\n")
}

/// The processor and the GPUs for scripts, as an array.
pub(super) fn json() -> Value {
    let cpu = json!({ "device": "cpu", "cores": cores(), "instructions": format!("{:?}", Instructions::best()) });
    let gpu = |(number, gpu): (usize, &Gpu)| {
        json!({
            "device": ComputeDevice::Gpu(number).to_string(),
            "model": gpu.model,
            "interface": gpu.interface.to_string(),
            "software": gpu.is_software,
            "half": gpu.half.map(|half| half.to_string()),
        })
    };
    std::iter::once(cpu).chain(gpus().iter().flatten().enumerate().map(gpu)).collect()
}
