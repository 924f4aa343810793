//! Result of one check of a config.

use serde::Serialize;

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Level {
    /// No problem found.
    #[serde(rename = "ok")]
    Ok,
    /// The run works, but probably not as intended.
    #[serde(rename = "warn")]
    Warn,
    /// The run cannot work.
    #[serde(rename = "FAIL")]
    Fail,
}

/// Result of one check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// Severity.
    pub level: Level,
    /// Part of the config that was checked, e.g. `search`.
    pub what: &'static str,
    /// The finding, in one line.
    pub finding: String,
    /// Advice on how to correct it; absent for [`Level::Ok`].
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

    /// Formats the check as one line.
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
