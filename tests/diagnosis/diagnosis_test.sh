#!/usr/bin/env bash
# diagnosis_test.sh MPIRUN_SH MPIRUN PROGRAM TUTTI - a rank that computes, one that is stopped, faults that TUTTI_FAULTS makes:
# the reports, and `tutti ps` beside them.
set -u
mpirun_sh=$1 mpirun=$2 program=$3 tutti=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
export ASAN_OPTIONS=detect_leaks=0

fail() {
  echo "FAILED: $*" >&2
  head -c 4000 "$folder/out" "$folder/err" >&2
  failures=$((failures + 1))
}
# has FILE PATTERN WHAT: a line matches. times COUNT FILE PATTERN WHAT: so many do.
has() { grep -q -e "$2" "$folder/$1" || fail "$3: no line with '$2'"; }
times() { [ "$(grep -c -e "$3" "$folder/$2")" = "$1" ] || fail "$4: not $1 lines with '$3'"; }
# wait_for FILE PATTERN: until a line matches, for as long as a busy machine may take.
wait_for() {
  local looks
  for ((looks = 0; looks < 600; ++looks)); do
    ! grep -q -e "$2" "$folder/$1" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}
start() { "$mpirun_sh" "$mpirun" 3 "$program" "$@" >"$folder/out" 2>"$folder/err" & }
pid_of_rank() { "$tutti" ps --json | python3 -c "import json, sys
for job in json.load(sys.stdin)['jobs']:
  if job['program'] == 'stuck_program':
    print(*[rank['pid'] for rank in job['ranks'] if rank['rank'] == $1])"; }

# A rank that computes.
export TUTTI_HANG_SECONDS=1
start late 6
wait_for err 'waited for' || fail "no report of a rank that computes"
"$tutti" ps >"$folder/ps" 2>&1 || fail "tutti ps"
"$tutti" ps --json --calls 2 >"$folder/json" || fail "tutti ps --json"
wait
has err 'rank 0 of 3 has waited for .* in allreduce #1 of 1000 fp32, sum' "the report"
has err 'rank 1: has not come: its last call was broadcast #0 of 1000 fp32 from rank 0' "the report"
has err 'rank 0 waits for 1; rank 1 has not come\|rank 0 waits for 2, 2 for 1; rank 1 has not come' "the chain"
times 1 err 'has waited for' "one rank reports"
times 3 out 'the sum is 3' "the call goes on"
has ps 'stuck_program: 3 of 3 ranks' "tutti ps"
has ps '^  1 .* over  *broadcast #0 of 1000 fp32 from rank 0' "tutti ps"
has ps '^  0 .* inside  *allreduce #1 of 1000 fp32, sum' "tutti ps"
python3 -c "import json
job, = [job for job in json.load(open('$folder/json'))['jobs'] if job['program'] == 'stuck_program']
assert [rank['rank'] for rank in job['ranks']] == [0, 1, 2], job
assert job['world_size'] == 3
assert [call['call'] for call in job['ranks'][0]['calls']] == ['allreduce', 'broadcast'], job
assert job['ranks'][1]['calls'][0]['state'] == 'over'" || fail "tutti ps --json"

# A long message that moves all the time is no hang, though it takes longer.
start slow 3
wait
times 3 out 'the sum is 3' "a long message"
times 0 err 'has waited for' "a long message"

# One that does not come to make a communicator.
start apart 3
wait_for err 'has waited' || fail "no report of a communicator that is not made"
"$tutti" ps >"$folder/ps"
wait
has err 'rank 0 of 3 has waited for .* for all ranks to make a communicator' "the report of a communicator"
has err 'rank 1: has not come: its last call was broadcast #0 .*; the process runs' "the report of a communicator"
times 1 err 'has waited for' "one rank reports"
times 3 out 'the sum is 3' "the communicator is made"
has ps '^  0 .* inside  *the making of a communicator  *3 ranks' "tutti ps"

# A rank that is stopped.
start stop
wait_for err 'the process is stopped' || fail "no report of a stopped rank"
stopped=$(pid_of_rank 1)
"$tutti" ps "$stopped" >"$folder/ps"
has ps "^  1 *$stopped *stopped" "tutti ps of a stopped rank"
kill -CONT "$stopped" || fail "no rank 1 was found"
wait
times 3 out 'the sum is 3' "the call goes on after SIGCONT"

# The same, and MPI_Abort after the report.
TUTTI_HANG_ACTION=abort start late 60
wait $! && fail "TUTTI_HANG_ACTION=abort: the job ended well"
has err 'has waited for' "TUTTI_HANG_ACTION=abort"
TUTTI_HANG_ACTION=stop start late 1
wait $! && fail "TUTTI_HANG_ACTION=stop was taken"
has err "TUTTI_HANG_ACTION is 'stop'; allowed: wait, abort" "TUTTI_HANG_ACTION=stop"

# The log has the report, too.
TUTTI_LOG_FILE=$folder/log.%h.%p start late 3
wait
cat "$folder"/log.* >"$folder/log"
has log 'has waited for' "TUTTI_LOG_FILE"
has err 'has waited for' "TUTTI_LOG_FILE"

# Files of the same name that are none of Tutti's: empty, and of zeros.
python3 - "$tutti" <<'PY' >"$folder/out" 2>"$folder/err" || fail "tutti ps beside other files"
import os, subprocess, sys
empty, zeros = os.memfd_create("tutti"), os.memfd_create("tutti")
os.ftruncate(zeros, 1 << 20)
sys.exit(subprocess.run([sys.argv[1], "ps"]).returncode)
PY

# tutti ps refuses, and finds nothing when the job is over.
"$tutti" ps 999999999 >"$folder/out" 2>"$folder/err" && fail "tutti ps 999999999"
"$tutti" ps $$ >"$folder/out" 2>"$folder/err" && fail "tutti ps of a shell"
has err 'uses no communicator of Tutti' "tutti ps of a shell"
! pgrep -x stuck_program >/dev/null || fail "processes are left"

# Faults that are made on purpose. with FAULTS ARGUMENTS...
with() {
  TUTTI_FAULTS=$1 timeout 60 "$mpirun_sh" "$mpirun" 3 "$program" "${@:2}" >"$folder/out" 2>"$folder/err"
}
with 'delay:rank=1,message=5,milliseconds=300;delay:rank=2,message=9,milliseconds=300' endure 100 100
times 3 out 'all calls are over' "delayed messages"
times 3 out 'a later call went on' "delayed messages"
for fault in drop corrupt; do
  with "$fault:rank=1,message=51" endure 1000000 100
  times 3 out '^rank [0-9]: told in call' "$fault"
  has out 'receive from rank 1: .* where .* expected.*a message was lost or damaged' "$fault"
  times 3 out '^rank [0-9], later: .*unusable' "$fault"
done
with 'drop:rank=1,peer=0,message=1' leave # nothing that rank 1 sends later would tell
has out 'rank 0: .*a message from rank 1 for step [0-9]* has been lost' "a message that is lost"
with 'allocation:rank=1,plan=2' endure 1000 100
has out 'rank 1: refused: .*no memory' "an allocation that fails"
has out 'rank 1 called barrier #1' "the call after it"
for wrong in junk kill kill:rank=1 kill:rank=x,message=1 kill:rank=1,message=9-2 kill:rank=1,message=0 \
  delay:rank=1,message=2,plan=1 seed=-1; do
  with "$wrong" endure 1 1 && fail "TUTTI_FAULTS=$wrong was taken"
  has err "environment variable TUTTI_FAULTS has '$wrong'; allowed" "TUTTI_FAULTS=$wrong"
done
exit $((failures > 0))
