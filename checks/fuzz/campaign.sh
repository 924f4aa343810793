#!/usr/bin/env bash
# Runs every fuzz target a number of times and prints the executions of each and their sum.
#
#   checks/fuzz/campaign.sh 100000000
#
# The first argument is the number of executions over all targets (1,000,000 by default). Readers of text in memory get
# most of them; those that write a file or start threads for every input get the fewest. Logs go to the folder LOGS (a
# temporary one by default). FUZZ is the command, `cargo +nightly fuzz` by default.
set -euo pipefail
cd "$(dirname "$0")/../.."

total=${1:-1000000}
fuzz=${FUZZ:-cargo +nightly fuzz}
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"
fast="notation agent_specs pyro_pickles cluster_messages"
quick="truth_sets checkpoints"
medium="saved_games pyro_requests"
slow="tables ugi analysis"

cargo run --quiet --release --locked -p turnstone-fuzz --bin corpus -- checks/fuzz/corpus
$fuzz build --fuzz-dir checks/fuzz --features libfuzzer-sys
sum=0
run() { # TARGET EXECUTIONS
    local log=$logs/$1.log count
    $fuzz run --fuzz-dir checks/fuzz --features libfuzzer-sys "$1" -- -runs="$2" -timeout=20 -max_len=20000 -print_final_stats=1 >"$log" 2>&1 ||
        echo "$1: FAILED, see $log"
    count=$(sed -n 's/^stat::number_of_executed_units: //p' "$log" | tail -n 1)
    printf '%-20s %12d\n' "$1" "${count:-0}"
    sum=$((sum + ${count:-0}))
}
for target in $slow; do run "$target" $((total / 5000)); done
for target in $medium; do run "$target" $((total * 3 / 1000)); done
for target in $quick; do run "$target" $((total * 3 / 100)); done
for target in $fast; do run "$target" $((total * 22 / 100)); done
echo "$sum executions"
