#!/usr/bin/env bash
# symbols_test.sh LIBRARY C_LIST... -- FORTRAN_LIST... - the library exports the functions of the lists for C, those of the
# lists for Fortran in the forms in which its compilers name them, and nothing else.
set -u
library=$1
shift
c_lists=()
while [ "$1" != -- ]; do
  c_lists+=("$1")
  shift
done
shift # the others are for Fortran
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
grep -hv '^#' "${c_lists[@]}" | sort -u >"$folder/c"
grep '^MPI_[A-Z][a-z]' "$folder/exported" >"$folder/exported_c"
same "$folder/c" "$folder/exported_c" 'names in C'

# "MPI_SCAN", "mpi_scan", "mpi_scan_", "mpi_scan__" and "mpi_scan_f08_" are MPI_Scan.
grep -hv '^#' "$@" | grep -v '_c$' | tr '[:upper:]' '[:lower:]' | sort -u >"$folder/fortran"
grep -v '^MPI_[A-Z][a-z]' "$folder/exported" | tr '[:upper:]' '[:lower:]' | sed -E 's/_+$//; s/_f08$//' |
  sort -u >"$folder/exported_fortran"
same "$folder/fortran" "$folder/exported_fortran" 'names in Fortran'
exit $((failures > 0))
