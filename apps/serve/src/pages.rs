//! Pages of runs, in the frame of the report.

use std::fmt::Write;
use std::time::SystemTime;

use turnstone_arena::page::{Page, Section, escaped, title};
use turnstone_base::times::duration;
use turnstone_trainer::report::LiveRun;

use crate::route::encoded;
use crate::run_list::Entry;

const LINKS: &str =
    r#"<p class="brand"><a href="/">Play</a> · <a href="/runs">Runs</a> · <a href="/compare">Compare</a></p>"#;

/// A line of the list of runs.
pub(crate) struct Row {
    pub(crate) entry: Entry,
    /// The run as far as it could be read, or why not; `None` for a folder with only a report.
    pub(crate) run: Option<Result<LiveRun, String>>,
    pub(crate) has_checkpoint: bool,
}

fn page(name: &str, header: &str, parts: &[Section]) -> String {
    let footer = concat!("turnstone ", env!("CARGO_PKG_VERSION"));
    Page { title: name, header, parts, footer }.html()
}

/// The list of runs, and of folders with reports of matches.
pub(crate) fn runs(rows: &[Row], folder: &str) -> String {
    let html = if rows.is_empty() {
        format!("<p>There are no runs in <code>{}</code>. <code>turnstone train</code> makes one.</p>", escaped(folder))
    } else {
        let table: String = rows.iter().map(table_row).collect();
        format!(
            r#"<form id="compare" action="/compare" method="get"><div class="card scroll" tabindex="0" role="region" aria-label="Runs"><table><tr><th>run</th><th>game</th><th>iterations</th><th>newest score</th><th>links</th><th>changed</th></tr>{table}</table></div><p><button type="submit">Compare the selected runs</button></p></form>"#
        )
    };
    let part = Section { id: "runs", heading: "Runs", lead: String::new(), html };
    page("Turnstone: runs", &format!("{LINKS}<h1>Training runs</h1>"), &[part])
}

fn table_row(Row { entry, run, has_checkpoint }: &Row) -> String {
    let (name, address) = (escaped(&entry.name), encoded(&entry.name));
    let age = entry.changed.map(age).unwrap_or_default();
    let report = match entry.has_report {
        true => format!(r#" <a href="/runs/{address}/report.html">report</a>"#),
        false => String::new(),
    };
    match run {
        None => format!(r#"<tr><td>{name}</td><td colspan="4">match or tournament{report}</td><td>{age}</td></tr>"#),
        Some(Err(fault)) => format!(
            r#"<tr><td><a href="/runs/{address}">{name}</a></td><td colspan="4" class="name">{}{report}</td><td>{age}</td></tr>"#,
            escaped(fault)
        ),
        Some(Ok(run)) => {
            let game = escaped(run.config.game.get("name").and_then(|name| name.as_str()).unwrap_or_default());
            let (done, planned) = (run.history.last().map_or(0, |last| last.iteration), run.config.run.iterations);
            let left = run.time_left().map(|left| format!(", {} left", duration(left))).unwrap_or_default();
            let score = run.newest_score().map_or_else(|| "–".to_owned(), |score| format!("{:.1} %", 100.0 * score));
            let play = match has_checkpoint {
                true => play_link(&entry.name, "latest.safetensors", "play"),
                false => String::new(),
            };
            format!(
                r#"<tr><td><label><input type="checkbox" aria-label="compare" name="run" value="{name}" form="compare"> </label><a href="/runs/{address}">{name}</a></td><td>{}</td><td>{done} of {planned}{left}</td><td>{score}</td><td>{play}{report}</td><td>{age}</td></tr>"#,
                escaped(&title(&game))
            )
        }
    }
}

/// The page of a run, which follows it while it trains.
pub(crate) fn run(name: &str, header: &str, parts: &[Section], checkpoints: &[&str]) -> String {
    let address = encoded(name);
    let mut links = format!(r#"{LINKS}<p class="sub">{} · "#, escaped(name));
    for file in checkpoints {
        let label = format!("play against {}", file.trim_end_matches(".safetensors"));
        write!(links, "{} · ", play_link(name, file, &label)).expect("a string");
    }
    if !checkpoints.is_empty() {
        write!(links, r#"<a href="/runs/{address}/games">sample games</a> · "#).expect("a string");
    }
    write!(links, r#"<span id="follow" role="status">following</span></p>"#).expect("a string");
    let header = format!(r#"{links}<div id="standing">{header}</div>"#);
    page(&format!("{name}: a Turnstone run"), &header, parts)
}

/// What changes on a run's page, as JSON: the header, and the sections by their ids.
pub(crate) fn live(header: &str, parts: &[Section]) -> String {
    let sections: serde_json::Map<String, serde_json::Value> =
        parts.iter().map(|part| (part.id.to_owned(), part.html.clone().into())).collect();
    serde_json::json!({ "header": header, "sections": sections }).to_string()
}

/// A page with sample games.
pub(crate) fn games(name: &str, part: Section) -> String {
    let header = format!(
        r#"{LINKS}<h1>Sample games</h1><p class="sub"><a href="/runs/{}">{}</a></p>"#,
        encoded(name),
        escaped(name)
    );
    page(&format!("{name}: sample games"), &header, &[part])
}

/// Several runs on the same charts.
pub(crate) fn comparison(names: &[String], parts: &[Section], faults: &[String]) -> String {
    let names: Vec<String> =
        names.iter().map(|name| format!(r#"<a href="/runs/{}">{}</a>"#, encoded(name), escaped(name))).collect();
    let faults: String = faults.iter().map(|fault| format!("<p class=\"sub\">{}</p>", escaped(fault))).collect();
    let lead = if names.is_empty() {
        r#"<p>Select runs in the <a href="/runs">list of runs</a>.</p>"#.to_owned()
    } else {
        format!("<p>{}</p>", names.join(" · "))
    };
    page("Turnstone: comparison of runs", &format!("{LINKS}<h1>Comparison</h1>{lead}{faults}"), parts)
}

/// A page that says what is wrong with a run.
pub(crate) fn fault(name: &str, fault: &str) -> String {
    let header = format!("{LINKS}<h1>{}</h1><p>{}</p>", escaped(name), escaped(fault));
    page(name, &header, &[])
}

fn play_link(run: &str, file: &str, label: &str) -> String {
    let path = encoded(&format!("/runs/{}/{file}", encoded(run)));
    format!(r#"<a href="/?agent={path}&amp;name={}">{label}</a>"#, encoded(run))
}

/// How long ago something changed, roughly.
fn age(time: SystemTime) -> String {
    let seconds = time.elapsed().map_or(0, |elapsed| elapsed.as_secs());
    match seconds {
        0..120 => "now".to_owned(),
        120..7200 => format!("{} minutes ago", seconds / 60),
        7200..172_800 => format!("{} hours ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let entry = Entry { name: "<b>\"&'".to_owned(), is_run: true, has_report: true, changed: None };
        let row = Row { entry, run: Some(Err("<i>".to_owned())), has_checkpoint: true };
        let html = runs(&[row], "<u>");
        assert!(
            !html.contains("<b>\"") && !html.contains("<i>") && html.contains("&lt;b&gt;&quot;&amp;&#39;"),
            "{html}"
        );
        assert!(html.contains("/runs/%3Cb%3E%22%26%27/report.html"), "{html}");
        assert!(!runs(&[], "<u>").contains("<u>"));
        assert!(!fault("<b>", "<i>").contains("<i>"));
    }
}
