//! Quantisation of a network step by step: each step's results for samples decide the steps of the next one's inputs.
//!
//! The samples pass through the layers that are quantised already. So the steps depend on nothing that differs between
//! processors, and later layers see the errors of earlier ones.

use std::ops::Range;

use super::super::integer::{Destination, IntegerInstructions, IntegerLayer, Steps};
use super::super::numbers::compute;
use super::super::passes::{CompiledNetwork, Input, Pass, Registers, Tables, Written, pack, packed_size, split};
use super::plan::{Plan, To};
use crate::network::{Network, Op, Step, Var};
use crate::weights::Weights;

/// A result: its values for the samples, and where passes find it.
#[derive(Debug, Clone, Default)]
struct Shown {
    /// Its numbers for all samples, and their register.
    numbers: Option<(Vec<f32>, Input)>,
    bytes: Option<Bytes>,
    /// Whether no number is negative, whatever the observation.
    is_rectified: bool,
    /// Whether it is the observation.
    is_observed: bool,
}

/// Bytes of a result for all samples.
#[derive(Debug, Clone)]
struct Bytes {
    data: Vec<u8>,
    steps: Steps,
    /// Bytes per row.
    stride: usize,
    /// The columns that are those of the result.
    columns: Range<usize>,
    register: usize,
}

/// A network that is being quantised.
pub(super) struct Calibration<'a> {
    network: &'a Network,
    weights: &'a Weights,
    samples: &'a [f32],
    plan: Plan,
    shown: Vec<Shown>,
    tables: Tables,
    passes: Vec<Pass>,
    registers: Registers,
}

/// A layer of the network: its index, its input, its result, and the table of neighbours that it reads.
#[derive(Clone, Copy)]
struct Linear {
    layer: usize,
    x: Var,
    y: Var,
    around: Option<usize>,
}

impl<'a> Calibration<'a> {
    pub(super) fn new(network: &'a Network, weights: &'a Weights, samples: &'a [f32]) -> Calibration<'a> {
        let mut calibration = Calibration {
            network,
            weights,
            samples,
            plan: Plan::new(network),
            shown: vec![Shown::default(); network.ops.len()],
            tables: Tables::new(network),
            passes: Vec::new(),
            registers: Registers::default(),
        };
        let last_reads = calibration.plan.last_reads();
        for index in 0..calibration.plan.steps.len() {
            calibration.add(index);
            // What is not read again is not kept.
            for (shown, _) in calibration.shown.iter_mut().zip(&last_reads).filter(|(_, last)| **last == index) {
                *shown = Shown::default();
            }
        }
        calibration
    }

    /// The quantised network. `rows` rows pass through it together.
    pub(super) fn finish(self, rows: usize) -> CompiledNetwork {
        let outputs = [self.network.policy(), self.network.value()].map(|var| match self.shown[var.0].numbers {
            Some((_, Input::Slot(register))) => register,
            _ => unreachable!("an output is the result of a layer"),
        });
        let near = self.passes.len();
        CompiledNetwork::new(self.network, self.tables, (self.passes, near), &self.registers, outputs, rows)
    }

    fn positions(&self) -> usize {
        self.samples.len() / self.network.shape.inputs
    }

    fn add(&mut self, index: usize) {
        match self.plan.steps[index] {
            // It was computed together with an earlier one.
            Step::Layer { y, .. } if self.shown[y.0].bytes.is_some() => {}
            Step::Layer { y, x, layer, around, residual, relu } => {
                let together = self.plan.together(self.network, index);
                if together.len() > 1 {
                    return self.add_together(x, &together);
                }
                let linear = Linear { layer, x, y, around };
                match self.plan.to(y, residual, relu) {
                    To::Numbers => self.add_sum(linear, residual, relu),
                    to => self.add_rectified(linear, to),
                }
            }
            Step::Other { y, op: Op::Inputs } => {
                let numbers = Some((self.samples.to_vec(), Input::Observations));
                self.shown[y.0] = Shown { numbers, is_observed: true, ..Shown::default() };
            }
            Step::Other { y, op: Op::Points } => {
                let mut features = vec![0.0; self.positions() * self.count(y)];
                self.tables.reader.read(self.samples, &mut features);
                let register = self.registers.numbers(self.count(y), false);
                self.passes.push(Pass::Read { y: register });
                let numbers = Some((features, Input::Slot(register)));
                self.shown[y.0] = Shown { numbers, is_observed: true, ..Shown::default() };
            }
            Step::Other { y, op: Op::Flatten { x } } => self.add_flatten(y, x),
            Step::Other { y, op } => self.add_numbers(y, op),
        }
    }

    /// Numbers per position.
    fn count(&self, var: Var) -> usize {
        self.network.size(var).iter().product()
    }

    fn is_output(&self, var: Var) -> bool {
        let computed = |var| self.network.computed(var);
        [self.network.policy(), self.network.value()].map(computed).contains(&computed(var))
    }

    fn add_numbers(&mut self, y: Var, op: Op) {
        let mut reads = op.reads();
        let x = reads.next().expect("it reads a result");
        let other = reads.next();
        let size = self.network.size(x);
        let mut result = vec![0.0; self.positions() * self.count(y)];
        let of = |var: Var| self.shown[var.0].numbers.as_ref().expect("numbers were planned");
        let (x_numbers, x_place) = of(x);
        let other_shown = other.map(|other| (of(other), self.network.size(other)[0]));
        let other_numbers = other_shown.map_or((&[][..], 0), |((numbers, _), rows)| (&numbers[..], rows));
        compute(&op, size, x_numbers, other_numbers, &mut result);
        let (x, other) = (*x_place, other_shown.map(|((_, place), rows)| (*place, rows)));
        let is_rectified = matches!(op, Op::Relu { .. });
        let register = self.registers.numbers(self.count(y), self.is_output(y));
        self.passes.push(Pass::Numbers { op, size, x, other, y: register });
        self.shown[y.0] = Shown { numbers: Some((result, Input::Slot(register))), is_rectified, ..Shown::default() };
    }

    fn add_flatten(&mut self, y: Var, x: Var) {
        let Shown { is_rectified, is_observed, .. } = self.shown[x.0];
        let numbers = self.shown[x.0].numbers.clone().filter(|_| self.plan.numbers[y.0]);
        let bytes = self.plan.bytes[y.0].then(|| {
            let rows = self.network.size(x)[0];
            let Bytes { data, steps, stride, columns, register } = self.bytes_of(x).clone();
            let size = packed_size(rows * columns.len());
            let mut packed = vec![0; self.positions() * size];
            pack(&data, stride, &columns, rows, &mut packed);
            let to = self.registers.bytes(size);
            self.passes.push(Pass::Pack { x: register, stride, columns: columns.clone(), rows, y: to });
            let steps = steps.part(columns).repeated(rows);
            Bytes { data: packed, columns: 0..steps.width(), steps, stride: size, register: to }
        });
        self.shown[y.0] = Shown { numbers, bytes, is_rectified, is_observed };
    }

    /// The bytes of a result, made of its numbers if there are none yet.
    fn bytes_of(&mut self, var: Var) -> &Bytes {
        if self.shown[var.0].bytes.is_none() {
            let Shown { numbers, is_rectified, is_observed, .. } = &self.shown[var.0];
            let (numbers, place) = numbers.as_ref().expect("numbers or bytes were planned");
            let [rows, width] = self.network.size(var);
            let steps = match (is_observed, is_rectified) {
                (true, _) => Steps::of_inputs(numbers, width),
                (_, true) => Steps::of_activations(numbers, width),
                _ => Steps::of_signed(numbers, width),
            };
            let (place, data) = (*place, quantised(&steps, numbers));
            self.shown[var.0].bytes = Some(self.quantise(place, rows, steps, data));
        }
        self.shown[var.0].bytes.as_ref().expect("they have just been made")
    }

    /// Adds the pass that makes bytes of numbers.
    fn quantise(&mut self, x: Input, rows: usize, steps: Steps, data: Vec<u8>) -> Bytes {
        let (stride, columns) = (steps.stride(), 0..steps.width());
        let register = self.registers.bytes(rows * stride);
        self.passes.push(Pass::Quantise { x, steps: steps.clone(), y: register });
        Bytes { data, steps, stride, columns, register }
    }

    /// The bytes that a layer reads, and its matrix. A layer over neighbours, some of which are missing, needs bytes in which 0
    /// means 0: each column of both signs becomes two columns.
    fn read_by(&mut self, Linear { layer, x, around, .. }: Linear) -> (Bytes, Vec<f32>) {
        let bytes = self.bytes_of(x).clone();
        let [weight, _] = self.weights.of_layer(layer);
        let zeros = bytes.steps.zeros();
        let signed: Vec<usize> = (0..zeros.len()).filter(|&column| zeros[column] != 0).collect();
        if around.is_none() || signed.is_empty() {
            return (bytes, weight.to_vec());
        }
        let (numbers, place) = self.shown[x.0].numbers.as_ref().expect("what has both signs has numbers");
        let ([rows, width], place) = (self.network.size(x), *place);
        let wide = width + signed.len();
        let mut parts = vec![0.0; numbers.len() / width * wide];
        split(numbers, width, &signed, &mut parts);
        let steps = match self.shown[x.0].is_observed {
            true => Steps::of_inputs(&parts, wide),
            false => Steps::of_activations(&parts, wide),
        };
        let register = self.registers.numbers(rows * wide, false);
        self.passes.push(Pass::Split { x: place, width, signed: signed.clone(), y: register });
        let data = quantised(&steps, &parts);
        let bytes = self.quantise(Input::Slot(register), rows, steps, data);
        let outputs = self.network.layers[layer].outputs;
        let of_taps = weight.chunks_exact(width * outputs);
        let weight = of_taps.flat_map(|tap| {
            let negative = signed.iter().flat_map(|&column| tap[column * outputs..][..outputs].iter().map(|w| -w));
            tap.iter().copied().chain(negative).collect::<Vec<f32>>()
        });
        (bytes, weight.collect())
    }

    fn add_together(&mut self, x: Var, layers: &[(usize, Var)]) {
        let bytes = self.bytes_of(x).clone();
        let parameters: Vec<_> = layers.iter().map(|&(layer, _)| self.weights.of_layer(layer)).collect();
        let [rows, inputs] = self.network.size(x);
        let row = |input: usize| {
            parameters.iter().flat_map(move |[weight, bias]| &weight[input * bias.len()..][..bias.len()]).copied()
        };
        let weight: Vec<f32> = (0..inputs).flat_map(row).collect();
        let bias = parameters.iter().map(|[_, bias]| *bias).collect::<Vec<_>>().concat();
        let mut layer = IntegerLayer::new(&weight, &bias, 1, &bytes.steps);
        let numbers = rectified(self.numbers(&layer, &bytes, rows, None));
        let steps = Steps::of_activations(&numbers, bias.len());
        let data = quantised(&steps, &numbers);
        layer.write_bytes(&steps);
        let stride = layer.stride();
        let register = self.registers.bytes(rows * stride);
        self.push(layer, None, rows, bytes.register, Written::Bytes(register));
        let mut first = 0;
        for &(layer, y) in layers {
            let columns = first..first + self.network.layers[layer].outputs;
            first = columns.end;
            let bytes = Bytes { data: data.clone(), steps: steps.clone(), stride, columns, register };
            self.shown[y.0] = Shown { bytes: Some(bytes), is_rectified: true, ..Shown::default() };
        }
    }

    fn push(&mut self, layer: IntegerLayer, table: Option<usize>, rows: usize, x: usize, to: Written) {
        let boards = if table.is_some() { 1 } else { rows };
        self.passes.push(Pass::IntegerLayer { layer, table, boards, x, to });
    }

    /// The layer on the bytes that it reads, and its outputs for all samples.
    fn layer(&mut self, linear: Linear) -> (IntegerLayer, Bytes, Vec<f32>) {
        let (bytes, weight) = self.read_by(linear);
        let [_, bias] = self.weights.of_layer(linear.layer);
        let layer = IntegerLayer::new(&weight, bias, self.network.taps(linear.around), &bytes.steps);
        let numbers = self.numbers(&layer, &bytes, self.network.size(linear.y)[0], linear.around);
        (layer, bytes, numbers)
    }

    /// The outputs of a layer with `rows` rows per position, for all samples.
    fn numbers(&self, layer: &IntegerLayer, x: &Bytes, rows: usize, around: Option<usize>) -> Vec<f32> {
        let (rows, table) = (self.positions() * rows, self.tables.neighbours(around));
        let mut numbers = vec![0.0; rows * layer.outputs()];
        let to = Destination::Numbers(&mut numbers);
        layer.apply(IntegerInstructions::best(), rows / table.points(), table, &x.data, to);
        numbers
    }

    /// A layer with a ReLU whose bytes are wanted, and maybe its stream.
    fn add_rectified(&mut self, linear: Linear, to: To) {
        let (mut layer, x, mut sums) = self.layer(linear);
        let Linear { y, around, .. } = linear;
        let ([rows, width], stride) = (self.network.size(y), layer.stride());
        let stream = match to {
            To::Residual(before) => {
                let Some((before, Input::Slot(register))) = self.shown[before.0].numbers.take() else {
                    unreachable!("a stream has a register")
                };
                sums.iter_mut().zip(before).for_each(|(sum, before)| *sum += before);
                Some(register)
            }
            To::Start => Some(self.registers.numbers(rows * stride, false)),
            To::Bytes | To::Numbers => None,
        };
        let sums = rectified(sums);
        let steps = Steps::of_activations(&sums, width);
        let data = quantised(&steps, &sums);
        let bytes = self.registers.bytes(rows * stride);
        let written = match (to, stream) {
            (To::Residual(_), Some(stream)) => Written::Residual { stream, bytes },
            (_, Some(stream)) => Written::Start { stream, bytes },
            (_, None) => Written::Bytes(bytes),
        };
        match stream {
            Some(_) => layer.write_stream(&steps),
            None => layer.write_bytes(&steps),
        }
        self.push(layer, around, rows, x.register, written);
        let numbers = stream.map(|stream| (sums, Input::Slot(stream)));
        let bytes = Some(Bytes { data, steps, stride, columns: 0..width, register: bytes });
        self.shown[y.0] = Shown { numbers, bytes, is_rectified: true, is_observed: false };
    }

    /// A layer whose numbers are wanted.
    fn add_sum(&mut self, linear: Linear, residual: Option<Var>, relu: bool) {
        let (layer, x, sums) = self.layer(linear);
        let Linear { y, around, .. } = linear;
        let plain = residual.is_none() && !relu;
        let register = self.registers.numbers(self.count(y), plain && self.is_output(y));
        self.push(layer, around, self.network.size(y)[0], x.register, Written::Numbers(register));
        self.shown[y.0] = Shown { numbers: Some((sums, Input::Slot(register))), ..Shown::default() };
        // The rest is computed on numbers: `y` is first the layer's result, then the sum, then what the ReLU leaves of it.
        if let Some(residual) = residual {
            self.add_numbers(y, Op::Add { x: y, y: residual });
        }
        if relu {
            self.add_numbers(y, Op::Relu { x: y });
        }
    }
}

/// The bytes of numbers.
fn quantised(steps: &Steps, numbers: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; numbers.len() / steps.width() * steps.stride()];
    steps.quantise(IntegerInstructions::best(), numbers, &mut bytes);
    bytes
}

fn rectified(mut numbers: Vec<f32>) -> Vec<f32> {
    numbers.iter_mut().for_each(|x| *x = x.max(0.0));
    numbers
}
