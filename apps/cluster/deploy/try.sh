#!/bin/sh
# A trial on this machine: a server, two workers and a run. `apps/cluster/deploy/try.sh [CONFIG] [OPTIONS OF train]`
set -eu
turnstone=${TURNSTONE:-turnstone} url=nats://127.0.0.1:4333 store=$(mktemp -d) pids=
trap 'kill $pids; wait; rm -rf "$store"' EXIT
nats-server -a 127.0.0.1 -p 4333 -js -sd "$store" -l "$store/log" & pids=$!
for name in one two; do
  "$turnstone" worker $url --threads 1 --name $name & pids="$pids $!"
done
config=${1:-configs/smoke.toml}
test $# = 0 || shift
"$turnstone" train "$config" --cluster $url "$@"
