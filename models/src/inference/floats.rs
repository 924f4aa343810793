//! A network of floats as passes.
//!
//! What is computed by point runs a few positions at a time, so that it stays in the cache. What is computed by position
//! and is not read by point again, as the heads are, then runs on the whole batch, so that its weights are read once.

use super::kernel::{Finish, Instructions};
use super::layer::Layer;
use super::passes::{CompiledNetwork, Input, Pass, Registers, Tables};
use crate::network::{Network, Op, Step, Var, fused};
use crate::weights::Weights;

/// Rows per pass.
const ROWS: usize = 192;

/// Compiles a network, with weights that have been checked.
pub(super) fn compile(network: &Network, weights: &Weights, instructions: Instructions) -> CompiledNetwork {
    let (near, whole) = divide(network);
    let mut compiler = Compiler::new(network, weights, instructions);
    compiler.note_reads(&near, 0, false);
    compiler.note_reads(&whole, near.len(), true);
    near.iter().enumerate().for_each(|(index, step)| compiler.add(index, step));
    let passes_near = compiler.passes.len();
    whole.iter().enumerate().for_each(|(index, step)| compiler.add(near.len() + index, step));
    let outputs = [network.policy(), network.value()].map(|var| match compiler.place(var) {
        Input::Slot(register) => register,
        Input::Observations => unreachable!("an output is the result of a pass"),
    });
    let Compiler { passes, registers, .. } = compiler;
    CompiledNetwork::new(network, Tables::new(network), (passes, passes_near), &registers, outputs, ROWS)
}

/// Divides the steps of a network: those by point and those that they read, and those by position after them. A step that
/// only gives a result another form is left out.
fn divide(network: &Network) -> (Vec<Step>, Vec<Step>) {
    let mut is_near: Vec<bool> = network.sizes.iter().map(|size| size[0] > 1).collect();
    for (index, op) in network.ops.iter().enumerate().rev() {
        if is_near[index] {
            op.reads().for_each(|var| is_near[var.0] = true);
        }
    }
    let computes = |step: &Step| !matches!(step, Step::Other { op: Op::Inputs | Op::Flatten { .. }, .. });
    fused(network).into_iter().filter(computes).partition(|step| is_near[step.output().0])
}

/// A network that is being compiled.
struct Compiler<'a> {
    network: &'a Network,
    weights: &'a Weights,
    instructions: Instructions,
    /// The step that reads each result last, by [`Var`] of what was computed.
    last_read: Vec<usize>,
    /// Whether each result is written or read by a step over the whole batch, or is an output.
    is_whole: Vec<bool>,
    /// The register of each result.
    of_vars: Vec<Option<usize>>,
    registers: Registers,
    passes: Vec<Pass>,
}

impl<'a> Compiler<'a> {
    fn new(network: &'a Network, weights: &'a Weights, instructions: Instructions) -> Compiler<'a> {
        let count = network.ops.len();
        let (mut last_read, mut is_whole) = (vec![0; count], vec![false; count]);
        for var in [network.policy(), network.value()].map(|var| network.computed(var)) {
            (last_read[var.0], is_whole[var.0]) = (usize::MAX, true);
        }
        let (registers, of_vars) = (Registers::default(), vec![None; count]);
        Compiler { network, weights, instructions, last_read, is_whole, of_vars, registers, passes: Vec::new() }
    }

    /// Notes what steps from number `first` on read and write.
    fn note_reads(&mut self, steps: &[Step], first: usize, whole: bool) {
        for (index, step) in (first..).zip(steps) {
            for var in step.reads() {
                let var = self.network.computed(var);
                self.last_read[var.0] = self.last_read[var.0].max(index);
                self.is_whole[var.0] |= whole;
            }
            self.is_whole[step.output().0] |= whole;
        }
    }

    fn place(&self, var: Var) -> Input {
        let var = self.network.computed(var);
        match self.network.ops[var.0] {
            Op::Inputs => Input::Observations,
            _ => Input::Slot(self.of_vars[var.0].expect("it is computed before it is read")),
        }
    }

    fn register(&mut self, var: Var) -> usize {
        let [rows, columns] = self.network.size(var);
        self.registers.numbers(rows * columns, self.is_whole[var.0])
    }

    /// Adds the passes of a step.
    fn add(&mut self, index: usize, step: &Step) {
        let output = step.output();
        let y = match *step {
            Step::Layer { x, layer, around, residual, relu, .. } => {
                let in_place = residual.and_then(|residual| self.in_place(index, residual, output, x));
                let y = in_place.unwrap_or_else(|| self.register(output));
                if let (Some(residual), None) = (residual, in_place) {
                    self.passes.push(Pass::Copy { x: self.place(residual), y });
                }
                let finish = Finish::of(residual.is_some(), relu);
                let boards = if around.is_some() { 1 } else { self.network.size(output)[0] };
                let layer = self.layer(layer, around);
                self.passes.push(Pass::Layer { layer, table: around, boards, finish, x: self.place(x), y });
                y
            }
            Step::Other { op: Op::Points, .. } => {
                let y = self.register(output);
                self.passes.push(Pass::Read { y });
                y
            }
            Step::Other { op, .. } => {
                let y = self.register(output);
                let mut reads = op.reads();
                let x = reads.next().expect("it reads a result");
                let other = reads.next().map(|other| (self.place(other), self.network.size(other)[0]));
                self.passes.push(Pass::Numbers { op, size: self.network.size(x), x: self.place(x), other, y });
                y
            }
        };
        self.of_vars[output.0] = Some(y);
    }

    fn layer(&self, layer: usize, around: Option<usize>) -> Layer {
        let [weight, bias] = self.weights.of_layer(layer);
        let mut layer = Layer::new(weight, bias, self.network.taps(around));
        layer.set_instructions(self.instructions);
        layer
    }

    /// The register of a residual that can become that of the sum: nothing reads it later, nor the layer itself.
    fn in_place(&self, index: usize, residual: Var, output: Var, x: Var) -> Option<usize> {
        let computed = self.network.computed(residual);
        let is_last = self.last_read[computed.0] == index && self.network.computed(x) != computed;
        let register = self.of_vars[computed.0]?;
        (is_last && self.is_whole[computed.0] == self.is_whole[output.0]).then_some(register)
    }
}
