#!/usr/bin/env bash
# bench_devices_test.sh MPIRUN TUTTI_BENCH FAKE_CUDA MOST_RANKS - tutti-bench on buffers of the fake driver, which is in
# the folder FAKE_CUDA.
set -u
mpirun=$1 bench=$2 fake=$3 most_ranks=$4
ranks=2
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
export LD_LIBRARY_PATH=$fake:${LD_LIBRARY_PATH:-} FAKE_CUDA_ABORT=1
unset TUTTI_STAGING

fail() {
  echo "FAILED: tutti-bench $*" >&2
  tail -n 40 "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

# measured OPTIONS...: all results are right.
measured() {
  "$launch" "$mpirun" $ranks "$bench" --check --rounds 1 --warmup 0 --iters 2 "$@" --json "$folder/json" \
    --csv "$folder/csv" >"$folder/stdout" 2>"$folder/stderr" || fail "$* (exit code $?)"
}

# line PATTERN WHAT: a line of the last output matches.
line() { grep -q -e "$1" "$folder/stdout" || fail "$2 ('$1' expected)"; }

# python PROGRAM WHAT: about the last JSON.
python() {
  python3 -c "import json
file = json.load(open('$folder/json'))
results = file['results']
$1" || fail "$2 (python: see above)"
}

export FAKE_CUDA_DEVICES=2
export TUTTI_DEVICE_PATH=staging
measured --memory device --collective all --min 8 --max 16K --factor 2048 --compare mpi
line '^# devices, by rank: 0 of 2 (Fake CUDA device 0), 1 of 2 (Fake CUDA device 1)$' 'device'
line '^# wrong elements in all: 0$' 'device'
if grep -q '^# not compared: .* takes no memory of devices$' "$folder/stdout"; then # an MPI that crashes on it
  python 'assert all(record["peer"] is None for record in results)' 'device: not compared'
else
  fail 'device: compared with an MPI that would have to read the memory of the fake driver'
fi
python 'assert file["environment"]["devices"] == ["0 of 2 (Fake CUDA device 0)", "1 of 2 (Fake CUDA device 1)"]
assert len({record["collective"] for record in results}) == 16
for record in results:
    work = record["device"]
    assert record["memory"] == "device" and record["wrong"] == 0, record
    assert work["moved_bytes"] == work["fetched_bytes"] + work["stored_bytes"], record
    assert (work["moved_bytes"] > 0) == (record["collective"] != "barrier"), record
    assert work["synchronisations"] == 0, record
    if record["collective"] == "allreduce":
        assert work["fetched_bytes"] == work["stored_bytes"] == record["bytes"], record
        assert work["traffic_share"] == 1, record
        assert work["copies"] >= 1 and work["driver_calls"] > work["copies"], record' 'device: the work of calls'
python3 - "$folder/csv" <<'PYTHON' || fail 'device: CSV'
import csv
import sys

for record in csv.DictReader(open(sys.argv[1])):
    moved, barrier = float(record["device_moved_bytes"]), record["collective"] == "barrier"
    assert record["memory"] == "device" and (moved == 0) == barrier and record["peer"] == "", record
PYTHON

# Who works, and how calls are made: inputs that are rewritten included.
TUTTI_STAGING=host measured --memory device --min 64K --max 64K --mode nonblocking --touch
python 'assert all(record["device"]["kernels"] == 0 for record in results)' 'the host reduces'
TUTTI_STAGING=device measured --memory device --min 64K --max 64K --mode persistent --transport mpi
python 'assert all(record["device"]["kernels"] > 0 for record in results)' 'the device reduces'

# Peers map each other's memory: nothing moves through the host, and an allreduce is one kernel.
unset TUTTI_DEVICE_PATH
measured --memory device --collective all --min 8 --max 64K --factor 8192
python 'for record in results:
    work = record["device"]
    assert record["wrong"] == 0 and work["moved_bytes"] == 0 and work["synchronisations"] == 0, record
    if record["collective"] == "allreduce":
        assert work["kernels"] == 1 and work["copies"] <= 1, record
    # Two ranks move the least bytes, wherever each block is taken where it is.
    if record["collective"] == "barrier":
        assert work["traffic_share"] is None, record
    elif record["bytes"] == 65536 and not record["in_place"]:
        assert 1 <= work["traffic_share"] <= 1.6, record
        if record["collective"] in ("broadcast", "allgather", "alltoall", "reduce_scatter", "gather", "scatter"):
            assert work["traffic_share"] == 1, record' 'peers map memory'
line '^# traffic: bytes on devices that all ranks read and write, as a multiple of the least number$' 'peers map memory'

# Calls in a stream: all collectives, but messages between pairs, which take none.
measured --memory device --collective all --min 8 --max 16K --factor 2048 --mode stream --compare mpi
line '^# stream calls, device memory' 'calls in a stream'
python 'assert len({record["collective"] for record in results}) == 15
for record in results:
    work = record["device"]
    assert record["mode"] == "stream" and record["collective"] != "sendrecv" and record["wrong"] == 0, record
    assert work["synchronisations"] == 0 and work["driver_calls"] >= 0, record
    assert (work["traffic_share"] is None) == (record["collective"] == "barrier"), record' 'calls in a stream'
measured --memory device --min 16K --max 16K --mode stream --touch --algorithm ring
measured --memory device --min 64K --max 64K --mode stream-plan --algorithm two_shot
line '^# stream-plan calls, device memory' 'plans in a stream'
python 'for record in results:
    assert record["wrong"] == 0 and record["device"]["traffic_share"] == 1, record' 'plans in a stream'

for memory in pinned managed; do
  measured --memory $memory --min 8 --max 64K --factor 64 --touch --compare mpi
  line "^# blocking calls, $memory memory" $memory
  python "assert all(record['memory'] == '$memory' and record['wrong'] == 0 and record['peer'] for record in results)
assert all(record['device']['moved_bytes'] == 0 and record['device']['copies'] == 0 for record in results)" $memory
done

# Ordinary memory has none of this, with a driver or without.
measured --min 8 --max 8
python 'assert file["environment"]["devices"] == [] and all(record["device"] is None for record in results)' host
grep -q 'moved' "$folder/stdout" && fail 'host: it has a column for work on devices'

# expect PATTERN COMMAND...: all ranks exit with 2, and a line that matches PATTERN comes once.
expect() {
  local pattern=$1
  shift
  # shellcheck disable=SC2016
  "$launch" "$mpirun" $ranks sh -c '"$@"; echo "exit code $?"' sh "$@" >"$folder/stdout" 2>"$folder/stderr"
  [ "$(grep -c '^exit code 2' "$folder/stdout")" = $ranks ] || fail "$* (exit code 2 expected)"
  [ "$(cat "$folder/stdout" "$folder/stderr" | grep -c -e "$pattern")" = 1 ] || fail "$* ('$pattern' expected once)"
}

expect '^tutti-bench: --memory managed: rank 0: the CUDA driver cannot be used: CUDA_ERROR_NO_DEVICE (' \
  env FAKE_CUDA_DEVICES=0 "$bench" --memory managed
# shellcheck disable=SC2016
expect '^tutti-bench: --memory device: rank 1: the CUDA driver cannot be used: CUDA_ERROR_NO_DEVICE (' \
  sh -c 'FAKE_CUDA_DEVICES=$((1 - ${OMPI_COMM_WORLD_RANK:-$PMI_RANK})) "$@"' sh "$bench" --memory device
expect 'do not fit into the device memory' "$bench" --memory device --min 1T --max 1T
if ! ldconfig -p | grep -q libcuda.so.1; then
  expect '^tutti-bench: --memory pinned: rank 0: libcuda.so.1 was not found (' \
    env LD_LIBRARY_PATH= "$bench" --memory pinned
fi

[ $failures -eq 0 ] && echo passed
exit $((failures > 0))
