//! States as NumPy arrays or other objects, and as the bytes that searches and files hold.

use std::fmt::Display;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use numpy::{IxDyn, PyArray, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyBytesMethods, PyList};

use crate::arrays::tuple;
use crate::py_game::cache::Cache;
use crate::py_game::declaration::overrides;
use crate::py_game::fault::named;

/// Most bytes of a state.
pub(super) const MOST: usize = 512;

/// Memory that is allowed for an object of Python that is kept.
const OBJECT: usize = 448;

/// A position: the numbers of its array, little-endian, or the bytes of its key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PyState {
    /// Zeros after the first `size`.
    bytes: [u8; MOST],
    size: u16,
}

impl PyState {
    /// The state of at most [`MOST`] bytes.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut state = Self::zeros(bytes.len());
        state.bytes[..bytes.len()].copy_from_slice(bytes);
        state
    }

    fn zeros(size: usize) -> Self {
        Self { bytes: [0; MOST], size: size as u16 }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.size)]
    }
}

impl Hash for PyState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.bytes.hash(hasher);
    }
}

/// What a game's states are.
pub(super) enum Layout {
    /// `bytes` of this length.
    Bytes(usize),
    /// Arrays of this type and shape.
    Array(Kind, Vec<usize>),
    /// Any objects, of which the game knows the keys.
    Objects(Objects),
}

/// The objects of the last positions, by their keys.
pub(super) struct Objects {
    game: Py<PyAny>,
    name: &'static str,
    kept: Cache<Arc<Py<PyAny>>>,
}

impl Objects {
    /// Those of a game that has the methods `key` and `from_key`; `None` if it has neither.
    fn of(game: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Option<Self>> {
        match (overrides(game, "key")?, overrides(game, "from_key")?) {
            (false, false) => Ok(None),
            (true, true) => Ok(Some(Self { game: game.clone().unbind(), name, kept: Cache::new(OBJECT) })),
            _ => Err(PyTypeError::new_err("has one of the methods key and from_key, but needs both")),
        }
    }

    /// The object of a state: one that is kept, or one that the game makes of the key.
    fn object<'py>(&self, py: Python<'py>, state: &PyState) -> PyResult<Bound<'py, PyAny>> {
        if let Some(kept) = self.kept.get(state.bytes()) {
            return Ok(kept.bind(py).clone());
        }
        let key = PyBytes::new(py, state.bytes());
        let made = self.game.bind(py).call_method1(intern!(py, "from_key"), (key,));
        let made = made.map_err(|error| named(py, self.name, "from_key", error))?;
        self.kept.put(state.bytes(), Arc::new(made.clone().unbind()));
        Ok(made)
    }

    /// The state of an object, which is kept unless there is one of the same key already.
    fn state(&self, object: &Bound<'_, PyAny>) -> PyResult<PyState> {
        let state = self.key(object)?;
        if !self.kept.has(state.bytes()) {
            self.kept.put(state.bytes(), Arc::new(object.clone().unbind()));
        }
        Ok(state)
    }

    fn key(&self, object: &Bound<'_, PyAny>) -> PyResult<PyState> {
        let py = object.py();
        let read = |key: Bound<'_, PyAny>| match key.cast::<PyBytes>().map(PyBytesMethods::as_bytes) {
            Ok(key) if key.len() <= MOST => Ok(PyState::new(key)),
            Ok(key) => {
                Err(PyValueError::new_err(format!("a key has {} bytes, but at most {MOST} are allowed", key.len())))
            }
            Err(_) => Err(PyTypeError::new_err(format!("returned {}, not bytes", key.get_type()))),
        };
        let key = self.game.bind(py).call_method1(intern!(py, "key"), (object,)).and_then(read);
        key.map_err(|error| named(py, self.name, "key", error))
    }

    /// Whether the object of a state still has its key.
    pub(super) fn is_unchanged(&self, py: Python<'_>, state: &PyState) -> PyResult<bool> {
        Ok(self.key(&self.object(py, state)?)? == *state)
    }

    /// Forgets all objects.
    pub(super) fn forget(&self) {
        self.kept.clear();
    }
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
    /// The layout of a game's states, which are like the first one.
    pub(super) fn of(game: &Bound<'_, PyAny>, name: &'static str, state: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(objects) = Objects::of(game, name)? {
            return Ok(Self::Objects(objects));
        }
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
            let fault =
                format!("a state is a NumPy array of integers or bytes, not {kind}, which needs key and from_key");
            return Err(PyTypeError::new_err(fault));
        };
        match layout.size() {
            1..=MOST => Ok(layout),
            size => Err(PyValueError::new_err(format!("a state has {size} bytes, but must have 1 to {MOST}"))),
        }
    }

    /// Bytes of a state; of a key, most of them.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Bytes(size) => *size,
            Self::Array(kind, shape) => kind.size() * shape.iter().product::<usize>(),
            Self::Objects(_) => MOST / 4,
        }
    }

    /// A state as the object that the rules see.
    pub(super) fn object<'py>(&self, py: Python<'py>, state: &PyState) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Bytes(_) => Ok(PyBytes::new(py, state.bytes()).into_any()),
            Self::Array(kind, shape) => {
                with_kind!(*kind, T => Ok(array::<T>(py, std::slice::from_ref(state), shape)?.into_any()))
            }
            Self::Objects(objects) => objects.object(py, state),
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

    /// States as one array `[states, ...]`, or as a list.
    pub(super) fn objects<'py>(&self, py: Python<'py>, states: &[PyState]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Array(kind, shape) => {
                let all: Vec<usize> = [states.len()].iter().chain(shape).copied().collect();
                with_kind!(*kind, T => Ok(array::<T>(py, states, &all)?.into_any()))
            }
            _ => {
                let objects: Vec<_> = states.iter().map(|state| self.object(py, state)).collect::<PyResult<_>>()?;
                Ok(PyList::new(py, objects)?.into_any())
            }
        }
    }

    /// The state of an object that the rules have returned.
    pub(super) fn state(&self, object: &Bound<'_, PyAny>) -> PyResult<PyState> {
        match self {
            Self::Objects(objects) => return objects.state(object),
            Self::Bytes(size) => {
                if let Ok(bytes) = object.cast::<PyBytes>()
                    && bytes.as_bytes().len() == *size
                {
                    return Ok(PyState::new(bytes.as_bytes()));
                }
            }
            Self::Array(kind, shape) => with_kind!(*kind, T => {
                if let Ok(array) = object.cast::<PyArrayDyn<T>>()
                    && array.shape() == shape
                {
                    let mut state = PyState::zeros(self.size());
                    let places = state.bytes.chunks_exact_mut(size_of::<T>());
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
        let mut states = vec![PyState::zeros(self.size()); count];
        let numbers = self.size() / kind.size();
        with_kind!(*kind, T => {
            if let Ok(array) = object.cast::<PyArrayDyn<T>>()
                && array.shape().split_first() == Some((&count, &shape[..]))
            {
                for (i, number) in array.try_readonly()?.as_array().iter().enumerate() {
                    let place = (i % numbers) * size_of::<T>();
                    number.write(&mut states[i / numbers].bytes[place..place + size_of::<T>()]);
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
            Self::Objects(_) => "a list of states".to_owned(),
            Self::Array(kind, shape) => {
                let shape: Vec<usize> = count.iter().chain(shape).copied().collect();
                format!("an array of {} {}", kind.name(), tuple(&shape))
            }
        };
        PyTypeError::new_err(format!("returned {given}, not {expected}"))
    }

    /// A state's text: its numbers, or its bytes or key in hexadecimal digits.
    pub(super) fn text(&self, state: &PyState) -> String {
        let bytes = state.bytes();
        match self {
            Self::Bytes(_) | Self::Objects(_) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Self::Array(kind, _) => with_kind!(*kind, T => {
                bytes.chunks_exact(size_of::<T>()).map(|chunk| T::read(chunk).to_string()).collect::<Vec<_>>().join(",")
            }),
        }
    }

    /// The state of a text.
    pub(super) fn parse(&self, text: &str) -> Result<PyState, String> {
        let mut state = PyState::zeros(self.size());
        match self {
            Self::Bytes(_) | Self::Objects(_) => {
                let digits = text.as_bytes();
                let size =
                    if matches!(self, Self::Bytes(_)) { self.size() } else { digits.len().div_ceil(2).min(MOST) };
                if digits.len() != 2 * size {
                    return Err(format!("must have {} hexadecimal digits", 2 * size));
                }
                state = PyState::zeros(size);
                for (pair, place) in digits.chunks_exact(2).zip(&mut state.bytes) {
                    let byte = std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
                    *place = byte.ok_or("must consist of hexadecimal digits")?;
                }
            }
            Self::Array(kind, _) => {
                let (numbers, count) = (text.split(','), self.size() / kind.size());
                if numbers.clone().count() != count {
                    return Err(format!("must have {count} numbers with commas between them"));
                }
                with_kind!(*kind, T => {
                    for (number, place) in numbers.zip(state.bytes.chunks_exact_mut(size_of::<T>())) {
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
fn array<'py, T: Number>(py: Python<'py>, states: &[PyState], shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let array = PyArray::<T, IxDyn>::zeros(py, shape, false);
    {
        let mut numbers = array.try_readwrite()?;
        let bytes = states.iter().flat_map(|state| state.bytes().chunks_exact(size_of::<T>()));
        numbers.as_slice_mut()?.iter_mut().zip(bytes).for_each(|(number, bytes)| *number = T::read(bytes));
    }
    Ok(array)
}
