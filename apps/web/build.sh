#!/usr/bin/env bash
# Builds the page:
#
#   apps/web/build.sh                             into apps/serve/page, compressed, as `turnstone serve` embeds it
#   apps/web/build.sh [--with-agents] FOLDER      into a folder that works from any web server; with the trained agents
#   apps/web/build.sh --keep-module               with the module of the last build, for changes of page/ alone
#   apps/web/build.sh --crate MANIFEST FOLDER     with the games of another crate, by its Cargo.toml, which names
#                                            the types: `games = ["MyGame"]`, and perhaps `agents`
#                                            and `networks`, in [package.metadata.turnstone]
#
# Needs cargo with the target wasm32-unknown-unknown, and Node 20 or later with npm; what is missing is named before anything
# is built. wasm-bindgen of the version in Cargo.toml is installed into the target folder if it is missing. Everything is
# built in the target folder, with --crate in that of the other crate, and nothing but FOLDER is written elsewhere.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
agents=no manifest= keep=no
while :; do
  case ${1:-} in
    --with-agents) agents=yes; shift ;;
    --keep-module) keep=yes; shift ;;
    --crate) manifest=$2; shift 2 ;;
    -*) echo "apps/web/build.sh: unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
done
if [ -n "$manifest" ] && [ $# = 0 ]; then echo "apps/web/build.sh: --crate needs a folder to write to" >&2; exit 2; fi
compressed=
if [ $# = 0 ]; then compressed=--compressed; fi
out=${1:-$root/apps/serve/page}
case $out in /*) ;; *) out=$PWD/$out ;; esac
if [ -n "$(ls -A "$out" 2>/dev/null)" ] && ! [ -f "$out/sources.txt" ]; then
  echo "apps/web/build.sh: $out has files that are no page: name a new or an empty folder" >&2
  exit 1
fi

missing=()
command -v cargo >/dev/null || missing+=("cargo: https://rustup.rs")
if command -v rustc >/dev/null && ! [ -d "$(cd "$root" && rustc --print target-libdir --target wasm32-unknown-unknown)" ]; then
  missing+=("the target wasm32-unknown-unknown: rustup target add wasm32-unknown-unknown")
fi
node=$(node --version 2>/dev/null || true)
node=${node#v} node=${node%%.*}
if [ "${node:-0}" -lt 20 ]; then missing+=("Node 20 or later: https://nodejs.org"); fi
command -v npm >/dev/null || missing+=("npm, which comes with Node")
[ -z "$manifest" ] || [ -f "$manifest" ] || missing+=("the file $manifest")
if [ ${#missing[@]} -gt 0 ]; then
  printf 'apps/web/build.sh: missing: %s\n' "${missing[@]}" >&2
  exit 1
fi

target=${CARGO_TARGET_DIR:-$root/target}
if [ -n "$manifest" ]; then
  # A crate whose library is the module with the games that the manifest names: target folder, name, manifest.
  described=$(cargo metadata --format-version 1 --no-deps --manifest-path "$manifest" | node -e '
    const fs = require("fs"), path = require("path");
    const { packages, target_directory, workspace_root } = JSON.parse(fs.readFileSync(0, "utf8"));
    const [manifest, web] = process.argv.slice(1).map((each) => fs.realpathSync(each));
    const own = packages.find((each) => fs.realpathSync(each.manifest_path) === manifest);
    const games = own?.metadata?.turnstone?.games;
    if (games?.length) {
      const folder = path.join(target_directory, "turnstone-page-module"), name = `${own.name}-page`;
      fs.mkdirSync(path.join(folder, "src"), { recursive: true });
      const types = games.map((game) => `${own.name.replaceAll("-", "_")}::${game}`).join(", ");
      const list = (name) => (own.metadata.turnstone[name] ?? []).map((kind) => `${own.name.replaceAll("-", "_")}::${kind}`).join(", ");
      const added = `turnstone_web::add_games!(${types}; agents: ${list("agents")}; networks: ${list("networks")});\n`;
      fs.writeFileSync(path.join(folder, "src", "lib.rs"), added);
      fs.writeFileSync(path.join(folder, "Cargo.toml"), `[workspace]

[package]
name = "${name}"
version = "${own.version}"
edition = "2024"

[lib]
crate-type = ["cdylib"]

[dependencies]
${own.name} = { path = ${JSON.stringify(path.dirname(manifest))}, default-features = false }
turnstone-web = { path = ${JSON.stringify(web)} }

# As in the repository: a tenth smaller than with the profile for programs.
[profile.web]
inherits = "release"
codegen-units = 1
lto = "fat"
panic = "abort"
strip = "symbols"

[profile.web.package."*"]
opt-level = 3
`);
      const lock = path.join(workspace_root, "Cargo.lock");
      if (fs.existsSync(lock)) fs.copyFileSync(lock, path.join(folder, "Cargo.lock"));
      console.log(`${target_directory}\n${name}\n${path.join(folder, "Cargo.toml")}`);
    }
  ' "$manifest" "$here")
  if [ -z "$described" ]; then
    echo "apps/web/build.sh: $manifest: a page needs [package.metadata.turnstone] with the games' types, see docs/web.md" >&2
    exit 1
  fi
  { read -r target; read -r name; read -r manifest; } <<< "$described"
fi
export CARGO_TARGET_DIR=$target
work=$target/turnstone-page
if [ $keep = yes ] && ! [ -f "$work/generated/turnstone_web_bg.wasm" ]; then
  echo "apps/web/build.sh: there is no module to keep: build once without --keep-module" >&2
  exit 1
fi
if [ $keep = yes ] && [ -n "$(find "$here/src" -newer "$work/generated/turnstone_web_bg.wasm")" ]; then
  echo "apps/web/build.sh: apps/web/src is newer than the module: build without --keep-module" >&2
  exit 1
fi
if [ $keep = no ]; then
  PATH=$("$here/wasm-bindgen.sh"):$PATH

  # The module must not contain paths of the machine that builds it.
  remap=(--remap-path-prefix="$root=turnstone" --remap-path-prefix="${CARGO_HOME:-$HOME/.cargo}=cargo"
    --remap-path-prefix="$(cd "$root" && rustc --print sysroot)=rust")
  flags="-C target-feature=+simd128 ${remap[*]}"
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=$flags
  if [ -n "$manifest" ]; then
    cargo build --profile web --target wasm32-unknown-unknown --manifest-path "$manifest" --target-dir "$target" --lib
    module=$target/wasm32-unknown-unknown/web/${name//-/_}.wasm
  else
    cargo build --profile web --target wasm32-unknown-unknown --manifest-path "$root/Cargo.toml" --target-dir "$target" \
      -p turnstone-web --lib
    module=$target/wasm32-unknown-unknown/web/turnstone_web.wasm
  fi

  mkdir -p "$work"
  rm -rf "$work/generated"
  wasm-bindgen --target web --remove-name-section --remove-producers-section --out-name turnstone_web --out-dir "$work/generated" "$module"
fi

rm -rf "$work/page" "$work/src"
(cd "$here" && cp -Rp package.json package-lock.json tsconfig.json build.mjs build.sh Cargo.toml page src "$work")

cd "$work"
[ -d node_modules ] && [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --loglevel=error
if [ $keep = no ]; then
  # A thirtieth smaller, and no slower: docs/lab/page.md.
  npx wasm-opt -O2 --enable-simd --enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-reference-types \
    --enable-nontrapping-float-to-int --enable-multivalue generated/turnstone_web_bg.wasm -o generated/turnstone_web_bg.wasm
fi
npx tsc --noEmit
node build.mjs "$out" $compressed
if [ $agents = yes ]; then
  mkdir -p "$out/agents"
  names=()
  for file in "$root"/games/src/*/agent.safetensors; do
    name=$(basename "$(dirname "$file")")
    cp "$file" "$out/agents/$name.safetensors"
    names+=("$name")
  done
  # A server of static files cannot tell the page which there are.
  page=$(cat "$out/index.html")
  printf '%s\n' "${page/data-agents=\"\"/data-agents=\"${names[*]}\"}" > "$out/index.html"
fi
echo "$out: $(cat "$out"/*.* | gzip -9 | wc -c) bytes compressed"
