//! Numbers as pages write them.

/// Formats an Elo difference or rating with its sign.
#[must_use]
pub fn signed(elo: f64) -> String {
    match elo {
        f64::INFINITY => "+∞".into(),
        f64::NEG_INFINITY => "\u{2212}∞".into(),
        _ => format!("{elo:+.0}").replace('-', "\u{2212}").replace("\u{2212}0", "+0"),
    }
}

/// Formats a count with its digits in groups of three.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join("\u{202f}")
}
