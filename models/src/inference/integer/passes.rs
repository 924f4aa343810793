//! A network with integers as passes over a few buffers of numbers and of bytes.

use std::ops::Range;

use super::super::floats::{Place, compute_in};
use super::super::neighbours::Neighbours;
use super::super::reader::Reader;
use super::super::slots::Slots;
use super::kernel::{Destination, IntegerInstructions, QUAD};
use super::layer::Layer;
use super::steps::Steps;
use crate::network::Op;

/// One pass over the rows of some positions. Buffers of numbers and of bytes are numbered apart.
#[derive(Debug, Clone)]
pub(super) enum Pass {
    /// The observation by point.
    Read { y: usize },
    /// Numbers with the positive part of each column, and then the negative parts of the `signed` ones.
    Split { x: Place, width: usize, signed: Vec<usize>, y: usize },
    /// Bytes of numbers.
    Quantise { x: Place, steps: Steps, y: usize },
    /// A layer over this number of boards of its table per position.
    Layer { layer: usize, table: Option<usize>, boards: usize, x: usize, to: Written },
    /// These columns of rows of bytes of this length, without what fills up the rows: the rows of a position as one.
    Pack { x: usize, stride: usize, columns: Range<usize>, rows: usize, y: usize },
    /// An operation without a kernel, on `[rows, columns]` and on rows of another result.
    Numbers { op: Op, size: [usize; 2], x: Place, other: Option<(Place, usize)>, y: usize },
}

/// What a layer writes; see [`Destination`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Numbers(usize),
    Bytes(usize),
    Start { stream: usize, bytes: usize },
    Residual { stream: usize, bytes: usize },
}

/// What passes work with besides their buffers.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    pub(super) reader: Reader,
    pub(super) tables: Vec<Neighbours>,
    pub(super) layers: Vec<Layer>,
    /// The places of the actions.
    pub(super) places: Vec<usize>,
}

/// The buffers of a thread.
#[derive(Debug, Clone)]
pub(super) struct Buffers {
    pub(super) numbers: Slots<f32>,
    pub(super) bytes: Slots<u8>,
}

impl Pass {
    /// The buffers of numbers that it reads or writes.
    pub(super) fn numbers(&mut self) -> Vec<&mut usize> {
        let slot = |place| match place {
            &mut Place::Observations => None,
            Place::Slot(slot) => Some(slot),
        };
        match self {
            Pass::Read { y } => vec![y],
            Pass::Split { x, y, .. } => slot(x).into_iter().chain([y]).collect(),
            Pass::Quantise { x, .. } => slot(x).into_iter().collect(),
            Pass::Layer { to: Written::Numbers(y), .. } => vec![y],
            Pass::Layer { to: Written::Start { stream, .. } | Written::Residual { stream, .. }, .. } => vec![stream],
            Pass::Layer { to: Written::Bytes(_), .. } | Pass::Pack { .. } => Vec::new(),
            Pass::Numbers { x, other, y, .. } => {
                let other = other.as_mut().and_then(|(place, _)| slot(place));
                slot(x).into_iter().chain(other).chain([y]).collect()
            }
        }
    }

    /// The buffers of bytes that it reads or writes.
    pub(super) fn bytes(&mut self) -> Vec<&mut usize> {
        match self {
            Pass::Quantise { y, .. } => vec![y],
            Pass::Pack { x, y, .. } => vec![x, y],
            Pass::Layer { x, to: Written::Numbers(_), .. } => vec![x],
            Pass::Layer { x, to: Written::Bytes(bytes), .. } => vec![x, bytes],
            Pass::Layer { x, to: Written::Start { bytes, .. } | Written::Residual { bytes, .. }, .. } => vec![x, bytes],
            Pass::Read { .. } | Pass::Split { .. } | Pass::Numbers { .. } => Vec::new(),
        }
    }

    /// Computes it for some positions of the batch, whose `observations` these are.
    pub(super) fn run(
        &self,
        with: IntegerInstructions,
        parts: &Parts,
        positions: &Range<usize>,
        observations: &[f32],
        Buffers { numbers, bytes }: &mut Buffers,
    ) {
        match *self {
            Pass::Read { y } => parts.reader.read(observations, numbers.get_mut(y, positions)),
            Pass::Split { x, width, ref signed, y } => match x {
                Place::Observations => split(observations, width, signed, numbers.get_mut(y, positions)),
                Place::Slot(x) => {
                    let (x, y) = numbers.pair(x, y, positions);
                    split(x, width, signed, y);
                }
            },
            Pass::Quantise { x, ref steps, y } => {
                let x = match x {
                    Place::Observations => observations,
                    Place::Slot(x) => numbers.get(x, positions),
                };
                steps.quantise(with, x, bytes.get_mut(y, positions));
            }
            Pass::Pack { x, stride, ref columns, rows, y } => {
                let (x, y) = bytes.pair(x, y, positions);
                pack(x, stride, columns, rows, y);
            }
            Pass::Numbers { op, size, x, other, y } => {
                compute_in(numbers, observations, positions, (&op, size, &parts.places), (x, other), y);
            }
            Pass::Layer { layer, table, boards, x, to } => {
                let (x, to) = match to {
                    Written::Numbers(y) => {
                        (bytes.get(x, positions), Destination::Numbers(numbers.get_mut(y, positions)))
                    }
                    Written::Bytes(y) => {
                        let (x, y) = bytes.pair(x, y, positions);
                        (x, Destination::Bytes(y))
                    }
                    Written::Start { stream, bytes: y } => {
                        let (x, bytes) = bytes.pair(x, y, positions);
                        (x, Destination::Start { stream: numbers.get_mut(stream, positions), bytes })
                    }
                    Written::Residual { stream, bytes: y } => {
                        let (x, bytes) = bytes.pair(x, y, positions);
                        (x, Destination::Residual { stream: numbers.get_mut(stream, positions), bytes })
                    }
                };
                let (layer, boards) = (&parts.layers[layer], boards * positions.len());
                match table {
                    Some(table) => layer.apply_around(with, boards, &parts.tables[table], x, to),
                    None => layer.apply(with, boards, x, to),
                }
            }
        }
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

/// Copies `columns` of rows of `stride` bytes side by side, `rows` of them for each position, whose bytes zeros fill up.
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
