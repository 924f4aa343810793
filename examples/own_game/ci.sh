#!/usr/bin/env bash
# Everything that a game of your own gets: tests, a build, training for a minute (FULL=no: six seconds), and a short run of
# each command.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }

step "format, and lints of the rules, the heuristic and the solver without the program"
cargo fmt --check
cargo clippy --release --no-default-features --all-targets -- -D warnings

step "build and tests"
cargo build --release
cargo test --release

step "the Python package with this game"
cargo clippy --release -p own_game_python -- -D warnings
if [ "${FULL:-yes}" = yes ]; then
  environment=$(mktemp -d)
  if python3 -m venv "$environment" && "$environment/bin/pip" install -q "maturin>=1.9,<2" "gymnasium>=1.1" pettingzoo; then
    (cd python && "$environment/bin/maturin" build --release --out "$environment/wheel")
    "$environment/bin/pip" install -q "$environment"/wheel/*.whl
    "$environment/bin/python" tests/wheel.py
  else
    echo "skipped: pip reaches no package index"
  fi
  rm -rf "$environment"
fi

step "the positions of known value repeat from their seed"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo run --release --example yardstick -- --class middle-hard --count 20 --out "$folder"
diff <(sed 1d "$folder/middle-hard.txt") <(sed -n 2,21p yardstick/middle-hard.txt)

program=${CARGO_TARGET_DIR:-target}/release/own_game
run=$folder/run

# What a command prints must contain the text; all of it is shown.
expect() {
  local text=$1 output
  shift
  step "own_game $*"
  output=$("$program" "$@")
  printf '%s\n' "$output"
  grep -qF -- "$text" <<<"$output" || { echo "expected in the output: $text"; exit 1; }
}

expect "connect_four" games
expect "5673234" show connect_four --perft 8
expect "O" show connect_four --moves "4 4"
expect "3005288" show othello --perft 9
expect "connect_four" bench env connect_four --seconds 0.2
expect "260 iterations" doctor connect_four_hour.toml --seconds 1
minutes=1
if [ "${FULL:-yes}" = no ]; then minutes=0.1; fi
step "own_game train, $minutes minutes"
"$program" train connect_four.toml --run "$run" --max-minutes $minutes
test -s "$run/latest.safetensors"
expect "random" arena connect_four "az:$run,sims=24" random --games 20 --out "$folder/match"
test -s "$folder/match/report.html"
expect "critical" grade connect_four --agent "az:$run,sims=24" --sample 50 --phase endgame
step "yardstick/grade.py"
yardstick/grade.py --program "$program" "az:$run,sims=8" | tee "$folder/yardstick.md"
grep -qF "all nine" "$folder/yardstick.md"
expect "Elo" arena connect_four "az:$run,sims=8" --ladder --games 2
expect "" report "$run" --no-grade
test -s "$run/report.html"
expect "careful:plies=3" arena connect_four careful:plies=3 random --games 20
expect "careful" agents
expect "player" play connect_four --p1 random --p2 "az:$run,sims=8"
expect "player" play connect_four --p1 random --p2 random
expect "" export "$run" --format onnx --out "$folder/exported"
test -s "$folder/exported/model.onnx"

step "a game in one file"
nim=${CARGO_TARGET_DIR:-target}/release/examples/nim
cargo build --release --example nim
"$nim" games | grep -qF "its rules: nim rules <game>" || { echo "expected the program's own name in hints"; exit 1; }
"$nim" solve nim --help | grep -qF "nim solve mu_torere" || { echo "expected the program's own name in examples"; exit 1; }
"$nim" train nim.toml --run "$folder/nim"
"$nim" grade nim --agent "az:$folder/nim,sims=50" | tee "$folder/nim.txt"
grep -q "^all  *230  *230 " "$folder/nim.txt" || { echo "expected the best move in all 230 positions"; exit 1; }

step "a custom kind of network: trained, played with floats and with integers, exported"
overview=$folder/overview
"$program" train overview.toml --run "$overview" --quiet
test -s "$overview/latest.safetensors"
expect "az:$overview,sims=8,precision=i8" arena connect_four "az:$overview,sims=8,precision=i8" \
  "az:$overview,sims=8,precision=f32" --games 4 --out "$folder/precisions"
expect "overview" bench inference overview.toml --seconds 0.1
expect "" export "$overview" --format onnx --out "$folder/overview-exported"
test -s "$folder/overview-exported/model.onnx"

step "a target: its loss falls, also after a break, and is a curve of the report"
ending=$folder/ending
"$program" train overview.toml --run "$ending" --set 'learn.targets=["ending:weight=0.5"]'
"$program" train --resume "$ending" --set run.iterations=4
grep -o '"targets":{"ending":[0-9.]*' "$ending/metrics.jsonl" | cut -d: -f3 | tee "$folder/losses"
awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR == 4 && last < first) }' "$folder/losses"
expect "" report "$ending" --no-grade
grep -qF "Loss of the target ending" "$ending/report.html"
if "$program" train overview.toml --run "$folder/none" --set 'learn.targets=["endig"]' 2>"$folder/fault"; then exit 1; fi
grep -F 'learn.targets: unknown target `endig` (did you mean `ending`?)' "$folder/fault"

step "own_game engine"
answer=$(printf '%s\n' ugi isready uginewgame "position startpos moves 4 4 3 3 2 2" "go depth 3" quit |
  "$program" engine connect_four --agent alphabeta:depth=3)
printf '%s\n' "$answer"
grep -qx "ugiok" <<<"$answer"
grep -qE "^bestmove (1|5)$" <<<"$answer" # it completes four in a row
