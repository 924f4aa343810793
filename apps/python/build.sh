#!/usr/bin/env bash
# Builds a wheel of the package with the games of another crate:
#
#   apps/python/build.sh --crate MANIFEST [FOLDER]     into FOLDER, or the present one
#
# MANIFEST is the crate's Cargo.toml. It names the types of the games, and of agents and networks if there are any:
#
#   [package.metadata.turnstone]
#   games = ["Breakthrough"]
#   agents = ["Careful"]
#   networks = ["Overview"]
#
# The crate is compiled without its default features. Needs cargo, Python 3.10 or later and maturin, which are asked for before
# anything is built. The crate of the wheel is written to the target folder, and nothing else is changed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != --crate ] || [ $# -lt 2 ] || [ $# -gt 3 ]; then
  echo "usage: apps/python/build.sh --crate MANIFEST [FOLDER]" >&2
  exit 2
fi
manifest=$2 out=${3:-.}

missing=()
command -v cargo >/dev/null || missing+=("cargo: https://rustup.rs")
command -v python3 >/dev/null || missing+=("python3")
command -v maturin >/dev/null || missing+=("maturin: pip install maturin")
[ -f "$manifest" ] || missing+=("the file $manifest")
if [ ${#missing[@]} -gt 0 ]; then
  printf 'apps/python/build.sh: missing: %s\n' "${missing[@]}" >&2
  exit 1
fi

folder=$(cargo metadata --format-version 1 --no-deps --manifest-path "$manifest" | python3 -c '
import json, pathlib, shutil, sys

here, manifest = (pathlib.Path(path).resolve() for path in sys.argv[1:])
described = json.load(sys.stdin)
own = next(each for each in described["packages"] if pathlib.Path(each["manifest_path"]).resolve() == manifest)
lists = (own["metadata"] or {}).get("turnstone") or {}
if not lists.get("games"):
    sys.exit(f"apps/python/build.sh: {manifest}: [package.metadata.turnstone] names no games")
name, version, crate = own["name"], own["version"], own["name"].replace("-", "_")
folder = pathlib.Path(described["target_directory"]) / "turnstone-wheel"
package = folder / "turnstone_rl"
shutil.rmtree(package, ignore_errors=True)
shutil.copytree(here / "python/turnstone_rl", package, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
(folder / "src").mkdir(exist_ok=True)
games, agents, networks = (
    ", ".join(f"{crate}::{each}" for each in lists.get(name, [])) for name in ("games", "agents", "networks")
)
(folder / "src/lib.rs").write_text(f"turnstone_python::module!({games}; agents: {agents}; networks: {networks});\n")
(folder / "Cargo.toml").write_text(f"""[workspace]

[package]
name = "{name}-wheel"
version = "{version}"
edition = "2024"

[lib]
crate-type = ["cdylib"]

[dependencies]
{name} = {{ path = {json.dumps(str(manifest.parent))}, default-features = false }}
turnstone-python = {{ path = {json.dumps(str(here))}, default-features = false, features = ["program"] }}
""")
pyproject = (here.parents[1] / "examples/own_game/python/pyproject.toml").read_text()
(folder / "pyproject.toml").write_text(pyproject.replace("turnstone-own-game", f"turnstone-{name}"))
shutil.copytree(here.parents[1] / ".cargo", folder / ".cargo", dirs_exist_ok=True)  # profiles that build in a third of the time
lock = pathlib.Path(described["workspace_root"]) / "Cargo.lock"
if lock.is_file():
    shutil.copy(lock, folder / "Cargo.lock")
print(folder)
' "$here" "$manifest")
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$folder"
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(dirname "$folder")} maturin build --release --out "$out"
