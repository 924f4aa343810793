//! The game of `examples/nim.rs` keeps every promise of the `Game` trait.

#[path = "../examples/nim.rs"]
#[allow(dead_code, unreachable_pub)] // it is a crate of its own
mod nim;

#[test]
fn the_example_conforms() {
    turnstone_env::conformance::check(&nim::Nim, 1000, 1);
}
