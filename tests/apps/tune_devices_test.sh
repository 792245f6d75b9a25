#!/usr/bin/env bash
# tune_devices_test.sh MPIRUN TUTTI TUTTI_BENCH FAKE_CUDA_FOLDER - tutti tune for buffers on devices of the fake driver: the file says
# that its times mean nothing, and is refused where there is no such device.
set -u
mpirun=$1 tutti=$2 bench=$3 fake=$4
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder
failures=0
fail() {
  echo "FAILED: $*" >&2
  cat "$folder/said" >&2
  failures=$((failures + 1))
}

LD_LIBRARY_PATH=$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$launch" "$mpirun" 2 "$tutti" tune --write "$folder/rules.json" \
  --budget 0.2 --memory device --collective allreduce,allgather --max 8K >"$folder/said" 2>&1 || fail 'a run on devices'
grep -q 'the device is simulated: its times mean nothing' "$folder/said" || fail 'the run says it'
grep -q '"simulated": true' "$folder/rules.json" || fail 'the file says it'
grep -q '"gpu": "Fake CUDA device 0"' "$folder/rules.json" || fail 'the device is named'
grep -q '"collective": "allreduce".*"memory": "device".*"maps_devices": true' "$folder/rules.json" || fail 'rules for devices'
"$launch" "$mpirun" 2 sh -c '"$@"; echo "exit code $?"' sh "$bench" --max 8 --rules "$folder/rules.json" >"$folder/said" 2>&1
[ "$(grep -c '^exit code 2' "$folder/said")" = 2 ] && grep -q 'its times are those of a simulated device' "$folder/said" ||
  fail 'it is refused elsewhere'

[ $failures -eq 0 ] && echo "all as expected"
exit $((failures > 0))
