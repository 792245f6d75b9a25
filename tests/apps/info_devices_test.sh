#!/usr/bin/env bash
# info_devices_test.sh TUTTI MPIRUN FAKE_CUDA - what tutti info tells of the devices of the fake driver, which is in the
# folder FAKE_CUDA.
set -u
tutti=$1 mpirun=$2 fake=$3
mpirun_sh=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
export LD_LIBRARY_PATH=$fake:${LD_LIBRARY_PATH:-}
unset TUTTI_STAGING

fail() {
  echo "FAILED: $*" >&2
  head -c 3000 "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

# expect PATTERN COMMAND...: succeeds, and one line of its output matches PATTERN.
expect() {
  local pattern=$1
  shift
  "$@" >"$folder/stdout" 2>"$folder/stderr" || fail "$* (exit code $?)"
  line "$pattern" "$*"
}

# line PATTERN WHAT: one line of the last output matches.
line() { [ "$(grep -c -e "$1" "$folder/stdout")" = 1 ] || fail "$2 ('$1' expected once)"; }

# python PROGRAM WHAT: about what the last command wrote as JSON under "cuda".
python() {
  python3 -c "import json
cuda = json.load(open('$folder/stdout'))['cuda']
$1" || fail "$2 (python: see above)"
}

export FAKE_CUDA_DEVICES=2
expect '^CUDA devices' "$tutti" info
line '^  driver  *13.0$' 'two devices'
line '^  buffers  *by CUDA IPC inside a node, staged elsewhere: ' 'two devices'
line 'the cheaper for each call (TUTTI_STAGING=auto|host|device)$' 'two devices'
line '^  faster  *nothing that is here' 'two devices'
line '^  1  *Fake CUDA device 1  9.0 .* 4 GiB .*0000:f1:00.0$' 'two devices'
line '^  1  *direct, atomics, rank 0  X$' 'two devices'
expect '(TUTTI_STAGING=host)$' env TUTTI_STAGING=host "$tutti" info
expect '^  1  *no  X$' env FAKE_CUDA_PEER=0 "$tutti" info
line '^  buffers  *staged between devices, which do not reach each other' 'no peers'
expect '^  1  *Fake CUDA device 1  9.0 .*unknown$' \
  env FAKE_CUDA_MISSING=cuDeviceGetPCIBusId,cuDeviceCanAccessPeer "$tutti" info
line '^  1  *unknown  X$' 'missing functions'
expect '^CUDA devices' "$mpirun_sh" "$mpirun" 2 "$tutti" info
line '^  MPI  *takes ' 'a job'

expect '"tutti"' "$mpirun_sh" "$mpirun" 2 "$tutti" info --json
python 'assert cuda["is_built"] and cuda["driver"] == "13.0" and cuda["why_not"] == ""
assert [device["bus_id"] for device in cuda["devices"]] == ["0000:f0:00.0", "0000:f1:00.0"]
assert cuda["devices"][1]["name"] == "Fake CUDA device 1" and cuda["devices"][1]["capability"] == "9.0"
assert cuda["devices"][1]["bytes"] == 4 << 30
assert cuda["reaches"][0][1] == {"direct": True, "atomics": True, "rank": 0} and cuda["reaches"][0][0]["direct"] is None
assert cuda["mpi"]["takes_device_memory"] in (True, False)
assert cuda["buffers"]["way"] == "by CUDA IPC inside a node, staged elsewhere" and cuda["buffers"]["worker"]' 'two devices, JSON'
expect '"tutti"' env FAKE_CUDA_PEER=0 "$tutti" info --json
python 'assert cuda["reaches"][0][1]["direct"] is False
assert cuda["buffers"]["way"].startswith("staged between devices")' 'no peers, JSON'
expect '^  buffers  *on devices cannot be: the CUDA driver cannot be used: CUDA_ERROR_NO_DEVICE$' \
  env FAKE_CUDA_DEVICES=0 "$tutti" info
line '^  driver  *13.0$' 'no devices'

[ $failures -eq 0 ] && echo passed
exit $((failures > 0))
