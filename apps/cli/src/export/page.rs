//! The page with one game and one agent, as a file that needs no server.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use data_encoding::BASE64;
use turnstone_models::save;
use turnstone_serve::PageFile;

use super::Exported;
use super::folder::{Existing, folder, write_file};
use super::readme::{readme, sha256};

/// The files of the folder, and what marks the page as an export.
const PAGE: &str = "index.html";
const README: &str = "README.md";
const AGENT: &str = "agent.safetensors";
const MARK: &str = "<meta name=\"generator\" content=\"turnstone export\">";

/// The page has one game, so none can be chosen.
const ONE_GAME: &str = "<style>#game { display: none }</style>";

/// The folder of the agent's file, as the page asks for it.
const TRAINED: &str = "agents";

/// The files of a page that go into the one file, with their types.
const PARTS: [(&str, &str); 4] = [
    ("page.js", "text/javascript"),
    ("worker.js", "text/javascript"),
    ("style.css", "text/css"),
    ("turnstone.wasm", "application/wasm"),
];

/// The licences of this program, parts of which are in the page.
const LICENCES: [(&str, &str); 2] = [
    ("LICENSE-MIT", include_str!("licences/LICENSE-MIT")),
    ("LICENSE-APACHE", include_str!("licences/LICENSE-APACHE")),
];

const BOOT: &str = include_str!("boot.js");

/// Writes the folder and returns the paths of its files. The page is that of the folder `source`, as `apps/web/build.sh`
/// writes it, or else the program's own.
///
/// # Errors
/// The page does not have the game, a file of it is missing, or the folder exists or cannot be written.
pub fn export_page(
    exported: &Exported<'_>,
    source: Option<&Path>,
    out: &Path,
    existing: Existing,
) -> Result<Vec<PathBuf>> {
    let Exported { game, network, .. } = *exported;
    let files = match source {
        Some(folder) => turnstone_serve::page_in(folder).with_context(|| folder.display().to_string())?,
        None if turnstone_games::built_in().names().any(|name| name == game.name()) => turnstone_serve::page(),
        None => bail!(
            "the page of this program does not have the game `{}`: build one that has it (apps/web/build.sh --crate \
             MANIFEST FOLDER), and name its folder with --page",
            game.name()
        ),
    };
    let agent = format!("{TRAINED}/{}-{}.safetensors", game.name(), network.info.step);
    let mut names = vec![PAGE, AGENT, README];
    names.extend(LICENCES.map(|(name, _)| name));
    folder(out, is_page, existing, |folder| {
        let path = folder.join(AGENT);
        save(&path, &network.info, &network.weights)?;
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        let begin = format!("?agent={agent}&name=trained%20agent");
        write_file(&folder.join(PAGE), html(&files, (&agent, &bytes), &begin)?.as_bytes())?;
        let contents = [
            (PAGE, "a page to play against the agent; open it in a browser".to_owned()),
            (AGENT, format!("its checkpoint; SHA-256 `{}`", sha256(&bytes))),
        ];
        write_file(&folder.join(README), readme(exported, &contents).as_bytes())?;
        LICENCES.iter().try_for_each(|(name, text)| write_file(&folder.join(name), text.as_bytes()))
    })?;
    Ok(names.iter().map(|name| out.join(name)).collect())
}

/// Whether a folder contains an exported page.
fn is_page(folder: &Path) -> bool {
    fs::read_to_string(folder.join(PAGE)).is_ok_and(|page| page.contains(MARK))
}

/// The page with its parts and the agent's file inside.
fn html(files: &[PageFile], (name, agent): (&str, &[u8]), begin: &str) -> Result<String> {
    let find = |name: &str| files.iter().find(|file| file.name == name).with_context(|| format!("{name} is missing"));
    let text = |name: &str| String::from_utf8(find(name)?.bytes.to_vec()).context(name.to_owned());
    let icon = format!("data:image/svg+xml;base64,{}", BASE64.encode(text("icon.svg")?.as_bytes()));
    let mut parts = String::new();
    let mut part = |name: &str, kind: &str, compressed: bool, bytes: &[u8]| {
        let gzip = if compressed { " data-gzip" } else { "" };
        writeln!(parts, "<script type=\"x-{kind}\" data-file=\"{name}\"{gzip}>{}</script>", BASE64.encode(bytes))
            .expect("writing to a string cannot fail");
    };
    for (name, kind) in PARTS {
        let file = find(name)?;
        part(name, kind, file.compressed, &file.bytes);
    }
    part(name, "application/octet-stream", false, agent);
    let parts = format!("{parts}<script>\n{BOOT}</script>\n</body>");
    let mut page = text(PAGE)?;
    let listed = page.split("data-agents=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let listed = format!("data-agents=\"{listed}\"");
    for (from, to) in [
        ("href=\"icon.svg\"", format!("href=\"{icon}\"")),
        ("src=\"icon.svg\"", format!("src=\"{icon}\"")),
        ("<link rel=\"manifest\" href=\"manifest.webmanifest\">\n", String::new()),
        ("<link rel=\"apple-touch-icon\" href=\"icon-192.png\">\n", String::new()),
        ("<link rel=\"stylesheet\" href=\"style.css\">", format!("{MARK}\n{ONE_GAME}")),
        ("<script type=\"module\" src=\"page.js\"></script>", String::new()),
        (&listed[..], format!("data-agents=\"\" data-begin=\"{}\"", begin.replace('&', "&amp;"))),
        ("</body>", parts),
    ] {
        if !page.contains(from) {
            bail!("{PAGE} has no `{from}`: it is no page of this program");
        }
        page = page.replacen(from, &to, 1);
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_all_that_it_asks_for() {
        let page = html(&turnstone_serve::page(), ("agents/a.safetensors", b"agent"), "?a=b&c=d").expect("a page");
        for (name, _) in PARTS {
            assert!(page.contains(&format!("data-file=\"{name}\" data-gzip>H4sI")), "{name}");
        }
        assert!(page.contains("data-file=\"agents/a.safetensors\">YWdlbnQ=</script>"));
        assert!(page.contains("data-agents=\"\" data-begin=\"?a=b&amp;c=d\"") && page.contains(MARK));
        let outside = ["src=\"", "href=\""].iter().flat_map(|with| page.split(with).skip(1));
        let outside: Vec<&str> = outside.filter(|rest| !rest.starts_with("data:") && !rest.starts_with('#')).collect();
        assert!(outside.is_empty(), "{:.80}", outside[0]);
        let files = turnstone_serve::page();
        assert!(html(&files[1..], ("a", b""), "").is_err_and(|fault| fault.to_string() == "index.html is missing"));
    }
}
