#!/usr/bin/env bash
# Checks the page: `apps/web/ci.sh TURNSTONE [AGREEMENT]`, with the program and the example of that name of turnstone-web. The
# built page in apps/serve/page must come from the sources here, and is tested in Chromium against the program. With FULL=yes the
# page is also built anew, and once more with the games of another crate. What cannot be installed is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")"
turnstone=$(realpath "$1")
agreement=${2:-${CARGO_TARGET_DIR:-$(cd ../.. && pwd)/target}/release/examples/agreement}

sha256sum --check --quiet ../serve/page/sources.txt || {
  echo "apps/serve/page is not built from apps/web/: run apps/web/build.sh and commit the result"
  exit 1
}

# Installs packages of Debian where that is possible.
install() {
  command -v apt-get >/dev/null && (apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@") >/dev/null 2>&1
}

command -v npm >/dev/null || install nodejs npm || true
if ! command -v npm >/dev/null; then
  echo "skipped: the page is neither tested nor built, for want of Node 20 with npm"
  exit 0
fi
if ! npm ci --no-audit --no-fund --loglevel=error; then
  echo "skipped: the page is neither tested nor built, since npm reaches no registry"
  exit 0
fi

if [ -z "$(command -v chromium chromium-browser google-chrome)" ] && [ -z "${CHROMIUM:-}" ]; then
  install chromium || true
fi
# The workspace's tests have built it.
[ -x "$agreement" ] || cargo build --release -p turnstone-web --example agreement
# CI machines do other work, so speed is printed and not judged.
if [ "${FULL:-no}" = yes ]; then export PRESSES=30; fi
BUSY=1 node tests/run.mjs "$turnstone" "$agreement"

if [ "${FULL:-no}" = no ]; then
  echo "not built anew: FULL=yes does that"
elif ! rustup target add wasm32-unknown-unknown >/dev/null 2>&1; then
  echo "skipped: the page is not built, since rustup cannot add the target wasm32-unknown-unknown"
elif ! ./wasm-bindgen.sh >/dev/null; then
  echo "skipped: the page is not built, since wasm-bindgen cannot be installed"
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  ./build.sh "$folder/page"
  if gunzip -c ../serve/page/turnstone.wasm.gz | cmp -s - "$folder/page/turnstone.wasm"; then
    echo "apps/serve/page has the module that these sources give"
  else
    # Its behaviour has been compared with the program's above.
    echo "note: other sources give apps/serve/page's module: run apps/web/build.sh and commit the result"
  fi
  # The games of another crate have boards too.
  ./build.sh --crate ../../examples/own_game/Cargo.toml "$folder/own"
  # Its program exports them with an agent, if the example's own checks have built it.
  own=${CARGO_TARGET_DIR:-../../examples/own_game/target}/release/own_game
  if [ -x "$own" ]; then OWN_PROGRAM=$(realpath "$own"); export OWN_PROGRAM; fi
  PAGE=$folder/own OWN=connect_four BUSY=1 ONLY='another crate' node tests/run.mjs "$turnstone" "$agreement"
fi
