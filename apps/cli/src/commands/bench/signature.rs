//! `turnstone bench signature`: one checksum per part of the program, which detects changes of behaviour.
//!
//! Where the bits of a part depend on more than the code, its key says on what: the kernels' rounding (`fused` where a
//! multiply-add rounds once, `portable` where it rounds twice), and the target, whose mathematical library computes `exp`
//! and `ln`.

mod digest;
mod expected;
mod games;
mod networks;
mod searches;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use turnstone_models::{Finish, Instructions, Layer};

use self::digest::Digest;
use self::expected::{Expected, Line};

#[derive(Args, Debug)]
pub(crate) struct Signature {
    /// Compare with the checksums in this file, and fail if any differs
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

impl Signature {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let expected = self.check.as_deref().map(Expected::read).transpose()?;
        let machine = Machine::this();
        let mut lines = Vec::new();
        for (key, compute) in parts(&machine) {
            let value = compute.map(|compute| compute()).transpose()?.map(|digest| digest.value());
            println!("{key} {}", value.map_or_else(|| "-".to_owned(), |value| format!("{value:08x}")));
            lines.push(Line { key, value });
        }
        let Some(expected) = expected else { return Ok(ExitCode::SUCCESS) };
        let comparison = expected.compare(&lines);
        comparison.notes.iter().for_each(|line| println!("{line}"));
        Ok(if comparison.differs { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

type Compute = Box<dyn FnOnce() -> Result<Digest>>;

/// All parts by key. The function is absent where this machine cannot compute the part.
fn parts(machine: &Machine) -> Vec<(String, Option<Compute>)> {
    let Machine { kernel, math } = machine;
    let mut parts: Vec<(String, Option<Compute>)> = Vec::new();
    let mut add = |key: String, compute: Compute| parts.push((key, Some(compute)));
    add("rules".into(), Box::new(games::rules));
    add("alpha_beta".into(), Box::new(games::alpha_beta));
    add("puct".into(), Box::new(searches::puct));
    add(format!("gumbel.{math}"), Box::new(searches::gumbel));
    add(format!("puct_network.{math}"), Box::new(searches::puct_network));
    add(format!("gumbel_network.{math}"), Box::new(searches::gumbel_network));
    add(format!("self_play.{math}"), Box::new(|| networks::self_play(2)));
    add(format!("learner.{math}"), Box::new(networks::learner));
    for rounding in ["portable", "fused"] {
        let instructions = kernel.iter().find(|(_, of)| *of == rounding).map(|(instructions, _)| *instructions);
        let compute = instructions.map(|instructions| Box::new(move || networks::inference(instructions)) as Compute);
        parts.push((format!("inference.{rounding}"), compute));
    }
    parts.push(("inference_i8".into(), Some(Box::new(networks::integer_inference))));
    parts
}

/// What the checksums of this machine depend on.
struct Machine {
    /// The available instruction sets, best first, with the rounding of each.
    kernel: Vec<(Instructions, &'static str)>,
    /// The target, and the rounding of the best instruction set.
    math: String,
}

impl Machine {
    fn this() -> Self {
        let kernel: Vec<_> = Instructions::available().map(|i| (i, rounding(i))).collect();
        let library = [cfg!(target_env = "gnu"), cfg!(target_env = "musl"), cfg!(target_env = "msvc")];
        let library =
            ["-gnu", "-musl", "-msvc"].into_iter().zip(library).find(|(_, is)| *is).map_or("", |(name, _)| name);
        let target = format!("{}-{}{library}", std::env::consts::ARCH, std::env::consts::OS);
        Self { math: format!("{target}.{}", kernel[0].1), kernel }
    }
}

/// Determines how the kernel of these instructions rounds: the last bit of `(1 + 2^-12)^2 - 1` is lost if the product
/// is rounded before the addition.
fn rounding(instructions: Instructions) -> &'static str {
    let x = 1.0 + f32::EPSILON * 2048.0;
    let mut layer = Layer::new(&[x], &[-1.0], 1);
    layer.set_instructions(instructions);
    let mut y = [0.0];
    layer.apply(1, &[x], &mut y, Finish::Plain);
    if y[0] == x * x - 1.0 { "portable" } else { "fused" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_roundings_are_told_apart() {
        for (instructions, name) in Machine::this().kernel {
            let fused =
                cfg!(any(target_feature = "fma", target_arch = "aarch64")) || instructions != Instructions::Portable;
            assert_eq!(name, if fused { "fused" } else { "portable" }, "{instructions:?}");
        }
    }

    #[test]
    fn self_play_does_not_depend_on_the_number_of_threads() {
        let value = |threads| networks::self_play(threads).expect("sound").value();
        assert_eq!(value(1), value(3));
    }
}
