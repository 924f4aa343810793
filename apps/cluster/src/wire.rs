//! Reading and writing of binary messages: every length is checked against the bytes that remain before anything is
//! allocated.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use sha2::{Digest, Sha256};

/// Why bytes are not a message.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

impl Malformed {
    pub(crate) fn new(fault: impl Into<String>) -> Self {
        Self(fault.into())
    }
}

/// The rest of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// Begins to read a message that starts with these four bytes.
    pub(crate) fn of(bytes: &'a [u8], magic: [u8; 4]) -> Result<Self, Malformed> {
        let mut reader = Self(bytes);
        if reader.array::<4>()? != magic {
            return Err(Malformed::new("it is a message of another kind or version"));
        }
        Ok(reader)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (found, rest) = self.0.split_first_chunk().ok_or_else(|| Malformed::new("it is cut short"))?;
        self.0 = rest;
        Ok(*found)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (found, rest) = self.0.split_at_checked(length).ok_or_else(|| Malformed::new("it is cut short"))?;
        self.0 = rest;
        Ok(found)
    }

    /// Bytes with their length (u32) before them.
    pub(crate) fn blob(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u32()? as usize;
        self.bytes(length)
    }

    /// Floats that fill `count` times four bytes.
    pub(crate) fn floats(&mut self, count: usize) -> Result<Vec<f32>, Malformed> {
        let length = count.checked_mul(4).ok_or_else(|| Malformed::new("it has too many numbers"))?;
        let bytes = self.bytes(length)?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// Checks that nothing is left.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed::new("it has bytes beyond its end")) }
    }
}

/// The bytes before a CRC-32 of them.
pub(crate) fn unsealed(bytes: &[u8]) -> Result<&[u8], Malformed> {
    let (sealed, checksum) = bytes.split_last_chunk().ok_or_else(|| Malformed::new("it is cut short"))?;
    if crc32fast::hash(sealed) != u32::from_le_bytes(*checksum) {
        return Err(Malformed::new("its checksum is not of its contents"));
    }
    Ok(sealed)
}

/// SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Appends bytes with their length before them.
pub(crate) fn put_blob(bytes: &mut Vec<u8>, blob: &[u8]) {
    bytes.extend((blob.len() as u32).to_le_bytes());
    bytes.extend_from_slice(blob);
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The bytes that hexadecimal digits stand for.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().ok()
}

/// The first digits of a job's SHA-256, for display.
pub(crate) fn short(sum: &[u8; 32]) -> String {
    hex(&sum[..4])
}

/// A text cut to a length in bytes, for a field that is bounded.
pub(crate) fn cut(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_checked_before_they_are_used() {
        let mut huge = b"TEST".to_vec();
        huge.extend(u32::MAX.to_le_bytes());
        let mut reader = Reader::of(&huge, *b"TEST").expect("its kind");
        assert!(reader.blob().expect_err("too few bytes").0.contains("cut short"));
        assert!(Reader(&[0; 7]).floats(2).is_err() && Reader(&[]).floats(usize::MAX).is_err());
        assert!(Reader::of(b"TES", *b"TEST").is_err() && Reader::of(b"TEXT", *b"TEST").is_err());
        assert!(Reader(b"x").end().is_err());
    }

    #[test]
    fn digits_stand_for_bytes() {
        assert_eq!(unhex::<2>(&hex(&[0xab, 7])), Some([0xab, 7]));
        assert_eq!((unhex::<2>("zz00"), unhex::<2>("00"), unhex::<1>("é")), (None, None, None));
    }
}
