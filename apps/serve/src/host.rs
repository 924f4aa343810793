//! Which names a request may give for this server.

use std::net::{IpAddr, Ipv6Addr};

/// The names by which browsers may reach the server: addresses, `localhost`, and names given by whoever starts it.
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
}
