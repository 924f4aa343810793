//! The variants of a sweep, from keys and their values (`learn.batch=128,256`).

use std::str::FromStr;

use turnstone_selfplay::Games;

use crate::config::{Config, Override};

/// A key and its values.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// Each value as text, `key=value`, and as a change of the config.
    values: Vec<(String, Override)>,
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

impl Axis {
    /// The name of the key that varies.
    #[must_use]
    pub fn name(&self) -> String {
        self.values.first().map(|(_, change)| change.name()).unwrap_or_default()
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

/// Most variants of a sweep.
pub const MOST_VARIANTS: usize = 1000;

/// A combination of values.
#[derive(Clone, PartialEq, Debug)]
pub struct Variant {
    /// Its values, `key=value key=value`.
    pub name: String,
    /// The whole config of its run.
    pub config: Config,
}

/// What a sweep trains.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// All combinations, the last key varying fastest.
    pub variants: Vec<Variant>,
}

impl Plan {
    /// The plan that trains every combination of the values in full.
    ///
    /// # Errors
    /// A combination is no valid config, or there are more than [`MOST_VARIANTS`].
    pub fn grid(config: &Config, axes: &[Axis], games: &Games) -> Result<Self, String> {
        let mut variants = vec![(Vec::new(), Vec::new())];
        for axis in axes {
            if variants.len() * axis.values.len() > MOST_VARIANTS {
                return Err(format!("there are more than {MOST_VARIANTS} combinations"));
            }
            let extended = variants.iter().flat_map(|(names, changes)| {
                axis.values.iter().map(|(name, change)| {
                    let names = [&names[..], &[name.as_str()]].concat();
                    (names, [&changes[..], std::slice::from_ref(change)].concat())
                })
            });
            variants = extended.collect();
        }
        let variant = |(names, changes): &(Vec<&str>, Vec<_>)| {
            let name = names.join(" ");
            let config = config.with(changes, games).map_err(|fault| format!("{name}: {fault}"))?;
            Ok(Variant { name, config })
        };
        let variants = variants.iter().map(variant).collect::<Result<Vec<_>, String>>()?;
        Ok(Self { variants })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[game]\nname = \"mu_torere\"\n[run]\niterations = 100\n";

    fn plan(axes: &[&str]) -> Result<Plan, String> {
        let games = turnstone_games::list!(turnstone_selfplay::row);
        let config = Config::parse(CONFIG, &games).expect("a config");
        let axes: Vec<Axis> = axes.iter().map(|axis| axis.parse().expect("an axis")).collect();
        Plan::grid(&config, &axes, &games)
    }

    #[test]
    fn a_grid_has_every_combination() {
        let grid = plan(&["learn.batch=64,128", "search.c_puct=1.0,1.5,2.0"]).expect("valid");
        assert_eq!(grid.variants.len(), 6);
        assert_eq!(grid.variants[1].name, "learn.batch=64 search.c_puct=1.5");
        assert_eq!(grid.variants[5].config.learn.batch, 128);
        assert_eq!(grid.variants[5].config.search.constants.c_puct, 2.0);
        assert!(plan(&["learn.batch=64,-1"]).unwrap_err().starts_with("learn.batch=-1: "));
        let many: Vec<String> = (0..1001).map(|seed| seed.to_string()).collect();
        assert!(plan(&[&format!("seed={}", many.join(","))]).unwrap_err().contains("more than 1000"));
    }

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
