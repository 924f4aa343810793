//! Counts the lines of Rust of the product and of its tests.

use std::fs;
use std::iter::Sum;
use std::path::Path;

use xtask::product_lines;

/// Lines of Rust, blank lines and comments included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Lines {
    product: usize,
    tests: usize,
}

impl Sum for Lines {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, lines| Self {
            product: sum.product + lines.product,
            tests: sum.tests + lines.tests,
        })
    }
}

/// Prints the lines of each crate, and their sums.
pub(crate) fn print(root: &Path, crates: &[String]) {
    let row = |name: &str, lines: Lines| println!("{name:<14} {:>7} {:>7}", lines.product, lines.tests);
    println!("{:<14} {:>7} {:>7}", "crate", "product", "tests");
    // A crate in a crate's folder, `models/features`, is counted there.
    let counted: Vec<(&String, Lines)> =
        crates.iter().map(|folder| (folder, below(&root.join(folder), false))).collect();
    counted.iter().for_each(|(folder, lines)| row(folder, *lines));
    let nested = |folder: &str| crates.iter().any(|outer| folder.starts_with(&format!("{outer}/")));
    row("all", counted.into_iter().filter(|(folder, _)| !nested(folder)).map(|(_, lines)| lines).sum());
}

/// The lines of the files below a folder, which is of tests if `is_test` says so or its name.
fn below(folder: &Path, is_test: bool) -> Lines {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
            if path.is_dir() {
                let left_out = ["target", "node_modules"].contains(&name);
                return if left_out {
                    Lines::default()
                } else {
                    below(&path, is_test || ["tests", "benches"].contains(&name))
                };
            }
            let Some(name) = name.strip_suffix(".rs") else { return Lines::default() };
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if is_test || name == "tests" || name.ends_with("_tests") {
                Lines { product: 0, tests: text.lines().count() }
            } else {
                count(&text)
            }
        })
        .sum()
}

fn count(text: &str) -> Lines {
    let product = product_lines(text).len();
    Lines { product, tests: text.lines().count() - product }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_in_a_file_are_told_apart() {
        let of = |text: &str| {
            let Lines { product, tests } = count(text);
            (product, tests)
        };
        assert_eq!(of("//! A.\n\nfn a() {}\n"), (3, 0));
        assert_eq!(of("fn a() {}\n#[cfg(test)]\nmod tests;\nfn b() {}\n"), (2, 2));
        assert_eq!(of("fn a() {}\n#[cfg(test)]\n#[path = \"b.rs\"]\nmod b;\n"), (1, 3));
        assert_eq!(of("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n"), (3, 5));
        assert_eq!(of("impl A {\n    #[cfg(test)]\n    fn b() {\n    }\n    fn c() {}\n}\n"), (3, 3));
        assert_eq!(of("#[cfg(test)]"), (0, 1));
    }
}
