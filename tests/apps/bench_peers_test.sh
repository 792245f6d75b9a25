#!/usr/bin/env bash
# bench_peers_test.sh SOURCE - scripts/peers_table.py takes the fastest MPI at each size, and scripts/peers.sh says what is missing.
set -eu
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# result BYTES PEER_US TUTTI_US: one of a file.
result() {
  printf '{"collective": "allreduce", "in_place": false, "bytes": %s, "time_us": {"median": %s}, "peer": {"time_us": {"median": %s}}}' \
    "$1" "$3" "$2"
}
# file NAME RESULT...
file() {
  local name=$1 IFS=,
  shift
  echo '{"environment": {"mpi_version": "MPI '"$name"'; of today", "mpi_settings": [], "ranks": 2, "cores": 2}, "results": ['"$*"']}' \
    >"$folder/$name.json"
}
# expect CODE PATTERN COMMAND...
expect() {
  local wanted=$1 pattern=$2 code=0
  shift 2
  "$@" >"$folder/output" 2>&1 || code=$?
  if [ "$code" != "$wanted" ] || ! grep -qE -e "$pattern" "$folder/output"; then
    echo "FAILED: $* (exit code $code, $wanted expected; '$pattern' expected)" >&2
    cat "$folder/output" >&2
    failures=$((failures + 1))
  fi
}

file a "$(result 8 4 1)" "$(result 64 9 2)"
file b "$(result 8 6 1)" "$(result 64 8 8)"
table=("$source/scripts/peers_table.py" "$folder/a.json" "$folder/b.json")
expect 0 '^# a: MPI a; no settings' "${table[@]}"
expect 0 '^ +8 +a +4 +1 +4.00$' "${table[@]}"
expect 0 '^ +64 +b +8 +8 +1.00$' "${table[@]}"
expect 0 '^geometric mean 2.00, minimum 1.00$' "${table[@]}"
sed 's/"peer": {/"peer": {"resolved": false, /g' "$folder/a.json" >"$folder/d.json"
expect 0 '^ +8 +d +4 +1 +4.00[?]$' "$source/scripts/peers_table.py" "$folder/d.json"
expect 0 'minimum 4.00, not resolved: 2 of 2$' "$source/scripts/peers_table.py" "$folder/d.json"
echo '{"results": []}' >"$folder/c.json"
expect 1 'not a file of tutti-bench' "$source/scripts/peers_table.py" "$folder/c.json"

export TUTTI_PEERS=$folder/none PEERS=intel
expect 0 'peers.sh setup' "$source/scripts/peers.sh" --help
expect 2 "not a command: 'fly'" "$source/scripts/peers.sh" fly
expect 1 'peers.sh build. first' "$source/scripts/peers.sh" run
expect 1 "-n takes a number of ranks, not 'x'" "$source/scripts/peers.sh" run -n x
expect 1 'peers.sh run. first' "$source/scripts/peers.sh" table
PEERS=abacus expect 1 "'abacus', which is none of" "$source/scripts/peers.sh" run
exit $((failures > 0))
