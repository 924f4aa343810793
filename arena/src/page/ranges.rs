//! Chart of values with intervals, one per line on a common axis, as SVG.

use std::fmt::Write;

use super::frame::escaped;
use super::scale::{Scale, signed};

/// A named value with its 95 % interval.
#[derive(Clone, PartialEq, Debug)]
pub struct Range {
    /// Name shown above the line.
    pub name: String,
    /// Value, shown as a dot.
    pub value: f64,
    /// Ends of the interval; may be infinite.
    pub interval: [f64; 2],
}

/// Width of the drawing, which fits a telephone's page, and height of a line with its name above it.
const WIDTH: f64 = 380.0;
const LINE: f64 = 40.0;
/// Maximum number of characters of a name; longer names are cut off.
const LETTERS: usize = 50;

/// Draws the ranges as an SVG element for a page, whose style sheet sets the colours.
pub fn ranges(title: &str, unit: &str, ranges: &[Range]) -> String {
    let scale = Scale::of(ranges.iter().flat_map(|range| [range.value, range.interval[0], range.interval[1]]));
    let at = |value: f64| 22.0 + (WIDTH - 44.0) * scale.place(value);
    let bottom = 8.0 + LINE * ranges.len() as f64;
    let mut shapes = String::new();
    for tick in scale.ticks() {
        let (x, label) = (at(tick), scale.label(tick));
        write!(
            shapes,
            r#"<path class="grid" d="M{x:.1} 8V{bottom:.1}"/><text x="{x:.1}" y="{:.1}" text-anchor="middle">{label}</text>"#,
            bottom + 16.0
        )
        .expect("a string");
    }
    for (number, Range { name, value, interval: [low, high] }) in ranges.iter().enumerate() {
        let y = 8.0 + LINE * (number as f64 + 0.72);
        let (x, from, to) = (at(*value), at(*low), at(*high));
        let (shown, tip) =
            (shortened(name), format!("{name}: {} [{}, {}]", signed(*value), signed(*low), signed(*high)));
        write!(
            shapes,
            r#"<g><title>{}</title><text class="name" x="4" y="{:.1}">{}</text><path class="reach c1" d="M{from:.1} {y:.1}H{to:.1}M{from:.1} {:.1}v8M{to:.1} {:.1}v8"/><circle class="dot c1" cx="{x:.1}" cy="{y:.1}" r="4.5"/></g>"#,
            escaped(&tip),
            y - 13.0,
            escaped(&shown),
            y - 4.0,
            y - 4.0
        )
        .expect("a string");
    }
    let (height, foot) = (bottom + 36.0, bottom + 32.0);
    let (title, unit, right) = (escaped(title), escaped(unit), WIDTH - 6.0);
    format!(
        r#"<svg class="chart ranges" viewBox="0 0 {WIDTH:.0} {height:.0}" role="img" aria-label="{title}">{shapes}<text class="unit" x="{right:.0}" y="{foot:.1}" text-anchor="end">{unit}</text></svg>"#
    )
}

/// Draws the ranges as an SVG document, in colours for light and dark pages.
pub fn ranges_document(title: &str, unit: &str, list: &[Range]) -> String {
    // Each colour twice: renderers that do not know `light-dark` take the first.
    const STYLE: &str = "svg:root{color-scheme:light dark}text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#6b665c;fill:light-dark(#6b665c,#a29c90)}.name{fill:#23211d;fill:light-dark(#23211d,#ebe7df)}.unit{font-style:italic}.grid{stroke:#e2ddd2;stroke:light-dark(#e2ddd2,#33373d);fill:none}.reach{stroke:#2f6fb0;stroke:light-dark(#2f6fb0,#6aa9e6);stroke-width:2;fill:none}.dot{fill:#2f6fb0;fill:light-dark(#2f6fb0,#6aa9e6)}.ground{fill:#fff;fill:light-dark(#fff,#1f2226)}";
    let drawing = ranges(title, unit, list);
    let ground = r##"<rect class="ground" width="100%" height="100%"/>"##;
    let (tag, shapes) = drawing.split_once('>').expect("an element");
    let tag = tag.replacen("<svg", r#"<svg xmlns="http://www.w3.org/2000/svg""#, 1);
    format!("{tag}><style>{STYLE}</style>{ground}{shapes}\n")
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    name.chars().take(LETTERS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_ranges_give_a_drawing() {
        let range = |name: &str, value, interval| Range { name: name.into(), value, interval };
        let long = "x".repeat(60);
        let list = [range("<a>", 0.0, [-10.0, 10.0]), range(&long, 300.0, [200.0, f64::INFINITY])];
        for list in [&list[..], &list[..1], &[]] {
            let drawing = ranges_document("Ratings & more", "Elo", list);
            for bad in ["NaN", "inf\"", "<a>", "& "] {
                assert!(!drawing.contains(bad), "{bad}: {drawing}");
            }
            assert!(drawing.starts_with("<svg xmlns") && drawing.ends_with("</svg>\n"), "{drawing}");
            assert_eq!(drawing.matches("<circle").count(), list.len());
        }
        assert!(ranges("", "", &list).contains(&format!("{}…", "x".repeat(49))));
    }
}
