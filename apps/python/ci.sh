#!/usr/bin/env bash
# Builds the wheel and tests it in a fresh virtual environment: the package's tests, PettingZoo's and Gymnasium's own,
# OpenSpiel's Mancala and games, types, memory and the notebook; with PyTorch also MaskablePPO and the AlphaZero example. The tests
# of environments run a second time with the oldest packages that `pyproject.toml` allows, where there is a python3.10. What
# cannot be installed is skipped with a message.
#
# FULL=no leaves out the source distribution and the oldest packages.
#
# WHEEL=FILE tests that wheel in place of building one.
#
# TURNSTONE_TORCH=1 installs PyTorch from PyPI, with gigabytes of CUDA, where the index of its builds for processors cannot
# be reached; TURNSTONE_TORCH=0 leaves it out.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n-- %s (%s s)\n' "$*" "$SECONDS"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(cd ../.. && pwd)/target}

python3 -m venv "$work/build" || { echo "skipped: the Python package needs Python's venv"; exit 0; }
"$work/build/bin/pip" install -q "maturin>=1.9,<2" || { echo "skipped: pip reaches no package index"; exit 0; }

if [ -n "${WHEEL:-}" ]; then
  mkdir "$work/wheel" && cp "$WHEEL" "$work/wheel"
else
  step "format and lints"
  cargo fmt --check
  cargo clippy --release --all-targets -- -D warnings

  step "wheel"
  "$work/build/bin/maturin" build --release --locked --out "$work/wheel"
fi
if [ -z "${WHEEL:-}" ] && [ "${FULL:-yes}" = yes ]; then
  step "source distribution"
  "$work/build/bin/maturin" sdist --out "$work/sdist"
  tar -tzf "$work"/sdist/*.tar.gz > "$work/files"
  for file in apps/python/Cargo.lock apps/cli/src/main.rs env/src/lib.rs apps/python/src/lib.rs games/src/mancala/agent.safetensors; do
    grep -q "/$file$" "$work/files" || { echo "the sdist lacks $file"; exit 1; }
  done
fi

# The tests run away from the sources, so that only the wheel can be imported.
cp -r tests examples pyproject.toml ../../docs/{adding-a-backend,export,python-games}.md "$work"
mkdir "$work/proofs"
find ../../games/src -name '*.proof' -size -100k | while read -r proof; do
  cp "$proof" "$work/proofs/$(basename "${proof%/*}")-${proof##*/}"
done
cd "$work"
step "installation in a fresh environment"
python3 -m venv test
test/bin/pip install -q wheel/*.whl pytest "gymnasium>=1.1" pettingzoo pandas
test/bin/pip install -q mypy || echo "skipped: mypy cannot be installed"
test/bin/pip install -q pyright || echo "skipped: pyright cannot be installed"
test/bin/pip install -q onnxruntime || echo "skipped: onnxruntime cannot be installed, so exports are not run"
test/bin/pip install -q open_spiel || echo "skipped: OpenSpiel's wheel cannot be installed, so Mancala is not compared and its games are not tried"
test/bin/pip install -q trackio wandb || echo "skipped: the trackers of experiments cannot be installed"
test/bin/python -c "import turnstone_rl; print(turnstone_rl.__version__, turnstone_rl.__file__)"
test/bin/turnstone --version

step "tests"
# Where other builds share the machine a signal may be seen later than in a second.
TURNSTONE_INTERRUPT_SECONDS=${TURNSTONE_INTERRUPT_SECONDS:-3} test/bin/python -m pytest -q -p no:cacheprovider tests

if [ "${FULL:-yes}" = yes ]; then
  step "tests with the oldest packages"
  # `gymnasium>=1.1` becomes `gymnasium==1.1.*`.
  oldest=$(sed -n 's/^dependencies = \[\(.*\)\]$/\1/p; s/^pettingzoo = \[\(.*\)\]$/\1/p' pyproject.toml |
    grep -o '"[^"]*"' | sed 's/"//g; s/>=\(.*\)/==\1.*/')
  if python3.10 -m venv oldest 2>/dev/null && oldest/bin/pip install -q wheel/*.whl pytest $oldest; then
    oldest/bin/python -m pytest -q -p no:cacheprovider tests/test_{pettingzoo,gymnasium,vec_env,copies}.py
  else
    echo "skipped: there is no python3.10, or pip cannot install" $oldest
  fi
fi

step "games in Python"
for example in tic_tac_toe breakthrough; do
  test/bin/python "examples/$example.py" --smoke
done

step "certificates"
for proof in proofs/*; do test/bin/python examples/check_certificate.py "$proof"; done
test/bin/turnstone certify mu_torere --agent az:pretrained,sims=0 --seat 1 --out first.certificate
# Other claims and moves, with the checksums that fit them.
test/bin/python - <<'END'
import json, zlib
from examples.check_certificate import check

first, _, moves = open("first.certificate", "rb").read().partition(b"\n")
claim = {key: value for key, value in json.loads(first).items() if key != "crc"}
forgeries = [(change, moves) for change in ({"result": 1}, {"seat": 2}, {"version": 2}, {"positions": 9}, {"decisions": 9})]
forgeries += [({}, moves[:9]), ({}, moves + b"\0"), ({}, bytes(len(moves))), ({"params": {"max_plies": "50"}}, moves)]
for change, forged in [({}, moves), *forgeries]:
    sealed = json.dumps({**claim, "checksum": f"{zlib.crc32(forged):08x}", **change}, separators=(",", ":"))
    line = f'{sealed[:-1]},"crc":"{zlib.crc32(sealed.encode()):08x}"}}'
    try:
        check(line.encode() + b"\n" + forged)
        assert (change, forged) == ({}, moves), change
    except ValueError as fault:
        print("refused:", fault)
        assert (change, forged) != ({}, moves), fault
END

step "memory"
test/bin/python tests/memory.py

if [ -x test/bin/mypy ]; then
  step "types"
  test/bin/mypy --config-file pyproject.toml -p turnstone_rl
  test/bin/stubtest turnstone_rl._turnstone --allowlist tests/stubtest_allowlist.txt
fi

step "a search with Optuna"
if test/bin/pip install -q optuna; then
  test/bin/python examples/optuna_search.py --smoke
else
  echo "skipped: Optuna cannot be installed"
fi

step "a notebook that starts from the wheel"
if python3 -m venv plain && plain/bin/pip install -q nbclient ipykernel; then
  mkdir first && cp wheel/*.whl examples/quickstart.ipynb first
  # Neither the package nor a compiler is there.
  (cd first && PATH=$work/plain/bin:/usr/bin:/bin TURNSTONE_TOUR_MINUTES=${TURNSTONE_TOUR_MINUTES:-0.2} \
    ../plain/bin/python ../tests/run_notebook.py quickstart.ipynb)
else
  echo "skipped: the packages of notebooks cannot be installed"
fi

step "notebook"
if test/bin/pip install -q nbclient ipykernel matplotlib; then
  TURNSTONE_TOUR_MINUTES=${TURNSTONE_TOUR_MINUTES:-0.2} test/bin/python tests/run_notebook.py examples/tour.ipynb
else
  echo "skipped: the packages of notebooks cannot be installed"
fi

step "PyTorch"
torch() {
  case ${TURNSTONE_TORCH:-} in
    0) return 1 ;;
    1) test/bin/pip install -q torch ;;
    *) test/bin/pip install -q --retries 0 --timeout 10 --index-url https://download.pytorch.org/whl/cpu torch 2> /dev/null ;;
  esac
}
if torch && test/bin/pip install -q stable-baselines3 sb3-contrib; then
  test/bin/python tests/ppo.py
  test/bin/python examples/torch_alphazero.py
else
  echo "skipped: PyTorch's builds for processors cannot be reached; TURNSTONE_TORCH=1 installs those of PyPI"
fi
