#!/usr/bin/env bash
# Builds the wheel and checks it in a fresh virtual environment: the tests of the package, PettingZoo's and Gymnasium's
# own, types, memory, the notebook, OpenSpiel's Mancala. With TURNSTONE_TORCH=1 (or a torch that is already cached by
# pip's index) also what needs PyTorch, which is a large download.
set -euo pipefail
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1

python3 -m venv "$work/build" 2>/dev/null || { echo "skipped: python3 has no venv"; exit 0; }
"$work/build/bin/pip" install -q "maturin>=1.9,<2" || { echo "skipped: pip reaches no package index"; exit 0; }
# A release build of the test program may be beside this one: one target folder serves both.
"$work/build/bin/maturin" build --release --locked --manifest-path Cargo.toml --out "$work/wheel"
"$work/build/bin/maturin" sdist --manifest-path Cargo.toml --out "$work/sdist"
tar -tzf "$work"/sdist/*.tar.gz > "$work/files"
for file in Cargo.lock cli/src/main.rs env/src/lib.rs python/src/lib.rs models/pretrained/mancala.safetensors; do
  grep -q "/$file$" "$work/files" || { echo "the sdist lacks $file"; exit 1; }
done

# The tests run away from the sources, so that only the wheel can be imported.
cp -r tests examples pyproject.toml "$work"
cd "$work"
python3 -m venv test
test/bin/pip install -q wheel/*.whl pytest "gymnasium>=1.1" pettingzoo pandas mypy onnxruntime
test/bin/pip install -q open_spiel || echo "OpenSpiel's wheel cannot be had: its test is skipped"
test/bin/python -c "import turnstone; print(turnstone.__version__, turnstone.__file__)"
# Where several builds share the machine a signal may be seen later than in a second.
TURNSTONE_INTERRUPT_SECONDS=${TURNSTONE_INTERRUPT_SECONDS:-3} test/bin/python -m pytest -q tests
test/bin/turnstone --version
test/bin/python tests/memory.py

echo "types"
test/bin/mypy --config-file pyproject.toml -p turnstone
test/bin/stubtest turnstone._turnstone --allowlist tests/stubtest_allowlist.txt

echo "notebook"
if test/bin/pip install -q nbclient ipykernel matplotlib; then
  TURNSTONE_TOUR_MINUTES=${TURNSTONE_TOUR_MINUTES:-0.2} test/bin/python tests/run_notebook.py examples/tour.ipynb
else
  echo "skipped: the packages of notebooks cannot be installed"
fi

echo "PyTorch"
if [ "${TURNSTONE_TORCH:-0}" = 1 ]; then
  # The build for processors only is smaller; it is not on PyPI.
  test/bin/pip install -q torch --index-url https://download.pytorch.org/whl/cpu --extra-index-url https://pypi.org/simple
  test/bin/pip install -q stable-baselines3 sb3-contrib
  test/bin/python tests/ppo.py
  test/bin/python examples/torch_alphazero.py
else
  echo "skipped: TURNSTONE_TORCH=1 downloads PyTorch and runs MaskablePPO and the AlphaZero example"
fi
