#!/usr/bin/env bash
# Writes the files of this folder that a program writes, with the program given; README.md says which program wrote
# those that are here. Into an empty folder, given second, to which the configs are copied first.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '2,3s/^# \{0,1\}//p' "$0"; exit 2; }
turnstone=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
mkdir -p "$2"
cd "$2"
cp "$here"/*.toml .

"$turnstone" train run.toml --run finished --quiet
"$turnstone" train run.toml --run interrupted --quiet &
child=$!
until [ -s interrupted/metrics.jsonl ] && [ "$(wc -l <interrupted/metrics.jsonl)" -ge 2 ]; do sleep 0.001; done
kill -INT "$child"
wait "$child" && { echo "the run ended before it was interrupted"; exit 1; }
for kind in graph mixer; do
    "$turnstone" train $kind.toml --run $kind --quiet
    cp $kind/latest.safetensors $kind.safetensors
    rm -r $kind
done
cp finished/latest.safetensors mlp.safetensors
"$turnstone" export mlp.safetensors --format safetensors --out exported.safetensors

# What the networks say of a position, and how well one of them plays.
mkdir expected
for network in mlp graph mixer exported; do
    echo '{"id": "start", "simulations": 16}' | "$turnstone" analyse --agent az:$network.safetensors >expected/$network.json
done
"$turnstone" grade mu_torere --param max_plies=30 --agent az:mlp.safetensors,sims=1 --json >expected/grade.json

# What each instruction set makes of the interrupted run: without AVX-512 in an emulator, qemu-user 7.2 or later.
for set in avx512 avx2 portable; do
    cp -r interrupted again
    case $set in
        avx512) "$turnstone" train --resume again --quiet ;;
        avx2) qemu-x86_64 -cpu Haswell "$turnstone" train --resume again --quiet 2>emulator.log ;;
        portable) qemu-x86_64 -cpu Nehalem "$turnstone" train --resume again --quiet 2>emulator.log ;;
    esac
    cp again/latest.safetensors expected/resumed.$set.safetensors
    rm -rf again emulator.log
done

agents="random alphabeta:depth=2 mcts:sims=16"
"$turnstone" arena mancala $agents --param stones=2 --games 8 --out tournament >/dev/null
mkdir cut
rm -r finished/tensorboard tournament/report.html tournament/ratings.svg
# A third of the journal, with half a line at its end, as a kill leaves it.
head -c $(($(wc -c <tournament/games.jsonl) / 3)) tournament/games.jsonl >cut/games.jsonl
"$turnstone" arena mu_torere random alphabeta:depth=2 --games 8 --ladder-build ladder.toml >/dev/null

"$turnstone" solve morris --param pieces=3 --out tables --quiet
"$turnstone" solve mancala --param stones=2 --endgames 6 --out tables --quiet
"$turnstone" grade morris --param pieces=3 --agent random --tables tables --sample 20 --save truth.json >/dev/null
find . -name lock -delete
