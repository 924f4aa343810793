//! An incremental checksum of numbers, texts and the bits of floats.

/// CRC-32 of everything added, in order.
#[derive(Clone, Default, Debug)]
pub(super) struct Digest(crc32fast::Hasher);

impl Digest {
    pub(super) fn value(&self) -> u32 {
        self.0.clone().finalize()
    }

    /// Adds an integer of any type.
    pub(super) fn number(&mut self, number: impl TryInto<i128>) {
        let number = number.try_into().unwrap_or_else(|_| unreachable!("no number here has more than 64 bits"));
        self.0.update(&number.to_le_bytes());
    }

    /// Adds the length and the bytes of a text.
    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text.as_bytes());
    }

    /// Adds the bits of one float.
    pub(super) fn float(&mut self, x: f32) {
        self.0.update(&x.to_bits().to_le_bytes());
    }

    /// Adds the number of floats and their bits.
    pub(super) fn floats(&mut self, values: &[f32]) {
        self.number(values.len());
        values.iter().for_each(|&x| self.float(x));
    }
}
