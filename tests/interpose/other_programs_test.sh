#!/usr/bin/env bash
# other_programs_test.sh LIBRARY [OTHER_MPICXX OTHER_MPIRUN CALLS_PROGRAM_SOURCE] - the library preloaded into programs that
# it is not for: those without MPI do what they always do; those of another MPI end at the start with one line.
set -u
here=$(cd "$(dirname "$0")" && pwd)
library=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
fail() {
  echo "FAILED: $1" >&2
  cat "$folder"/*.txt >&2
  failures=$((failures + 1))
}

# same_as_ever COMMAND...: the same output and exit status with the library as without it.
same_as_ever() {
  "$@" >"$folder/expected.txt" 2>&1
  local expected=$?
  LD_PRELOAD=$library "$@" >"$folder/found.txt" 2>&1
  local found=$?
  [ $found = $expected ] && cmp -s "$folder/expected.txt" "$folder/found.txt" ||
    fail "'$*' with the library: exit status $found, not $expected, or another output"
}
same_as_ever ls /
same_as_ever ls /nowhere
same_as_ever bash -c 'echo one; (echo two; exit 3); echo $?; exit 4'

if [ $# -lt 4 ]; then
  echo "no other MPI is installed: only programs without MPI were tried" >&2
  exit $((failures > 0))
fi
mpicxx=$2 mpirun=$3 source=$4
"$mpicxx" "$source" -o "$folder/program" || fail "$mpicxx does not compile"
case $("$mpirun" --version 2>&1) in
  *'Open MPI'* | *OpenRTE* | *PRRTE*) options=(-x "LD_PRELOAD=$library") ;;
  *) options=(-genv LD_PRELOAD "$library") ;;
esac
timeout 60 "$here/../../scripts/mpirun.sh" "$mpirun" 2 "${options[@]}" "$folder/program" >"$folder/found.txt" 2>&1
status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] && [ "$(grep -c '^tutti:' "$folder/found.txt")" = 1 ] &&
  grep -q '^tutti: this program runs on .*, but the preloaded libtutti_mpi.so was built for ' "$folder/found.txt" &&
  ! grep -qi 'segmentation\|results are right' "$folder/found.txt" ||
  fail "a program of another MPI has to end with one line (exit status $status)"
exit $((failures > 0))
