//! The frame of the page: escaping, style sheet, script, and the parts in their order.

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A part of the page with a heading of its own.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Its name in links.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// A sentence below the heading, as text.
    pub(super) lead: String,
    /// The rest, as HTML.
    pub(super) html: String,
}

/// Text as it may stand in elements and attributes.
#[must_use]
pub(super) fn escaped(text: &str) -> String {
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

/// The whole page. `header` is HTML.
#[must_use]
pub(super) fn page(title: &str, header: &str, parts: &[Part], footer: &str) -> String {
    let title = escaped(title);
    let mut links = String::new();
    let mut body = String::new();
    for Part { id, heading, lead, html } in parts {
        links += &format!("<a href=\"#{id}\">{heading}</a>");
        let lead = if lead.is_empty() { String::new() } else { format!("<p class=\"lead\">{}</p>\n", escaped(lead)) };
        body += &format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{lead}{html}</section>\n");
    }
    let footer = escaped(footer);
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
{SCRIPT}</script>
</body>
</html>
"#
    )
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
        let page = page("<t>", "", &[part], "</footer>");
        assert!(!page.contains("</section><script>") && !page.contains("<t>") && !page.contains("</footer></footer>"));
        assert_eq!(page.matches("<script>").count(), 1);
    }
}
