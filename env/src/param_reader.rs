//! Checked reading of game parameters.

use std::ops::RangeInclusive;

use crate::error::Error;
use crate::params::Params;
use crate::rules::Rules;

/// Reads a game's parameters: unknown keys and values out of range are errors that name them.
#[derive(Debug)]
pub struct ParamReader<'a> {
    game: &'static str,
    params: &'a Params,
}

impl<'a> ParamReader<'a> {
    /// A reader of parameters for `game`, whose own ones ([`Rules::params`]) are all that there are.
    ///
    /// # Errors
    /// A parameter that is not known; the nearest that is known is named.
    pub fn new(game: &impl Rules, params: &'a Params) -> Result<Self, Error> {
        let (own, game) = (game.params(), game.spec().name);
        match params.iter().find(|(key, _)| own.get(key).is_none()) {
            None => Ok(Self { game, params }),
            Some((key, _)) => {
                let known = own.iter().map(|(key, _)| key.to_owned()).collect();
                Err(Error::UnknownParam { game, key: key.to_owned(), known })
            }
        }
    }

    /// An integer in `range`, or `default` if the key is absent.
    pub fn integer(&self, key: &str, default: u16, range: RangeInclusive<u16>) -> Result<u16, Error> {
        let Some(value) = self.params.get(key) else { return Ok(default) };
        match value.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(self.fault(key, format!("must be an integer from {} to {}", range.start(), range.end()))),
        }
    }

    /// A number in `range`, or `default` if the key is absent.
    pub fn number(&self, key: &str, default: f64, range: RangeInclusive<f64>) -> Result<f64, Error> {
        let Some(value) = self.params.get(key) else { return Ok(default) };
        match value.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(self.fault(key, format!("must be a number from {} to {}", range.start(), range.end()))),
        }
    }

    /// `true` or `false`, or `default` if the key is absent.
    pub fn flag(&self, key: &str, default: bool) -> Result<bool, Error> {
        let Some(value) = self.params.get(key) else { return Ok(default) };
        value.parse().map_err(|_| self.fault(key, "must be true or false"))
    }

    /// One of the named choices, or the first of them if the key is absent.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, Error> {
        let Some(value) = self.params.get(key) else { return Ok(choices[0].1) };
        choices.iter().find(|(name, _)| name == value).map(|&(_, choice)| choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
            self.fault(key, format!("must be one of {}", names.join(", ")))
        })
    }

    /// An error about the value of `key`.
    pub fn fault(&self, key: &str, fault: impl Into<String>) -> Error {
        let value = self.params.get(key).cloned().unwrap_or_default();
        Error::ParamValue { game: self.game, key: key.to_owned(), value, fault: fault.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Toy;

    #[test]
    fn numbers_are_read_within_their_range() {
        let read = |value: &str| {
            let params = Params::new().with("komi", value);
            let number = ParamReader { game: "go", params: &params }.number("komi", 6.5, -50.0..=50.0);
            number.map_err(|fault| fault.to_string())
        };
        assert_eq!((read("24.5"), read("-7")), (Ok(24.5), Ok(-7.0)));
        for value in ["50.1", "nan", "inf", "", "many"] {
            assert!(read(value).unwrap_err().contains("must be a number from -50 to 50"), "{value}");
        }
        let absent = Params::new();
        assert_eq!(ParamReader::new(&Toy::default(), &absent).unwrap().number("komi", 6.5, 0.0..=9.0).unwrap(), 6.5);
    }
}
