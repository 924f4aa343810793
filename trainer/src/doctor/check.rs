//! What one check of a config has found.

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Level {
    /// All is well.
    #[serde(rename = "ok")]
    Ok,
    /// The run works, but probably not as it is meant.
    #[serde(rename = "warn")]
    Warn,
    /// The run cannot work.
    #[serde(rename = "FAIL")]
    Fail,
}

/// What one check found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// How bad it is.
    pub level: Level,
    /// What was looked at.
    pub what: &'static str,
    /// What was found.
    pub finding: String,
    /// What to do about it, if anything.
    pub advice: Option<String>,
}

impl Check {
    pub(super) fn ok(what: &'static str, finding: String) -> Self {
        Self { level: Level::Ok, what, finding, advice: None }
    }

    pub(super) fn warn(what: &'static str, finding: String, advice: impl Into<String>) -> Self {
        Self { level: Level::Warn, what, finding, advice: Some(advice.into()) }
    }

    pub(super) fn fail(what: &'static str, finding: String, advice: impl Into<String>) -> Self {
        Self { level: Level::Fail, what, finding, advice: Some(advice.into()) }
    }

    /// The check in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "FAIL",
        };
        let advice = self.advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
        format!("{level:<5}{:<11}{}{advice}", self.what, self.finding)
    }
}
