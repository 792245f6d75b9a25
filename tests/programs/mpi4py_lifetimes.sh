#!/usr/bin/env bash
# MPI's beginning and end in every order, by mpi4py: the table in docs/lifetimes.md.
set -eu
source "$(dirname "$0")/common.sh" "$@"
needs_mpi4py
[ -n "$preload" ] || skip "no library is preloaded, with which MPI's beginning and end could differ"

"$programs/../support/lifetimes_test.sh" "$mpirun" "preloaded: Python" "$preload" -- \
  "$python" -B "$programs/python/lifetimes.py"
