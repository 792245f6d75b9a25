#!/usr/bin/env bash
# soak_cli_test.sh MPIRUN TUTTI_SOAK - input that cannot be used: every rank exits with 2 and rank 0 alone says why.
set -u
mpirun=$1 soak=$2
ranks=2
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect CODE PATTERN OPTIONS...: all ranks exit with CODE; a line that matches PATTERN comes once.
expect() {
  local code=$1 pattern=$2
  shift 2
  "$launch" "$mpirun" $ranks sh -c '"$@"; echo "exit code $?"' sh "$soak" "$@" >"$folder/stdout" 2>"$folder/stderr"
  [ "$(grep -c "^exit code $code" "$folder/stdout")" = $ranks ] &&
    [ "$(cat "$folder/stdout" "$folder/stderr" | grep -c -e "$pattern")" = 1 ] && return
  echo "FAILED: tutti-soak $*: exit code $code and '$pattern' once were expected" >&2
  cat "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

expect 0 '^Usage: tutti-soak' --help
expect 0 '^tutti-soak (Tutti' --version
expect 2 "unrecognised option '--no-such-option'" --no-such-option
expect 2 "unexpected argument 'fast'" fast
expect 2 "--seconds: 'long' is not a number from 0" --seconds long
expect 2 "--calls: '0' is not an integer from 1" --calls 0
expect 2 '--seconds and --calls exclude each other' --seconds 1 --calls 1
expect 2 "--seed: '-1' is not an integer from 0" --seed -1
expect 2 '--from-call needs --seed' --from-call 12
expect 2 "--threads: '0' is not an integer from 1 to 256" --threads 0
expect 2 "--most-bytes: '12Q' is not a size" --most-bytes 12Q
expect 2 '--most-bytes: allowed: 16 to 1G' --most-bytes 8
expect 2 '--most-bytes: allowed: 16 to 1G' --most-bytes 2G
expect 2 "--collectives: 'allredcue' is none of: all, barrier, .*(did you mean allreduce?)" --collectives scan,allredcue
expect 2 "--collectives: '' has an empty item" --collectives ''
expect 2 "--modes: 'eager' is none of: all, blocking, nonblocking, persistent" --modes eager
expect 2 "--memory: 'stone' is none of: all, host, tutti, pinned, managed, device" --memory host,stone
expect 2 "--transport: 'pigeon' is none of: .*random" --transport pigeon
expect 2 "--compare: 'nccl' is none of: none, mpi" --compare nccl
expect 2 "--report: '0' is not a number" --report 0
expect 2 "--hang-after: '0' is not an integer" --hang-after 0
expect 2 "--json: cannot write '$folder/no/such/file'" --json "$folder/no/such/file"
if ! ldconfig -p | grep -q libcuda.so.1; then # in builds with CUDA and without
  expect 2 '^tutti-soak: --memory device: .*\(libcuda.so.1 was not found\|built without CUDA\)' --memory host,device
fi
exit $((failures > 0))
