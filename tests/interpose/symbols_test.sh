#!/usr/bin/env bash
# symbols_test.sh LIBRARY FORTRAN_LIST C_LISTS... - the library exports the functions of the lists for C, and nothing else but
# those functions, and the ones of the list for Fortran, in the forms in which Fortran's compilers name them.
set -u
library=$1 fortran=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# same EXPECTED FOUND WHAT: two sorted lists.
same() {
  diff "$1" "$2" && return
  echo "FAILED: $3: < are in the lists and not exported, > are exported and not in the lists" >&2
  failures=$((failures + 1))
}

nm -DC --defined-only "$library" | awk '{ print $NF }' | sort -u >"$folder/exported"
grep -hv '^#' "$@" | sort -u >"$folder/c"
grep '^MPI_[A-Z][a-z]' "$folder/exported" >"$folder/exported_c"
same "$folder/c" "$folder/exported_c" 'names in C'

# "MPI_SCAN", "mpi_scan", "mpi_scan_", "mpi_scan__" and "mpi_scan_f08_" are MPI_Scan.
grep -hv '^#' "$@" "$fortran" | grep -v '_c$' | tr '[:upper:]' '[:lower:]' | sort -u >"$folder/fortran"
grep -v '^MPI_[A-Z][a-z]' "$folder/exported" | tr '[:upper:]' '[:lower:]' | sed -E 's/_+$//; s/_f08$//' |
  sort -u >"$folder/exported_fortran"
[ ! -s "$folder/exported_fortran" ] || same "$folder/fortran" "$folder/exported_fortran" 'names in Fortran'
exit $((failures > 0))
