//! The address of a server, and the credentials for it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use turnstone_base::files::read_text;

/// Longest wait for an answer of the server.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);
/// Maximum length of a file with secrets or certificates.
const LONGEST: u64 = 16 << 20;

/// Server and credentials.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Address, such as `nats://host:4222` or `tls://user:password@host`.
    pub url: String,
    /// How the client proves who it is, besides what is in the address.
    pub credentials: Credentials,
    /// File with certificates of authorities to trust, in PEM.
    pub ca: Option<PathBuf>,
    /// Files with a client's certificate and its key, in PEM.
    pub certificate: Option<[PathBuf; 2]>,
}

/// Credentials, most of them in files.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// None, or those in the address.
    #[default]
    None,
    /// A user's name, and a file with the password.
    Password(String, PathBuf),
    /// A token.
    Token(PathBuf),
    /// The seed of an NKEY.
    Nkey(PathBuf),
    /// A JWT and the seed of its NKEY.
    Jwt(PathBuf),
}

/// The address of the server. Only the protocol over TCP is spoken, with or without TLS: a WebSocket's address could make a
/// secret leave in clear text.
pub(crate) fn address(url: &str) -> Result<ServerAddr> {
    let named = || format!("server {}", shown(url));
    let address: ServerAddr = url.parse().with_context(named)?;
    let scheme = address.scheme();
    let is_spoken = ["nats", "tls"].contains(&scheme);
    ensure!(is_spoken, "{}: its address begins with {scheme}://, not with nats:// or tls://", named());
    Ok(address)
}

/// The options of a connection. `name` is the client's name on the server and part of its inbox.
pub(crate) fn connect_options(options: &ServerOptions, name: &str) -> Result<ConnectOptions> {
    let address = address(&options.url)?;
    let connect = ConnectOptions::new()
        .name(format!("turnstone {name}"))
        .custom_inbox_prefix(format!("_INBOX.{name}"))
        .ping_interval(Duration::from_secs(5))
        .request_timeout(Some(ANSWER))
        .connection_timeout(ANSWER)
        .reconnect_delay_callback(|attempts| Duration::from_millis((100 << attempts.min(5)).min(2000)))
        .max_reconnects(None)
        // Servers of the same NATS cluster, which the first one names without a scheme, are reached like it.
        .require_tls(address.tls_required());
    // The client would not send what is in the address by itself.
    let mut connect = match (&options.credentials, address.username(), address.password()) {
        (Credentials::None, None, _) => connect,
        (Credentials::None, Some(user), Some(password)) => {
            connect.user_and_password(decoded(user)?, decoded(password)?)
        }
        (Credentials::None, Some(token), None) => connect.token(decoded(token)?),
        (_, Some(_), _) => bail!("give credentials in the address or by options, not both"),
        (Credentials::Password(user, file), ..) => connect.user_and_password(user.clone(), read(file)?),
        (Credentials::Token(file), ..) => connect.token(read(file)?),
        (Credentials::Nkey(file), ..) => {
            // The file may be one that `nsc` writes, with comments around the seed.
            let text = read(file)?;
            let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
            connect.nkey(seed.with_context(|| format!("{}: no seed of a user", file.display()))?.to_owned())
        }
        (Credentials::Jwt(file), ..) => {
            connect.credentials(&read(file)?).with_context(|| file.display().to_string())?
        }
    };
    if let Some(ca) = &options.ca {
        has_certificate(ca)?;
        connect = connect.add_root_certificates(ca.clone()).require_tls(true);
    }
    if let Some([certificate, key]) = &options.certificate {
        has_certificate(certificate)?;
        connect = connect.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
    }
    Ok(connect)
}

fn decoded(text: &str) -> Result<String> {
    let text = percent_decode_str(text).decode_utf8().context("the password or token in the address is not UTF-8")?;
    Ok(text.into_owned())
}

fn read(path: &Path) -> Result<String> {
    Ok(read_text(path, LONGEST).with_context(|| path.display().to_string())?.trim().to_owned())
}

/// Checks that a file contains a certificate. Without one, the client would silently trust no server and retry forever.
fn has_certificate(path: &Path) -> Result<()> {
    let found = read(path)?.contains("-----BEGIN CERTIFICATE-----");
    ensure!(found, "{}: there is no certificate in PEM in it", path.display());
    Ok(())
}

/// An address without the password in it.
#[must_use]
pub fn shown(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> ServerOptions {
        ServerOptions { url: url.into(), ..ServerOptions::default() }
    }

    fn fault(options: &ServerOptions) -> String {
        format!("{:#}", connect_options(options, "w").map(drop).expect_err("a fault"))
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(shown("nats://me:secret@host:4222"), "nats://host:4222");
        assert_eq!(shown("nats://me:s3,cr@et@host"), "nats://host");
        assert_eq!(shown("token@host"), "host");
        assert_eq!(shown("nats://host:port"), "nats://host:port");
        for url in ["nats://me:s3cret@host:port", "ws://me:s3cret@host"] {
            let fault = fault(&of(url));
            assert!(fault.contains("server ") && !fault.contains("s3cret"), "{fault}");
        }
    }

    #[test]
    fn tls_is_for_all_connections() {
        let tls =
            |url: &str| format!("{:?}", connect_options(&of(url), "w").expect("sound")).contains("required\": true");
        // What else belongs to a server of TLS is reached by TLS, too.
        assert!(tls("tls://host") && tls("TLS://b") && !tls("nats://host") && !tls("host:4222"));
    }

    #[test]
    fn credentials_and_certificates_are_read_from_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [file, missing] = ["secret", "none"].map(|name| folder.path().join(name));
        std::fs::write(&file, "s3cret\n").expect("writable");
        let with = |credentials| ServerOptions { credentials, ..of("nats://localhost") };
        assert!(connect_options(&with(Credentials::Password("me".into(), file.clone())), "w").is_ok());
        assert!(fault(&with(Credentials::Nkey(file.clone()))).contains("no seed"));
        assert!(fault(&with(Credentials::Token(missing))).contains("none"));
        let both = ServerOptions { credentials: Credentials::Token(file.clone()), ..of("nats://token@host") };
        assert!(fault(&both).contains("not both"));
        assert!(fault(&of("nats://%ff@c")).contains("UTF-8"));
        let trusting = ServerOptions { ca: Some(file.clone()), ..of("tls://host") };
        let as_client = ServerOptions { certificate: Some([file.clone(), file.clone()]), ..of("tls://host") };
        for options in [&trusting, &as_client] {
            assert!(fault(options).contains("secret: there is no certificate"));
        }
        std::fs::write(&file, "Issuer: M\n-----BEGIN CERTIFICATE-----\r\nAAAA\r\n").expect("writable");
        assert!(connect_options(&trusting, "w").is_ok());
    }
}
