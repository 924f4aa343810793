//! A document under construction.

use std::fmt::{Display, Write};

use super::paint::Paint;
use crate::side::Side;

/// Distance of neighbouring cells of chequered boards.
pub(crate) const UNIT: f32 = 48.0;
/// Room between the edge of the sheet and the outermost points.
pub(crate) const MARGIN: f32 = 52.0;
/// Radius of a stone.
pub(crate) const STONE: f32 = 18.0;
/// Radius of the ring around a marked point.
pub(crate) const RING: f32 = STONE + 3.0;

/// A document under construction. Shapes drawn later lie above earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    width: f32,
    height: f32,
    title: String,
    shapes: String,
}

impl Sheet {
    /// An empty sheet of this size.
    #[must_use]
    pub(crate) fn new(title: &str, width: f32, height: f32) -> Self {
        Self { width, height, title: title.to_owned(), shapes: String::new() }
    }

    /// A rectangle with rounded corners, from its top left corner.
    pub(crate) fn rectangle(&mut self, [x, y]: [f32; 2], [width, height]: [f32; 2], radius: f32, paint: Paint) {
        let paint = paint.fill();
        self.add(format_args!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" {paint}/>"#));
    }

    /// A filled circle without a rim.
    pub(crate) fn dot(&mut self, [x, y]: [f32; 2], radius: f32, paint: Paint) {
        let paint = paint.fill();
        self.add(format_args!(r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius}" {paint}/>"#));
    }

    /// A filled circle with a rim.
    pub(crate) fn disc(&mut self, [x, y]: [f32; 2], radius: f32, paint: Paint, rim: Paint) {
        let paint = paint.with_rim(rim);
        self.add(format_args!(r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius}" {paint}/>"#));
    }

    /// A circle that is not filled.
    pub(crate) fn circle(&mut self, [x, y]: [f32; 2], radius: f32, width: f32, paint: Paint) {
        let paint = paint.line();
        self.add(format_args!(r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius:.2}" {paint} stroke-width="{width}"/>"#));
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: [f32; 2], to: [f32; 2], width: f32, paint: Paint) {
        self.stroke(from, to, width, paint, "");
    }

    /// A dashed straight line.
    pub(crate) fn dashes(&mut self, from: [f32; 2], to: [f32; 2], width: f32, paint: Paint) {
        self.stroke(from, to, width, paint, r#" stroke-dasharray="7 7""#);
    }

    fn stroke(&mut self, [x1, y1]: [f32; 2], [x2, y2]: [f32; 2], width: f32, paint: Paint, dashes: &str) {
        let paint = paint.line();
        self.add(format_args!(
            r#"<line x1="{x1:.2}" y1="{y1:.2}" x2="{x2:.2}" y2="{y2:.2}" {paint} stroke-width="{width}" stroke-linecap="round"{dashes}/>"#
        ));
    }

    /// Text centred on a point of the sheet.
    pub(crate) fn text(&mut self, at: [f32; 2], size: f32, text: impl Display) {
        self.words(at, size, r#"text-anchor="middle""#, text);
    }

    /// Text that starts at a point of the sheet and is centred on its height.
    pub(crate) fn text_from(&mut self, at: [f32; 2], size: f32, text: impl Display) {
        self.words(at, size, r#"text-anchor="start""#, text);
    }

    fn words(&mut self, [x, y]: [f32; 2], size: f32, anchor: &str, text: impl Display) {
        let (paint, text, y) = (Paint::INK.fill(), escaped(&text.to_string()), y + 0.35 * size);
        self.add(format_args!(r#"<text x="{x:.2}" y="{y:.2}" font-size="{size}" {anchor} {paint}>{text}</text>"#));
    }

    /// A line of text in letters of equal width, from the left end of its base line. Spaces are kept.
    pub(crate) fn monospace(&mut self, [x, y]: [f32; 2], size: f32, text: &str) {
        let (paint, text) = (Paint::INK.fill(), escaped(text));
        self.add(format_args!(
            r#"<text x="{x}" y="{y}" font-family="monospace" font-size="{size}" xml:space="preserve" {paint}>{text}</text>"#
        ));
    }

    /// A stone of a player: dark for the first, light for the second.
    pub(crate) fn stone(&mut self, at: [f32; 2], side: Side) {
        self.stone_of(at, STONE, side);
    }

    /// A stone of another size.
    pub(crate) fn stone_of(&mut self, at: [f32; 2], radius: f32, side: Side) {
        let [fill, rim] = [[Paint::DARK, Paint::DARK_RIM], [Paint::LIGHT, Paint::LIGHT_RIM]][side.index()];
        self.disc(at, radius, fill, rim);
    }

    /// A ring around a stone or an empty point.
    pub(crate) fn mark(&mut self, at: [f32; 2]) {
        self.circle(at, RING, 3.5, Paint::MARK);
    }

    /// A line of text at the foot of the sheet, by the attribute `data-part="caption"`: pages that say the same beside the
    /// board leave it away with the strip of the sheet that it fills.
    pub(crate) fn caption(&mut self, text: impl Display) {
        let at = [self.width / 2.0, self.height - 20.0];
        self.words(at, 20.0, r#"text-anchor="middle" data-part="caption""#, text);
    }

    /// The document.
    #[must_use]
    pub(crate) fn finish(self) -> String {
        let Self { width, height, title, shapes } = self;
        let (title, ground, style) = (escaped(&title), Paint::GROUND.fill(), Paint::style());
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="system-ui, 'DejaVu Sans', sans-serif">
<title>{title}</title>
<style>{style}</style>
<rect width="{width}" height="{height}" rx="10" {ground}/>
{shapes}</svg>
"#
        )
    }

    fn add(&mut self, shape: std::fmt::Arguments) {
        writeln!(self.shapes, "{shape}").expect("writing to a string cannot fail");
    }
}

/// Text as the content of an element.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
