#!/usr/bin/env bash
# mpi4py's own tests of collectives, communicators, operations, requests and datatypes. They come with its sources, of
# the same version: scripts/setup.sh mpi4py FOLDER. The variable MPI4PY_TESTS names the folder.
set -eu
source "$(dirname "$0")/common.sh" "$@"
needs_mpi4py
tests=${MPI4PY_TESTS:-$programs/../../build/test/mpi4py}/test
[ -e "$tests/runtests.py" ] || skip "mpi4py's tests are not in $tests: scripts/setup.sh mpi4py FOLDER"

# With more ranks than cores the large part that tests communicators between groups takes minutes.
parts='test_(cco|comm|op|request|msg|err|exc|attr|datatype|util|thread|objmodel|pickle|status|group)'
run "$python" -B -W ignore "$tests/runtests.py" -q --no-builddir -i "$parts"
# mpirun passes on whatever a rank has written, also half a line, and then another rank's: words are counted, not lines.
oks=$(grep -o 'OK' errors | wc -l)
[ "$oks" -eq "$ranks" ] || fail "not all ranks said OK, but $oks"
count=$(grep -oE 'Ran [0-9]+ tests' errors | sort | uniq -c | awk '{ print $3 }')
[ "${count:-0}" -gt 900 ] || fail "few tests ran: $count"
grep -vE '^(OK|Ran |-*$|\[)' errors >rest || :
mv rest errors
passed "mpi4py's suite: $count tests on each of $ranks ranks, OK"
