#!/usr/bin/env bash
# diagnosis_test.sh MPIRUN_SH MPIRUN PROGRAM TUTTI [KILLS] - a rank that computes, one that is stopped, ranks that are killed:
# the reports, `tutti ps` beside them, and what is left behind.
set -u
mpirun_sh=$1 mpirun=$2 program=$3 tutti=$4 kills=${5:-6}
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

# A rank that is stopped.
start late 3
for ((looks = 0; looks < 300; ++looks)); do
  stopped=$(pid_of_rank 1)
  [ -z "$stopped" ] || break
  sleep 0.1
done
kill -STOP "$stopped" || fail "no rank 1 was found"
wait_for err 'the process is stopped' || fail "no report of a stopped rank"
"$tutti" ps "$stopped" >"$folder/ps"
has ps "^  1 *$stopped *stopped" "tutti ps of a stopped rank"
kill -CONT "$stopped"
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

# tutti ps refuses, and finds nothing when the job is over.
"$tutti" ps 999999999 >"$folder/out" 2>"$folder/err" && fail "tutti ps 999999999"
"$tutti" ps $$ >"$folder/out" 2>"$folder/err" && fail "tutti ps of a shell"
has err 'uses no communicator of Tutti' "tutti ps of a shell"
! pgrep -x stuck_program >/dev/null || fail "processes are left"

# Killed ranks. Open MPI 4 can be told to leave the others alone.
if "$mpirun" --version 2>&1 | grep -q 'Open MPI) 4'; then
  export OMPI_MCA_orte_enable_recovery=1 OMPI_MCA_orte_abort_on_non_zero_status=0
  before=$(ls /dev/shm | grep -c tutti)
  for ((kill = 0; kill < kills; ++kill)); do
    count=$((kill % 2 ? 100000 : 10)) call=$((RANDOM % 100))
    timeout 60 "$mpirun_sh" "$mpirun" 3 "$program" die $call $count >"$folder/out" 2>"$folder/err"
    for rank in 0 2; do
      has out "^rank $rank: .*rank 1 (process [0-9]* on .*) has ended" "killed before call $call of $count"
      has out "^rank $rank, later: .*unusable" "killed before call $call of $count"
    done
  done
  [ "$(ls /dev/shm | grep -c tutti)" = "$before" ] || fail "/dev/shm has new files"
  ! pgrep -x stuck_program >/dev/null || fail "survivors are left"
fi
exit $((failures > 0))
