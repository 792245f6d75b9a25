#!/usr/bin/env bash
# Our script in Python: every collective of mpi4py, of buffers and of objects.
set -eu
source "$(dirname "$0")/common.sh" "$@"
needs_mpi4py

run "$python" -B "$programs/python/collectives.py"
found=$(grep "^mpi4py: [1-9][0-9]* checks on $ranks ranks, 0 wrong" output) || fail "no verdict"
passed "$found"
