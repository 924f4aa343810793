//! How much of the machine other programs use while it is measured, where `/proc` tells.

use std::fs;

/// Processor time since the start, in clock ticks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ticks {
    /// Of the whole machine, idle time included.
    all: u64,
    /// Of the whole machine, without idle time.
    busy: u64,
    /// Of this process.
    own: u64,
}

impl Ticks {
    /// The ticks until now; `None` where the system does not tell.
    pub(super) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?, &fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Reads the first line of `/proc/stat` (user, nice, system, idle, iowait, irq, softirq, steal, ...) and the fields
    /// utime and stime of `/proc/self/stat`, the twelfth and thirteenth after the program's name in brackets.
    fn parse(machine: &str, process: &str) -> Option<Self> {
        let line = machine.lines().next()?.strip_prefix("cpu ")?;
        let fields: Vec<u64> =
            line.split_whitespace().take(8).map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let all = fields.iter().sum();
        let idle = fields.get(3)? + fields.get(4)?;
        let after_name = process.rsplit_once(')')?.1;
        let own = after_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok());
        Some(Self { all, busy: all - idle, own: own.sum::<Option<u64>>()? })
    }

    /// Share of the machine's processor time since `earlier` that went to this process; 1 if no tick has passed.
    pub(super) fn own_since(self, earlier: Self) -> f64 {
        let [all, own] = [self.all - earlier.all, self.own - earlier.own];
        if all == 0 { 1.0 } else { (own as f64 / all as f64).min(1.0) }
    }

    /// Share of the machine's processor time since `earlier` that went to other programs.
    pub(super) fn others_since(self, earlier: Self) -> f64 {
        let [all, busy, own] = [self.all - earlier.all, self.busy - earlier.busy, self.own - earlier.own];
        if all == 0 { 0.0 } else { busy.saturating_sub(own) as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_are_what_is_neither_idle_nor_own() {
        let machine = |user: u64, idle: u64| format!("cpu  {user} 10 20 {idle} 5 1 2 3 0 0\ncpu0 1 2 3\n");
        let process = |user: u64| format!("12 (a b) c) S 1 2 3 4 5 6 7 8 9 10 {user} 7 0 0 20\n");
        let ticks = |user, idle, own| Ticks::parse(&machine(user, idle), &process(own)).expect("well-formed");
        assert_eq!(ticks(100, 50, 30), Ticks { all: 191, busy: 136, own: 37 });
        // 100 ticks of the machine: 60 of this process, 30 of others, 10 idle.
        let share = ticks(190, 60, 90).others_since(ticks(100, 50, 30));
        assert!((share - 0.3).abs() < 1e-9, "{share}");
        let own = ticks(190, 60, 90).own_since(ticks(100, 50, 30));
        assert!((own - 0.6).abs() < 1e-9, "{own}");
        assert_eq!(ticks(100, 50, 30).own_since(ticks(100, 50, 30)), 1.0);
        assert_eq!(ticks(100, 50, 30).others_since(ticks(100, 50, 30)), 0.0);
        assert_eq!(Ticks::parse("cpu  1 x", &process(1)), None);
        assert_eq!(Ticks::parse(&machine(1, 1), "no brackets"), None);
    }
}
