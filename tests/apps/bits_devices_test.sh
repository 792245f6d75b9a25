#!/usr/bin/env bash
# bits_devices_test.sh MPIRUN TUTTI BITS_PROGRAM FAKE_CUDA_FOLDER RANKS - the bits of calls on buffers of devices, over the fake
# driver: found like those of the host; calls in streams are recorded where the host moves them, else said not to be.
set -u
mpirun=$1 tutti=$2 program=$3 fake=$4 ranks=$5
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
last=$((ranks - 1))
fail() {
  echo "FAILED: $*" >&2
  head -c 3000 "$folder/said" >&2
  failures=$((failures + 1))
}
told() { grep -q -E -e "$1" "$folder/said" || fail "$2: no line '$1'"; }

# job TUTTI_BITS VARIABLE=VALUE... -- ARGUMENTS...
job() {
  local settings=("TUTTI_BITS=$1")
  shift
  while [ "$1" != -- ]; do settings+=("$1") && shift; done
  shift
  LD_LIBRARY_PATH=$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FAKE_CUDA_ABORT=1 timeout 250 "$launch" --unbound "$mpirun" "$ranks" \
    env "${settings[@]}" "$program" memory=device "$@" >"$folder/said" 2>&1 || fail "$* (exit code 0 expected)"
}
compare() { # CODE A B
  "$tutti" bits "$folder/$2" "$folder/$3" >"$folder/said" 2>&1
  local got=$?
  [ $got = "$1" ] || fail "tutti bits $2 $3 (exit code $1 expected, not $got)"
}

job "record:$folder/a:deep" -- calls=140
job "record:$folder/b:deep,compare:$folder/a" FAKE_CUDA_DELAY_US=50 -- calls=140
told '^tutti: bits: no difference in [0-9]+ calls' 'the same'
! grep -q 'were not compared' "$folder/said" || fail 'the same: calls were not compared'
compare 0 a b
# One element: the call before in the same step numbers one more for each earlier call on devices.
job "record:$folder/planted:deep,compare:$folder/a" -- calls=140 plant=137
told "^tutti: rank $last: bits: call [0-9]+ of communicator 0/$ranks \(allreduce of 100 fp64, sum\): the input of this rank differs.*; element 17 of 100 is " planted
compare 1 a planted
told "^first: call [0-9]+ of communicator 0/$ranks .*: the program made the difference: inputs differ on rank $last" planted

# In streams: the device moves the call, and the record says so; or the host does, and hashes what the stream made.
job "record:$folder/stream" -- calls=140 stream=1
job "compare:$folder/stream" -- calls=140 stream=1
told "^tutti: bits: no difference in [0-9]+ calls .*; $((ranks * 9)) calls were not compared" 'in a stream'
[ "$ranks" != 1 ] || exit $((failures > 0)) # one rank waits for nobody: the device moves all of its calls
job "record:$folder/gated:deep" FAKE_CUDA_STREAM_MEMOPS=0 -- calls=140 stream=1
job "compare:$folder/gated" FAKE_CUDA_STREAM_MEMOPS=0 FAKE_CUDA_DELAY_US=50 -- calls=140 stream=1
told '^tutti: bits: no difference in [0-9]+ calls' 'behind a stream'
! grep -q 'were not compared' "$folder/said" || fail 'behind a stream: calls were not compared'
job "record:$folder/planted_gated,compare:$folder/gated" FAKE_CUDA_STREAM_MEMOPS=0 -- calls=140 stream=1 plant=137
told "^tutti: rank $last: bits: [1-9][0-9]* of [0-9]+ calls differ" 'behind a stream'
exit $((failures > 0))
