#!/usr/bin/env bash
# soak_run_test.sh MPIRUN RANKS TUTTI_SOAK - short runs: one in which all is well and what it tells; and one for each fault that
# tutti-soak is there to find.
set -u
mpirun=$1 ranks=$2 soak=$3
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
last=$((ranks - 1))

fail() {
  echo "FAILED: $*" >&2
  cat "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}
# run CODE OPTIONS...: with the exit code that is expected.
run() {
  local code=0
  "$launch" "$mpirun" "$ranks" "$soak" "${@:2}" >"$folder/stdout" 2>"$folder/stderr" || code=$?
  [ "$code" = "$1" ] || fail "tutti-soak ${*:2}: exit code $code, not $1"
}
# said PATTERN FILE WHAT
said() { grep -qE -e "$1" "$folder/$2" || fail "$3: no line '$1'"; }

run 0 --seconds 2 --threads 2 --most-bytes 64K --report 1 --by-node --seed 5 --json "$folder/soak.json"
said "^# tutti-soak [0-9.]+, .*: seed 5, $ranks ranks on 1 node" stdout 'a run'
said '^ +node 0 ' stdout '--by-node'
said '^[0-9]+ calls, 0 wrong, memory [+-][0-9.]+ [KMG]iB, descriptors \+0$' stdout 'the last line'
for collective in barrier broadcast reduce allreduce reduce_scatter allgather gather scatter alltoall scan exscan batch sendrecv send; do
  said "^$collective +[1-9]" stdout 'the table of collectives'
done
python3 - "$folder/soak.json" "$ranks" <<'PYTHON' || fail 'the file of --json'
import json, sys
soak = json.load(open(sys.argv[1]))
assert soak["environment"]["ranks"] == int(sys.argv[2]) and soak["seed"] == 5 and soak["threads"] == 2
assert soak["wrong"] == 0 and soak["well"] is True
assert soak["calls"] == sum(each["calls"] for each in soak["collectives"]) > 100
assert sum(each["messages"] for each in soak["messages"].values()) > 100
resources = {each["name"]: each for each in soak["resources"]}
assert resources["open descriptors"]["now"] > 0 and len(resources["threads"]["of_ranks"]) == int(sys.argv[2])
assert resources["private memory"]["largest"] >= resources["private memory"]["now"] > 1 << 20
assert len(soak["reports"]) >= 1 and soak["reports"][0]["calls"] <= soak["calls"]
PYTHON

# A wrong byte: the call is named with its arguments, the element and its value, and the command repeats it.
run 1 --calls 300 --most-bytes 64K --seed 9 --spoil 157 --threads 2
said "^WRONG on rank $last, thread 0, seed 9, call 1[0-9]+: .* communicator [0-3] of [0-9]+ ranks; output: element [0-9]+ of block [0-9]+ is .*, expected .*; 1 bytes differ" \
  stderr 'a wrong byte'
said '^[0-9]+ calls, 1 wrong, ' stdout 'a wrong byte'
wrong=$(grep -oE '^WRONG .* bytes differ' "$folder/stderr")
read -ra options <<<"$(sed -nE "s/^WRONG .*; again: .*mpirun -n $ranks tutti-soak (.*)/\1/p" "$folder/stderr")"
[[ ${options[*]} == *'--seed 9 --from-call 1'* ]] || fail 'a wrong byte: no command that repeats it'
run 1 "${options[@]}"
[ "$(grep -oE '^WRONG .* bytes differ' "$folder/stderr")" = "$wrong" ] || fail "the repetition shows another fault than '$wrong'"
[ "$(sed -nE 's/^([0-9]+) calls, .*/\1/p' "$folder/stdout")" -lt 60 ] || fail 'the repetition makes more calls than its step'

[ "$ranks" = 2 ] || exit $((failures > 0)) # the rest takes longer, and is the same for any number of ranks

# Memory and descriptors that grow.
run 1 --seconds 5 --most-bytes 1K --keep 1M
said "^GROWS on rank $last: private memory, from .* [MG]iB in the second quarter of the samples to .* [MG]iB in the last" stdout '--keep'
said "^GROWS on rank $last: open descriptors, " stdout '--keep'
said '^[0-9]+ calls, 0 wrong, memory \+[0-9.]+ [MG]iB, descriptors \+[0-9]+$' stdout '--keep'

# A rank that stops, and where the others are.
run 1 --seconds 60 --most-bytes 1K --seed 3 --hang 40 --hang-after 2
said "^HANGS: rank $last, thread 0, seed 3, call [0-9]+, preparing its data; again: " stderr '--hang'
said '^HANGS: rank 0, thread 0, seed 3, ' stderr '--hang'
exit $((failures > 0))
