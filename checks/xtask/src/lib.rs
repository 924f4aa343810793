//! Tests of the repository itself: `tests/tidy.rs` holds the rules of the architecture.

use std::path::Path;

/// The folder of the repository.
///
/// # Panics
/// Never: this crate is two folders below it.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders below the repository")
}

/// The product's lines of a source file: all but the items under `#[cfg(test)]`, up to their closing brace.
#[must_use]
pub fn product_lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut at, mut product) = (0, Vec::new());
    while at < lines.len() {
        let begin = at;
        at += 1;
        if lines[begin].trim() != "#[cfg(test)]" {
            product.push(lines[begin]);
            continue;
        }
        while lines.get(at).is_some_and(|line| line.trim().starts_with("#[")) {
            at += 1;
        }
        if let Some(head) = lines.get(at).filter(|head| head.ends_with('{')) {
            let close = format!("{}}}", &head[..head.len() - head.trim_start().len()]);
            at += lines[at..].iter().position(|line| **line == close).unwrap_or(lines.len() - 1 - at);
        }
        at = (at + 1).min(lines.len());
    }
    product
}

/// The Rust code of the README of `env`.
#[cfg(doctest)]
#[doc = include_str!("../../../env/README.md")]
struct Readme;
