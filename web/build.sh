#!/usr/bin/env bash
# Builds the page:
#
#   web/build.sh                             into serve/page, compressed, as `turnstone serve` embeds it
#   web/build.sh [--with-agents] FOLDER      into a folder that works from any web server; with the trained agents
#   web/build.sh --crate MANIFEST FOLDER     with the games of another crate, by its Cargo.toml and its feature `page`
#
# Needs the target wasm32-unknown-unknown, Node 20 or later with npm, and wasm-bindgen of the version in Cargo.toml, which
# is installed into the target folder if it is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
target=${CARGO_TARGET_DIR:-$root/target}

agents=no manifest=
while :; do
  case ${1:-} in
    --with-agents) agents=yes; shift ;;
    --crate) manifest=$2; shift 2 ;;
    -*) echo "web/build.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
done
if [ -n "$manifest" ] && [ $# = 0 ]; then echo "web/build.sh: --crate needs a folder to write to" >&2; exit 2; fi
compressed=
if [ $# = 0 ]; then compressed=--compressed; fi
out=${1:-$root/serve/page}
case $out in /*) ;; *) out=$PWD/$out ;; esac

command -v npm >/dev/null || { echo "web/build.sh: npm is missing (Node 20 or later)" >&2; exit 1; }

PATH=$("$here/wasm-bindgen.sh"):$PATH

# The module must not contain paths of the machine that builds it.
remap=(--remap-path-prefix="$root=turnstone" --remap-path-prefix="${CARGO_HOME:-$HOME/.cargo}=cargo"
  --remap-path-prefix="$(cd "$root" && rustc --print sysroot)=rust")
flags="-C target-feature=+simd128 ${remap[*]}"
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=$flags
if [ -n "$manifest" ]; then
  name=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$manifest" | head -n 1)
  cargo build --release --target wasm32-unknown-unknown --manifest-path "$manifest" --target-dir "$target" --lib \
    --no-default-features --features page
  module=$target/wasm32-unknown-unknown/release/${name//-/_}.wasm
else
  cargo build --profile web --target wasm32-unknown-unknown --manifest-path "$root/Cargo.toml" --target-dir "$target" \
    -p turnstone-web --lib
  module=$target/wasm32-unknown-unknown/web/turnstone_web.wasm
fi
wasm-bindgen --target web --out-name turnstone_web --out-dir "$here/generated" "$module"

cd "$here"
[ -d node_modules ] && [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
npx tsc --noEmit
node build.mjs "$out" $compressed
if [ $agents = yes ]; then
  mkdir -p "$out/agents"
  for file in "$root"/games/src/*/agent.safetensors; do cp "$file" "$out/agents/$(basename "$(dirname "$file")").safetensors"; done
fi
echo "$out: $(cat "$out"/*.* | gzip -9 | wc -c) bytes compressed"
