//! States as NumPy arrays, and as the bytes that searches and files hold.

use std::fmt::Display;
use std::str::FromStr;

use numpy::{IxDyn, PyArray, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Most bytes of a state.
pub(super) const MOST: usize = 512;

/// A position: the bytes of the array, little-endian, then zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PyState(pub(super) [u8; MOST]);

/// Type and shape of a game's states.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Layout {
    /// `bytes` of this length.
    Bytes(usize),
    /// Arrays of this shape.
    Array(Kind, Vec<usize>),
}

/// A number of a state's array, to be read and written as bytes.
trait Number: numpy::Element + Copy + Display + FromStr {
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! kinds {
    ($($kind:ident: $type:ty, $name:literal;)+) => {
        /// The dtype of a state's array.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Kind { $(#[doc = $name] $kind),+ }

        impl Kind {
            const ALL: &[Self] = &[$(Self::$kind),+];

            fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),+ }
            }

            fn size(self) -> usize {
                match self { $(Self::$kind => size_of::<$type>()),+ }
            }
        }

        $(impl Number for $type {
            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("a chunk of the number's size"))
            }

            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        })+

        /// Calls a generic function with the type of a kind.
        macro_rules! with_kind {
            ($given:expr, $T:ident => $body:expr) => {
                match $given { $(Kind::$kind => { type $T = $type; $body })+ }
            };
        }
    };
}

kinds! {
    Int8: i8, "int8";
    UInt8: u8, "uint8";
    Int16: i16, "int16";
    UInt16: u16, "uint16";
    Int32: i32, "int32";
    UInt32: u32, "uint32";
    Int64: i64, "int64";
    UInt64: u64, "uint64";
}

impl Layout {
    /// The layout of the states that are like the first one.
    pub(super) fn of(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let layout = if let Ok(bytes) = state.cast::<PyBytes>() {
            Self::Bytes(bytes.as_bytes().len())
        } else if let Ok(array) = state.cast::<PyUntypedArray>() {
            let dtype = array.dtype().to_string();
            let known = || Kind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            let kind = Kind::ALL.iter().find(|kind| kind.name() == dtype);
            let wrong = || PyTypeError::new_err(format!("a state has dtype {dtype}, but must have one of {}", known()));
            Self::Array(*kind.ok_or_else(wrong)?, array.shape().to_vec())
        } else {
            let kind = state.get_type();
            return Err(PyTypeError::new_err(format!("a state is a NumPy array of integers or bytes, not {kind}")));
        };
        match layout.size() {
            1..=MOST => Ok(layout),
            size => Err(PyValueError::new_err(format!("a state has {size} bytes, but must have 1 to {MOST}"))),
        }
    }

    /// Bytes of a state.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Bytes(size) => *size,
            Self::Array(kind, shape) => kind.size() * shape.iter().product::<usize>(),
        }
    }

    /// A state as the object that the rules see.
    pub(super) fn object<'py>(&self, py: Python<'py>, state: &PyState) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Bytes(size) => Ok(PyBytes::new(py, &state.0[..*size]).into_any()),
            Self::Array(kind, shape) => {
                with_kind!(*kind, T => Ok(array::<T>(py, std::slice::from_ref(state), self.size(), shape)?.into_any()))
            }
        }
    }

    /// A state as an object that cannot be changed.
    pub(super) fn frozen<'py>(&self, py: Python<'py>, state: &PyState) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object(py, state)?;
        if let Self::Array(kind, _) = self {
            with_kind!(*kind, T => {
                let array = object.cast::<PyArrayDyn<T>>()?;
                drop(array.try_readwrite()?.make_nonwriteable());
            });
        }
        Ok(object)
    }

    /// States as one array `[states, ...]`, or as a list of `bytes`.
    pub(super) fn objects<'py>(&self, py: Python<'py>, states: &[PyState]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Bytes(size) => {
                let objects = states.iter().map(|state| PyBytes::new(py, &state.0[..*size]));
                Ok(pyo3::types::PyList::new(py, objects)?.into_any())
            }
            Self::Array(kind, shape) => {
                let all: Vec<usize> = [states.len()].iter().chain(shape).copied().collect();
                with_kind!(*kind, T => Ok(array::<T>(py, states, self.size(), &all)?.into_any()))
            }
        }
    }

    /// The state of an object that the rules have returned.
    pub(super) fn state(&self, object: &Bound<'_, PyAny>) -> PyResult<PyState> {
        let mut state = PyState([0; MOST]);
        match self {
            Self::Bytes(size) => {
                if let Ok(bytes) = object.cast::<PyBytes>()
                    && bytes.as_bytes().len() == *size
                {
                    state.0[..*size].copy_from_slice(bytes.as_bytes());
                    return Ok(state);
                }
            }
            Self::Array(kind, shape) => with_kind!(*kind, T => {
                if let Ok(array) = object.cast::<PyArrayDyn<T>>()
                    && array.shape() == shape
                {
                    let places = state.0.chunks_exact_mut(size_of::<T>());
                    array.try_readonly()?.as_array().iter().zip(places).for_each(|(number, place)| number.write(place));
                    return Ok(state);
                }
            }),
        }
        Err(self.mismatch(object, None))
    }

    /// The states of an object that the rules have returned for this many states.
    pub(super) fn states(&self, object: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<PyState>> {
        let Self::Array(kind, shape) = self else {
            let states: Vec<PyState> = object.try_iter()?.map(|state| self.state(&state?)).collect::<PyResult<_>>()?;
            let returned = states.len();
            let wrong = || PyValueError::new_err(format!("returned {returned} states, not {count}"));
            return (returned == count).then_some(states).ok_or_else(wrong);
        };
        let mut states = vec![PyState([0; MOST]); count];
        let numbers = self.size() / kind.size();
        with_kind!(*kind, T => {
            if let Ok(array) = object.cast::<PyArrayDyn<T>>()
                && array.shape().split_first() == Some((&count, &shape[..]))
            {
                for (i, number) in array.try_readonly()?.as_array().iter().enumerate() {
                    let place = (i % numbers) * size_of::<T>();
                    number.write(&mut states[i / numbers].0[place..place + size_of::<T>()]);
                }
                return Ok(states);
            }
        });
        Err(self.mismatch(object, Some(count)))
    }

    /// The error of an object that is no state, or no array of `count` states.
    fn mismatch(&self, object: &Bound<'_, PyAny>, count: Option<usize>) -> PyErr {
        let given = match object.cast::<PyUntypedArray>() {
            Ok(array) => format!("an array of {} {}", array.dtype(), tuple(array.shape())),
            Err(_) => match object.cast::<PyBytes>() {
                Ok(bytes) => format!("{} bytes", bytes.as_bytes().len()),
                Err(_) => object.get_type().to_string(),
            },
        };
        let expected = match self {
            Self::Bytes(size) => format!("{size} bytes"),
            Self::Array(kind, shape) => {
                let shape: Vec<usize> = count.iter().chain(shape).copied().collect();
                format!("an array of {} {}", kind.name(), tuple(&shape))
            }
        };
        PyTypeError::new_err(format!("returned {given}, not {expected}"))
    }

    /// A state's text: its numbers, or its bytes in hexadecimal digits.
    pub(super) fn text(&self, state: &PyState) -> String {
        let bytes = &state.0[..self.size()];
        match self {
            Self::Bytes(_) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Self::Array(kind, _) => with_kind!(*kind, T => {
                bytes.chunks_exact(size_of::<T>()).map(|chunk| T::read(chunk).to_string()).collect::<Vec<_>>().join(",")
            }),
        }
    }

    /// The state of a text.
    pub(super) fn parse(&self, text: &str) -> Result<PyState, String> {
        let (mut state, size) = (PyState([0; MOST]), self.size());
        match self {
            Self::Bytes(_) => {
                let digits = text.as_bytes();
                if digits.len() != 2 * size {
                    return Err(format!("must have {} hexadecimal digits", 2 * size));
                }
                for (pair, place) in digits.chunks_exact(2).zip(&mut state.0) {
                    let byte = std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
                    *place = byte.ok_or("must consist of hexadecimal digits")?;
                }
            }
            Self::Array(kind, _) => {
                let (numbers, count) = (text.split(','), size / kind.size());
                if numbers.clone().count() != count {
                    return Err(format!("must have {count} numbers with commas between them"));
                }
                with_kind!(*kind, T => {
                    for (number, place) in numbers.zip(state.0.chunks_exact_mut(size_of::<T>())) {
                        let parsed = number.trim().parse::<T>();
                        parsed.map_err(|_| format!("`{number}` is no {}", kind.name()))?.write(place);
                    }
                });
            }
        }
        Ok(state)
    }
}

/// States as one array of this shape.
fn array<'py, T: Number>(
    py: Python<'py>,
    states: &[PyState],
    size: usize,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let array = PyArray::<T, IxDyn>::zeros(py, shape, false);
    {
        let mut numbers = array.try_readwrite()?;
        let bytes = states.iter().flat_map(|state| state.0[..size].chunks_exact(size_of::<T>()));
        numbers.as_slice_mut()?.iter_mut().zip(bytes).for_each(|(number, bytes)| *number = T::read(bytes));
    }
    Ok(array)
}

/// A shape as Python writes it.
pub(super) fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("{shape:?}").replace('[', "(").replace(']', ")"),
    }
}
