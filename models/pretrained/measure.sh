#!/usr/bin/env bash
# Measures the agents that come with the program, one line per figure of README.md's table:
#
#   cargo build --release && models/pretrained/measure.sh
#
# Takes about half an hour on two cores, and another for the solution of Morris if `tables/` (or TURNSTONE_TABLES) lacks it.
# The seeds are fixed, so the figures are the same on every machine with AVX2.
set -euo pipefail
turnstone=${CARGO_TARGET_DIR:-target}/release/turnstone
tables=${TURNSTONE_TABLES:-tables}
test -f "$tables/morris-pieces8.table" || "$turnstone" solve morris --out "$tables"

# Prints a command and what it finds.
measure() {
    printf '%s\n' "$*"
    "$turnstone" "$@" | grep -E '^score +[0-9]|^(all|critical|both) |az:pretrained.* [+-][0-9]' | sed 's/^/    /'
}

measure grade mu_torere --agent az:pretrained,sims=64
measure grade mu_torere --agent az:pretrained,sims=0
measure grade mancala --agent az:pretrained,sims=200
measure arena mancala az:pretrained,sims=200 alphabeta:depth=8 --games 1000 --seed 11
measure arena mancala az:pretrained,sims=100 --ladder
measure grade morris --agent az:pretrained,sims=200
measure arena morris az:pretrained,sims=200 alphabeta:depth=5 --games 1000 --seed 11
measure arena morris az:pretrained,sims=200 alphabeta:depth=5 --opening-filter "exact:$tables" --opening-bound 0 --games 200 --seed 11
measure arena morris az:pretrained,sims=200 alphabeta:depth=8 --opening-filter "exact:$tables" --opening-bound 0 --games 200 --seed 11
measure arena morris az:pretrained,sims=200 "exact:$tables" --opening-filter "exact:$tables" --opening-bound 0 --games 200 --seed 11
measure grade konane --agent az:pretrained,sims=200
measure arena konane az:pretrained,sims=200 alphabeta:depth=6 --games 400 --seed 11
measure arena konane az:pretrained,sims=200 alphabeta:depth=8 --games 200 --seed 11
measure grade morabaraba --agent az:pretrained,sims=200
measure arena morabaraba az:pretrained,sims=200 alphabeta:depth=5 --games 400 --seed 11
measure arena morabaraba az:pretrained,sims=200 alphabeta:depth=7 --games 200 --seed 11
