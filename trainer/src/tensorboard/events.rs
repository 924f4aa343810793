//! Messages of TensorBoard's event files, with the fields that are written here, and the framing of a record.
//!
//! Field numbers: `event.proto`, `summary.proto`, `histogram.proto` and `tensor.proto` of TensorFlow. Framing:
//! TFRecord, a length, the data, and a masked CRC-32C of each.

use prost::Message;

/// `event.proto`: what happened at a step.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub(super) wall_time: f64,
    #[prost(int64, tag = "2")]
    pub(super) step: i64,
    /// Only in the first event of a file.
    #[prost(string, optional, tag = "3")]
    pub(super) file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    pub(super) summary: Option<Summary>,
}

/// `summary.proto`: values by tag.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Summary {
    #[prost(message, repeated, tag = "1")]
    pub(super) value: Vec<Value>,
}

/// `summary.proto`: one value, of one of three kinds.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Value {
    #[prost(string, tag = "1")]
    pub(super) tag: String,
    #[prost(float, optional, tag = "2")]
    pub(super) simple_value: Option<f32>,
    #[prost(message, optional, tag = "5")]
    pub(super) histogram: Option<Histogram>,
    #[prost(message, optional, tag = "8")]
    pub(super) tensor: Option<Tensor>,
    #[prost(message, optional, tag = "9")]
    pub(super) metadata: Option<Metadata>,
}

/// `histogram.proto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Histogram {
    #[prost(double, tag = "1")]
    pub(super) min: f64,
    #[prost(double, tag = "2")]
    pub(super) max: f64,
    #[prost(double, tag = "3")]
    pub(super) num: f64,
    #[prost(double, tag = "4")]
    pub(super) sum: f64,
    #[prost(double, tag = "5")]
    pub(super) sum_squares: f64,
    /// The upper end of each bucket.
    #[prost(double, repeated, tag = "6")]
    pub(super) bucket_limit: Vec<f64>,
    #[prost(double, repeated, tag = "7")]
    pub(super) bucket: Vec<f64>,
}

/// `tensor.proto`: a tensor of strings.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensor {
    /// [`Tensor::STRING`].
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
    #[prost(bytes = "vec", repeated, tag = "8")]
    pub(super) string_val: Vec<Vec<u8>>,
}

impl Tensor {
    /// `DT_STRING`.
    pub(super) const STRING: i32 = 7;
}

/// `summary.proto`: which plugin shows a value.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Metadata {
    #[prost(message, optional, tag = "1")]
    pub(super) plugin_data: Option<PluginData>,
}

/// `summary.proto`: the plugin by name.
#[derive(Clone, PartialEq, Message)]
pub(super) struct PluginData {
    #[prost(string, tag = "1")]
    pub(super) plugin_name: String,
}

/// An event as a record of the file.
pub(super) fn record(event: &Event) -> Vec<u8> {
    let data = event.encode_to_vec();
    let length = (data.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(data.len() + 16);
    record.extend(length);
    record.extend(masked_checksum(&length).to_le_bytes());
    record.extend(&data);
    record.extend(masked_checksum(&data).to_le_bytes());
    record
}

/// TFRecord's masked CRC-32C: the checksum rotated right by 15 bits plus a constant.
fn masked_checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first record that TensorFlow 2.16 writes, but for its time: `Event { wall_time: 1.0, file_version: "brain.Event:2" }`.
    #[test]
    fn a_record_is_framed_as_tfrecord_says() {
        // RFC 3720, B.4: the CRC-32C of 32 zero bytes.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(masked_checksum(&[0; 32]), 0x8a91_36aa_u32.rotate_right(15).wrapping_add(0xa282_ead8));
        let event = Event { wall_time: 1.0, file_version: Some("brain.Event:2".into()), ..Event::default() };
        let record = record(&event);
        let (head, tail) = record.split_at(12);
        assert_eq!(head[..8], 24_u64.to_le_bytes());
        assert_eq!(tail[..9], [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f], "field 1, a double");
        assert_eq!(tail[9..11], [0x1a, 13], "field 3, 13 bytes");
        assert_eq!(tail[24..], masked_checksum(&tail[..24]).to_le_bytes());
    }
}
