#!/usr/bin/env bash
# nvtx_test.sh MPIRUN PROGRAM TOOL - operations are told to NVTX if TUTTI_NVTX says so. PROGRAM: does one blocking and one
# nonblocking allreduce of 1000 floats. TOOL: a library that NVTX loads.
set -u
mpirun=$1 program=$2 tool=$3
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  cat "$folder/stderr" >&2
  failures=$((failures + 1))
}
# two SETTINGS...: the program on two ranks.
two() { timeout 120 "$launch" "$mpirun" 2 env NVTX_INJECTION64_PATH="$tool" "$@" "$program" >"$folder/stdout" 2>"$folder/stderr"; }
# lines COUNT PATTERN WHAT: so many lines of the tool match all of it.
lines() { [ "$(grep -cE "^nvtx: $2$" "$folder/stderr")" = "$1" ] || fail "$3: not $1 lines '$2'"; }

two TUTTI_NVTX=1 || fail 'TUTTI_NVTX=1: exit code 0 expected'
lines 2 'domain tutti' TUTTI_NVTX=1
lines 4 'begin allreduce \([a-z_:0-9]+\), 4000 bytes, payload 4000' TUTTI_NVTX=1
lines 4 'end of a range' TUTTI_NVTX=1
for setting in TUTTI_NVTX=0 TUTTI_LOG=warn; do # the latter: not set
  two "$setting" || fail "$setting: exit code 0 expected"
  lines 0 '.*' "$setting"
done
# With a trace, too.
two TUTTI_NVTX=1 TUTTI_TRACE="$folder/trace" || fail 'TUTTI_NVTX=1 and TUTTI_TRACE: exit code 0 expected'
lines 4 'end of a range' 'TUTTI_NVTX=1 and TUTTI_TRACE'
[ "$(ls "$folder/trace" | wc -l)" = 2 ] || fail 'TUTTI_NVTX=1 and TUTTI_TRACE: not a trace of each rank'
exit $((failures > 0))
