#!/usr/bin/env bash
# Builds the page into serve/page, or into the folder given: `web/build.sh [--with-agents] [FOLDER]`. Needs the target
# wasm32-unknown-unknown, Node 20 or later with npm, and wasm-bindgen of the version in Cargo.toml; the first two missing
# are reported, the last is installed into the target folder. With `--with-agents` the folder also holds the trained agents
# and works from any web server.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
target=${CARGO_TARGET_DIR:-$root/target}

agents=no
if [ "${1:-}" = --with-agents ]; then agents=yes; shift; fi
compressed=
if [ $# = 0 ]; then compressed=--compressed; fi
out=${1:-$root/serve/page}
case $out in /*) ;; *) out=$PWD/$out ;; esac

command -v npm >/dev/null || { echo "web/build.sh: npm is missing (Node 20 or later)" >&2; exit 1; }

version=$(sed -n 's/^wasm-bindgen = "=\(.*\)"$/\1/p' "$root/Cargo.toml")
if [ "$(wasm-bindgen --version 2>/dev/null)" != "wasm-bindgen $version" ]; then
  PATH=$target/tools/bin:$PATH
  if [ "$(wasm-bindgen --version 2>/dev/null)" != "wasm-bindgen $version" ]; then
    cargo install wasm-bindgen-cli --version "$version" --locked --root "$target/tools"
  fi
fi

# The module must not contain paths of the machine that builds it.
flags="-C target-feature=+simd128 --remap-path-prefix=$root=turnstone --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
(cd "$root" && CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=$flags \
  cargo build --profile web --target wasm32-unknown-unknown -p turnstone-web --lib)
wasm-bindgen --target web --out-dir "$here/generated" "$target/wasm32-unknown-unknown/web/turnstone_web.wasm"

cd "$here"
[ -d node_modules ] && [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
npx tsc --noEmit
node build.mjs "$out" $compressed
if [ $agents = yes ]; then
  mkdir -p "$out/agents"
  cp "$root"/models/pretrained/*.safetensors "$out/agents/"
fi
echo "$out: $(cat "$out"/*.* | gzip -9 | wc -c) bytes compressed"
