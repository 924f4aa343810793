#!/usr/bin/env bash
# Trains variants of a config on one thread each, plays every one against the base and grades it:
#
#   cargo build --release && configs/ablate.sh configs/ablations/mancala.txt FOLDER [JOBS]
#
# Lines of the file are `name: key=value ...`; `config` names the config, `base` what all variants share. Rows of the
# table are printed as they come; runs that FOLDER holds already are gone on with or used as they are.
set -euo pipefail
file=$1 folder=$2 jobs=${3:-2}
turnstone=${CARGO_TARGET_DIR:-target}/release/turnstone
field() { sed -n "s/^$1: //p" "$file"; }
config=$(field config)
game=$(sed -n '/^\[game\]/,/^\[/s/^name = "\(.*\)"/\1/p' "$config")
base=$(field base)
mkdir -p "$folder"

# NAME VALUES...: trains one variant on one thread.
train() {
    local run="$folder/${1//[^a-zA-Z0-9]/_}"
    shift
    test ! -f "$run.cpu" || return 0
    local sets=()
    for value in self_play.threads=1 learn.threads=1 $base "$@"; do sets+=(--set "$value"); done
    TIMEFORMAT=%U
    if test -f "$run/config.toml"; then set -- --resume "$run"; else set -- "$config" --run "$run" "${sets[@]}"; fi
    { time "$turnstone" train "$@" --quiet > "$run.log" 2>&1; } 2> "$run.time"
    mv "$run.time" "$run.cpu"
}

# NAME: one row of the table.
row() {
    local run="$folder/${1//[^a-zA-Z0-9]/_}" score=""
    if test "$1" != base; then
        score=$("$turnstone" arena "$game" "az:$run,sims=32" "az:$folder/base,sims=32" --games 1000 --threads 1 |
            sed -n 's/^score  *\([0-9.]* %\)  */\1 /p')
    fi
    local grade=" | |" # where there is no truth to grade by
    if test "$game" != morabaraba; then
        grade=$("$turnstone" grade "$game" --agent "az:$run,sims=32" |
            awk '/^(all|critical) /{printf " %s %% %s %s |", $4, $(NF-1), $NF}')
    fi
    echo "| $1 | $score |$grade $(cat "$run.cpu") |"
}

echo "| variant | against the base, 1,000 games | value kept, all | critical positions | CPU seconds |"
echo "|---|---|---|---|---|"
train base
row base
while IFS= read -r line; do
    name=${line%%: *}
    while test "$(jobs -rp | wc -l)" -ge "$jobs"; do wait -n; done
    { train "$name" ${line#*: } && row "$name"; } &
done < <(grep -Ev '^(#|config:|base:|$)' "$file")
wait
