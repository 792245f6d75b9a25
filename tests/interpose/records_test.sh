#!/usr/bin/env bash
# records_test.sh MPIRUN LIBRARY PROGRAM - what is recorded of a preloaded program (recorded_program): elements that have
# bytes which hold nothing, and calls before MPI_Abort.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mpirun=$1 library=$2 program=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: $1" >&2
  head -c 3000 "$folder/text" >&2
  failures=$((failures + 1))
}
# run SETTING ARGUMENTS...: the program on two ranks; its output is in the file text.
run() {
  timeout 60 "$here/../../scripts/mpirun.sh" "$mpirun" 2 env "$1" TUTTI_INTERPOSE=all "LD_PRELOAD=$library" "$program" \
    "${@:2}" >"$folder/text" 2>&1
}

if ! run "TUTTI_BITS=record:$folder/bits" gaps 0 || grep -q 'no call is served' "$folder/text"; then
  grep -q xxHash "$folder/text" || fail 'gaps, recorded'
  echo 'SKIP: this build records no bits'
  exit $failures
fi
run "TUTTI_BITS=compare:$folder/bits" gaps 171 || fail 'gaps, compared'
grep -q "^tutti: bits: no difference in 18 calls of 2 ranks from the record in '.*'; 14 calls were not compared\$" "$folder/text" ||
  fail 'other bytes in gaps: no difference expected, and 14 of 18 calls not compared'
run "TUTTI_BITS=compare:$folder/bits" gaps 171 x || fail 'gaps and another number, compared'
grep -q "^tutti: bits: 2 of 18 calls of 2 ranks differ" "$folder/text" || fail 'another number: a difference expected'

# A file of bits has a header of 256 bytes, a record for the communicator, and two for each call.
run "TUTTI_BITS=record:$folder/aborted" abort && fail 'MPI_Abort: another exit code than 0 expected'
[ "$(stat -c %s "$folder/aborted/rank.0.tutti-bits")" -ge $((256 + 11 * 128)) ] || fail 'MPI_Abort: bits are lost'
run "TUTTI_TRACE=$folder/traced" abort && fail 'MPI_Abort with a trace: another exit code than 0 expected'
[ "$(stat -c %s "$folder"/traced/*.0.tutti-trace)" -gt 1024 ] || fail 'MPI_Abort: the trace is lost'
# Without MPI_Finalize, of which mpirun may complain.
run "TUTTI_BITS=record:$folder/left" exit
[ "$(stat -c %s "$folder/left/rank.1.tutti-bits")" -ge $((256 + 11 * 128)) ] || fail 'exit: bits are lost'
run "TUTTI_TRACE=$folder/left" exit
[ "$(stat -c %s "$folder"/left/*.1.tutti-trace)" -gt 1024 ] || fail 'exit: the trace is lost'
exit $((failures > 0))
