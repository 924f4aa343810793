//! Inference with floats: the steps of a network, compiled into passes over a few buffers.
//!
//! What is computed by point runs a few positions at a time, so that it stays in the cache. What is computed by position and is
//! not read by point again, as the heads are, then runs on the whole batch, so that its weights are read once.

use std::ops::Range;

use super::kernel::{Finish, Instructions};
use super::layer::Layer;
use super::neighbours::Neighbours;
use super::numbers::compute;
use super::reader::Reader;
use super::slots::{Room, Slots, share};
use crate::network::{Network, Op, Step, Var, fused};
use crate::weights::Weights;

/// Number of points that pass through the network together.
const ROWS: usize = 192;

/// A network with its buffers.
#[derive(Debug, Clone)]
pub(super) struct Engine {
    /// Length of an observation.
    inputs: usize,
    reader: Reader,
    layers: Vec<Layer>,
    tables: Vec<Neighbours>,
    /// The places of the actions.
    places: Vec<usize>,
    /// Passes over a few positions at a time.
    near: Vec<Pass>,
    /// Passes over the whole batch, after them.
    whole: Vec<Pass>,
    /// Number of positions that pass through `near` together.
    group: usize,
    slots: Slots<f32>,
    /// Slots of policy and value.
    outputs: [usize; 2],
}

/// Where a pass reads numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Observations,
    Slot(usize),
}

/// One pass over the rows of some positions, which writes the slot `y`.
#[derive(Debug, Clone)]
struct Pass {
    y: usize,
    x: Place,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    /// The observation by point.
    Read,
    /// A layer over this number of boards of its table per position. `first` is copied into `y` before, for a residual that
    /// is read again later.
    Layer { layer: usize, table: Option<usize>, boards: usize, finish: Finish, first: Option<Place> },
    /// An operation without a kernel, on `[rows, columns]` and on rows of another result.
    Numbers { op: Op, size: [usize; 2], other: Option<(Place, usize)> },
}

impl Engine {
    /// Compiles a network for batches of up to `batch` positions, with weights that have been checked.
    pub(super) fn new(network: &Network, weights: &Weights, instructions: Instructions, batch: usize) -> Engine {
        let taps = |index: usize| {
            let around = network.ops.iter().find_map(|op| match *op {
                Op::Linear { layer, around, .. } if layer == index => Some(around),
                _ => None,
            });
            around.flatten().map_or(1, |table| network.tables[table].count)
        };
        let layers = weights.tensors().chunks_exact(2).enumerate().map(|(index, pair)| {
            let mut layer = Layer::new(&pair[0].data, &pair[1].data, taps(index));
            layer.set_instructions(instructions);
            layer
        });
        let points = network.shape.board.points;
        let group = (ROWS / network.most_rows()).clamp(1, batch);
        let plan = Plan::new(network);
        Engine {
            inputs: network.shape.inputs,
            reader: Reader::new(&network.shape),
            layers: layers.collect(),
            tables: network.tables.iter().map(|taps| Neighbours::of_taps(taps, points)).collect(),
            places: network.places.clone(),
            near: plan.near,
            whole: plan.whole,
            group,
            slots: Slots::new(&plan.rooms, group, batch),
            outputs: plan.outputs,
        }
    }

    /// Evaluates observations, `[batch, inputs]`.
    pub(super) fn evaluate(&mut self, batch: usize, observations: &[f32]) {
        if !self.near.is_empty() {
            for start in (0..batch).step_by(self.group) {
                let positions = start..batch.min(start + self.group);
                self.near.iter().for_each(|pass| {
                    pass.run(
                        &positions,
                        observations,
                        &mut self.slots,
                        (&self.reader, &self.layers, &self.tables, &self.places),
                        self.inputs,
                    );
                });
            }
        }
        self.whole.iter().for_each(|pass| {
            pass.run(
                &(0..batch),
                observations,
                &mut self.slots,
                (&self.reader, &self.layers, &self.tables, &self.places),
                self.inputs,
            );
        });
    }

    /// Policy and value of the last batch.
    pub(super) fn outputs(&self, batch: usize) -> [&[f32]; 2] {
        self.outputs.map(|slot| self.slots.get(slot, &(0..batch)))
    }
}

impl Pass {
    fn run(
        &self,
        positions: &Range<usize>,
        observations: &[f32],
        slots: &mut Slots<f32>,
        (reader, layers, tables, places): (&Reader, &[Layer], &[Neighbours], &[usize]),
        inputs: usize,
    ) {
        let observations = &observations[positions.start * inputs..positions.end * inputs];
        let y = self.y;
        match &self.what {
            What::Read => reader.read(observations, slots.get_mut(y, positions)),
            &What::Layer { layer, table, boards, finish, first } => {
                match first {
                    None => {}
                    Some(Place::Observations) => slots.get_mut(y, positions).copy_from_slice(observations),
                    Some(Place::Slot(first)) => {
                        let (first, y) = slots.pair(first, y, positions);
                        y.copy_from_slice(first);
                    }
                }
                let (layer, boards) = (&layers[layer], boards * positions.len());
                let (x, y) = match self.x {
                    Place::Observations => (observations, slots.get_mut(y, positions)),
                    Place::Slot(x) => slots.pair(x, y, positions),
                };
                match table {
                    Some(table) => layer.apply_around(boards, &tables[table], x, y, finish),
                    None => layer.apply(boards, x, y, finish),
                }
            }
            &What::Numbers { op, size, other } => {
                compute_in(slots, observations, positions, (&op, size, places), (self.x, other), y);
            }
        }
    }
}

/// Computes an operation without a kernel from `x` and another result, if it is one of two, with so many rows.
pub(super) fn compute_in(
    slots: &mut Slots<f32>,
    observations: &[f32],
    positions: &Range<usize>,
    (op, size, places): (&Op, [usize; 2], &[usize]),
    (x, other): (Place, Option<(Place, usize)>),
    y: usize,
) {
    let (other, rows) = other.map_or((None, 0), |(place, rows)| (Some(place), rows));
    match (x, other) {
        (Place::Slot(x), None) => {
            let (x, y) = slots.pair(x, y, positions);
            compute(op, size, x, (&[], rows), places, y);
        }
        (Place::Observations, None) => {
            compute(op, size, observations, (&[], rows), places, slots.get_mut(y, positions));
        }
        (Place::Slot(x), Some(Place::Slot(other))) => {
            let ([x, other], y) = slots.triple([x, other], y, positions);
            compute(op, size, x, (other, rows), places, y);
        }
        (Place::Slot(x), Some(Place::Observations)) => {
            let (x, y) = slots.pair(x, y, positions);
            compute(op, size, x, (observations, rows), places, y);
        }
        (Place::Observations, Some(Place::Slot(other))) => {
            let (other, y) = slots.pair(other, y, positions);
            compute(op, size, observations, (other, rows), places, y);
        }
        (Place::Observations, Some(Place::Observations)) => {
            compute(op, size, observations, (observations, rows), places, slots.get_mut(y, positions));
        }
    }
}

/// The passes of a network and the room that they need.
struct Plan {
    near: Vec<Pass>,
    whole: Vec<Pass>,
    rooms: Vec<Room>,
    outputs: [usize; 2],
}

impl Plan {
    fn new(network: &Network) -> Plan {
        let (near, whole) = divide(network);
        let steps: Vec<Step> = near.iter().chain(&whole).copied().collect();
        let mut registers = Registers::new(network, &steps, near.len());
        let mut passes: Vec<Pass> = steps.iter().enumerate().map(|(index, step)| registers.pass(index, step)).collect();
        let (slots, rooms) = share(&registers.rooms, &registers.lives(&passes));
        let slot = |place: &mut Place| {
            if let Place::Slot(register) = place {
                *register = slots[*register];
            }
        };
        for pass in &mut passes {
            pass.y = slots[pass.y];
            slot(&mut pass.x);
            match &mut pass.what {
                What::Layer { first: Some(place), .. } | What::Numbers { other: Some((place, _)), .. } => slot(place),
                _ => {}
            }
        }
        let whole = passes.split_off(near.len());
        let outputs = [network.policy, network.value].map(|var| match registers.place(var) {
            Place::Slot(register) => slots[register],
            Place::Observations => unreachable!("an output is the result of a pass"),
        });
        Plan { near: passes, whole, rooms, outputs }
    }
}

/// Divides the steps of a network: those by point and those that they read, and those by position after them. What only gives a
/// result another form is left out.
fn divide(network: &Network) -> (Vec<Step>, Vec<Step>) {
    let mut is_near: Vec<bool> = network.sizes.iter().map(|size| size[0] > 1).collect();
    for (index, op) in network.ops.iter().enumerate().rev() {
        if is_near[index] {
            op.reads().for_each(|var| is_near[var.0] = true);
        }
    }
    let has_form = |step: &Step| !matches!(step, Step::Other { op: Op::Inputs | Op::Flatten { .. }, .. });
    fused(network).into_iter().filter(has_form).partition(|step| is_near[step.output().0])
}

/// The results of the steps, before they share slots.
struct Registers<'a> {
    network: &'a Network,
    /// The step that reads each result last, by [`Var`] of what was computed.
    last_read: Vec<usize>,
    /// Whether each result is read by a step over the whole batch, or is an output.
    is_whole: Vec<bool>,
    /// The register of each result.
    of_vars: Vec<Option<usize>>,
    rooms: Vec<Room>,
}

impl<'a> Registers<'a> {
    fn new(network: &'a Network, steps: &[Step], near: usize) -> Registers<'a> {
        let count = network.ops.len();
        let (of_vars, rooms) = (vec![None; count], Vec::new());
        let (last_read, is_whole) = (vec![0; count], vec![false; count]);
        let mut registers = Registers { network, last_read, is_whole, of_vars, rooms };
        for (index, step) in steps.iter().enumerate() {
            for var in step.reads() {
                let var = network.computed(var);
                registers.last_read[var.0] = index;
                registers.is_whole[var.0] |= index >= near;
            }
            let output = step.output().0;
            registers.is_whole[output] |= index >= near;
        }
        for var in [network.policy, network.value] {
            let var = network.computed(var);
            (registers.last_read[var.0], registers.is_whole[var.0]) = (usize::MAX, true);
        }
        registers
    }

    fn place(&self, var: Var) -> Place {
        let var = self.network.computed(var);
        match self.network.ops[var.0] {
            Op::Inputs => Place::Observations,
            _ => Place::Slot(self.of_vars[var.0].expect("it is computed before it is read")),
        }
    }

    fn add(&mut self, var: Var) -> usize {
        let [rows, columns] = self.network.size(var);
        self.rooms.push(Room { size: rows * columns, whole: self.is_whole[var.0] });
        self.rooms.len() - 1
    }

    /// The pass of a step.
    fn pass(&mut self, index: usize, step: &Step) -> Pass {
        let output = step.output();
        let (y, x, what) = match *step {
            Step::Layer { x, layer, around, residual, relu, .. } => {
                let finish = match (residual, relu) {
                    (None, false) => Finish::Plain,
                    (None, true) => Finish::Relu,
                    (Some(_), false) => Finish::Add,
                    (Some(_), true) => Finish::AddRelu,
                };
                let rows = self.network.size(output)[0];
                let boards = if around.is_some() { 1 } else { rows };
                let in_place = residual.and_then(|residual| self.in_place(index, residual, output, x));
                let first = residual.filter(|_| in_place.is_none()).map(|residual| self.place(residual));
                let y = in_place.unwrap_or_else(|| self.add(output));
                (y, self.place(x), What::Layer { layer, table: around, boards, finish, first })
            }
            Step::Other { op: Op::Points, .. } => (self.add(output), Place::Observations, What::Read),
            Step::Other { op, .. } => {
                let mut reads = op.reads();
                let x = reads.next().expect("it reads a result");
                let other = reads.next().map(|other| (self.place(other), self.network.size(other)[0]));
                let what = What::Numbers { op, size: self.network.size(x), other };
                (self.add(output), self.place(x), what)
            }
        };
        self.of_vars[output.0] = Some(y);
        Pass { y, x, what }
    }

    /// The register of a residual that can become that of the sum: nothing reads it later, nor the layer itself.
    fn in_place(&self, index: usize, residual: Var, output: Var, x: Var) -> Option<usize> {
        let computed = self.network.computed(residual);
        let is_last = self.last_read[computed.0] == index && self.network.computed(x) != computed;
        let register = self.of_vars[computed.0]?;
        (is_last && self.is_whole[computed.0] == self.is_whole[output.0]).then_some(register)
    }

    /// The first and the last pass that writes or reads each register.
    fn lives(&self, passes: &[Pass]) -> Vec<Option<[usize; 2]>> {
        let mut lives: Vec<Option<[usize; 2]>> = vec![None; self.rooms.len()];
        let mut live = |register: usize, index: usize| {
            lives[register] = Some([lives[register].map_or(index, |[first, _]| first), index]);
        };
        for (index, pass) in passes.iter().enumerate() {
            let mut read = |place: Place| {
                if let Place::Slot(register) = place {
                    live(register, index);
                }
            };
            read(pass.x);
            match pass.what {
                What::Layer { first: Some(place), .. } | What::Numbers { other: Some((place, _)), .. } => read(place),
                _ => {}
            }
            live(pass.y, index);
        }
        for var in [self.network.policy, self.network.value] {
            if let Place::Slot(register) = self.place(var) {
                live(register, passes.len());
            }
        }
        lives
    }
}
