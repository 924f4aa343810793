//! When the number of workers is worth a line.

/// What has been said of the number of workers.
#[derive(Default)]
pub(super) struct Waits {
    looks: u32,
    said: Option<usize>,
    /// Looks since there were none.
    none_since: u32,
}

impl Waits {
    /// The number of workers, if it is to be said: a few seconds after the beginning, when it changes, and every minute
    /// without any.
    pub(super) fn look(&mut self, workers: usize) -> Option<usize> {
        self.looks += 1;
        self.none_since = if workers == 0 { self.none_since + 1 } else { 0 };
        let says = if workers == 0 {
            self.none_since == 3 || self.none_since.is_multiple_of(60)
        } else {
            self.said == Some(0) || (self.said.is_none() && self.looks >= 2)
        };
        if says {
            self.said = Some(workers);
        }
        says.then_some(workers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_said_once_a_minute() {
        let mut waits = Waits::default();
        let said: Vec<Option<usize>> = (0..5).map(|_| waits.look(0)).collect();
        assert_eq!(said, [None, None, Some(0), None, None]);
        assert_eq!((0..60).filter_map(|_| waits.look(0)).count(), 1);
        assert_eq!((waits.look(2), waits.look(3)), (Some(2), None));
        let mut waits = Waits::default();
        assert_eq!((waits.look(1), waits.look(1), waits.look(1)), (None, Some(1), None));
    }
}
