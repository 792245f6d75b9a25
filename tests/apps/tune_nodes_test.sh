#!/usr/bin/env bash
# tune_nodes_test.sh MPIRUN TUTTI - tutti tune on four ranks of two nodes, which are pretended: all communicators, kinds of memory of
# the host and modes in one run, with the constants of transports.
set -u
mpirun=$1 tutti=$2
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder TUTTI_NODES=0,0,1,1
failures=0
fail() {
  echo "FAILED: $*" >&2
  cat "$folder/said" "$folder/rules.json" >&2
  failures=$((failures + 1))
}
tune() { timeout 250 "$launch" "$mpirun" 4 "$tutti" tune --write "$folder/rules.json" "$@" >"$folder/said" 2>&1; }

tune --budget 3 --collective allreduce --max 16 --memory host,tutti --mode blocking,persistent || fail 'a run on two nodes'
for context in world node leaders; do
  for memory in host tutti; do
    for mode in blocking persistent; do
      grep -q "^$context/allreduce/$memory/$mode: " "$folder/said" || fail "$context/allreduce/$memory/$mode"
    done
  done
done
grep -q '"nodes": 2, "ppn": 2.*"use": ' "$folder/rules.json" || fail 'rules for two nodes of two ranks'
grep -q '"ranks": 2, "nodes": 1, "memory": "tutti", "mode": "persistent"' "$folder/rules.json" || fail 'rules for a node'
grep -q '"ranks": 2, "nodes": 2, "ppn": 1' "$folder/rules.json" || fail 'rules for one rank a node'
"$tutti" rules check "$folder/rules.json" >>"$folder/said" || fail 'the file passes the check'

export TUTTI_NODES=
tune --budget 0.3 --collective allreduce --max 1K --transport || fail 'constants of transports'
grep -q '^shm.fast_path_bytes: 8192, ' "$folder/said" || fail 'a constant of shared memory'
grep -q '^device.chunk_bytes: not measured: --memory does not name device' "$folder/said" || fail 'one of devices'
[ ! -e "$folder/rules.json.constants" ] || fail 'nothing is left over'

[ $failures -eq 0 ] && echo "all as expected"
exit $((failures > 0))
