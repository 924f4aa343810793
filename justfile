# Shortcuts for contributors (https://just.systems). Nothing here is required to build; CONTRIBUTING.md says when to run what.

light := "-p turnstone-env -p turnstone-search -p turnstone-exact -p turnstone-statistics -p turnstone-base -p xtask"

# List the recipes.
default:
    @just --list

# Format check, lints and tests of the crates without heavy dependencies, with the tidy test.
quick:
    cargo fmt --all --check
    cargo clippy --release {{light}} --all-targets -- -D warnings
    cargo test --release {{light}}

# What must pass before a change is merged.
ci:
    .ci/run

# The same with what is slow and seldom breaks: the page built anew, the sdist, training of the example, GPUs, ARM, Windows under wine.
full:
    .ci/run full
