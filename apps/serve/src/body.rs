//! Bytes of answers, shared by all connections that send them.

use std::ops::Deref;
use std::sync::Arc;

/// Bytes that are compiled in, or shared.
#[derive(Clone, Debug)]
pub enum Body {
    /// Compiled in.
    Static(&'static [u8]),
    /// Shared.
    Shared(Arc<[u8]>),
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Static(bytes)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(bytes.into())
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::from(text.into_bytes())
    }
}
