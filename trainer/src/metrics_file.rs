//! The lines of `metrics.jsonl`, each with a checksum.

use turnstone_base::checksum::unseal_line;

/// Maximum length of the file to read, far above that of any run.
pub(crate) const LONGEST_METRICS: u64 = 1 << 30;

/// The complete lines: the number from 1, and the object without `crc` or the error. A last line without its line break is
/// still being written, or was when the run was interrupted, and is left out.
pub(crate) fn objects(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<String, String>)> {
    let whole = bytes.split_inclusive(|&byte| byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    (1..).zip(whole).map(|(number, line)| {
        let object = || -> Result<String, String> {
            let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
            unseal_line(line).map_err(|damaged| damaged.to_string())
        };
        (number, object())
    })
}
