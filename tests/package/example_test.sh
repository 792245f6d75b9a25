#!/usr/bin/env bash
# example_test.sh SETTINGS - the projects in examples/cmake and examples/algorithm find what is installed, and work.
source "$(dirname "$0")/common.sh" "$1"
configure "$sources/examples/cmake" "$folder/example" -DCMAKE_PREFIX_PATH="$prefix" &&
  cmake --build "$folder/example" >"$log" 2>&1 || fail 'examples/cmake does not build'
run 2 "$folder/example/ranks_and_nodes"
grep -qx '2 ranks on 1 nodes' "$log" && grep -q '^Tutti: ' "$log" || fail 'its program does not run'

# A library of algorithms, and the tool that was installed.
configure "$sources/examples/algorithm" "$folder/algorithm" -DCMAKE_PREFIX_PATH="$prefix" &&
  cmake --build "$folder/algorithm" >"$log" 2>&1 || fail 'examples/algorithm does not build'
if [ -x "$prefix/bin/tutti" ]; then
  TUTTI_ALGORITHMS=$folder/algorithm/libtorus.so "$prefix/bin/tutti" verify allreduce torus --quick >"$log" 2>&1 ||
    fail 'its algorithm is not proved'
fi
finish
