//! Settings declared once: from name, type, default, range and a line of help follow reading, errors, help and tables.

use std::fmt::{self, Display, Write};
use std::ops::{Bound, RangeBounds};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::text::{advice, nearest};
use crate::times::{parse_time, time_text};

/// A value as it is given in a file, on a command line or in Python.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Given {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// A text, which is no number.
    Text(String),
    /// Several values.
    List(Vec<Given>),
    /// Text of a command line, which may stand for any of these.
    #[serde(skip)]
    Word(String),
}

impl Given {
    /// The text, if it is or may stand for one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Word(text) => Some(text),
            _ => None,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Word(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// A number as a config has it: `0.25`, `1e-8`.
fn number_text(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-3 { format!("{number:e}") } else { number.to_string() }
}

impl Display for Given {
    /// As a config has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => number_text(*number).fmt(f),
            Self::Word(text) if !text.is_empty() => f.write_str(text),
            Self::Text(text) | Self::Word(text) => write!(f, "{text:?}"),
            Self::List(list) => {
                let list: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", list.join(", "))
            }
        }
    }
}

/// A type of settings.
pub trait Value: Sized {
    /// Reads a value. `Ok(None)`: it is not [what it must be](Value::expected); an error says more than that.
    ///
    /// # Errors
    /// What is wrong with a text.
    fn read(given: &Given) -> Result<Option<Self>, String>;

    /// The value in a form that [`Value::read`] takes; `None` if it is absent.
    fn give(&self) -> Option<Given>;

    /// What it must be, in words, without its range.
    fn expected() -> String;

    /// The path, if it is one.
    fn path(&mut self) -> Option<&mut PathBuf> {
        None
    }
}

macro_rules! whole_numbers {
    ($($kind:ty)+) => {$(
        impl Value for $kind {
            fn read(given: &Given) -> Result<Option<Self>, String> {
                Ok(match given {
                    Given::Whole(number) => (*number).try_into().ok(),
                    Given::Word(text) => text.parse().ok(),
                    _ => None,
                })
            }

            fn give(&self) -> Option<Given> {
                Some((*self).try_into().map_or(Given::Word(self.to_string()), Given::Whole))
            }

            fn expected() -> String {
                "a whole number".to_owned()
            }
        }
    )+};
}

whole_numbers!(u8 u16 u32 u64 usize i64);

macro_rules! numbers {
    ($($kind:ty)+) => {$(
        impl Value for $kind {
            fn read(given: &Given) -> Result<Option<Self>, String> {
                Ok(given.number().map(|number| number as Self))
            }

            fn give(&self) -> Option<Given> {
                // By the shortest text, so that 0.3 of 32 bits is 0.3.
                self.to_string().parse().ok().map(Given::Number)
            }

            fn expected() -> String {
                "a number".to_owned()
            }
        }
    )+};
}

numbers!(f32 f64);

impl Value for bool {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        Ok(match given {
            Given::Flag(flag) => Some(*flag),
            Given::Word(text) => text.parse().ok(),
            _ => None,
        })
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Flag(*self))
    }

    fn expected() -> String {
        "true or false".to_owned()
    }
}

impl Value for String {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        Ok(given.text().map(str::to_owned))
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Text(self.clone()))
    }

    fn expected() -> String {
        "a text".to_owned()
    }
}

impl Value for PathBuf {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        Ok(given.text().map(Self::from))
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Text(self.display().to_string()))
    }

    fn expected() -> String {
        "a path".to_owned()
    }

    fn path(&mut self) -> Option<&mut PathBuf> {
        Some(self)
    }
}

impl Value for Duration {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        Ok(given.text().and_then(parse_time))
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Text(time_text(*self)))
    }

    fn expected() -> String {
        "a time such as 500ms, 1s or 2m, a day at most".to_owned()
    }
}

/// Two whole numbers, of which the second is not the lesser.
impl Value for [u16; 2] {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        let Given::List(ends) = given else { return Ok(None) };
        let [least, most] = &ends[..] else { return Ok(None) };
        Ok(u16::read(least)?.zip(u16::read(most)?).filter(|(least, most)| least <= most).map(Self::from))
    }

    fn give(&self) -> Option<Given> {
        Some(Given::List(self.map(|end| Given::Whole(end.into())).to_vec()))
    }

    fn expected() -> String {
        "two whole numbers, the lesser first,".to_owned()
    }
}

/// A value of another crate that has a text form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parsed<T>(pub T);

impl<T: FromStr<Err: Display> + Display> Value for Parsed<T> {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        given.text().map(|text| text.parse().map(Self)).transpose().map_err(|fault| fault.to_string())
    }

    fn give(&self) -> Option<Given> {
        Some(Given::Text(self.0.to_string()))
    }

    fn expected() -> String {
        "a text".to_owned()
    }
}

/// Absent, or a value.
impl<T: Value> Value for Option<T> {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        Ok(T::read(given)?.map(Some))
    }

    fn give(&self) -> Option<Given> {
        self.as_ref().and_then(T::give)
    }

    fn expected() -> String {
        T::expected()
    }

    fn path(&mut self) -> Option<&mut PathBuf> {
        self.as_mut().and_then(T::path)
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(given: &Given) -> Result<Option<Self>, String> {
        let Given::List(list) = given else { return Ok(None) };
        list.iter().map(T::read).collect()
    }

    fn give(&self) -> Option<Given> {
        Some(Given::List(self.iter().filter_map(T::give).collect()))
    }

    fn expected() -> String {
        format!("a list of which each is {}", T::expected())
    }
}

/// [`Value`] of any type.
trait AnyValue {
    fn take(&mut self, given: &Given) -> Result<bool, String>;
    fn give(&self) -> Option<Given>;
    fn expected(&self) -> String;
    fn path(&mut self) -> Option<&mut PathBuf>;
}

impl<T: Value> AnyValue for T {
    fn take(&mut self, given: &Given) -> Result<bool, String> {
        Ok(T::read(given)?.map(|value| *self = value).is_some())
    }

    fn give(&self) -> Option<Given> {
        T::give(self)
    }

    fn expected(&self) -> String {
        T::expected()
    }

    fn path(&mut self) -> Option<&mut PathBuf> {
        T::path(self)
    }
}

/// The numbers that a setting may have.
#[derive(Clone, Copy, Debug)]
pub struct Range(Bound<f64>, Bound<f64>);

impl Range {
    /// All numbers.
    pub const ANY: Self = Self(Bound::Unbounded, Bound::Unbounded);

    /// These numbers.
    #[must_use]
    pub fn of<T: Copy + Into<f64>>(self, range: impl RangeBounds<T>) -> Self {
        let end = |end: Bound<&T>| end.map(|&end| end.into());
        Self(end(range.start_bound()), end(range.end_bound()))
    }

    /// Checks a value, which the fault names by its key.
    ///
    /// # Errors
    /// It is out of this range.
    pub fn check<T: Value>(self, key: &str, value: T) -> Result<T, Fault> {
        match value.give().filter(|given| !self.holds(given)) {
            None => Ok(value),
            Some(given) => Err(Fault::misfit(key, given, format!("{}{self}", T::expected()))),
        }
    }

    fn holds(&self, given: &Given) -> bool {
        match given {
            Given::List(list) => list.iter().all(|given| self.holds(given)),
            _ => given.number().is_none_or(|number| (self.0, self.1).contains(&number)),
        }
    }
}

impl Display for Range {
    /// ` from 1 to 128` (in a table ` 1..128`), ` above 0` or nothing, to follow what a value must be.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (true, Bound::Included(least), Bound::Included(most)) = (f.alternate(), self.0, self.1) {
            return write!(f, " {}..{most}", number_text(least));
        }
        match self.0 {
            Bound::Included(least) => write!(f, " from {}", number_text(least))?,
            Bound::Excluded(least) => write!(f, " above {least}")?,
            Bound::Unbounded => {}
        }
        match self.1 {
            Bound::Included(most) => write!(f, " to {most}"),
            Bound::Excluded(most) => write!(f, " to below {most}"),
            Bound::Unbounded => Ok(()),
        }
    }
}

/// Why a setting cannot be set, in one line.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// The value is of another type, or out of range.
    #[error("{key} is {given}, but must be {expected}")]
    Misfit {
        /// The setting.
        key: String,
        /// The value as it was given.
        given: String,
        /// What it must be.
        expected: String,
    },
    /// Another fault.
    #[error("{key}: {fault}")]
    Other {
        /// The setting.
        key: String,
        /// What is wrong with it.
        fault: String,
    },
    /// There is no such setting.
    #[error("unknown key `{key}`{}", advice(nearest.as_deref(), known))]
    Unknown {
        /// The name given.
        key: String,
        /// The nearest name that there is, if one is near.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
}

impl Fault {
    /// The fault of a name that is not among those that are known.
    pub fn unknown<'a>(key: &str, known: impl Iterator<Item = &'a str> + Clone) -> Self {
        let (nearest, known) = (nearest(key, known.clone()), known.map(str::to_owned).collect());
        Self::Unknown { key: key.to_owned(), nearest, known }
    }

    /// The fault of a value that is not what it must be.
    #[must_use]
    pub fn misfit(key: &str, given: impl Display, expected: impl Display) -> Self {
        Self::Misfit { key: key.to_owned(), given: given.to_string(), expected: expected.to_string() }
    }

    /// Another fault of a setting.
    #[must_use]
    pub fn other(key: &str, fault: impl Display) -> Self {
        Self::Other { key: key.to_owned(), fault: fault.to_string() }
    }

    /// The name of the setting.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Misfit { key, .. } | Self::Other { key, .. } | Self::Unknown { key, .. } => key,
        }
    }

    /// The fault with the setting under the name that it has in a section: `learn.batch` for `batch`.
    #[must_use]
    pub fn in_section(mut self, section: &str) -> Self {
        let put = |key: &mut String| *key = format!("{section}.{key}");
        match &mut self {
            Self::Misfit { key, .. } | Self::Other { key, .. } => put(key),
            Self::Unknown { key, nearest, .. } => {
                put(key);
                nearest.iter_mut().for_each(put);
            }
        }
        self
    }

    /// The fault with the value as it was typed.
    #[must_use]
    pub fn of_text(mut self, typed: &str) -> Self {
        if let Self::Misfit { given, .. } = &mut self {
            typed.clone_into(given);
        }
        self
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        fault.to_string()
    }
}

/// Declaration of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// Its name: a key, an option, a keyword.
    pub name: &'static str,
    /// What it is, as one line.
    pub help: &'static str,
    /// The numbers that it may be.
    pub range: Range,
}

/// A setting with its value.
pub struct Setting<'a> {
    declared: Declared,
    value: &'a mut dyn AnyValue,
    /// Of [`Partial`] settings, whether it is given.
    given: Option<&'a mut bool>,
}

impl Setting<'_> {
    /// Its name: a key, an option, a keyword.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.declared.name
    }

    /// What it is, as one line.
    #[must_use]
    pub fn help(&self) -> &'static str {
        self.declared.help.trim().trim_end_matches('.')
    }

    /// What it must be, with its range.
    #[must_use]
    pub fn expected(&self) -> String {
        format!("{}{}", self.value.expected(), self.declared.range)
    }

    /// Its value; `None` if it is absent.
    #[must_use]
    pub fn value(&self) -> Option<Given> {
        self.value.give().filter(|_| self.given.as_ref().is_none_or(|given| **given))
    }

    /// The path, if it is one.
    pub fn path(&mut self) -> Option<&mut PathBuf> {
        self.value.path()
    }

    /// Sets it.
    ///
    /// # Errors
    /// The value does not fit. The setting may have changed all the same.
    pub fn set(&mut self, given: &Given) -> Result<(), Fault> {
        match self.value.take(given) {
            Err(fault) => return Err(Fault::other(self.declared.name, fault)),
            Ok(false) => return Err(self.misfit(given)),
            Ok(true) => self.given.iter_mut().for_each(|is_given| **is_given = true),
        }
        self.check().map_err(|_| self.misfit(given))
    }

    fn check(&self) -> Result<(), Fault> {
        let misfit = self.value().filter(|value| !self.declared.range.holds(value));
        misfit.map_or(Ok(()), |value| Err(self.misfit(&value)))
    }

    fn misfit(&self, given: &Given) -> Fault {
        Fault::misfit(self.declared.name, given, self.expected())
    }
}

/// A part of settings: a value, or other settings.
pub trait Field {
    /// Adds it to a list, or all settings that it consists of.
    fn list<'a>(&'a mut self, declared: Declared, list: &mut Vec<Setting<'a>>);
}

impl<T: Value> Field for T {
    fn list<'a>(&'a mut self, declared: Declared, list: &mut Vec<Setting<'a>>) {
        list.push(Setting { declared, value: self, given: None });
    }
}

/// Settings that [`settings!`](crate::settings!) declares.
pub trait Settings: Clone + Default {
    /// What they are of, as one line.
    const ABOUT: &'static str;

    /// All of them, in the order of their declaration.
    fn settings(&mut self) -> Vec<Setting<'_>>;

    /// Sets one by its name.
    ///
    /// # Errors
    /// There is none of this name, or the value does not fit.
    fn set(&mut self, key: &str, given: &Given) -> Result<(), Fault> {
        set(self.settings(), key, given)
    }

    /// Checks every range.
    ///
    /// # Errors
    /// The first setting that is out of its range.
    fn check(&self) -> Result<(), Fault> {
        self.clone().settings().iter().try_for_each(Setting::check)
    }

    /// The settings that have a value, with it.
    fn values(&self) -> Vec<(&'static str, Given)> {
        self.clone().settings().iter().filter_map(|setting| Some((setting.name(), setting.value()?))).collect()
    }

    /// Those of [`Settings::values`] that are not the default.
    fn changes(&self) -> Vec<(&'static str, Given)> {
        let defaults = Self::default().values();
        self.values().into_iter().filter(|value| !defaults.contains(value)).collect()
    }

    /// These settings, with those of others where they have no value.
    #[must_use]
    fn or(mut self, others: &Self) -> Self {
        for (name, given) in others.values() {
            let mut settings = self.settings();
            if let Some(setting) =
                settings.iter_mut().find(|setting| setting.name() == name && setting.value().is_none())
            {
                setting.set(&given).expect("a value of the same setting");
            }
        }
        self
    }
}

/// Sets one of some settings by its name.
///
/// # Errors
/// There is none of this name, or the value does not fit.
pub fn set(mut settings: Vec<Setting<'_>>, key: &str, given: &Given) -> Result<(), Fault> {
    match settings.iter_mut().find(|setting| setting.name() == key) {
        Some(setting) => setting.set(given),
        None => Err(Fault::unknown(key, settings.iter().map(Setting::name))),
    }
}

/// Rows of a table in Markdown: name, default, values, help.
#[must_use]
pub fn table(settings: &[Setting<'_>]) -> String {
    let mut rows = String::new();
    for setting in settings {
        let default = setting.value().map(|value| format!("`{value}`")).unwrap_or_default();
        let (name, help) = (setting.name(), setting.help().replace('|', "\\|"));
        let (values, range) = (setting.value.expected(), setting.declared.range);
        let values = values.trim_start_matches("a ");
        writeln!(rows, "| `{name}` | {default} | {values}{range:#} | {help} |").expect("a string");
    }
    rows
}

/// Settings of which only those that are given count.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Partial<S> {
    settings: S,
    given: Vec<bool>,
}

impl<S: Settings> Partial<S> {
    /// Other settings with those that are given.
    #[must_use]
    pub fn over(&self, mut others: S) -> S {
        for (name, given) in self.values() {
            others.set(name, &given).expect("a value of the same setting");
        }
        others
    }
}

impl<S: Settings> Settings for Partial<S> {
    const ABOUT: &'static str = S::ABOUT;

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let mut settings = self.settings.settings();
        self.given.resize(settings.len(), false);
        settings.iter_mut().zip(&mut self.given).for_each(|(setting, given)| setting.given = Some(given));
        settings
    }
}

impl<S: Settings> Field for Partial<S> {
    fn list<'a>(&'a mut self, _: Declared, list: &mut Vec<Setting<'a>>) {
        list.extend(self.settings());
    }
}

/// Declares settings: a struct that is [`Settings`], each field with a line of help, its type, its default (that of the type
/// if it is left out) and, for numbers, its range. A field of other settings stands for all of them.
///
/// ```
/// use turnstone_base::settings::{Given, Settings};
///
/// turnstone_base::settings! {
///     /// how far to look
///     #[derive(Clone, PartialEq, Debug)]
///     pub struct Careful {
///         /// plies to look ahead
///         pub plies: u32 = 2, 1..=4;
///         /// whether to think aloud
///         pub verbose: bool;
///     }
/// }
///
/// let mut careful = Careful::default();
/// careful.set("plies", &Given::Word("3".to_owned()))?;
/// assert_eq!(careful, Careful { plies: 3, verbose: false });
/// let fault = careful.set("plies", &Given::Whole(5)).unwrap_err();
/// assert_eq!(fault.to_string(), "plies is 5, but must be a whole number from 1 to 4");
/// let fault = careful.set("plys", &Given::Whole(2)).unwrap_err();
/// assert_eq!(fault.to_string(), "unknown key `plys` (did you mean `plies`?)");
/// # Ok::<(), turnstone_base::settings::Fault>(())
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        #[derive($($derived:path),+)]
        $(#[serde($($serde:tt)*)])?
        $seen:vis struct $name:ident {
            $(
                $(#[doc = $help:literal])+
                $(#[serde($($of_field:tt)*)])?
                $field_seen:vis $field:ident: $kind:ty $(= $default:expr)? $(, $range:expr)?;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive($($derived),+)]
        $(#[serde($($serde)*)])?
        $seen struct $name {
            $($(#[doc = $help])+ $(#[serde($($of_field)*)])? $field_seen $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::settings!(@default $($default)?),)* }
            }
        }

        impl $crate::settings::Settings for $name {
            const ABOUT: &'static str = concat!($($about),+);

            #[allow(unused_mut, reason = "there may be no setting")]
            fn settings(&mut self) -> Vec<$crate::settings::Setting<'_>> {
                let mut list = Vec::new();
                $(
                    let declared = $crate::settings::Declared {
                        name: stringify!($field),
                        help: concat!($($help),+),
                        range: $crate::settings::Range::ANY$(.of($range))?,
                    };
                    $crate::settings::Field::list(&mut self.$field, declared, &mut list);
                )*
                list
            }
        }

        impl $crate::settings::Field for $name {
            fn list<'a>(&'a mut self, _: $crate::settings::Declared, list: &mut Vec<$crate::settings::Setting<'a>>) {
                list.extend($crate::settings::Settings::settings(self));
            }
        }
    };
    (@default $default:expr) => { $default };
    (@default) => { Default::default() };
}

/// Declares the words that a setting may be: an enum, whose first variant is the default, with a name for each variant.
///
/// ```
/// turnstone_base::words! {
///     /// a direction
///     pub enum Direction {
///         /// From left to right.
///         Across = "across",
///         /// From top to bottom.
///         Down = "down",
///     }
/// }
///
/// assert_eq!("down".parse(), Ok(Direction::Down));
/// assert_eq!("up".parse::<Direction>(), Err("must be across or down, not `up`".to_owned()));
/// assert_eq!(Direction::default().to_string(), "across");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        $seen:vis enum $name:ident {
            $($(#[doc = $help:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, ::serde::Serialize, ::serde::Deserialize)]
        $seen enum $name {
            $($(#[doc = $help])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them, with the words for them.
            pub const ALL: &[(&str, Self)] = &[$(($word, Self::$variant)),+];
        }

        impl Default for $name {
            fn default() -> Self {
                Self::ALL[0].1
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $word),+ })
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let fault = || format!("must be {}, not `{text}`", <Self as $crate::settings::Value>::expected());
                Self::ALL.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(fault)
            }
        }

        impl $crate::settings::Value for $name {
            fn read(given: &$crate::settings::Given) -> Result<Option<Self>, String> {
                Ok(given.text().and_then(|text| text.parse().ok()))
            }

            fn give(&self) -> Option<$crate::settings::Given> {
                Some($crate::settings::Given::Text(self.to_string()))
            }

            fn expected() -> String {
                let words: Vec<&str> = Self::ALL.iter().map(|(word, _)| *word).collect();
                let (last, others) = words.split_last().expect("there is a word");
                format!("{} or {last}", others.join(", "))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    settings! {
        /// Limits.
        #[derive(Clone, PartialEq, Debug)]
        struct Limits {
            /// Positions.
            nodes: Option<u32> = None, 1..=9;
            /// Share of them.
            share: f32 = 0.3, 0.0..1.0;
        }
    }

    settings! {
        /// A part of which only what is given counts, and more.
        #[derive(Clone, PartialEq, Debug)]
        struct Whole {
            /// Limits.
            limits: Partial<Limits>;
            /// Ends.
            ends: [u16; 2] = [2, 6], 0..=9;
            /// Time.
            time: Option<Duration>;
            /// Folder.
            folder: PathBuf = "here".into();
        }
    }

    fn word(text: &str) -> Given {
        Given::Word(text.to_owned())
    }

    fn fault(key: &str, given: &Given) -> String {
        Whole::default().set(key, given).expect_err("a fault").to_string()
    }

    #[test]
    fn values_are_read_within_their_ranges() {
        let mut whole = Whole::default();
        whole.set("time", &word("1.5s")).expect("a time");
        whole.set("ends", &Given::List(vec![Given::Whole(3), Given::Whole(3)])).expect("ends");
        assert_eq!((whole.time, whole.ends), (Some(Duration::from_millis(1500)), [3, 3]));
        assert_eq!(fault("nodes", &Given::Whole(0)), "nodes is 0, but must be a whole number from 1 to 9");
        assert_eq!(fault("nodes", &word("")), "nodes is \"\", but must be a whole number from 1 to 9");
        assert_eq!(
            fault("nodes", &Given::Text("3".to_owned())),
            "nodes is \"3\", but must be a whole number from 1 to 9"
        );
        for share in [1.0, -0.1, f64::NAN] {
            assert!(fault("share", &Given::Number(share)).ends_with("but must be a number from 0 to below 1"));
        }
        let ends = |ends: [i64; 2]| fault("ends", &Given::List(ends.map(Given::Whole).to_vec()));
        let must = "but must be two whole numbers, the lesser first, from 0 to 9";
        assert_eq!(
            (ends([3, 2]), ends([3, 10])),
            (format!("ends is [3, 2], {must}"), format!("ends is [3, 10], {must}"))
        );
        let unknown = Whole::default().set("endz", &word("1")).expect_err("unknown").in_section("a");
        assert_eq!(unknown.to_string(), "unknown key `a.endz` (did you mean `a.ends`?)");
    }

    #[test]
    fn only_what_is_given_counts_in_a_part() {
        let mut whole = Whole::default();
        let usual =
            [("ends", Given::List(vec![Given::Whole(2), Given::Whole(6)])), ("folder", Given::Text("here".into()))];
        assert_eq!((whole.values(), whole.changes()), (usual.to_vec(), vec![]));
        whole.set("share", &word("0.3")).expect("the default, which is given nevertheless");
        assert_eq!(whole.changes(), [("share", Given::Number(0.3))]);
        let others = Limits { nodes: Some(4), share: 0.5 };
        assert_eq!(whole.limits.over(others), Limits { nodes: Some(4), share: 0.3 });
        let more = Whole { time: Some(Duration::from_secs(1)), ends: [0, 1], ..Whole::default() };
        assert_eq!(whole.clone().or(&more), Whole { time: more.time, ..whole });
    }

    #[test]
    fn a_table_has_a_row_for_each() {
        let rows = table(&Limits::default().settings());
        assert_eq!(
            rows,
            "| `nodes` |  | whole number 1..9 | Positions |\n| `share` | `0.3` | number from 0 to below 1 | Share of them |\n"
        );
    }
}
