#!/usr/bin/env bash
# Trains a config twice, once in peace and once with kill -9 at random moments and --resume after each, and compares
# what comes out: state, latest, best and numbered checkpoints byte for byte, and metrics.jsonl without its timing and
# checksums.
#
#   trainer/tests/kill.sh configs/smoke.toml --set run.iterations=40
#
# Everything after the config goes to the first `turnstone train`. From the environment: TURNSTONE, the program
# (target/release/turnstone); KILLS, how many (20); SEED, of the moments (1).
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
turnstone=${TURNSTONE:-${CARGO_TARGET_DIR:-target}/release/turnstone}
kills=${KILLS:-20}
RANDOM=${SEED:-1}
place=$(mktemp -d)
child=
trap '[ -z "$child" ] || kill -9 "$child" 2>/dev/null || true; rm -rf "$place"' EXIT

now() { date +%s%N; }
iteration() { [ -f "$place/killed/metrics.jsonl" ] && wc -l <"$place/killed/metrics.jsonl" || echo 0; }

begin=$(now)
"$turnstone" train "$@" --run "$place/whole" --quiet
milliseconds=$((($(now) - begin) / 1000000))
echo "uninterrupted: $(wc -l <"$place/whole/metrics.jsonl") iterations in $milliseconds ms"

"$turnstone" train "$@" --run "$place/killed" --quiet &
child=$!
# Delays of up to 1.4 of an even share: the sum of what is not undone then stays below the whole.
longest=$((milliseconds * 14 / 10 / kills + 1))
killed=0
for ((i = 1; i <= kills; i++)); do
    delay=$(((RANDOM * 32768 + RANDOM) % longest))
    sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
    if ! kill -9 "$child" 2>/dev/null; then
        echo "finished before kill $i"
        break
    fi
    wait "$child" 2>/dev/null || true
    killed=$i
    echo "kill $i after $delay ms, $(iteration) iterations begun to be written"
    if [ -f "$place/killed/config.toml" ]; then
        "$turnstone" train --resume "$place/killed" --quiet &
    else
        "$turnstone" train "$@" --run "$place/killed" --quiet & # killed before it had a config
    fi
    child=$!
done
wait "$child"
child=

differ=0
for file in config.toml state.safetensors latest.safetensors best.safetensors; do
    cmp "$place/whole/$file" "$place/killed/$file" || differ=1
done
diff -r "$place/whole/checkpoints" "$place/killed/checkpoints" || differ=1
diff -rq "$place/whole/replay" "$place/killed/replay" || differ=1
timeless() { sed -E 's/,"timing":\{[^}]*\}//; s/,"crc":"[0-9a-f]*"//' "$1/metrics.jsonl"; }
diff <(timeless "$place/whole") <(timeless "$place/killed") || differ=1
left=$(find "$place/killed" -name '*.tmp')
[ -z "$left" ] || { echo "left over: $left"; differ=1; }
if [ $differ = 0 ]; then
    echo "the same after $killed kills: checkpoints, replay and metrics"
else
    echo "NOT the same after $killed kills"
fi
exit $differ
