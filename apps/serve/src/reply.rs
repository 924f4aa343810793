//! Answers, apart from how they are sent.

use bytes::Bytes;
use turnstone_base::checksum::crc32_text;

/// `Content-Type` of pages.
pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const BINARY: &str = "application/octet-stream";

/// `Content-Type` of a file of the page, by its name.
#[must_use]
pub(crate) fn type_of_file(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => HTML,
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("png") => "image/png",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        Some("json") => JSON,
        Some("txt") => TEXT,
        _ => BINARY,
    }
}

/// `Content-Security-Policy` of the page: nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `Content-Security-Policy` of pages of runs, which contain their style and script.
const RUN_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: &'static str,
    /// `Content-Security-Policy`.
    pub policy: &'static str,
    /// The body, shared by all connections that send it.
    pub body: Bytes,
    /// Whether the body is compressed with gzip.
    pub gzip: bool,
    /// Changes when the body does.
    pub tag: Option<String>,
}

impl Reply {
    /// A body that was found.
    #[must_use]
    pub fn found(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: 200, content_type, policy: POLICY, body: body.into(), gzip: false, tag: None }
    }

    /// A page of runs.
    #[must_use]
    pub fn run_page(html: impl Into<Bytes>) -> Self {
        Self { policy: RUN_POLICY, ..Self::found(HTML, html) }
    }

    /// The same with a tag made from the body: checksum and length.
    #[must_use]
    pub fn tagged(mut self) -> Self {
        self.tag = Some(format!("\"{}-{:x}\"", crc32_text(&self.body), self.body.len()));
        self
    }

    /// A line of text with another status than 200.
    #[must_use]
    pub fn refused(status: u16, line: &str) -> Self {
        Self { status, ..Self::found(TEXT, format!("{line}\n")) }
    }
}
