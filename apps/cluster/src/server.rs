//! The address of a server, and the credentials for it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use async_nats::{ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use turnstone_base::files::{read_bounded, read_text};

/// Longest wait for an answer of the server.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);
/// Maximum length of a file with a secret.
const LONGEST_SECRET: u64 = 64 << 10;
/// Maximum length of a file with certificates.
const LONGEST_CERTIFICATES: u64 = 64 << 20;

/// Server and credentials.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Address, such as `nats://host:4222` or `tls://user:password@host`; several separated by commas.
    pub url: String,
    /// User name.
    pub user: Option<String>,
    /// File with the password.
    pub password_file: Option<PathBuf>,
    /// File with a token.
    pub token_file: Option<PathBuf>,
    /// File with the seed of an NKEY.
    pub nkey_file: Option<PathBuf>,
    /// File with a JWT and the seed of its NKEY.
    pub credentials: Option<PathBuf>,
    /// File with certificates of authorities to trust, in PEM.
    pub ca: Option<PathBuf>,
    /// Files with a client's certificate and its key, in PEM.
    pub certificate: Option<[PathBuf; 2]>,
}

/// The addresses of the server.
///
/// # Errors
/// One of them is not an address of a NATS server. Only the protocol over TCP is spoken, with or without TLS: a WebSocket's
/// address could make a secret leave in clear text.
pub(crate) fn addresses(url: &str) -> Result<Vec<ServerAddr>> {
    let one = |text: &str| {
        let address: ServerAddr = text.parse()?;
        let scheme = address.scheme();
        ensure!(["nats", "tls"].contains(&scheme), "its address begins with {scheme}://, not with nats:// or tls://");
        Ok(address)
    };
    let all: Result<Vec<_>> = url.split(',').map(|text| one(text.trim())).collect();
    all.with_context(|| format!("server {}", shown(url)))
}

/// The options of a connection. `name` is the client's name on the server and part of its inbox.
pub(crate) fn connect_options(options: &ServerOptions, name: &str) -> Result<ConnectOptions> {
    let addresses = addresses(&options.url)?;
    let mut connect = ConnectOptions::new()
        .name(format!("turnstone {name}"))
        .custom_inbox_prefix(format!("_INBOX.{name}"))
        .ping_interval(Duration::from_secs(5))
        .request_timeout(Some(ANSWER))
        .connection_timeout(ANSWER)
        .reconnect_delay_callback(|attempts| Duration::from_millis((100 << attempts.min(5)).min(2000)))
        .max_reconnects(None);
    // Servers of the same cluster that the first one names have no scheme.
    connect = connect.require_tls(addresses.iter().any(ServerAddr::tls_required));
    // The client would not send what is in the address by itself.
    let of_address = addresses.iter().find(|address| address.username().is_some());
    let ways = [
        of_address.is_some(),
        options.user.is_some(),
        options.token_file.is_some(),
        options.nkey_file.is_some(),
        options.credentials.is_some(),
    ];
    ensure!(
        ways.iter().filter(|way| **way).count() <= 1,
        "give one of --user, --token-file, --nkey-file, --creds, and a password or token in the address"
    );
    connect = match of_address {
        Some(address) => of_address_in(connect, address).with_context(|| format!("server {}", shown(&options.url)))?,
        None => of_files(connect, options)?,
    };
    if let Some(ca) = &options.ca {
        certificates_in(ca)?;
        connect = connect.add_root_certificates(ca.clone()).require_tls(true);
    }
    if let Some([certificate, key]) = &options.certificate {
        certificates_in(certificate)?;
        connect = connect.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
    }
    Ok(connect)
}

/// Adds the password or token in an address.
fn of_address_in(connect: ConnectOptions, address: &ServerAddr) -> Result<ConnectOptions> {
    let decoded = |text: &str| -> Result<String> {
        Ok(percent_decode_str(text).decode_utf8().context("the password or token in it is not UTF-8")?.into_owned())
    };
    let user = decoded(address.username().unwrap_or_default())?;
    Ok(match address.password() {
        Some(password) => connect.user_and_password(user, decoded(password)?),
        None => connect.token(user),
    })
}

fn of_files(mut connect: ConnectOptions, options: &ServerOptions) -> Result<ConnectOptions> {
    let secret = |path: &PathBuf| -> Result<String> {
        let text = read_text(path, LONGEST_SECRET).with_context(|| path.display().to_string())?;
        Ok(text.trim().to_owned())
    };
    if let Some(user) = &options.user {
        let Some(file) = &options.password_file else { bail!("--user needs --password-file") };
        connect = connect.user_and_password(user.clone(), secret(file)?);
    }
    if let Some(file) = &options.token_file {
        connect = connect.token(secret(file)?);
    }
    if let Some(file) = &options.nkey_file {
        let text = secret(file)?;
        // The file may be one that `nsc` writes, with comments around the seed.
        let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
        connect = connect.nkey(seed.with_context(|| format!("{}: no seed of a user", file.display()))?.to_owned());
    }
    if let Some(file) = &options.credentials {
        connect = connect.credentials(&secret(file)?).with_context(|| file.display().to_string())?;
    }
    Ok(connect)
}

/// Checks that a file contains a certificate. Without one, the client would silently trust no server and retry forever.
fn certificates_in(path: &Path) -> Result<()> {
    const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";
    ensure!(path.is_file(), "{}: no such file", path.display());
    let bytes = read_bounded(path, LONGEST_CERTIFICATES).with_context(|| path.display().to_string())?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    ensure!(
        lines.any(|line| line.trim_ascii().starts_with(BEGIN)),
        "{}: there is no certificate in PEM in it",
        path.display()
    );
    Ok(())
}

/// An address without the password in it.
#[must_use]
pub fn shown(url: &str) -> String {
    // A comma may be one of a password, of which no part is shown either.
    let is_part = |text: &str| url.contains('@') && text.parse::<ServerAddr>().is_err();
    let one = |text: &str| match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        _ if is_part(text) => "...".to_owned(),
        _ => text.to_owned(),
    };
    url.split(',').map(|text| one(text.trim())).collect::<Vec<_>>().join(",")
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
        assert_eq!(shown("tls://a:b@c, nats://d:4222"), "tls://c,nats://d:4222");
        assert_eq!(shown("token@host"), "host");
        assert_eq!(shown("nats://me:s3,cret@host"), "...,host");
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
        assert!(tls("tls://host") && tls("nats://a,TLS://b") && !tls("nats://host") && !tls("host:4222"));
    }

    #[test]
    fn credentials_are_given_in_one_way() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("secret");
        std::fs::write(&file, "s3cret\n").expect("writable");
        let plain = of("nats://localhost");
        assert!(connect_options(&plain, "w").is_ok());
        assert!(fault(&ServerOptions { user: Some("me".into()), ..plain.clone() }).contains("--password-file"));
        let user = ServerOptions { user: Some("me".into()), password_file: Some(file.clone()), ..plain.clone() };
        assert!(connect_options(&user, "w").is_ok());
        assert!(fault(&ServerOptions { token_file: Some(file.clone()), ..user }).contains("one of"));
        assert!(fault(&ServerOptions { nkey_file: Some(file.clone()), ..plain.clone() }).contains("no seed"));
        assert!(fault(&ServerOptions { token_file: Some(file), ..of("nats://token@host") }).contains("one of"));
        assert!(fault(&of("nats://%ff@c")).contains("UTF-8"));
        let missing = Some(folder.path().join("none"));
        assert!(fault(&ServerOptions { ca: missing.clone(), ..plain.clone() }).contains("no such file"));
        assert!(fault(&ServerOptions { token_file: missing, ..plain }).contains("none"));
    }

    #[test]
    fn a_file_without_a_certificate_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("ca.pem");
        let trusting = ServerOptions { ca: Some(file.clone()), ..of("tls://host") };
        let as_client = ServerOptions { certificate: Some([file.clone(), file.clone()]), ..of("tls://host") };
        for text in ["", "not a certificate", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            std::fs::write(&file, text).expect("writable");
            for options in [&trusting, &as_client] {
                assert!(fault(options).contains("ca.pem: there is no certificate"), "{text}");
            }
        }
        let text = b"Issuer: M\xfcller\n-----BEGIN CERTIFICATE-----\r\nAAAA\r\n-----END CERTIFICATE-----\r\n";
        std::fs::write(&file, text).expect("writable");
        assert!(connect_options(&trusting, "w").is_ok());
    }
}
