//! The course of a game as a curve of values, whose places can be clicked.

use std::fmt::Write;

use turnstone_env::svg::escaped;

/// Width and height of the drawing.
pub const CURVE_SIZE: [f32; 2] = [400.0, 120.0];
/// Where the first and the last ply are.
pub const CURVE_ENDS: [f32; 2] = [8.0, CURVE_SIZE[0] - 8.0];

/// Shapes of an SVG element with the values for the first side of a game's positions, NaN where they are unknown: a dot for
/// each of them, coloured by the mark of its move, a line at the ply that is shown, and a strip to click for every ply.
/// `ends` says what the upper and the lower end mean.
#[must_use]
pub fn curve(values: &[f32], marks: &[&str], ends: [&str; 2], at: usize) -> String {
    let ([width, height], plies) = (CURVE_SIZE, values.len().saturating_sub(1).max(1) as f32);
    let step = (CURVE_ENDS[1] - CURVE_ENDS[0]) / plies;
    let x = |ply: usize| CURVE_ENDS[0] + step * ply as f32;
    let (middle, foot, [upper, lower]) = (height / 2.0, height - 6.0, ends.map(escaped));
    let (mut line, mut dots, mut strips) = (String::new(), String::new(), String::new());
    for (ply, value) in values.iter().enumerate() {
        let x = x(ply);
        let _ = write!(
            strips,
            r#"<rect class="strip" data-ply="{ply}" x="{:.1}" y="0" width="{step:.1}" height="{height}"/>"#,
            x - step / 2.0
        );
        if value.is_nan() {
            continue;
        }
        let (y, start) = (middle - (middle - 20.0) * value, if line.is_empty() { 'M' } else { 'L' });
        let mark = ply.checked_sub(1).and_then(|place| marks.get(place)).copied().unwrap_or_default();
        let radius = if mark.starts_with('?') || values.len() <= 60 { 3.5 } else { 1.5 };
        let _ = write!(line, "{start}{x:.1} {y:.1}");
        let _ = write!(dots, r#"<circle class="dot" data-mark="{mark}" cx="{x:.1}" cy="{y:.1}" r="{radius}"/>"#);
    }
    let at = x(at);
    format!(
        r#"<path class="middle" d="M0 {middle}H{width}"/><path class="cursor" d="M{at:.1} 0V{height}"/><text class="end" x="6" y="14">{upper}</text><text class="end" x="6" y="{foot}">{lower}</text><path class="course" d="{line}"/>{dots}{strips}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_drawn_by_ply_with_the_marks_of_their_moves() {
        let drawn = curve(&[0.0, 1.0, f32::NAN, -1.0], &["!", "", "??"], ["<a>", "b"], 3);
        assert!(drawn.contains(r#"d="M8.0 60.0L136.0 20.0L392.0 100.0""#), "{drawn}");
        assert!(drawn.contains(r#"data-mark="!" cx="136.0""#) && drawn.contains(r#"data-mark="??" cx="392.0""#));
        assert!(drawn.contains(r#"class="cursor" d="M392.0 0"#) && drawn.contains("&lt;a&gt;"), "{drawn}");
        assert_eq!((drawn.matches("data-ply").count(), drawn.matches("<circle").count()), (4, 3));
        assert!(!curve(&[], &[], ["", ""], 0).contains("NaN"));
    }
}
