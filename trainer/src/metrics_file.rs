//! The lines of `metrics.jsonl`, each with a checksum.

use turnstone_base::checksum::unseal_line;

/// Maximum length of the file to read, far above that of any run.
pub(crate) const LONGEST_METRICS: u64 = 1 << 30;

/// The whole lines of the file as JSON objects without their checksums, or their faults, with their numbers from 1. A
/// last line without its line break is one that is being written, or was when the run was interrupted: it is left out.
///
/// Lines of earlier versions have no checksum. They come first, so a line without one after a line with one is damaged.
pub(crate) fn objects(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<String, String>)> {
    let mut sealed = false;
    let whole = bytes.split_inclusive(|&byte| byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    (1..).zip(whole).map(move |(number, line)| {
        let mut object = || -> Result<String, String> {
            let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
            let unsealed = unseal_line(line).map_err(|damaged| damaged.to_string())?;
            let has_checksum = unsealed.is_some();
            if !has_checksum && sealed {
                return Err("it has no checksum, and the line before it has".into());
            }
            sealed = has_checksum;
            Ok(unsealed.unwrap_or_else(|| line.to_owned()))
        };
        (number, object())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstone_base::checksum::seal_line;

    #[test]
    fn damage_is_named_and_lines_of_earlier_versions_are_read() {
        let (old, new) = (r#"{"iteration":1}"#.to_owned(), seal_line(r#"{"iteration":2}"#));
        let read = |lines: &[&String]| -> Vec<Result<String, String>> {
            let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
            objects((text + "{\"half").as_bytes()).map(|(_, object)| object).collect()
        };
        assert_eq!(read(&[&old, &new]), [Ok(old.clone()), Ok(r#"{"iteration":2}"#.into())]);
        assert!(read(&[&new, &old])[1].as_ref().unwrap_err().contains("no checksum"));
        assert!(read(&[&old, &new.replace(":2", ":3")])[1].as_ref().unwrap_err().contains("checksum does not fit"));
        let bytes = [new.as_bytes(), b"\n\xff\n"].concat();
        assert_eq!(objects(&bytes).last(), Some((2, Err("it is not UTF-8".into()))));
    }
}
