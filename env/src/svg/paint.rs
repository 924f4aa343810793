//! The colours of all drawings, each in a light and a dark form.

use std::fmt::Write;

/// A colour of drawings.
///
/// Shapes name their light colour in an attribute, for renderers without style sheets, and a class that the document's
/// style sheet maps to the colour of the scheme in force. The scheme is the page's: what its CSS property
/// `color-scheme` says, or the user's preference where a document stands alone or in an `<img>`. A page can replace
/// single colours by rules for the classes `ts-fill-<name>` and `ts-line-<name>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Paint {
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

impl Paint {
    /// The sheet.
    pub(crate) const GROUND: Self = Self::new("ground", "#faf6ee", "#1b1e22");
    /// Boards.
    pub(crate) const BOARD: Self = Self::new("board", "#e9d8b4", "#5a4930");
    /// Hollows in boards, and the darker cells of chequered ones.
    pub(crate) const HOLLOW: Self = Self::new("hollow", "#d6bd8c", "#413420");
    /// Lines of boards.
    pub(crate) const LINE: Self = Self::new("board-line", "#7a6038", "#bf9f6b");
    /// Text.
    pub(crate) const INK: Self = Self::new("ink", "#3a3226", "#f1e9da");
    /// What the last action concerned, and mills that are banned.
    pub(crate) const MARK: Self = Self::new("mark", "#c8501a", "#ff9a5c");
    /// Dark stones.
    pub(crate) const DARK: Self = Self::new("dark", "#2f3437", "#121416");
    /// Rims of dark stones.
    pub(crate) const DARK_RIM: Self = Self::new("dark-rim", "#15181a", "#a89f8d");
    /// Light stones.
    pub(crate) const LIGHT: Self = Self::new("light", "#fffdf8", "#f4eee1");
    /// Rims of light stones.
    pub(crate) const LIGHT_RIM: Self = Self::new("light-rim", "#6d6557", "#8d8574");
    /// Small stones of no player.
    pub(crate) const SEED: Self = Self::new("seed", "#7a6038", "#e3c48f");
    /// Rims of small stones.
    pub(crate) const SEED_RIM: Self = Self::new("seed-rim", "#e9d8b4", "#2b2216");

    const ALL: [Self; 12] = [
        Self::GROUND,
        Self::BOARD,
        Self::HOLLOW,
        Self::LINE,
        Self::INK,
        Self::MARK,
        Self::DARK,
        Self::DARK_RIM,
        Self::LIGHT,
        Self::LIGHT_RIM,
        Self::SEED,
        Self::SEED_RIM,
    ];

    const fn new(name: &'static str, light: &'static str, dark: &'static str) -> Self {
        Self { name, light, dark }
    }

    /// Attributes of a shape that is filled with this colour and has a rim in another.
    pub(super) fn with_rim(self, rim: Self) -> String {
        let (fill, stroke) = (self.name, rim.name);
        format!(
            r#"class="ts-fill-{fill} ts-line-{stroke}" fill="{}" stroke="{}" stroke-width="1.5""#,
            self.light, rim.light
        )
    }

    /// Attributes of a shape that is filled with this colour.
    pub(super) fn fill(self) -> String {
        format!(r#"class="ts-fill-{}" fill="{}""#, self.name, self.light)
    }

    /// Attributes of a shape whose outline has this colour.
    pub(super) fn line(self) -> String {
        format!(r#"class="ts-line-{}" fill="none" stroke="{}""#, self.name, self.light)
    }

    /// The style sheet of all documents. It is the same in each, so that many of them may stand in one page.
    pub(super) fn style() -> String {
        // Only where a document is the root may it choose: within a page the page's own scheme is inherited.
        let mut style = String::from("svg:root{color-scheme:light dark}");
        for Self { name, light, dark } in Self::ALL {
            write!(
                style,
                ".ts-fill-{name}{{fill:light-dark({light},{dark})}}.ts-line-{name}{{stroke:light-dark({light},{dark})}}"
            )
            .expect("writing to a string cannot fail");
        }
        style
    }
}
