#!/usr/bin/env bash
# cmake_test.sh EXAMPLE BUILD CXX MPICXX MPIRUN - the project finds what is installed from BUILD, and its program runs.
set -u
example=$1 build=$2 cxx=$3 mpicxx=$4 mpirun=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
  cmake --install "$build" --prefix "$folder/prefix" &&
    cmake -S "$example" -B "$folder/build" -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_CXX_COMPILER="$cxx" \
      -DMPI_CXX_COMPILER="$mpicxx" && cmake --build "$folder/build"
} >"$folder/log" 2>&1 || { tail -n 30 "$folder/log" >&2; exit 1; }
"$(dirname "$0")/../../scripts/mpirun.sh" "$mpirun" 2 "$folder/build/ranks_and_nodes" | tee "$folder/output"
grep -qx '2 ranks on 1 nodes' "$folder/output" && grep -q '^Tutti: ' "$folder/output"
