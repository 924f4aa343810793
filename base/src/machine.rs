//! The machine: its cores, its memory, and the number of this process.

use std::fs;

/// Number of cores available to this program; 1 if it cannot be determined.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Resolves a number of threads, where 0 means one per core.
#[must_use]
pub fn or_all_cores(threads: usize) -> usize {
    if threads == 0 { cores() } else { threads }
}

/// Memory in bytes: of the machine, or of the control group of this process if it has less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Total memory.
    pub total: u64,
    /// Free memory, including caches that can be freed.
    pub available: u64,
}

/// Reads the memory of the machine. `None` where it is unknown; only Linux is supported.
#[must_use]
pub fn memory() -> Option<Memory> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let of_group = |file: &str| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse().ok();
    memory_of(&meminfo, of_group("memory.max"), of_group("memory.current"))
}

/// Memory from the text of `/proc/meminfo`, and from limit and usage of the control group, in bytes.
fn memory_of(meminfo: &str, limit: Option<u64>, used: Option<u64>) -> Option<Memory> {
    let field = |name: &str| {
        let kibibytes = meminfo.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix("kB")?;
        kibibytes.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    let left = limit.zip(used).map(|(limit, used)| limit.saturating_sub(used));
    Some(Memory {
        total: field("MemTotal:")?.min(limit.unwrap_or(u64::MAX)),
        available: field("MemAvailable:")?.min(left.unwrap_or(u64::MAX)),
    })
}

/// The process id, or 0 on bare WebAssembly, where [`std::process::id`] panics.
pub(crate) fn process_id() -> u32 {
    if cfg!(all(target_family = "wasm", target_os = "unknown")) { 0 } else { std::process::id() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_the_machine_or_of_its_group() {
        let text = "MemTotal:       24576000 kB\nMemFree: 1 kB\nMemAvailable: 1000 kB\nBuffers: 3 kB\n";
        let memory = |limit, used| memory_of(text, limit, used).map(|memory| (memory.total, memory.available));
        let (total, available) = (24_576_000 << 10, 1000 << 10);
        assert_eq!(memory(None, Some(7)), Some((total, available)));
        assert_eq!(memory(Some(1 << 40), Some(7)), Some((total, available)));
        assert_eq!(memory(Some(2 << 20), None), Some((2 << 20, available)));
        assert_eq!(memory(Some(2 << 20), Some(2 << 19)), Some((2 << 20, available)));
        assert_eq!(memory(Some(2 << 20), Some((2 << 20) - 9)), Some((2 << 20, 9)));
        assert_eq!(memory(Some(2 << 20), Some(3 << 20)), Some((2 << 20, 0)));
        assert_eq!(memory_of("MemTotal: much\nMemAvailable: 1 kB\n", None, None), None);
        assert_eq!(memory_of("MemTotal: 1 kB\n", None, None), None);
    }

    #[test]
    fn linux_tells_its_memory() {
        let found = super::memory();
        assert!(!cfg!(target_os = "linux") || found.is_some_and(|memory| memory.available > 0), "{found:?}");
    }
}
