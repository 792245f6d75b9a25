#!/usr/bin/env bash
# environment_cli_test.sh MPIRUN PROGRAM - variables that Tutti does not know are told once; values that it cannot use end
# every rank, whichever rank has them.
set -u
mpirun=$1 program=$2
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  cat "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

# two SETTINGS...: the program on two ranks.
two() { timeout 120 "$launch" "$mpirun" 2 env "$@" "$program" >"$folder/stdout" 2>"$folder/stderr"; }
warnings() { grep -c 'unknown environment variable' "$folder/stderr"; }

two TUTTI_ALGORITM=ring || fail 'an unknown variable: exit code 0 expected'
[ "$(warnings)" = 1 ] || fail 'TUTTI_ALGORITM=ring: not one warning'
grep -q 'without effect: TUTTI_ALGORITM (did you mean TUTTI_ALGORITHM, TUTTI_ALGORITHMS?)$' "$folder/stderr" || fail TUTTI_ALGORITM=ring
two TUTTI_XYZ=1 TUTTI_NODE=0,0 || fail 'two unknown variables: exit code 0 expected'
[ "$(warnings)" = 1 ] || fail 'two unknown variables: not one line'
grep -q 'TUTTI_NODE (did you mean TUTTI_NODES?), TUTTI_XYZ$' "$folder/stderr" || fail 'TUTTI_XYZ and TUTTI_NODE'
two TUTTI_TEST_NODES=2 TUTTI_BUILD=build TUTTI_ALGORITHM=ring || fail 'known variables'
[ "$(warnings)" = 0 ] || fail 'known variables: a warning'

for setting in TUTTI_TEST_TAG_UB=abc TUTTI_TEST_TAG_UB=12 TUTTI_TEST_TAG_UB= TUTTI_MESSAGE_LIMIT=1G TUTTI_PLAN_CACHE=0 \
  TUTTI_PROGRESS_THREAD=yes TUTTI_NVTX=yes TUTTI_TRACE_LIMIT=1M TUTTI_STAGING=nowhere TUTTI_TRANSPORT=pigeon TUTTI_NODES=0,b TUTTI_SOCKETS=0,0,0; do
  two "$setting" && fail "$setting: exit code 0"
  grep -q "${setting%%=*} is '${setting#*=}'; allowed" "$folder/stderr" || fail "$setting"
done
two TUTTI_ALGORITHM=rign && fail 'TUTTI_ALGORITHM=rign: exit code 0'
grep -q '(did you mean ring?)' "$folder/stderr" || fail 'TUTTI_ALGORITHM=rign'
two TUTTI_ALGORITHM=allredcue=ring && fail 'TUTTI_ALGORITHM=allredcue=ring: exit code 0'
grep -q '(did you mean allreduce?)' "$folder/stderr" || fail 'TUTTI_ALGORITHM=allredcue=ring'
two TUTTI_STAGING=devcie && fail 'TUTTI_STAGING=devcie: exit code 0'
grep -q '(did you mean device?)' "$folder/stderr" || fail 'TUTTI_STAGING=devcie'

# One rank alone has it.
timeout 120 "$launch" "$mpirun" 2 sh -c '
  case ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} in 1) export TUTTI_TEST_TAG_UB=abc ;; esac
  exec "$1"' sh "$program" >"$folder/stdout" 2>"$folder/stderr"
code=$?
[ $code != 0 ] && [ $code != 124 ] || fail "TUTTI_TEST_TAG_UB=abc on rank 1 (exit code $code)"
grep -q "rank 1: environment variable TUTTI_TEST_TAG_UB is 'abc'; allowed: 32767 to" "$folder/stderr" ||
  fail 'TUTTI_TEST_TAG_UB=abc on rank 1'
exit $((failures > 0))
