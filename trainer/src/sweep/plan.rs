//! The variants of a sweep, from keys and their values (`learn.batch=128,256`), and for how long each is trained.

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

/// A round of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Round {
    /// Iterations after which it ends; `None`: those of each variant's config.
    pub iterations: Option<u64>,
    /// Number of variants that take part in the next round.
    pub keep: usize,
}

/// What a sweep trains.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// All combinations, the last key varying fastest.
    pub variants: Vec<Variant>,
    /// At least one.
    pub rounds: Vec<Round>,
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
        let keep = variants.len();
        Ok(Self { variants, rounds: vec![Round { iterations: None, keep }] })
    }

    /// The plan with successive halving: all variants are trained and evaluated for a part of the iterations, the best of
    /// every `factor` continue for `factor` times as long, until one of `factor` at most is trained in full.
    ///
    /// The number of iterations becomes a multiple of that of the first round, and every run is evaluated after each
    /// such number of iterations.
    ///
    /// # Errors
    /// The factor is below 2, the variants differ in their numbers of iterations or have too few, or are evaluated by
    /// other means.
    pub fn halving(mut self, factor: usize) -> Result<Self, String> {
        if factor < 2 {
            return Err("at least two variants make one that continues".into());
        }
        let iterations = self.variants[0].config.run.iterations;
        if self.variants.iter().any(|variant| variant.config.run.iterations != iterations) {
            return Err("run.iterations cannot be varied when the number of iterations decides who continues".into());
        }
        let mut sizes = vec![self.variants.len()];
        while let Some(&size) = sizes.last().filter(|&&size| size > 1) {
            sizes.push(size.div_ceil(factor));
        }
        // The last variant alone has nothing to be compared with, so it is trained in full in the round before.
        if sizes.len() > 1 {
            sizes.pop();
        }
        let factor = factor as u64;
        let parts = factor.saturating_pow(sizes.len() as u32 - 1);
        let first = iterations / parts;
        if first == 0 {
            return Err(format!("{} rounds need at least {parts} iterations, not {iterations}", sizes.len()));
        }
        for variant in &mut self.variants {
            variant.config.run.iterations = first * parts;
            variant.config.arena.every = first;
        }
        let ends = (0..sizes.len()).map(|round| Some(first * factor.pow(round as u32)));
        let keeps = sizes[1..].iter().copied().chain([1]);
        self.rounds = ends.zip(keeps).map(|(iterations, keep)| Round { iterations, keep }).collect();
        Ok(self)
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
        assert_eq!(grid.rounds, [Round { iterations: None, keep: 6 }]);
        assert!(plan(&["learn.batch=64,-1"]).unwrap_err().starts_with("learn.batch=-1: "));
        let many: Vec<String> = (0..1001).map(|seed| seed.to_string()).collect();
        assert!(plan(&[&format!("seed={}", many.join(","))]).unwrap_err().contains("more than 1000"));
    }

    #[test]
    fn halving_keeps_the_best_for_longer() {
        let rounds = |variants: usize, factor| {
            let seeds: Vec<String> = (0..variants).map(|seed| seed.to_string()).collect();
            let halved = plan(&[&format!("seed={}", seeds.join(","))]).expect("valid").halving(factor)?;
            let rounds = halved.rounds.iter().map(|round| (round.iterations.unwrap_or(0), round.keep)).collect();
            let config = halved.variants[0].config.clone();
            assert_eq!(halved.rounds.last().and_then(|round| round.iterations), Some(config.run.iterations));
            assert_eq!(Some(config.arena.every), halved.rounds[0].iterations);
            Ok::<Vec<(u64, usize)>, String>(rounds)
        };
        assert_eq!(rounds(9, 3).unwrap(), [(33, 3), (99, 1)]);
        assert_eq!(rounds(10, 3).unwrap(), [(11, 4), (33, 2), (99, 1)]);
        assert_eq!(rounds(8, 2).unwrap(), [(25, 4), (50, 2), (100, 1)]);
        assert_eq!(rounds(2, 2).unwrap(), [(100, 1)]);
        assert_eq!(rounds(1, 2).unwrap(), [(100, 1)]);
        assert!(rounds(5, 1).is_err());
        assert!(rounds(300, 2).unwrap_err().contains("need at least 256 iterations, not 100"));
        let varied = plan(&["run.iterations=5,10"]).expect("valid");
        assert_eq!(varied.variants[1].config.run.iterations, 10);
        assert!(varied.halving(2).unwrap_err().contains("run.iterations"));
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
