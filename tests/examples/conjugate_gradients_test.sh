#!/usr/bin/env bash
# conjugate_gradients_test.sh MPIRUN PROGRAM MOST_RANKS - the residuals of conjugate gradients have the same bits on any number
# of ranks with tutti::dot, and others on each number of ranks with plain sums, which shows that the test can tell.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mpirun=$1 program=$2 most=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
fail() {
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}
run() { "$here/../../scripts/mpirun.sh" "$mpirun" "$@"; }

for ranks in 1 2 3 4 8; do
  [ "$ranks" -le "$most" ] || continue
  run "$ranks" "$program" >"$folder/dot.$ranks"
  run "$ranks" "$program" plain >"$folder/plain.$ranks"
  [ "$(wc -l <"$folder/dot.$ranks")" = 40 ] || fail "$ranks ranks: no 40 residuals"
  cmp "$folder/dot.1" "$folder/dot.$ranks" || fail "$ranks ranks: other residuals than one rank"
  for other in "$folder"/plain.*; do
    [ "$other" = "$folder/plain.$ranks" ] || ! cmp -s "$other" "$folder/plain.$ranks" ||
      fail "$ranks ranks: plain sums are those of ${other##*/}"
  done
done
exit $((failures > 0))
