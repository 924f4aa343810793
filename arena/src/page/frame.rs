//! The frame of a page: escaping, style sheet, scripts, and the parts in their order.

use serde_json::Value;

const STYLE: &str = include_str!("style.css");
const REPLAY: &str = include_str!("replay.js");

/// A part of the page with a heading of its own.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name in links.
    pub id: &'static str,
    pub heading: &'static str,
    /// A sentence below the heading, as text.
    pub lead: String,
    /// The rest, as HTML.
    pub html: String,
}

/// A whole page.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// As text.
    pub title: &'a str,
    /// As HTML.
    pub header: &'a str,
    pub parts: &'a [Part],
    /// As text.
    pub footer: &'a str,
    /// What this kind of page does with the common script's replays.
    pub script: &'static str,
}

/// Text as it may stand in elements and attributes.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Control characters may not stand in HTML at all.
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Data for the page's script, in an element with this id.
#[must_use]
pub fn data(id: Option<&str>, value: &Value) -> String {
    let id = id.map(|id| format!(" id=\"{id}\"")).unwrap_or_default();
    // `</script>` would end the element early.
    let json = value.to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\"{id}>{json}</script>\n")
}

/// `mu_torere` as a heading: `Mu Torere`.
#[must_use]
pub fn title(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.split('_').map(capital).collect::<Vec<_>>().join(" ")
}

impl Page<'_> {
    /// The page as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        let (title, footer) = (escaped(self.title), escaped(self.footer));
        let Self { header, script, .. } = self;
        let mut links = String::new();
        let mut body = String::new();
        for Part { id, heading, lead, html } in self.parts {
            links += &format!("<a href=\"#{id}\">{heading}</a>");
            let lead =
                if lead.is_empty() { String::new() } else { format!("<p class=\"lead\">{}</p>\n", escaped(lead)) };
            body += &format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{lead}{html}</section>\n");
        }
        format!(
            r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{STYLE}</style>
</head>
<body>
<header>
{header}<nav>{links}</nav>
</header>
<main>
{body}</main>
<footer>{footer}</footer>
<script>
{REPLAY}{script}</script>
</body>
</html>
"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escaped("<a href=\"x\">'&'</a>\0\n"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;\u{fffd}\n"
        );
        let part = Part { id: "x", heading: "X", lead: "</section><script>".into(), html: "<p>y</p>".into() };
        let page = Page { title: "<t>", header: "", parts: &[part], footer: "</footer>", script: "" }.html();
        assert!(!page.contains("</section><script>") && !page.contains("<t>") && !page.contains("</footer></footer>"));
        assert_eq!(page.matches("<script>").count(), 1);
        assert!(!data(None, &serde_json::json!("</script>")).contains("</script></"));
    }

    #[test]
    fn names_become_headings() {
        assert_eq!(title("mu_torere"), "Mu Torere");
    }
}
