//! The targets of requests.

use percent_encoding::percent_decode_str;
use turnstone_trainer::report::MOST_RUNS;

use crate::run_list::sweep_run;

/// Maximum length of a name.
const LONGEST_NAME: usize = 255;

/// A request's target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// A file of the page, by its name; empty for the page itself.
    Page(String),
    /// The trained agent of a game.
    Agent(String),
    /// The list of runs.
    Runs,
    /// The page of a run.
    Run(String),
    /// The sections of a run's page that change while it trains.
    Live(String),
    /// Sample games of a run's newest checkpoint.
    Games(String),
    /// A checkpoint of a run.
    Checkpoint(String, Checkpoint),
    /// The report that `turnstone report` or `turnstone arena` has written into a folder.
    Report(String),
    /// Several runs on the same charts.
    Compare(Vec<String>),
}

/// The checkpoints that can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checkpoint {
    /// `latest.safetensors`.
    Latest,
    /// `best.safetensors`.
    Best,
}

impl Route {
    /// The target of a path with an optional query; `None` if there is no such target.
    #[must_use]
    pub fn of(path: &str, query: Option<&str>) -> Option<Self> {
        let parts = path.strip_prefix('/')?.split('/').enumerate();
        let is_run = path.starts_with("/runs/");
        let parts = parts.map(|(i, part)| if is_run && i == 1 { run_name(part) } else { decoded(part) });
        let parts: Vec<String> = parts.collect::<Option<_>>()?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts[..] {
            ["runs"] | ["runs", ""] => Some(Self::Runs),
            ["compare"] => Some(Self::Compare(compared(query.unwrap_or_default())?)),
            ["agents", file] => Some(Self::Agent(file.strip_suffix(".safetensors")?.to_owned())),
            ["runs", run] | ["runs", run, ""] => Some(Self::Run(run.to_owned())),
            ["runs", run, "live"] => Some(Self::Live(run.to_owned())),
            ["runs", run, "games"] => Some(Self::Games(run.to_owned())),
            ["runs", run, "report.html"] => Some(Self::Report(run.to_owned())),
            ["runs", run, "latest.safetensors"] => Some(Self::Checkpoint(run.to_owned(), Checkpoint::Latest)),
            ["runs", run, "best.safetensors"] => Some(Self::Checkpoint(run.to_owned(), Checkpoint::Best)),
            // Browsers ask for it on pages that name no icon.
            ["favicon.ico"] => Some(Self::Page("icon.svg".to_owned())),
            [file] => Some(Self::Page(file.to_owned())),
            _ => None,
        }
    }
}

impl Checkpoint {
    /// The file's name.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Latest => "latest.safetensors",
            Self::Best => "best.safetensors",
        }
    }
}

/// A part of a path or query with its percent signs decoded, once. `None` for names that no file has here: with a
/// separator or a control character, `.`, `..`, and those that are no UTF-8.
fn decoded(part: &str) -> Option<String> {
    let name = percent_decode_str(part).decode_utf8().ok()?;
    is_harmless(&name).then(|| name.into_owned())
}

fn is_harmless(name: &str) -> bool {
    let harmless = |c: char| !matches!(c, '/' | '\\') && !c.is_control();
    name.len() <= LONGEST_NAME && name.chars().all(harmless) && name != "." && name != ".."
}

/// The name of a run, or of one of a sweep with its separator.
fn run_name(part: &str) -> Option<String> {
    let name = percent_decode_str(part).decode_utf8().ok()?;
    match sweep_run(&name) {
        Some((sweep, _)) => is_harmless(sweep).then(|| name.into_owned()),
        None => decoded(part),
    }
}

/// The runs that `run=a&run=b` names.
fn compared(query: &str) -> Option<Vec<String>> {
    let names =
        query.split('&').filter_map(|part| part.strip_prefix("run=")).map(|name| run_name(&name.replace('+', " ")));
    let mut names = names.collect::<Option<Vec<_>>>()?;
    names.dedup();
    names.truncate(MOST_RUNS);
    Some(names)
}

/// A name as a part of an address.
#[must_use]
pub(crate) fn encoded(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn targets_have_addresses() {
        let of = |path| Route::of(path, None);
        assert_eq!(of("/"), Some(Route::Page(String::new())));
        assert_eq!(of("/turnstone.wasm"), Some(Route::Page("turnstone.wasm".into())));
        assert_eq!(of("/agents/konane.safetensors"), Some(Route::Agent("konane".into())));
        assert_eq!(of("/runs/a%20b/"), Some(Route::Run("a b".into())));
        assert_eq!(of("/runs/a/best.safetensors"), Some(Route::Checkpoint("a".into(), Checkpoint::Best)));
        assert_eq!(of("/runs/a/config.toml"), None);
        assert_eq!(of("/runs/a%2F12/live"), Some(Route::Live("a/12".into())));
        assert_eq!(of(&format!("/runs/{}", encoded("a b/3"))), Some(Route::Run("a b/3".into())));
        let compared = Route::of("/compare", Some("run=a&x=1&run=b%2Bc+d"));
        assert_eq!(compared, Some(Route::Compare(vec!["a".into(), "b+c d".into()])));
    }

    #[test]
    fn no_name_leads_elsewhere() {
        for path in [
            "/runs/../x",
            "/runs/%2e%2e/live",
            "/runs/%2E./live",
            "/runs/..%2f..%2fetc/live",
            "/runs/..%5c/live",
            "/runs/a%00b",
            "/runs/a%0Ab/live",
            "/..",
            "/%2e",
            "/runs/%ff",
            "/agents/..%2Fx.safetensors",
            "runs",
            "",
            "//etc/passwd",
            "/runs/a/../b",
            "/runs/a/checkpoints/step_1.safetensors",
            "/runs/..%2f1",
            "/runs/a%2f1%2f2",
            "/runs/a%2fb",
            "/agents/a%2f1",
        ] {
            assert_eq!(Route::of(path, None), None, "{path}");
        }
        // Decoded once: the name has a percent sign.
        assert_eq!(Route::of("/runs/%252e%252e", None), Some(Route::Run("%2e%2e".into())));
        assert_eq!(Route::of("/compare", Some("run=../x")), None);
    }

    proptest! {
        #[test]
        fn names_are_single_parts_of_a_path(path in "\\PC*", query in proptest::option::of("\\PC*")) {
            let names = match Route::of(&path, query.as_deref()) {
                Some(Route::Compare(runs)) => runs,
                Some(Route::Page(name) | Route::Agent(name) | Route::Run(name) | Route::Live(name) | Route::Games(name)) => vec![name],
                Some(Route::Report(name) | Route::Checkpoint(name, _)) => vec![name],
                Some(Route::Runs) | None => vec![],
            };
            for name in names {
                let name = sweep_run(&name).map_or(name.clone(), |(sweep, _)| sweep.to_owned());
                let parts: Vec<_> = std::path::Path::new("/base").join(&name).components().skip(2).map(|part| part.as_os_str().to_owned()).collect();
                prop_assert!(parts.is_empty() || parts == [std::ffi::OsString::from(&name)]);
            }
        }
    }
}
