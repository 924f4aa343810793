//! Checksums as text: CRC-32 of bytes, and a field with it in each line of a file of JSON objects.

/// The last field of a line, with `?` instead of each digit of the checksum.
const FIELD: &[u8] = br#","crc":"????????"}"#;

/// A line without a checksum, or with one that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its checksum is missing or does not fit its contents: the line is damaged or was changed")]
pub struct DamagedLine;

/// CRC-32 of bytes, as eight hexadecimal digits.
#[must_use]
pub fn crc32_text(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Adds a last field `"crc"` to a JSON object: the CRC-32 of the object without it, as eight hexadecimal digits.
///
/// # Panics
/// If the text does not end in `}` or has no field.
#[must_use]
pub fn seal_line(object: &str) -> String {
    let fields = object.strip_suffix('}').expect("a JSON object ends in a brace");
    assert!(fields.len() > 1, "an object without fields has no place for a checksum");
    format!("{fields},\"crc\":\"{}\"}}", crc32_text(object.as_bytes()))
}

/// The object that was given to [`seal_line`]. The line may end in `\r`, as programs that convert line breaks leave it.
///
/// # Errors
/// The line has no checksum, or one that it does not fit.
pub fn unseal_line(line: &str) -> Result<String, DamagedLine> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let fields = line.as_bytes().split_last_chunk::<{ FIELD.len() }>().ok_or(DamagedLine)?.0;
    let object = std::str::from_utf8(fields).map_err(|_| DamagedLine)?.to_owned() + "}";
    // A brace alone has no fields that could have been sealed.
    if object.len() < 3 || seal_line(&object) != line { Err(DamagedLine) } else { Ok(object) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_comes_back() {
        for object in [r#"{"a":1}"#, r#"{"moves":["a1","ü"],"result":-1}"#, r#"{"a":{"b":0.5}}"#] {
            let sealed = seal_line(object);
            assert!(serde_json::from_str::<serde_json::Value>(&sealed).unwrap()["crc"].is_string());
            assert_eq!(unseal_line(&sealed), Ok(object.to_owned()));
            assert_eq!(unseal_line(&(sealed + "\r")), Ok(object.to_owned()));
        }
        assert_eq!(seal_line(r#"{"a":1}"#), r#"{"a":1,"crc":"561bacaf"}"#);
    }

    #[test]
    fn lines_without_a_checksum_or_without_fields_are_damage() {
        for line in [
            "",
            "{}",
            r#"{"a":1}"#,
            r#"{"timing":{"seconds":0.25}}"#,
            "nonsense",
            r#"{,"crc":"561bacaf"}"#,
            r#"{fstrc":"5c031b67"}"#,
            r#","crc":"561bacaf"}"#,
        ] {
            assert_eq!(unseal_line(line), Err(DamagedLine), "{line}");
        }
    }

    /// Every flipped bit, those of the checksum and its name included.
    #[test]
    fn no_flipped_bit_is_passed_over() {
        let sealed = seal_line(r#"{"number":3,"moves":["a1","b2"],"result":1,"ending":"rules"}"#).into_bytes();
        for bit in 0..8 * sealed.len() {
            let mut bytes = sealed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(line) = std::str::from_utf8(&bytes) {
                assert_eq!(unseal_line(line), Err(DamagedLine), "{line}");
            }
        }
    }
}
