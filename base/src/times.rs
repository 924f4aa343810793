//! Durations as text.

use std::time::Duration;

/// Parses a time such as `500ms`, `1s`, `1.5s` or `2m`, from one millisecond to a day.
#[must_use]
pub fn parse_time(text: &str) -> Option<Duration> {
    let milliseconds = [("ms", 1.0), ("s", 1e3), ("m", 60e3)]
        .iter()
        .find_map(|(unit, size)| text.strip_suffix(unit)?.parse::<f64>().ok().map(|number| number * size))
        .filter(|milliseconds| (1.0..=86_400e3).contains(milliseconds))?;
    Some(Duration::from_millis(milliseconds.round() as u64))
}

/// Formats a time so that [`parse_time`] can read it.
#[must_use]
pub fn time_text(time: Duration) -> String {
    match time.as_millis() {
        whole if whole.is_multiple_of(1000) => format!("{}s", whole / 1000),
        milliseconds => format!("{milliseconds}ms"),
    }
}

/// Formats a duration for people, e.g. `47 s`, `3 min 20 s`, `2 h 05 min`.
#[must_use]
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, milliseconds, written) in [
            ("500ms", 500, "500ms"),
            ("1s", 1000, "1s"),
            ("1.5s", 1500, "1500ms"),
            ("2m", 120_000, "120s"),
            ("0.0014s", 1, "1ms"),
            ("1440m", 86_400_000, "86400s"),
        ] {
            let time = Duration::from_millis(milliseconds);
            assert_eq!((parse_time(text), time_text(time).as_str()), (Some(time), written));
            assert_eq!(parse_time(written), Some(time));
        }
        for text in ["", "1", "s", "1h", "0s", "-1s", "1441m", "nans", "infs"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_short() {
        for (seconds, text) in [
            (47, "47 s"),
            (59, "59 s"),
            (60, "1 min 00 s"),
            (200, "3 min 20 s"),
            (3540, "59 min 00 s"),
            (3600, "1 h 00 min"),
            (7500, "2 h 05 min"),
        ] {
            assert_eq!(duration(Duration::from_millis(1000 * seconds + 999)), text);
        }
    }
}
