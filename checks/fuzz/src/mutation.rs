//! Inputs for property tests: examples with a few random changes, and random bytes.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Texts that readers treat in a special way, and numbers at the ends of their ranges.
const TOKENS: [&[u8]; 24] = [
    b"0",
    b"-1",
    b"255",
    b"65536",
    b"2147483648",
    b"18446744073709551615",
    b"1e999",
    b"nan",
    b"null",
    b"{}",
    b"[]",
    b"\"",
    b"\\u0000",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    "\u{1f3c6}".as_bytes(),
    b" ",
    b",",
    b"/",
    b"=",
    b"\xff\xff\xff\xff",
    b"\0\0\xc0\x7f",
];

/// One of the examples with one to four changes, or random bytes in one of eight cases.
pub fn input(examples: &[Vec<u8>], rng: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    if examples.is_empty() || rng.random_range(0..8) == 0 {
        let length = rng.random_range(0..100);
        return (0..length).map(|_| rng.random()).collect();
    }
    let mut bytes = examples[rng.random_range(0..examples.len())].clone();
    for _ in 0..rng.random_range(1..=4) {
        change(&mut bytes, examples, rng);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, examples: &[Vec<u8>], rng: &mut Xoshiro256PlusPlus) {
    if bytes.is_empty() {
        return bytes.push(rng.random());
    }
    let at = rng.random_range(0..bytes.len());
    let end = (at + rng.random_range(1..=16)).min(bytes.len());
    match rng.random_range(0..7) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => bytes[at] = rng.random(),
        2 => drop(bytes.drain(at..end)),
        3 => drop(bytes.splice(at..at, TOKENS[rng.random_range(0..TOKENS.len())].iter().copied())),
        4 => drop(bytes.splice(at..end, TOKENS[rng.random_range(0..TOKENS.len())].iter().copied())),
        5 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        _ => {
            let other = &examples[rng.random_range(0..examples.len())];
            let from = other.len() * rng.random_range(0..4) / 4;
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
    }
}
