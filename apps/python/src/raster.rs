//! Drawings as pixels.

use std::sync::{Arc, OnceLock};

use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use crate::errors::value_error;

/// Largest width and height of an image.
const LARGEST: f32 = 8192.0;

/// The fonts of the system, read once. Without any, drawings have no labels.
fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let families = ["DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial", "Helvetica"];
        let has = |family: &str| fonts.faces().any(|face| face.families.iter().any(|(name, _)| name == family));
        let first = fonts.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
        let family = families.into_iter().find(|family| has(family)).map(str::to_owned).or(first);
        if let Some(family) = family {
            fonts.set_sans_serif_family(family);
        }
        Arc::new(fonts)
    });
    Arc::clone(fonts)
}

/// Draws an SVG document as an array of pixels [height, width, 3] of uint8.
#[pyfunction]
#[pyo3(name = "_rasterize", signature = (svg, scale = 1.0))]
pub(crate) fn rasterize<'py>(py: Python<'py>, svg: &str, scale: f32) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let (pixels, height, width) = py.detach(|| draw(svg, scale)).map_err(value_error)?;
    PyArray1::from_vec(py, pixels).reshape([height, width, 3])
}

/// The pixels as red, green and blue, the height and the width.
fn draw(svg: &str, scale: f32) -> Result<(Vec<u8>, usize, usize), String> {
    // `system-ui` is no family that a font database knows.
    let mut svg = svg.replace("system-ui, 'DejaVu Sans', sans-serif", "sans-serif");
    // The style sheet only chooses between a light and a dark page; without it shapes have their light colours.
    if let Some((before, after)) = svg.split_once("<style>")
        && let Some((_, after)) = after.split_once("</style>")
    {
        svg = format!("{before}{after}");
    }
    let options = Options { fontdb: fonts(), font_family: "sans-serif".to_owned(), ..Options::default() };
    let tree = Tree::from_str(&svg, &options).map_err(|error| error.to_string())?;
    let [width, height] = [tree.size().width(), tree.size().height()].map(|side| (side * scale).ceil());
    if !(1.0..=LARGEST).contains(&width) || !(1.0..=LARGEST).contains(&height) {
        return Err(format!("an image of {width} x {height} pixels is not between 1 and {LARGEST} on each side"));
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or("the image is too large")?;
    pixels.fill(Color::WHITE); // the corners of the sheet are round
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    let rgb = pixels.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    Ok((rgb, height as usize, width as usize))
}
