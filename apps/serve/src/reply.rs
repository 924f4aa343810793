//! Answers, apart from how they are sent.

use turnstone_base::checksum::crc32_text;

use crate::body::Body;

/// The kind of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A page.
    Html,
    /// A page of runs, whose style and script are in it.
    RunHtml,
    /// A script.
    Script,
    /// A style sheet.
    Style,
    /// A drawing.
    Svg,
    /// A WebAssembly module.
    Wasm,
    /// JSON.
    Json,
    /// Plain text.
    Text,
    /// Anything else: a checkpoint.
    Binary,
}

impl Kind {
    /// The kind of a file of the page, by its name.
    #[must_use]
    pub fn of_file(name: &str) -> Self {
        match name.rsplit('.').next() {
            Some("html") => Self::Html,
            Some("js") => Self::Script,
            Some("css") => Self::Style,
            Some("svg") => Self::Svg,
            Some("wasm") => Self::Wasm,
            Some("json") => Self::Json,
            Some("txt") => Self::Text,
            _ => Self::Binary,
        }
    }

    /// The value of `Content-Type`.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Html | Self::RunHtml => "text/html; charset=utf-8",
            Self::Script => "text/javascript; charset=utf-8",
            Self::Style => "text/css; charset=utf-8",
            Self::Svg => "image/svg+xml",
            Self::Wasm => "application/wasm",
            Self::Json => "application/json",
            Self::Text => "text/plain; charset=utf-8",
            Self::Binary => "application/octet-stream",
        }
    }

    /// The value of `Content-Security-Policy`: nothing from elsewhere.
    #[must_use]
    pub fn policy(self) -> &'static str {
        match self {
            Self::RunHtml => {
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
            }
            _ => {
                "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            }
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Kind of the body.
    pub kind: Kind,
    /// The body.
    pub body: Body,
    /// Whether the body is compressed with gzip.
    pub gzip: bool,
    /// Changes when the body does.
    pub tag: Option<String>,
}

impl Reply {
    /// A body that was found.
    #[must_use]
    pub fn found(kind: Kind, body: impl Into<Body>) -> Self {
        Self { status: 200, kind, body: body.into(), gzip: false, tag: None }
    }

    /// The same with a tag made from the body.
    #[must_use]
    pub fn tagged(mut self) -> Self {
        self.tag = Some(tag(&self.body));
        self
    }

    /// A line of text with another status than 200.
    #[must_use]
    pub fn refused(status: u16, line: &str) -> Self {
        Self { status, kind: Kind::Text, body: Body::from(format!("{line}\n")), gzip: false, tag: None }
    }
}

/// A tag of a body: checksum and length.
#[must_use]
pub(crate) fn tag(body: &[u8]) -> String {
    format!("\"{}-{:x}\"", crc32_text(body), body.len())
}
