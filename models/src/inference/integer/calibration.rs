//! Quantisation of a network step by step: each step's results for samples decide the steps of the next one's inputs.
//!
//! The samples pass through the layers that are quantised already. So the steps depend on nothing that differs between
//! processors, and later layers see the errors of earlier ones.

use std::ops::Range;

use super::super::floats::Place;
use super::super::neighbours::Neighbours;
use super::super::numbers::compute;
use super::super::reader::Reader;
use super::super::slots::Room;
use super::kernel::{Destination, IntegerInstructions};
use super::layer::Layer;
use super::passes::{Parts, Pass, Written, pack, packed_size, split};
use super::plan::{Plan, Planned, To};
use super::steps::Steps;
use crate::network::{Network, Op, Var};
use crate::weights::Weights;

/// What the samples have shown of a result, and where passes find it.
#[derive(Debug, Clone, Default)]
struct Shown {
    /// Its numbers for all samples, and their register.
    numbers: Option<(Vec<f32>, Place)>,
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
    pub(super) parts: Parts,
    pub(super) passes: Vec<Pass>,
    /// The rooms of the registers of numbers and of bytes.
    pub(super) numbers: Vec<Room>,
    pub(super) bytes: Vec<Room>,
}

impl<'a> Calibration<'a> {
    pub(super) fn new(network: &'a Network, weights: &'a Weights, samples: &'a [f32]) -> Calibration<'a> {
        let points = network.shape.board.points;
        let tables = network.tables.iter().map(|taps| Neighbours::of_taps(taps, points)).collect();
        let mut calibration = Calibration {
            network,
            weights,
            samples,
            plan: Plan::new(network),
            shown: vec![Shown::default(); network.ops.len()],
            parts: Parts {
                reader: Reader::new(&network.shape),
                tables,
                layers: Vec::new(),
                places: network.places.clone(),
            },
            passes: Vec::new(),
            numbers: Vec::new(),
            bytes: Vec::new(),
        };
        let steps = std::mem::take(&mut calibration.plan.steps);
        let last_reads = last_reads(&steps, network.ops.len());
        for (index, step) in steps.iter().enumerate() {
            calibration.add(step);
            // What is not read again is not kept.
            for (shown, _) in calibration.shown.iter_mut().zip(&last_reads).filter(|(_, last)| **last == index) {
                *shown = Shown::default();
            }
        }
        calibration
    }

    /// The register of an output.
    pub(super) fn output(&self, var: Var) -> usize {
        match self.shown[var.0].numbers {
            Some((_, Place::Slot(register))) => register,
            _ => unreachable!("an output is the result of a layer"),
        }
    }

    fn positions(&self) -> usize {
        self.samples.len() / self.network.shape.inputs
    }

    fn add(&mut self, step: &Planned) {
        match step {
            &Planned::Numbers { y, op: Op::Inputs } => {
                self.shown[y.0] = Shown {
                    numbers: Some((self.samples.to_vec(), Place::Observations)),
                    is_observed: true,
                    ..Shown::default()
                };
            }
            &Planned::Numbers { y, op: Op::Points } => {
                let mut features = vec![0.0; self.positions() * self.count(y)];
                self.parts.reader.read(self.samples, &mut features);
                let register = self.number_register(self.count(y), false);
                self.passes.push(Pass::Read { y: register });
                let numbers = Some((features, Place::Slot(register)));
                self.shown[y.0] = Shown { numbers, is_observed: true, ..Shown::default() };
            }
            &Planned::Numbers { y, op } => self.add_numbers(y, op),
            &Planned::Flatten { y, x } => self.add_flatten(y, x),
            Planned::Together { x, layers } => self.add_together(*x, layers),
            &Planned::Layer { y, x, layer, around, to } => self.add_layer(y, x, (layer, around), to),
        }
    }

    /// Numbers per position.
    fn count(&self, var: Var) -> usize {
        self.network.size(var).iter().product()
    }

    fn number_register(&mut self, size: usize, whole: bool) -> usize {
        self.numbers.push(Room { size, whole });
        self.numbers.len() - 1
    }

    fn byte_register(&mut self, size: usize) -> usize {
        self.bytes.push(Room { size, whole: false });
        self.bytes.len() - 1
    }

    fn is_output(&self, var: Var) -> bool {
        let computed = |var| self.network.computed(var);
        [self.network.policy, self.network.value].map(computed).contains(&computed(var))
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
        compute(&op, size, x_numbers, other_numbers, &self.network.places, &mut result);
        let (x, other) = (*x_place, other_shown.map(|((_, place), rows)| (*place, rows)));
        let is_rectified = matches!(op, Op::Relu { .. } | Op::Sigmoid { .. });
        let register = self.number_register(self.count(y), self.is_output(y));
        self.passes.push(Pass::Numbers { op, size, x, other, y: register });
        self.shown[y.0] = Shown { numbers: Some((result, Place::Slot(register))), is_rectified, ..Shown::default() };
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
            let to = self.byte_register(size);
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
            let (place, quantised) = (*place, quantised(steps, numbers));
            let bytes = self.quantise(place, rows, quantised);
            self.shown[var.0].bytes = Some(bytes);
        }
        self.shown[var.0].bytes.as_ref().expect("they have just been made")
    }

    /// Adds the pass that makes bytes of numbers.
    fn quantise(&mut self, x: Place, rows: usize, (steps, data): (Steps, Vec<u8>)) -> Bytes {
        let (stride, columns) = (steps.stride(), 0..steps.width());
        let register = self.byte_register(rows * stride);
        self.passes.push(Pass::Quantise { x, steps: steps.clone(), y: register });
        Bytes { data, steps, stride, columns, register }
    }

    /// The bytes that a layer reads, and its parameters. One over neighbours, of which some are missing, needs bytes whose 0
    /// stands for 0: columns of both signs become two.
    fn read_by(&mut self, x: Var, layer: usize, around: Option<usize>) -> (Bytes, Vec<f32>) {
        let bytes = self.bytes_of(x).clone();
        let weight = self.weights.tensors()[2 * layer].data.clone();
        let zeros = bytes.steps.zeros();
        let signed: Vec<usize> = (0..zeros.len()).filter(|&column| zeros[column] != 0).collect();
        let Some(table) = around.filter(|_| !signed.is_empty()) else { return (bytes, weight) };
        let (numbers, place) = self.shown[x.0].numbers.as_ref().expect("what has both signs has numbers");
        let ([rows, width], place) = (self.network.size(x), *place);
        let mut parts = vec![0.0; numbers.len() / width * (width + signed.len())];
        split(numbers, width, &signed, &mut parts);
        let steps = match self.shown[x.0].is_observed {
            true => Steps::of_inputs(&parts, width + signed.len()),
            false => Steps::of_activations(&parts, width + signed.len()),
        };
        let register = self.number_register(rows * (width + signed.len()), false);
        self.passes.push(Pass::Split { x: place, width, signed: signed.clone(), y: register });
        let bytes = self.quantise(Place::Slot(register), rows, quantised(steps, &parts));
        let outputs = self.network.layers[layer].outputs;
        let taps = self.network.tables[table].count;
        let of_taps = weight.chunks_exact(width * outputs).take(taps);
        let weight = of_taps.flat_map(|tap| {
            let negative = signed.iter().flat_map(|&column| tap[column * outputs..][..outputs].iter().map(|w| -w));
            tap.iter().copied().chain(negative).collect::<Vec<f32>>()
        });
        (bytes, weight.collect())
    }

    fn add_together(&mut self, x: Var, layers: &[(usize, Var)]) {
        let bytes = self.bytes_of(x).clone();
        let tensors = self.weights.tensors();
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for input in 0..self.network.size(x)[1] {
            for &(layer, _) in layers {
                let outputs = self.network.layers[layer].outputs;
                weight.extend(&tensors[2 * layer].data[input * outputs..][..outputs]);
            }
        }
        layers.iter().for_each(|&(layer, _)| bias.extend(&tensors[2 * layer + 1].data));
        let mut layer = Layer::new(&weight, &bias, 1, &bytes.steps);
        let rows = self.network.size(x)[0];
        let numbers = rectified(numbers(&layer, &bytes, self.positions() * rows, None));
        let (steps, data) = quantised(Steps::of_activations(&numbers, bias.len()), &numbers);
        layer.write_bytes(&steps);
        let register = self.byte_register(rows * layer.stride());
        let stride = layer.stride();
        self.push(layer, None, rows, bytes.register, Written::Bytes(register));
        let mut first = 0;
        for &(layer, y) in layers {
            let columns = first..first + self.network.layers[layer].outputs;
            first = columns.end;
            let bytes = Bytes { data: data.clone(), steps: steps.clone(), stride, columns, register };
            self.shown[y.0] = Shown { bytes: Some(bytes), is_rectified: true, ..Shown::default() };
        }
    }

    fn push(&mut self, layer: Layer, table: Option<usize>, rows: usize, x: usize, to: Written) {
        self.parts.layers.push(layer);
        let boards = if table.is_some() { 1 } else { rows };
        self.passes.push(Pass::Layer { layer: self.parts.layers.len() - 1, table, boards, x, to });
    }

    fn add_layer(&mut self, y: Var, x: Var, (index, around): (usize, Option<usize>), to: To) {
        let (bytes, weight) = self.read_by(x, index, around);
        let bias = &self.weights.tensors()[2 * index + 1].data;
        let taps = around.map_or(1, |table| self.network.tables[table].count);
        let mut layer = Layer::new(&weight, bias, taps, &bytes.steps);
        let [rows, width] = self.network.size(y);
        let table = around.map(|table| &self.parts.tables[table]);
        let mut sums = numbers(&layer, &bytes, self.positions() * rows, table);
        let from = bytes.register;
        if let To::Numbers { residual, relu } = to {
            return self.add_sum(y, (layer, around), (from, sums), residual, relu);
        }
        if let To::Residual(stream) = to {
            let (before, _) = self.shown[stream.0].numbers.as_ref().expect("a stream has numbers");
            sums.iter_mut().zip(before).for_each(|(sum, before)| *sum += before);
        }
        let sums = rectified(sums);
        let (steps, data) = quantised(Steps::of_activations(&sums, width), &sums);
        let stride = layer.stride();
        let register = self.byte_register(rows * stride);
        let mut stream = None;
        let written = match to {
            To::Start => {
                layer.write_stream(&steps);
                let place = self.number_register(rows * stride, false);
                stream = Some((sums, Place::Slot(place)));
                Written::Start { stream: place, bytes: register }
            }
            To::Residual(before) => {
                layer.write_stream(&steps);
                let place = match self.shown[before.0].numbers.take() {
                    Some((_, Place::Slot(place))) => place,
                    _ => unreachable!("a stream has a register"),
                };
                stream = Some((sums, Place::Slot(place)));
                Written::Residual { stream: place, bytes: register }
            }
            To::Bytes | To::Numbers { .. } => {
                layer.write_bytes(&steps);
                Written::Bytes(register)
            }
        };
        self.push(layer, around, rows, from, written);
        let bytes = Some(Bytes { data, steps, stride, columns: 0..width, register });
        self.shown[y.0] = Shown { numbers: stream, bytes, is_rectified: true, is_observed: false };
    }

    /// A layer whose numbers are wanted.
    fn add_sum(
        &mut self,
        y: Var,
        (layer, around): (Layer, Option<usize>),
        (x, sums): (usize, Vec<f32>),
        residual: Option<Var>,
        relu: bool,
    ) {
        let (rows, count) = (self.network.size(y)[0], self.count(y));
        let plain = residual.is_none() && !relu;
        let register = self.number_register(count, plain && self.is_output(y));
        self.push(layer, around, rows, x, Written::Numbers(register));
        self.shown[y.0] = Shown { numbers: Some((sums, Place::Slot(register))), ..Shown::default() };
        // The rest is computed on numbers: `y` is first the layer's result, then the sum, then what the ReLU leaves of it.
        if let Some(residual) = residual {
            self.add_numbers(y, Op::Add { x: y, y: residual });
        }
        if relu {
            self.add_numbers(y, Op::Relu { x: y });
        }
    }
}

/// The step that reads each result last; none for those that are not read.
fn last_reads(steps: &[Planned], count: usize) -> Vec<usize> {
    let mut last = vec![usize::MAX; count];
    for (index, step) in steps.iter().enumerate() {
        let reads = match step {
            Planned::Together { x, .. } | Planned::Flatten { x, .. } => vec![*x],
            Planned::Layer { x, to: To::Residual(other) | To::Numbers { residual: Some(other), .. }, .. } => {
                vec![*x, *other]
            }
            Planned::Layer { x, .. } => vec![*x],
            Planned::Numbers { op, .. } => op.reads().collect(),
        };
        reads.iter().for_each(|var| last[var.0] = index);
    }
    last
}

/// Steps, and the bytes of numbers with them.
fn quantised(steps: Steps, numbers: &[f32]) -> (Steps, Vec<u8>) {
    let mut bytes = vec![0; numbers.len() / steps.width() * steps.stride()];
    steps.quantise(IntegerInstructions::best(), numbers, &mut bytes);
    (steps, bytes)
}

/// The outputs of a layer for all `rows` of the samples.
fn numbers(layer: &Layer, x: &Bytes, rows: usize, table: Option<&Neighbours>) -> Vec<f32> {
    let mut numbers = vec![0.0; rows * layer.outputs()];
    let to = Destination::Numbers(&mut numbers);
    match table {
        Some(table) => layer.apply_around(IntegerInstructions::best(), rows / table.points(), table, &x.data, to),
        None => layer.apply(IntegerInstructions::best(), rows, &x.data, to),
    }
    numbers
}

fn rectified(mut numbers: Vec<f32>) -> Vec<f32> {
    numbers.iter_mut().for_each(|x| *x = x.max(0.0));
    numbers
}
