//! The address of a server, and the credentials for it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use async_nats::{ConnectOptions, ServerAddr};
use clap::Args;
use turnstone_base::files::read_text;

/// Longest wait for an answer of the server.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);
/// Maximum length of a file with secrets or certificates.
const LONGEST: u64 = 16 << 20;

/// A client's credentials, and the authorities that it trusts.
#[derive(Args, Clone, PartialEq, Debug, Default)]
#[command(next_help_heading = "Cluster")]
pub struct Credentials {
    /// User name on the server
    #[arg(long, value_name = "NAME", requires = "password_file")]
    pub user: Option<String>,
    /// File with the user's password
    #[arg(long, value_name = "FILE", requires = "user", conflicts_with_all = ["token_file", "nkey_file", "creds"])]
    pub password_file: Option<PathBuf>,
    /// File with a token for the server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["nkey_file", "creds"])]
    pub token_file: Option<PathBuf>,
    /// File with the seed of an NKEY
    #[arg(long, value_name = "FILE", conflicts_with = "creds")]
    pub nkey_file: Option<PathBuf>,
    /// Credentials file: a JWT with the seed of its NKEY
    #[arg(long, value_name = "FILE")]
    pub creds: Option<PathBuf>,
    /// Certificates of authorities to trust besides the system's (PEM); requires TLS
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Certificate of this client (PEM); requires TLS
    #[arg(long, value_name = "FILE", requires = "cert_key")]
    pub cert: Option<PathBuf>,
    /// Key of that certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub cert_key: Option<PathBuf>,
}

/// The address of the server. Only the protocol over TCP is spoken, with or without TLS: a WebSocket's address could make a
/// secret leave in clear text.
pub(crate) fn address(url: &str) -> Result<ServerAddr> {
    ensure!(!url.contains('@'), "a password or token in the address is not accepted: see --user and --token-file");
    let named = || format!("server {url}");
    let address: ServerAddr = url.parse().with_context(named)?;
    let scheme = address.scheme();
    let is_spoken = ["nats", "tls"].contains(&scheme);
    ensure!(is_spoken, "{}: its address begins with {scheme}://, not with nats:// or tls://", named());
    Ok(address)
}

/// The options of a connection. `name` is the client's name on the server and part of its inbox.
pub(crate) fn connect_options(url: &str, credentials: &Credentials, name: &str) -> Result<ConnectOptions> {
    let mut connect = ConnectOptions::new()
        .name(format!("turnstone {name}"))
        .custom_inbox_prefix(format!("_INBOX.{name}"))
        .ping_interval(Duration::from_secs(5))
        .request_timeout(Some(ANSWER))
        .connection_timeout(ANSWER)
        .reconnect_delay_callback(|attempts| Duration::from_millis((100 << attempts.min(5)).min(2000)))
        .max_reconnects(None)
        // Servers of the same NATS cluster, which the first one names without a scheme, are reached like it.
        .require_tls(address(url)?.tls_required());
    if let Some((user, file)) = credentials.user.as_ref().zip(credentials.password_file.as_ref()) {
        connect = connect.user_and_password(user.clone(), read(file)?);
    }
    if let Some(file) = &credentials.token_file {
        connect = connect.token(read(file)?);
    }
    if let Some(file) = &credentials.nkey_file {
        // The file may be one that `nsc` writes, with comments around the seed.
        let text = read(file)?;
        let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
        connect = connect.nkey(seed.with_context(|| format!("{}: no seed of a user", file.display()))?.to_owned());
    }
    if let Some(file) = &credentials.creds {
        connect = connect.credentials(&read(file)?).with_context(|| file.display().to_string())?;
    }
    if let Some(file) = &credentials.ca {
        has_certificate(file)?;
        connect = connect.add_root_certificates(file.clone()).require_tls(true);
    }
    if let Some((certificate, key)) = credentials.cert.as_ref().zip(credentials.cert_key.as_ref()) {
        has_certificate(certificate)?;
        connect = connect.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
    }
    Ok(connect)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(url: &str, credentials: &Credentials) -> String {
        format!("{:#}", connect_options(url, credentials, "w").map(drop).expect_err("a fault"))
    }

    #[test]
    fn tls_is_for_all_connections() {
        let options = |url| format!("{:?}", connect_options(url, &Credentials::default(), "w").expect("sound"));
        let tls = |url| options(url).contains("required\": true");
        // The servers that a TLS server announces are contacted over TLS, too.
        assert!(tls("tls://host") && tls("TLS://b") && !tls("nats://host") && !tls("host:4222"));
    }

    #[test]
    fn credentials_and_certificates_are_read_from_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [file, missing] = ["secret", "none"].map(|name| folder.path().join(name));
        std::fs::write(&file, "s3cret\n").expect("writable");
        let (some, none) = (|| Some(file.clone()), Credentials::default());
        let password = Credentials { user: Some("me".into()), password_file: some(), ..none.clone() };
        assert!(connect_options("nats://host", &password, "w").is_ok());
        assert!(fault("nats://host", &Credentials { nkey_file: some(), ..none.clone() }).contains("no seed"));
        assert!(fault("nats://host", &Credentials { token_file: Some(missing), ..none.clone() }).contains("none"));
        let trusting = Credentials { ca: some(), ..none.clone() };
        for credentials in [&trusting, &Credentials { cert: some(), cert_key: some(), ..none }] {
            assert!(fault("tls://host", credentials).contains("secret: there is no certificate"));
        }
        std::fs::write(&file, "Issuer: M\n-----BEGIN CERTIFICATE-----\r\nAAAA\r\n").expect("writable");
        assert!(connect_options("tls://host", &trusting, "w").is_ok());
    }
}
