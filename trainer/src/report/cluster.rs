//! The workers of a run that a cluster plays, as its leader's status says.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use turnstone_arena::page::{Section, escaped};
use turnstone_base::files::read_text;

/// Maximum length of a status in bytes.
const LONGEST: u64 = 1 << 20;

/// The section on the cluster that plays a run; `None` if there is none.
pub(super) fn cluster(folder: &Path) -> Option<Section> {
    let text = read_text(&folder.join("cluster/status.json"), LONGEST).ok()?;
    let status: Value = serde_json::from_str(&text).ok()?;
    let number = |name: &str, at: usize| status[name][at].as_u64().unwrap_or(0);
    let stage = status["stage"].as_str().filter(|stage| !stage.is_empty()).unwrap_or("learning");
    let lead = format!(
        "Now: {stage}, {} of {} items. Jobs: {} done, {} redelivered, {} failed.",
        number("items", 0),
        number("items", 1),
        number("jobs", 0),
        number("jobs", 1),
        number("jobs", 2)
    );
    let mut html = "<div class=\"card scroll\" tabindex=\"0\"><table>".to_owned();
    html += "<tr><th>worker</th><th>threads</th><th>items</th><th>items per second</th></tr>\n";
    for (name, worker) in status["workers"].as_object()? {
        let (threads, items) = (worker["threads"].as_u64()?, worker["items"].as_u64()?);
        let rate = worker["rate"].as_f64()?;
        let _ =
            writeln!(html, "<tr><td>{}</td><td>{threads}</td><td>{items}</td><td>{rate:.1}</td></tr>", escaped(name));
    }
    html += "</table></div>\n";
    Some(Section { id: "cluster", heading: "Cluster", lead, html })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_shown_by_worker() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(cluster(folder.path()).is_none());
        std::fs::create_dir(folder.path().join("cluster")).expect("writable");
        let status = r#"{"stage":"self-play of iteration 3","items":[7,24],"jobs":[5,1,0],
            "workers":{"<w1>":{"threads":2,"items":7,"rate":3.25}}}"#;
        std::fs::write(folder.path().join("cluster/status.json"), status).expect("writable");
        let section = cluster(folder.path()).expect("there is a status");
        assert!(section.lead.contains("self-play of iteration 3, 7 of 24 items. Jobs: 5 done, 1 redelivered"));
        assert!(
            section.html.contains("<tr><td>&lt;w1&gt;</td><td>2</td><td>7</td><td>3.2</td></tr>"),
            "{}",
            section.html
        );
    }
}
