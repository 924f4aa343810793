//! A key of the config and the values that it takes in a sweep: `learn.batch=128,256`.

use std::str::FromStr;

use crate::config::Override;

/// A key and its values.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// Each value as text, `key=value`, and as a change of the config.
    pub(super) values: Vec<(String, Override)>,
}

impl FromStr for Axis {
    type Err = String;

    /// Parses `section.key=value,value,...`. Commas within brackets or quotes belong to a value.
    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text.split_once('=').ok_or("expected section.key=value,value,...")?;
        let mut axis = Self { values: Vec::new() };
        for value in split(values) {
            let value = value.trim();
            if value.is_empty() {
                return Err(format!("`{key}` has an empty value"));
            }
            let setting = format!("{}={value}", key.trim());
            if axis.values.iter().any(|(other, _)| *other == setting) {
                return Err(format!("`{key}` has the value {value} twice"));
            }
            let change = setting.parse()?;
            axis.values.push((setting, change));
        }
        Ok(axis)
    }
}

/// Splits at commas outside of brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut from) = (0_i32, None, 0);
    let mut parts = Vec::new();
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            (None, _) => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_separated_by_commas() {
        let settings = |text: &str| {
            let axis: Axis = text.parse()?;
            Ok::<_, String>(axis.values.into_iter().map(|(setting, _)| setting).collect::<Vec<_>>())
        };
        assert_eq!(settings("learn.batch=128, 256").unwrap(), ["learn.batch=128", "learn.batch=256"]);
        assert_eq!(
            settings(r#"arena.opponents=["random","az:x,sims=3"],["a,b"]"#).unwrap(),
            [r#"arena.opponents=["random","az:x,sims=3"]"#, r#"arena.opponents=["a,b"]"#]
        );
        assert_eq!(settings(r#"net.kind="a,b",residual_mlp"#).unwrap(), [r#"net.kind="a,b""#, "net.kind=residual_mlp"]);
        assert_eq!(settings("seed=1").unwrap(), ["seed=1"]);
        for (text, fault) in [("seed", "expected"), ("seed=1,,2", "empty"), ("seed=", "empty"), ("seed=1,1", "twice")] {
            assert!(settings(text).unwrap_err().contains(fault), "{text}");
        }
    }
}
