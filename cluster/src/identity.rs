//! Keys of workers: results are signed, so that a worker answers for its own results and for no one else's.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use turnstone_models::{atomic_write, read_bounded};

/// The public key of a worker.
pub type Key = [u8; 32];

/// Length of a signature.
pub(crate) const SIGNATURE: usize = 64;

/// The key pair of a worker.
pub struct Identity(Ed25519KeyPair);

impl Identity {
    /// A new key pair.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn new() -> Result<Self> {
        Self::of(Self::random()?.as_ref())
    }

    /// Reads the key pair of a file, which is made if it does not exist or is damaged.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn of_file(path: &Path) -> Result<Self> {
        if path.exists()
            && let Ok(identity) = Self::of(&read_bounded(path, 1000).with_context(|| path.display().to_string())?)
        {
            return Ok(identity);
        }
        let document = Self::random()?;
        atomic_write(path, document.as_ref()).with_context(|| path.display().to_string())?;
        Self::of(document.as_ref())
    }

    fn random() -> Result<ring::pkcs8::Document> {
        Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| anyhow!("the system gives no random numbers"))
    }

    fn of(document: &[u8]) -> Result<Self> {
        Ed25519KeyPair::from_pkcs8(document).map(Self).map_err(|error| anyhow!("key: {error}"))
    }

    /// The public key.
    #[must_use]
    pub fn key(&self) -> Key {
        self.0.public_key().as_ref().try_into().expect("keys of Ed25519 have 32 bytes")
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE] {
        self.0.sign(message).as_ref().try_into().expect("signatures of Ed25519 have 64 bytes")
    }
}

pub(crate) fn is_signed(key: &Key, message: &[u8], signature: &[u8; SIGNATURE]) -> bool {
    UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
}

/// SHA-256.
#[must_use]
pub fn checksum(bytes: &[u8]) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Random bytes that no one can foresee.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| anyhow!("the system gives no random numbers"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_in_its_file_and_signs() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("key");
        let identity = Identity::of_file(&path).expect("a new key");
        let again = Identity::of_file(&path).expect("the same key");
        assert_eq!(identity.key(), again.key());
        let signature = identity.sign(b"games");
        assert!(is_signed(&again.key(), b"games", &signature));
        assert!(!is_signed(&again.key(), b"gamez", &signature));
        assert!(!is_signed(&Identity::new().expect("a key").key(), b"games", &signature));
        std::fs::write(&path, b"damaged").expect("writable");
        assert_ne!(Identity::of_file(&path).expect("another key").key(), identity.key());
    }
}
