#!/usr/bin/env bash
# Checks the page: `web/ci.sh TURNSTONE`. The built page in serve/page must come from the sources here; it is tested in
# Chromium against the program; and the sources must build. What cannot be installed is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")"
turnstone=$(realpath "$1")
target=${CARGO_TARGET_DIR:-$(cd .. && pwd)/target}

sha256sum --check --quiet ../serve/page/sources.txt || {
  echo "serve/page is not built from web/: run web/build.sh and commit the result"
  exit 1
}

if ! command -v npm >/dev/null; then
  (apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs npm) >/dev/null 2>&1 || true
fi
if ! command -v npm >/dev/null || ! npm ci --no-audit --no-fund >/dev/null 2>&1; then
  echo "skipped: the page's tests and its build need Node and an npm registry"
  exit 0
fi
npx tsc --noEmit

if ! command -v chromium chromium-browser google-chrome >/dev/null && [ -z "${CHROMIUM:-}" ]; then
  (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) >/dev/null 2>&1 || true
fi
# The workspace's tests have built it.
agreement=$target/release/examples/agreement
[ -x "$agreement" ] || cargo build --release -p turnstone-web --example agreement
node tests/run.mjs "$turnstone" "$agreement"

if rustup target add wasm32-unknown-unknown; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  ./build.sh "$folder/page"
  test -s "$folder/page/turnstone.wasm"
else
  echo "skipped: rustup cannot add the target wasm32-unknown-unknown, so the page is not built"
fi
