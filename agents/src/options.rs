//! The text of an agent spec behind its colon: a first part of its own, and `key=value` pairs with commas between them.

use std::path::Path;

use turnstone_base::settings::Given;

/// The parts between the commas of a spec. A comma between double quotes separates nothing.
pub(crate) fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut is_quoted = false;
    let parts = text.split(|letter| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    let parts = parts.collect();
    if is_quoted { Err("a quote has no end".to_owned()) } else { Ok(parts) }
}

/// Meaning of a part or value.
pub(crate) fn given(text: &str) -> Given {
    Given::Word(text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).to_owned())
}

/// A path as an agent spec names it: between double quotes if it contains a character that a spec is split at.
#[must_use]
pub fn path_in_spec(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A value as a spec has it.
pub(crate) fn value_text(value: &Given) -> String {
    value.text().map_or_else(|| value.to_string(), quoted)
}

fn quoted(text: &str) -> String {
    if text.contains([',', '=']) { format!("\"{text}\"") } else { text.to_owned() }
}
