//! Requests from the network, bytes that anyone may have sent, and the names that they may use for the server.

use std::net::{IpAddr, Ipv6Addr};

/// Largest header of a request in bytes.
pub(crate) const LARGEST: usize = 16 << 10;
/// Header fields at most.
const MOST_FIELDS: usize = 64;

/// The parts of a request on which the answer depends.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// Path and query, as sent.
    pub(crate) target: &'a str,
    pub(crate) version: u8,
    /// The last `Host`, and how many there are.
    pub(crate) host: &'a [u8],
    pub(crate) hosts: usize,
    /// `If-None-Match`.
    pub(crate) tags: &'a [u8],
    /// Whether the client asks to close the connection, or sends a body, which is not read.
    pub(crate) closes: bool,
}

/// The result of parsing the bytes received so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Parsed<'a> {
    /// The beginning of a request.
    Partial,
    /// A request and its length in bytes.
    Whole(Request<'a>, usize),
    /// No request.
    Malformed,
}

impl<'a> Request<'a> {
    /// Parses the header of a request at the beginning of `bytes`. Nothing is allocated.
    pub(crate) fn parse(bytes: &'a [u8]) -> Parsed<'a> {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        let length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Parsed::Partial,
            Err(_) => return Parsed::Malformed,
        };
        let (Some(method), Some(target), Some(version)) = (parsed.method, parsed.path, parsed.version) else {
            return Parsed::Malformed;
        };
        let mut request = Self { method, target, version, ..Self::default() };
        let mut keeps = version == 1;
        for field in parsed.headers.iter() {
            let is = |name: &str| field.name.eq_ignore_ascii_case(name);
            if is("host") {
                (request.host, request.hosts) = (field.value, request.hosts + 1);
            } else if is("if-none-match") {
                request.tags = field.value;
            } else if is("connection") {
                keeps = !field.value.windows(5).any(|word| word.eq_ignore_ascii_case(b"close")) && keeps;
            } else if (is("content-length") && field.value != b"0") || is("transfer-encoding") || is("upgrade") {
                request.closes |= !is("upgrade");
            }
        }
        request.closes |= !keeps;
        Parsed::Whole(request, length)
    }

    /// Path and query. A target with a scheme and a name, as sent to proxies, is cut down to them.
    pub(crate) fn path_and_query(&self) -> (&'a str, Option<&'a str>) {
        let target = match self.target.strip_prefix("http://") {
            Some(rest) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => self.target,
        };
        let target = target.split('#').next().unwrap_or(target);
        target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)))
    }
}

/// The names by which browsers may reach the server: addresses, `localhost`, and names given when it is started.
///
/// A page elsewhere can make its own name mean this machine (DNS rebinding) and would then be of the same origin as this
/// server; its requests still carry its name.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    names: Vec<String>,
}

impl Hosts {
    /// Allows these names besides addresses and `localhost`.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self { names: names.into_iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// Whether the value of `Host` is a name of this server, with or without a port.
    #[must_use]
    pub fn allow(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => {
                let Some((address, rest)) = rest.split_once(']') else { return false };
                return address.parse::<Ipv6Addr>().is_ok() && is_port(rest);
            }
            None => match host.split_once(':') {
                Some((name, port)) if is_port(&format!(":{port}")) => name,
                Some(_) => return false,
                None => host,
            },
        };
        let name = name.to_ascii_lowercase();
        name == "localhost" || name.parse::<IpAddr>().is_ok() || self.names.contains(&name)
    }
}

/// Whether the text is empty or `:` and a port.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &str) -> (Request<'_>, usize) {
        match Request::parse(text.as_bytes()) {
            Parsed::Whole(request, length) => (request, length),
            other => panic!("{text:?} is {other:?}"),
        }
    }

    #[test]
    fn headers_are_read() {
        let text = "GET /runs?x=1#y HTTP/1.1\r\nHost: a\r\nhost: b\r\nIf-None-Match: \"t\"\r\n\r\nnext";
        let (request, length) = whole(text);
        assert_eq!(length, text.len() - 4);
        assert_eq!((request.method, request.path_and_query()), ("GET", ("/runs", Some("x=1"))));
        assert_eq!((request.hosts, request.host, request.tags, request.closes), (2, &b"b"[..], &b"\"t\""[..], false));
        assert_eq!(whole("GET http://a/b HTTP/1.1\r\n\r\n").0.path_and_query(), ("/b", None));
        assert_eq!(whole("GET http://a HTTP/1.1\r\n\r\n").0.path_and_query(), ("/", None));
    }

    #[test]
    fn connections_end_where_the_next_request_would_be_unclear() {
        let closes = |fields: &str| whole(&format!("POST / HTTP/1.1\r\n{fields}\r\n")).0.closes;
        assert!(!closes("") && !closes("Content-Length: 0\r\n"));
        assert!(
            closes("Content-Length: 5\r\n")
                && closes("Transfer-Encoding: chunked\r\n")
                && closes("Connection: Close\r\n")
        );
        assert!(whole("GET / HTTP/1.0\r\n\r\n").0.closes);
    }

    #[test]
    fn anything_else_is_malformed() {
        for text in [
            "GET\r\n\r\n",
            "GET / HTTP/9.9\r\n\r\n",
            "\0\0\0\0",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "G@T / HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(Request::parse(text.as_bytes()), Parsed::Malformed, "{text:?}");
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MOST_FIELDS + 1));
        assert_eq!(Request::parse(many.as_bytes()), Parsed::Malformed);
        assert_eq!(Request::parse(b"GET / HT"), Parsed::Partial);
    }

    #[test]
    fn foreign_names_are_refused() {
        let hosts = Hosts::new(["Board.example".to_owned()]);
        for host in ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:80", "[::1]", "board.example:80"]
        {
            assert!(hosts.allow(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost:x",
            "[::1",
            "[evil]",
            "::1",
            "a@localhost",
        ] {
            assert!(!hosts.allow(host), "{host}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..200) {
            _ = Request::parse(&bytes);
            let mut sound = b"GET /runs/%2e%2e?a HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec();
            let cut = cut % sound.len();
            sound.splice(cut..cut, bytes.iter().copied().take(4));
            if let Parsed::Whole(request, length) = Request::parse(&sound) {
                prop_assert!(length <= sound.len());
                let (path, query) = request.path_and_query();
                _ = crate::Route::of(path, query);
            }
        }
    }
}
