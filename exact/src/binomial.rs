//! Binomial coefficients, by which tables number their positions.

/// The number of ways to choose `k` of `n`; 0 if there are fewer than `k`.
#[must_use]
pub fn binomial(n: usize, k: usize) -> u64 {
    if k > n { 0 } else { (0..k).fold(1, |product, i| product * (n - i) as u64 / (i + 1) as u64) }
}
