//! How many threads step many games: as many as pay off, found by trials.

use std::time::Duration;

/// Chooses the number of threads of [`Lanes`](crate::Lanes) by the time that their steps take.
///
/// A step ends with its slowest thread. Where other programs keep the cores busy, a second thread waits for a core longer
/// than it saves, and a short step is over before a thread has started. So the numbers 1, 2, 4, ... are tried: steps with
/// the next number alternate with steps as they are now, and the faster of the two is kept for many times as long as the
/// trial took. The caller brings the clock.
///
/// ```
/// use std::time::Duration;
/// use turnstone_env::ThreadChoice;
///
/// let mut choice = ThreadChoice::new(4);
/// for _ in 0..1000 {
///     let cores = choice.threads().min(2); // two cores are free
///     choice.record(Duration::from_micros(4000 / cores as u64));
/// }
/// assert_eq!(choice.threads(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct ThreadChoice {
    /// Numbers of threads in rising order.
    counts: Vec<usize>,
    /// The one in use, an index of `counts`.
    now: usize,
    /// Whether the next trial is of more threads.
    more: bool,
    /// Seconds until the next trial.
    rest: f64,
    /// How many times as long as a trial its result is kept.
    patience: f64,
    trial: Option<Trial>,
}

/// Steps of two numbers of threads in turn.
#[derive(Clone, Debug)]
struct Trial {
    /// The number that is tried, an index of `counts`.
    other: usize,
    /// Seconds of the steps with the number in use, and with the other one.
    seconds: [f64; 2],
    /// Number of steps of both together.
    steps: u32,
}

/// Steps that are shorter, in seconds, are not shared among more threads: starting one takes a tenth of this and more.
const SHORTEST: f64 = 200e-6;
/// A trial has at least this many steps and seconds.
const TRIAL: (u32, f64) = (20, 0.03);
/// More threads must take less than this share of the time, since they take other work's cores.
const GAIN: f64 = 0.9;
/// Least and greatest [`ThreadChoice::patience`].
const PATIENCE: [f64; 2] = [20.0, 100.0];

impl ThreadChoice {
    /// A choice of up to `most` threads, which begins with one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let mut counts: Vec<usize> = (0..).map(|power| 1 << power).take_while(|&count| count < most).collect();
        counts.push(most.max(1));
        Self { counts, now: 0, more: true, rest: 0.0, patience: PATIENCE[0], trial: None }
    }

    /// The number of threads of the next step.
    #[must_use]
    pub fn threads(&self) -> usize {
        match &self.trial {
            Some(trial) if trial.steps % 2 == 1 => self.counts[trial.other],
            _ => self.counts[self.now],
        }
    }

    /// Takes note of the time that a step with [`ThreadChoice::threads`] took.
    pub fn record(&mut self, step: Duration) {
        let seconds = step.as_secs_f64();
        match &mut self.trial {
            Some(trial) => {
                trial.seconds[trial.steps as usize % 2] += seconds;
                trial.steps += 1;
                if trial.steps % 2 == 0 && trial.steps >= TRIAL.0 && trial.seconds.iter().sum::<f64>() >= TRIAL.1 {
                    self.decide();
                }
            }
            None if self.rest > 0.0 => self.rest -= seconds,
            None => self.begin(seconds),
        }
    }

    /// Begins a trial after a step of this many seconds.
    fn begin(&mut self, seconds: f64) {
        let more = self.now + 1 < self.counts.len() && seconds * self.counts[self.now] as f64 >= SHORTEST;
        let other = match (more && self.more, self.now) {
            (true, now) => now + 1,
            (false, 0) if more => 1,
            (false, 0) => {
                self.rest = seconds; // nothing to try yet
                return;
            }
            (false, now) => now - 1,
        };
        self.trial = Some(Trial { other, seconds: [0.0; 2], steps: 0 });
    }

    /// Ends a trial.
    fn decide(&mut self) {
        let Some(Trial { other, seconds: [present, tried], .. }) = self.trial.take() else { return };
        let bound = if other > self.now { GAIN * present } else { present / GAIN };
        if tried < bound {
            self.more = other > self.now;
            self.now = other;
            (self.patience, self.rest) = (PATIENCE[0], 0.0); // perhaps the next number is better still
        } else {
            self.more = !self.more;
            self.rest = self.patience * (present + tried);
            self.patience = (2.0 * self.patience).min(PATIENCE[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Lets steps pass for this many seconds, whose time in seconds is `cost` of their threads. Returns the share of the time
    /// that was spent with each of `1..=most` threads.
    fn pass(choice: &mut ThreadChoice, most: usize, seconds: f64, mut cost: impl FnMut(usize) -> f64) -> Vec<f64> {
        let (mut spent, mut total) = (vec![0.0; most], 0.0);
        while total < seconds {
            let threads = choice.threads();
            let step = cost(threads);
            choice.record(Duration::from_secs_f64(step));
            spent[threads - 1] += step / seconds;
            total += step;
        }
        spent
    }

    #[test]
    fn as_many_threads_as_there_are_free_cores_are_used() {
        for (most, cores) in [(1, 1), (2, 1), (2, 2), (6, 1), (6, 2), (6, 6), (16, 8), (16, 16)] {
            let mut choice = ThreadChoice::new(most);
            assert_eq!(choice.threads(), 1);
            let cost = |threads: usize| 2e-3 / threads.min(cores) as f64 + 1e-4 * (threads - 1) as f64 / cores as f64;
            let spent = pass(&mut choice, most, 20.0, cost);
            assert!(spent[cores - 1] > 0.9, "{cores} cores: {spent:?}");
        }
    }

    #[test]
    fn waiting_threads_are_given_up_and_tried_again() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut choice = ThreadChoice::new(2);
        // A second thread waits for up to 10 ms for its core, a step of one thread now and then.
        let mut busy = |threads: usize| {
            let wait = 0.01 * (rng.next_u32() % 100) as f64 / 100.0;
            if threads == 2 { 1e-3 + wait } else { 2e-3 + if rng.next_u32() % 20 == 0 { wait } else { 0.0 } }
        };
        let free = |threads: usize| 2e-3 / threads as f64;
        assert!(pass(&mut choice, 2, 60.0, &mut busy)[0] > 0.9);
        assert!(pass(&mut choice, 2, 60.0, free)[1] > 0.7, "found when the cores are free again");
        assert!(pass(&mut choice, 2, 60.0, &mut busy)[0] > 0.7);
    }

    #[test]
    fn short_steps_are_not_shared() {
        let mut choice = ThreadChoice::new(4);
        assert_eq!(pass(&mut choice, 4, 1.0, |threads| 1e-4 / threads as f64)[1..], [0.0; 3]);
    }
}
