//! The machine's memory, against which requests for much of it are checked.

/// The machine's memory or the limit of this process's control group, whichever is less, in MiB; `None` where that is
/// unknown.
pub(crate) fn mebibytes() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    if !cfg!(target_os = "linux") {
        return None;
    }
    let total = read("/proc/meminfo").and_then(|text| total(&text));
    let limit = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse::<u64>().ok()).map(|b| b >> 20);
    total.into_iter().chain(limit).min()
}

/// `MemTotal` of the text of `/proc/meminfo`, in MiB.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes >> 10)
}

/// Checks a transposition table of `table` MiB.
///
/// # Errors
/// It is larger than three quarters of the memory, where that is known.
pub(crate) fn check_table(table: u32, memory: Option<u64>) -> Result<(), String> {
    match memory {
        Some(memory) if u64::from(table) > memory / 4 * 3 => {
            Err(format!("hash={table}: a table of {table} MiB is too large for the {memory} MiB of memory"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_must_fit_into_memory() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       24576000 kB\nBuffers: 3 kB\n"), Some(24_000));
        assert_eq!(total("MemTotal: much"), None);
        assert_eq!(check_table(18_000, Some(24_000)), Ok(()));
        assert!(check_table(18_001, Some(24_000)).is_err_and(|fault| fault.contains("24000 MiB of memory")));
        assert_eq!(check_table(65_536, None), Ok(()));
        assert!(!cfg!(target_os = "linux") || mebibytes().is_some_and(|memory| memory > 0));
    }
}
