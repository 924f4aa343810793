//! `turnstone devices`: what networks can run on.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use turnstone_base::machine::cores;
use turnstone_models::{ComputeDevice, DeviceError, Gpu, Instructions, IntegerInstructions, gpus};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  turnstone devices
      the processor and the GPUs, with their names for configs and specs
  turnstone devices --json
      for a script")]
pub(crate) struct Devices {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

impl Devices {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let found = gpus();
        if self.json {
            println!("{}", serde_json::to_string(&list(&found))?);
            return Ok(ExitCode::SUCCESS);
        }
        let (floats, integers) = (Instructions::best(), IntegerInstructions::best());
        println!("cpu    {} cores; floats by {floats:?}, integers of eight bits by {integers:?}", cores());
        for (number, gpu) in found.iter().flatten().enumerate() {
            let half = gpu.half.map_or_else(|| "no floats of 16 bits".to_owned(), |half| half.to_string());
            let software = if gpu.is_software { "; software on the processor, for tests only" } else { "" };
            println!("gpu:{number}  {} by {}, {half}{software}", gpu.model, gpu.interface);
        }
        if let Err(none) = ComputeDevice::Gpu(0).check() {
            println!("gpu    {none}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The processor and the GPUs as scripts read them.
fn list(found: &Result<Vec<Gpu>, DeviceError>) -> Vec<Value> {
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
    std::iter::once(cpu).chain(found.iter().flatten().enumerate().map(gpu)).collect()
}
