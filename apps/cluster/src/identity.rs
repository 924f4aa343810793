//! Keys of workers: a worker signs its results, so that it is held responsible for them and for no others.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use ed25519_dalek::VerifyingKey;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use turnstone_base::files::{read_bounded, sync};

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

    /// Reads the key pair of a file. A file that is missing or damaged is created anew, readable by its owner only.
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
        write_secret(path, document.as_ref()).with_context(|| path.display().to_string())?;
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

/// Replaces a file by one that only its owner can read.
fn write_secret(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?; // of mode 0600
    file.write_all(bytes)?;
    sync(file.as_file())?;
    file.persist(path)?;
    Ok(())
}

/// Whether the owner of a key has signed a message. Keys of small order are rejected: anyone can forge signatures for them
/// that satisfy the equation, which is all that `ring` checks.
pub(crate) fn is_signed(key: &Key, message: &[u8], signature: &[u8; SIGNATURE]) -> bool {
    VerifyingKey::from_bytes(key).is_ok_and(|key| !key.is_weak())
        && UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
}

/// SHA-256.
#[must_use]
pub fn checksum(bytes: &[u8]) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Random bytes that no one can predict.
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
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "no one else reads it");
        }
    }

    #[test]
    fn no_one_signs_with_a_key_of_small_order() {
        // S = 1 and R = B satisfy S B = R + H(R, A, M) A if H is a multiple of the order of A, which is 4 for y = 0. So
        // every fourth message is "signed" without a secret.
        let mut signature = [0x66; SIGNATURE];
        signature[0] = 0x58;
        signature[32..].fill(0);
        signature[32] = 1;
        let weak: [Key; 3] = [[0; 32], std::array::from_fn(|i| u8::from(i == 0)), {
            // y = -1, of order 2.
            let mut key = [0xff; 32];
            (key[0], key[31]) = (0xec, 0x7f);
            key
        }];
        for key in weak {
            let forged =
                (0..64u8).find(|message| UnparsedPublicKey::new(&ED25519, key).verify(&[*message], &signature).is_ok());
            let message = forged.expect("ring accepts a forgery");
            assert!(!is_signed(&key, &[message], &signature));
        }
    }
}
