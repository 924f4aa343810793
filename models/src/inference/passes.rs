//! A network as passes over a few buffers of numbers and of bytes, for any arithmetic.

use std::ops::Range;

use super::integer::{Destination, IntegerInstructions, IntegerLayer, QUAD, Steps};
use super::kernel::Finish;
use super::layer::Layer;
use super::neighbours::Neighbours;
use super::numbers::{Reader, compute};
use super::slots::{Room, Slots, assign};
use crate::network::{Network, Op};

/// Where a pass reads numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Observations,
    Slot(usize),
}

/// One pass over the rows of some positions. Slots of numbers and of bytes are numbered apart; until they are assigned,
/// these are the numbers of registers, one for each result.
#[derive(Debug, Clone)]
pub(super) enum Pass {
    /// The observation by point.
    Read { y: usize },
    /// The same numbers, for a sum in place of them when they are read again later.
    Copy { x: Input, y: usize },
    /// A layer on numbers, over this number of boards of its table per position.
    Layer { layer: Layer, table: Option<usize>, boards: usize, finish: Finish, x: Input, y: usize },
    /// An operation without a kernel, on `[rows, columns]` and on rows of another result.
    Numbers { op: Op, size: [usize; 2], x: Input, other: Option<(Input, usize)>, y: usize },
    /// Numbers with the positive part of each column, and then the negative parts of the `signed` ones.
    Split { x: Input, width: usize, signed: Vec<usize>, y: usize },
    /// Bytes of numbers.
    Quantise { x: Input, steps: Steps, y: usize },
    /// These columns of rows of bytes of this length, without the padding of the rows: the rows of a position as one.
    Pack { x: usize, stride: usize, columns: Range<usize>, rows: usize, y: usize },
    /// A layer on bytes, over this number of boards of its table per position.
    IntegerLayer { layer: IntegerLayer, table: Option<usize>, boards: usize, x: usize, to: Written },
}

/// What a layer on bytes writes; see [`Destination`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Numbers(usize),
    Bytes(usize),
    Start { stream: usize, bytes: usize },
    Residual { stream: usize, bytes: usize },
}

/// The tables that the passes of a network read.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub(super) reader: Reader,
    neighbours: Vec<Neighbours>,
}

/// The buffers of a thread.
#[derive(Debug, Clone)]
pub(super) struct Buffers {
    numbers: Slots<f32>,
    bytes: Slots<u8>,
}

/// The positions of a batch that pass through the network together.
pub(super) struct Positions<'a> {
    pub(super) range: Range<usize>,
    pub(super) observations: &'a [f32],
    pub(super) instructions: IntegerInstructions,
}

impl Tables {
    pub(super) fn new(network: &Network) -> Tables {
        let points = network.shape.board.points;
        Tables {
            reader: Reader::new(&network.shape),
            neighbours: network.tables.iter().map(|taps| Neighbours::of_taps(taps, points)).collect(),
        }
    }

    /// The table of this number, or that of dense layers.
    pub(super) fn neighbours(&self, table: Option<usize>) -> &Neighbours {
        table.map_or(Neighbours::rows(), |table| &self.neighbours[table])
    }
}

impl Positions<'_> {
    fn read<'a>(&'a self, numbers: &'a Slots<f32>, place: Input) -> &'a [f32] {
        match place {
            Input::Observations => self.observations,
            Input::Slot(slot) => numbers.read(slot, &self.range),
        }
    }
}

impl Pass {
    /// The numbers of the slots of numbers that it reads or writes.
    fn numbers(&mut self) -> Vec<&mut usize> {
        let slot = |place| match place {
            &mut Input::Observations => None,
            Input::Slot(slot) => Some(slot),
        };
        match self {
            Pass::Read { y } => vec![y],
            Pass::Copy { x, y } | Pass::Layer { x, y, .. } | Pass::Split { x, y, .. } => {
                slot(x).into_iter().chain([y]).collect()
            }
            Pass::Numbers { x, other, y, .. } => {
                let other = other.as_mut().and_then(|(place, _)| slot(place));
                slot(x).into_iter().chain(other).chain([y]).collect()
            }
            Pass::Quantise { x, .. } => slot(x).into_iter().collect(),
            Pass::IntegerLayer { to, .. } => match to {
                Written::Numbers(y) => vec![y],
                Written::Start { stream, .. } | Written::Residual { stream, .. } => vec![stream],
                Written::Bytes(_) => Vec::new(),
            },
            Pass::Pack { .. } => Vec::new(),
        }
    }

    /// The numbers of the slots of bytes that it reads or writes.
    fn bytes(&mut self) -> Vec<&mut usize> {
        match self {
            Pass::Quantise { y, .. } => vec![y],
            Pass::Pack { x, y, .. } => vec![x, y],
            Pass::IntegerLayer { x, to, .. } => match to {
                Written::Numbers(_) => vec![x],
                Written::Bytes(bytes) | Written::Start { bytes, .. } | Written::Residual { bytes, .. } => {
                    vec![x, bytes]
                }
            },
            _ => Vec::new(),
        }
    }

    fn run(&self, tables: &Tables, positions: &Positions<'_>, Buffers { numbers, bytes }: &mut Buffers) {
        let range = &positions.range;
        match *self {
            Pass::Read { y } => numbers.write(y, range, |_, y| tables.reader.read(positions.observations, y)),
            Pass::Copy { x, y } => numbers.write(y, range, |numbers, y| y.copy_from_slice(positions.read(numbers, x))),
            Pass::Layer { ref layer, table, boards, finish, x, y } => numbers.write(y, range, |numbers, y| {
                let (x, table) = (positions.read(numbers, x), tables.neighbours(table));
                layer.apply_around(boards * range.len(), table, x, y, finish);
            }),
            Pass::Numbers { op, size, x, other, y } => numbers.write(y, range, |numbers, y| {
                let other = other.map_or((&[][..], 0), |(place, rows)| (positions.read(numbers, place), rows));
                compute(&op, size, positions.read(numbers, x), other, y);
            }),
            Pass::Split { x, width, ref signed, y } => {
                numbers.write(y, range, |numbers, y| split(positions.read(numbers, x), width, signed, y));
            }
            Pass::Quantise { x, ref steps, y } => bytes.write(y, range, |_, y| {
                steps.quantise(positions.instructions, positions.read(numbers, x), y);
            }),
            Pass::Pack { x, stride, ref columns, rows, y } => {
                bytes.write(y, range, |bytes, y| pack(bytes.read(x, range), stride, columns, rows, y));
            }
            Pass::IntegerLayer { ref layer, table, boards, x, to } => {
                let (boards, table) = (boards * range.len(), tables.neighbours(table));
                let apply = |bytes: &Slots<u8>, to: Destination<'_>| {
                    layer.apply(positions.instructions, boards, table, bytes.read(x, range), to);
                };
                match to {
                    Written::Numbers(y) => numbers.write(y, range, |_, y| apply(bytes, Destination::Numbers(y))),
                    Written::Bytes(y) => bytes.write(y, range, |bytes, y| apply(bytes, Destination::Bytes(y))),
                    Written::Start { stream, bytes: y } => numbers.write(stream, range, |_, stream| {
                        bytes.write(y, range, |others, bytes| apply(others, Destination::Start { stream, bytes }));
                    }),
                    Written::Residual { stream, bytes: y } => numbers.write(stream, range, |_, stream| {
                        bytes.write(y, range, |others, bytes| apply(others, Destination::Residual { stream, bytes }));
                    }),
                }
            }
        }
    }
}

/// A network as passes, without buffers.
#[derive(Debug, Clone)]
pub(super) struct CompiledNetwork {
    tables: Tables,
    /// Passes over a few positions at a time.
    near: Vec<Pass>,
    /// Passes over the whole batch, after them.
    whole: Vec<Pass>,
    /// Number of positions that pass through `near` together.
    group: usize,
    /// The slots of numbers and of bytes.
    numbers: Vec<Room>,
    bytes: Vec<Room>,
    /// The slots of policy and value.
    outputs: [usize; 2],
}

/// The registers of passes: one for each result, with the room that it takes.
#[derive(Debug, Default)]
pub(super) struct Registers {
    numbers: Vec<Room>,
    bytes: Vec<Room>,
}

impl Registers {
    pub(super) fn numbers(&mut self, size: usize, whole: bool) -> usize {
        self.numbers.push(Room { size, whole });
        self.numbers.len() - 1
    }

    pub(super) fn bytes(&mut self, size: usize) -> usize {
        self.bytes.push(Room { size, whole: false });
        self.bytes.len() - 1
    }
}

impl CompiledNetwork {
    /// Assigns slots to the registers of `passes`, of which those from index `near` on are over the whole batch. `rows` is
    /// the number of rows that pass through the network together, so that their buffers stay in the cache.
    pub(super) fn new(
        network: &Network,
        tables: Tables,
        (mut passes, near): (Vec<Pass>, usize),
        registers: &Registers,
        mut outputs: [usize; 2],
        rows: usize,
    ) -> CompiledNetwork {
        let numbers = assign(&mut passes, Pass::numbers, &registers.numbers, &mut outputs);
        let bytes = assign(&mut passes, Pass::bytes, &registers.bytes, &mut []);
        let (whole, group) = (passes.split_off(near), (rows / network.most_rows()).max(1));
        CompiledNetwork { tables, near: passes, whole, group, numbers, bytes, outputs }
    }

    /// Buffers for batches of up to `batch` positions.
    pub(super) fn buffers(&self, batch: usize) -> Buffers {
        let near = self.group.min(batch);
        Buffers { numbers: Slots::new(&self.numbers, near, batch), bytes: Slots::new(&self.bytes, near, batch) }
    }

    /// Evaluates all observations of a batch. Returns policy and value.
    pub(super) fn run<'a>(&self, all: &Positions<'_>, buffers: &'a mut Buffers) -> [&'a [f32]; 2] {
        let batch = all.range.end;
        let inputs = all.observations.len() / batch.max(1);
        for start in (0..batch).step_by(self.group) {
            let range = start..batch.min(start + self.group);
            let observations = &all.observations[range.start * inputs..range.end * inputs];
            let positions = Positions { range, observations, ..*all };
            self.near.iter().for_each(|pass| pass.run(&self.tables, &positions, buffers));
        }
        self.whole.iter().for_each(|pass| pass.run(&self.tables, all, buffers));
        self.outputs.map(|slot| buffers.numbers.read(slot, &all.range))
    }
}

/// Writes the positive part of each column of `x`, and behind them the negative parts of the `signed` columns.
pub(super) fn split(x: &[f32], width: usize, signed: &[usize], y: &mut [f32]) {
    for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width + signed.len())) {
        let (positive, negative) = y.split_at_mut(width);
        positive.iter_mut().zip(x).for_each(|(y, x)| *y = x.max(0.0));
        negative.iter_mut().zip(signed).for_each(|(y, &column)| *y = (-x[column]).max(0.0));
    }
}

/// Copies `columns` of rows of `stride` bytes side by side, `rows` of them for each position, which zeros pad.
pub(super) fn pack(x: &[u8], stride: usize, columns: &Range<usize>, rows: usize, y: &mut [u8]) {
    /// The width of the heads of networks over points.
    const EIGHT: usize = 8;
    if columns.len() == EIGHT {
        for (x, y) in x.chunks_exact(stride).zip(y.as_chunks_mut::<EIGHT>().0) {
            y.copy_from_slice(&x[columns.start..][..EIGHT]);
        }
        return;
    }
    let size = packed_size(rows * columns.len());
    for (x, y) in x.chunks_exact(rows * stride).zip(y.chunks_exact_mut(size)) {
        for (x, y) in x.chunks_exact(stride).zip(y.chunks_exact_mut(columns.len())) {
            y.copy_from_slice(&x[columns.clone()]);
        }
    }
}

/// Number of bytes of a row with this number of columns that is not in strips: whole quads.
pub(super) fn packed_size(columns: usize) -> usize {
    columns.next_multiple_of(QUAD)
}
