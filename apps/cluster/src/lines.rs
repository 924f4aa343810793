//! How many lines others can make this program say: a worker its leader, or a server its client.

use std::collections::HashMap;

/// Lines about one name.
const PER_NAME: u32 = 5;
/// Lines in all.
const IN_ALL: u32 = 200;

/// What has been said of others.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    said: u32,
    by_name: HashMap<String, u32>,
}

impl Lines {
    /// The line, if it is to be said; the last one says that there are no more.
    pub(crate) fn allow(&mut self, name: &str, line: String) -> Option<String> {
        if self.said >= IN_ALL {
            return None;
        }
        let of_name = self.by_name.entry(name.to_owned()).or_default();
        *of_name += 1;
        if *of_name > PER_NAME {
            return None;
        }
        self.said += 1;
        Some(match (self.said, *of_name) {
            (IN_ALL, _) => format!("{line} (no further lines of this kind)"),
            (_, PER_NAME) => format!("{line} (no further lines about it)"),
            _ => line,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_one_fills_the_log() {
        let mut lines = Lines::default();
        let said: Vec<String> = (0..100).filter_map(|_| lines.allow("a", "x".into())).collect();
        assert_eq!((said.len(), &*said[0]), (5, "x"));
        assert!(said[4].contains("no further lines about it"));
        let all = (0..9999).filter_map(|number| lines.allow(&format!("n{number}"), "x".into())).count();
        assert_eq!(all, 195);
        assert!(lines.by_name.len() <= 200);
    }
}
