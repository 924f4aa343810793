//! Frame of a page: escaping, style sheet, scripts, and sections.

use serde::Serialize;
use turnstone_base::text::is_deceptive;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = concat!(include_str!("chart.js"), include_str!("page.js"));

/// Section of the page with a heading.
#[derive(Clone, Debug)]
pub struct Section {
    /// Anchor of the section, for links.
    pub id: &'static str,
    /// Heading, as HTML.
    pub heading: &'static str,
    /// Introductory sentence, as text.
    pub lead: String,
    /// Content, as HTML.
    pub html: String,
}

/// Content of a page.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Title, as text.
    pub title: &'a str,
    /// Header, as HTML.
    pub header: &'a str,
    /// Sections in order, which are linked from the header where there are several.
    pub parts: &'a [Section],
    /// Footer, as text.
    pub footer: &'a str,
}

/// Escapes text for use in elements and attributes.
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
            // Control characters are not allowed in HTML, and marks of direction would reverse the text that follows.
            c if is_deceptive(c) && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Element with JSON data for the page's script.
#[must_use]
pub fn data(id: Option<&str>, value: &impl Serialize) -> String {
    let id = id.map(|id| format!(" id=\"{id}\"")).unwrap_or_default();
    // `</script>` would end the element early.
    let json = serde_json::to_string(value).expect("plain fields become JSON").replace('<', "\\u003c");
    format!("<script type=\"application/json\"{id}>{json}</script>\n")
}

/// Converts a name such as `mu_torere` into a heading, `Mu Torere`.
#[must_use]
pub fn title(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.split('_').map(capital).collect::<Vec<_>>().join(" ")
}

impl Page<'_> {
    /// Renders the page as an HTML document.
    #[must_use]
    pub fn html(&self) -> String {
        let (title, footer) = (escaped(self.title), escaped(self.footer));
        let header = self.header;
        let mut links = String::new();
        let mut body = String::new();
        for Section { id, heading, lead, html } in self.parts {
            links += &format!("<a href=\"#{id}\">{heading}</a>");
            let lead =
                if lead.is_empty() { String::new() } else { format!("<p class=\"lead\">{}</p>\n", escaped(lead)) };
            body += &format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{lead}{html}</section>\n");
        }
        // A single section needs no list of sections.
        let links = if self.parts.len() > 1 { format!("<nav>{links}</nav>\n") } else { String::new() };
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
{header}{links}</header>
<main>
<noscript><p class="lead">Charts and boards need JavaScript.</p></noscript>
{body}</main>
<footer>{footer}</footer>
<script>
{SCRIPT}</script>
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
        let part = Section { id: "x", heading: "X", lead: "</section><script>".into(), html: "<p>y</p>".into() };
        let page = Page { title: "<t>", header: "", parts: &[part], footer: "</footer>" }.html();
        assert!(!page.contains("</section><script>") && !page.contains("<t>") && !page.contains("</footer></footer>"));
        assert_eq!(page.matches("<script>").count(), 1);
        assert!(!data(None, &serde_json::json!("</script>")).contains("</script></"));
    }

    #[test]
    fn names_become_headings() {
        assert_eq!(title("mu_torere"), "Mu Torere");
    }
}
