#!/usr/bin/env bash
# Prints the folder with wasm-bindgen of the version in Cargo.toml: where PATH has it, or in the target folder, where it is
# installed if it is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tools=${CARGO_TARGET_DIR:-$root/target}/tools
version=$(sed -n 's/^wasm-bindgen = "=\(.*\)"$/\1/p' "$root/Cargo.toml")
is_right() { [ "$("$1" --version 2>/dev/null)" = "wasm-bindgen $version" ]; }

if is_right wasm-bindgen; then
  dirname "$(command -v wasm-bindgen)"
else
  # Unoptimised: it runs once, for a second or two.
  is_right "$tools/bin/wasm-bindgen" || cargo install --quiet --locked --debug --force --root "$tools" \
    --target-dir "$tools/target" "wasm-bindgen-cli@$version" >&2
  echo "$tools/bin"
fi
