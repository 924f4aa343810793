#!/usr/bin/env bash
# Measures the agents that come with the program, for the figures of docs/results.toml:
#
#   cargo build --release && games/measure.sh
#
# Takes about half an hour on two cores, and some minutes for the solution of Morris and Mancala's endgames if `tables/` (or
# TURNSTONE_TABLES) lacks them. Python 3 reads the results.
# The seeds are fixed, so the figures are the same on every machine with AVX2.
set -euo pipefail
turnstone=${CARGO_TARGET_DIR:-target}/release/turnstone
tables=${TURNSTONE_TABLES:-tables}
# A table that is there already is kept.
for game in morris mancala; do "$turnstone" solve "$game" --out "$tables" > /dev/null; done

# What is printed of the JSON object of a command, whose words are the arguments.
summary=$(cat << 'PYTHON'
import json, sys

result = json.load(sys.stdin)


def share(value, interval):
    return "{:.2f} % [{:.2f}, {:.2f}]".format(*(100 * x for x in [value, *interval]))


def games(counts):
    return "+{wins} ={draws} -{losses}".format(**counts)


if "grade" in result:
    for part in ["all", "critical"]:
        kept, positions, interval = (result["grade"][part][key] for key in ["kept", "positions", "interval"])
        print(f"    {part}: {kept} of {positions}, {share(kept / positions, interval)}")
elif "--ladder" in sys.argv:
    agent = result["summary"]["agents"][0]
    print("    Elo {:.0f} [{:.0f}, {:.0f}]".format(agent["rating"], *agent["rating_interval"]))
else:
    match = result["summary"]["meetings"][0]
    first, second = match["by_seat"]["first"], match["by_seat"]["second"]
    both = {kind: first[kind] + second[kind] for kind in first}
    print(f"    {share(match['score'], match['score_interval'])}: {games(both)}, as player 1 {games(first)}")
PYTHON
)

# Prints a command and what it finds, with intervals of 95 %: for a grade the moves that keep the value, for a match the score
# and the games won, drawn and lost.
measure() {
    printf '%s\n' "$*"
    "$turnstone" "$@" --json | python3 -c "$summary" "$@"
}

measure grade mu_torere --agent az:pretrained,sims=64
measure grade mu_torere --agent az:pretrained,sims=0
measure grade mancala --agent az:pretrained,sims=200
measure grade mancala --agent az:pretrained,sims=200 --sample 4000 --seed 77 --tables "$tables"
measure arena mancala az:pretrained,sims=200 alphabeta:depth=8 --games 1000 --seed 11
measure arena mancala az:pretrained,sims=100 --ladder
# Openings that player 1 wins, and openings that player 2 wins (docs/lab/agents.md).
measure arena mancala az:pretrained,sims=200 alphabeta:depth=12 --openings games/src/mancala/won_openings.txt --games 100
measure arena mancala az:pretrained,sims=200 alphabeta:depth=12 --openings games/src/mancala/won_openings_of_player_2.txt --games 100
measure grade morris --agent az:pretrained,sims=200
measure grade morris --agent az:pretrained,sims=200 --sample 4000 --seed 5 --tables "$tables"
measure arena morris az:pretrained,sims=200 alphabeta:depth=5 --games 1000 --seed 11
measure arena morris az:pretrained,sims=200 alphabeta:depth=5 --opening-filter "exact:$tables" --opening-bound 0 --games 200 --seed 11
measure arena morris az:pretrained,sims=200 alphabeta:depth=8 --opening-filter "exact:$tables" --opening-bound 0 --games 200 --seed 11
measure arena morris az:pretrained,sims=200 "exact:$tables" --opening-filter "exact:$tables" --opening-bound 0 --games 200 --seed 11
measure grade konane --agent az:pretrained,sims=200
measure arena konane az:pretrained,sims=200 alphabeta:depth=6 --games 400 --seed 11
measure arena konane az:pretrained,sims=200 alphabeta:depth=8 --games 400 --seed 11
measure grade morabaraba --agent az:pretrained,sims=200
measure arena morabaraba az:pretrained,sims=200 alphabeta:depth=5 --games 400 --seed 11
measure arena morabaraba az:pretrained,sims=200 alphabeta:depth=7 --games 400 --seed 11
