//! Axes of charts: range, ticks and labels, and number formats.

/// Range of numbers with ticks at multiples of 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    step: f64,
}

/// Maximum number of intervals between ticks.
const MOST_STEPS: f64 = 5.0;

/// Least range of an axis, as a share of its greatest number: the ticks of narrower ones would need long labels.
const NARROWEST: f64 = 0.02;

impl Scale {
    /// Axis for values, with ticks at both ends. Ignores values that are not finite; without any the range is 0 to 1,
    /// and for a single value it extends to both sides.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = extent(values).unwrap_or((0.0, 1.0));
        let greatest = low.abs().max(high.abs());
        let room = if high > low {
            ((NARROWEST * greatest - (high - low)) / 2.0).max(0.0)
        } else {
            (0.1 * greatest).max(1e-9)
        };
        let (low, high) = (low - room, high + room);
        let step = round_step((high - low) / MOST_STEPS);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    /// Axis for counts, from the least to the greatest, with ticks at whole numbers.
    pub fn of_counts(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = extent(values).unwrap_or((0.0, 1.0));
        let (low, high) = if high > low { (low, high) } else { (low - 1.0, low + 1.0) };
        Self { low, high, step: round_step((high - low) / MOST_STEPS).max(1.0) }
    }

    /// Axis of a fixed range, with ticks at multiples of `step`.
    pub fn fixed(low: f64, high: f64, step: f64) -> Self {
        Self { low, high, step }
    }

    /// Position of a value on the axis, from 0 at the low end to 1 at the high one; values outside are at the ends.
    pub fn place(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Values of the ticks within the range.
    pub fn ticks(&self) -> Vec<f64> {
        let (first, last) =
            ((self.low / self.step - 1e-6).ceil() as i64, (self.high / self.step + 1e-6).floor() as i64);
        (first..=last).map(|tick| tick as f64 * self.step).collect()
    }

    /// Label of a tick.
    pub fn label(&self, tick: f64) -> String {
        let greatest = self.low.abs().max(self.high.abs());
        match greatest {
            1e6.. => with_unit(tick / 1e6, self.step / 1e6, "M"),
            1e4.. => with_unit(tick / 1e3, self.step / 1e3, "k"),
            1e-3.. => with_unit(tick, self.step, ""),
            _ if tick == 0.0 => "0".into(),
            _ => short(tick),
        }
    }
}

fn with_unit(tick: f64, step: f64, unit: &str) -> String {
    if tick == 0.0 {
        return "0".into();
    }
    let decimals = (-(step + 1e-12).log10().floor()).max(0.0) as usize;
    format!("{tick:.decimals$}{unit}").replace('-', "\u{2212}")
}

/// Minimum and maximum of the finite values.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let rounded = [1.0, 2.0, 5.0].map(|digit| digit * power).into_iter().find(|&step| step >= least * (1.0 - 1e-9));
    rounded.unwrap_or(10.0 * power)
}

/// Formats a number with three or four significant digits.
pub fn short(value: f64) -> String {
    let text = match value.abs() {
        0.0 => "0".into(),
        f64::INFINITY => if value > 0.0 { "+∞" } else { "-∞" }.into(),
        1e6.. => format!("{:.2}M", value / 1e6),
        1e4.. => format!("{:.1}k", value / 1e3),
        1e2.. => format!("{value:.0}"),
        1e1.. => format!("{value:.1}"),
        1e-2.. => format!("{value:.3}"),
        _ if value.is_nan() => "no value".into(),
        _ => format!("{value:.1e}"),
    };
    text.replace('-', "\u{2212}")
}

/// Formats an Elo difference or rating with its sign.
pub fn signed(elo: f64) -> String {
    if elo.is_finite() { format!("{elo:+.0}").replace('-', "\u{2212}").replace("\u{2212}0", "+0") } else { short(elo) }
}

/// Formats a count with its digits in groups of three.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join("\u{202f}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|tick| scale.label(tick)).collect()
    }

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        assert_eq!(labels(Scale::of([0.13, 1.32].into_iter())), ["0", "0.5", "1.0", "1.5"]);
        assert_eq!(labels(Scale::of([-300.0, 741.0].into_iter())), ["−500", "0", "500", "1000"]);
        assert_eq!(labels(Scale::of([6000.0, 11000.0].into_iter())), ["6k", "7k", "8k", "9k", "10k", "11k"]);
        assert_eq!(labels(Scale::of([2e-4, 2e-3].into_iter())), ["0", "0.0005", "0.0010", "0.0015", "0.0020"]);
        let narrow = labels(Scale::of([0.001_998, 0.002].into_iter()));
        assert!(narrow.len() >= 3 && narrow.iter().all(|label| label.len() <= 7), "{narrow:?}");
        assert_eq!(labels(Scale::of_counts([1.0, 360.0].into_iter())), ["100", "200", "300"]);
        assert_eq!(labels(Scale::of_counts([1.0, 3.0].into_iter())), ["1", "2", "3"]);
    }

    #[test]
    fn nothing_one_value_and_no_numbers() {
        let of = |values: &[f64]| Scale::of(values.iter().copied());
        assert_eq!(of(&[]), of(&[f64::NAN, f64::INFINITY]));
        assert_eq!(labels(of(&[])), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        for value in [0.0, 37.0, -2.5, 1e-7, 4e9] {
            let scale = of(&[value, value]);
            assert!((0.1..=0.9).contains(&scale.place(value)), "{scale:?}");
            assert!((2..9).contains(&scale.ticks().len()), "{scale:?}");
        }
        assert_eq!(labels(Scale::of_counts([5.0].into_iter())), ["4", "5", "6"]);
        assert_eq!(of(&[0.0, 1.0]).place(f64::INFINITY), 1.0);
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.7321, "0.732"),
            (36.13, "36.1"),
            (10313.9, "10.3k"),
            (4_520_786.0, "4.52M"),
            (1e-4, "1.0e−4"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!((short(f64::INFINITY), short(f64::NAN)), ("+∞".into(), "no value".into()));
    }
}
