#!/usr/bin/env bash
# fuzz.sh FOLDER INPUTS [TARGET...] - runs the fuzzers of tests/fuzz, as many side by side as there are processors.
#   FOLDER   a build with -DTUTTI_FUZZERS=ON, where new inputs are kept (in fuzz/TARGET), and those that show a fault
#   INPUTS   how many each one tries, after those that it knows
#   TARGET   only these; else all that were built
# A line for each says how many inputs it ran, and which shows a fault. Exit code 1 if any does.
set -eu

[ "${1:-}" != --help ] && [ $# -ge 2 ] || { sed -n '2,6s/^# \?//p' "$0" && exit 2; }
sources=$(cd "$(dirname "$0")/.." && pwd)/tests/fuzz folder=$(realpath "$1") inputs=$2
shift 2
[ $# -gt 0 ] || set -- $(find "$folder/tests" -maxdepth 1 -name 'fuzz_*' -type f -executable 2>/dev/null | sed -n 's|.*/fuzz_\([a-z]*\)$|\1|p' | sort)
[ $# -gt 0 ] || { echo "fuzz.sh: there are no fuzzers in $folder/tests: cmake --build $folder --target fuzzers" >&2 && exit 2; }

fuzz() { # TARGET
  local target=$1 found=$folder/fuzz/$1 log=$folder/fuzz/$1.log faults
  local options=(-runs="$inputs" -timeout=60 -artifact_prefix="$folder/fuzz/$target." -print_final_stats=1)
  mkdir -p "$found"
  [ ! -e "$sources/dictionaries/$target.dict" ] || options+=(-dict="$sources/dictionaries/$target.dict")
  if UBSAN_OPTIONS=print_stacktrace=1 "$folder/tests/fuzz_$target" "${options[@]}" "$found" "$sources/corpus/$target" \
    >"$log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, no fault"
  else
    faults=$(sed -n 's/.*Test unit written to //p' "$log")
    echo "$target: a fault after $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs: ${faults:-see $log}"
    tail -n 40 "$log" >&2
    return 1
  fi
}
export -f fuzz
export sources folder inputs
printf '%s\n' "$@" | xargs -P "$(nproc)" -I {} bash -c 'fuzz {}' || exit 1
