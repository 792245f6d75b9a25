#!/usr/bin/env bash
# example_test.sh SETTINGS - the project in examples/cmake finds what is installed, and its program runs.
source "$(dirname "$0")/common.sh" "$1"
configure "$sources/examples/cmake" "$folder/example" -DCMAKE_PREFIX_PATH="$prefix" &&
  cmake --build "$folder/example" >"$log" 2>&1 || fail 'examples/cmake does not build'
run 2 "$folder/example/ranks_and_nodes"
grep -qx '2 ranks on 1 nodes' "$log" && grep -q '^Tutti: ' "$log" || fail 'its program does not run'
finish
