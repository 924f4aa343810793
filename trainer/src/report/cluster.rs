//! The workers of a run that a cluster plays, as its leader's status says.

use std::fmt::Write;
use std::path::Path;

use turnstone_arena::page::{Section, escaped};
use turnstone_arena::{RunStatus, WorkerStatus};
use turnstone_base::files::read_text;

/// Maximum length of a status in bytes.
const LONGEST: u64 = 1 << 20;

/// The section on the cluster that plays a run; `None` if there is none.
pub(super) fn cluster(folder: &Path) -> Option<Section> {
    let text = read_text(&folder.join("cluster/status.json"), LONGEST).ok()?;
    let RunStatus { stage, items, jobs, workers, .. } = serde_json::from_str(&text).ok()?;
    let stage = if stage.is_empty() { "learning" } else { &stage };
    let [received, all] = items;
    let [done, redelivered, failed] = jobs;
    let lead = format!(
        "Now: {stage}, {received} of {all} items. Jobs: {done} done, {redelivered} redelivered, {failed} failed."
    );
    let mut html = "<div class=\"card scroll\" tabindex=\"0\"><table>".to_owned();
    html += "<tr><th>worker</th><th>threads</th><th>items</th><th>items per second</th></tr>\n";
    for (name, WorkerStatus { threads, items, rate }) in workers {
        let name = escaped(&name);
        let _ = writeln!(html, "<tr><td>{name}</td><td>{threads}</td><td>{items}</td><td>{rate:.1}</td></tr>");
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
        let status = r#"{"leader":"1f","game":"mancala","stage":"self-play of iteration 3","items":[7,24],"jobs":[5,1,0],
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
