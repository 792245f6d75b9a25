#!/usr/bin/env bash
# ctypes_test.sh MPIRUN LIBRARY EXAMPLE - Python calls Tutti on two ranks. Skipped (status 77) without mpi4py, or if
# it is made for another MPI than the library.
set -u
mpirun=$1 library=$2 example=$3
skip() { echo "SKIP: $*"; exit 77; }

for python in python3 /usr/bin/python3 none; do
  [ "$python" != none ] || skip 'python3-mpi4py is missing'
  module=$("$python" -c 'import mpi4py, glob, os; print(glob.glob(os.path.dirname(mpi4py.__file__) + "/MPI*.so")[0])' \
    2>/dev/null) && break
done
mpi_of() { ldd "$1" | grep -oE 'libmpi(ch)?\.so[.0-9]*' | head -n 1; }
[ "$(mpi_of "$module")" = "$(mpi_of "$library")" ] ||
  skip "mpi4py is made for $(mpi_of "$module"), the library for $(mpi_of "$library")"

output=$("$(dirname "$0")/../../scripts/mpirun.sh" "$mpirun" 2 "$python" "$example" "$library" 2>&1)
status=$?
echo "$output"
[ $status -eq 0 ] && grep -qF "sum of sums [2.0, 6.0, 10.0, 14.0, 18.0]" <<<"$output" &&
  grep -qF "argument 'out' is null" <<<"$output"
