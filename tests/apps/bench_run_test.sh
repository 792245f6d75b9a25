#!/usr/bin/env bash
# bench_run_test.sh MPIRUN RANKS TUTTI_BENCH BENCH_SCHEMA MODE - a short run with all that it can write, then a look at the files.
set -eu
mpirun=$1 ranks=$2 bench=$3 schema=$4 mode=$5
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Up to 1 KiB: above 2 KiB MPICH 4.0 crashes in its own MPI_Reduce in place where the root is not rank 0.
"$launch" "$mpirun" "$ranks" "$bench" --collective all --min 64 --max 1K --factor 4 --check --iters 3 --rounds 3 --mode "$mode" \
  --compare mpi --root $((ranks - 1)) --json "$folder/results.json" --csv "$folder/results.csv" >"$folder/stdout" 2>"$folder/stderr" ||
  { echo "tutti-bench ended with $?" >&2 && cat "$folder/stdout" "$folder/stderr" >&2 && exit 1; }
cat "$folder/stdout" "$folder/stderr"
"$schema" "$folder/results.json" "$folder/results.csv" "$ranks" "$mode"
grep -q "^# MPI: .*[0-9]" "$folder/stdout"
grep -q "^# MPI's settings: ." "$folder/stdout"
if grep -q $'\033' "$folder/stderr"; then
  echo "progress was written into a pipe" >&2
  exit 1
fi
[ "$(find "$folder" -name '*.partial' | wc -l)" = 0 ]
grep -q '^# wrong elements in all: 0$' "$folder/stdout"
# Every algorithm of every collective, on sizes that no number of ranks divides.
"$launch" "$mpirun" "$ranks" "$bench" --collective all --algorithm each --min 1000 --max 1000 --check --iters 1 --rounds 1 \
  --warmup 0 --type int16 --op max --mode "$mode" | grep '^# wrong elements in all: 0$'
# Inputs that are rewritten, calls whose number adapts.
"$launch" "$mpirun" "$ranks" "$bench" --collective allreduce,gather --min 64K --max 64K --touch --rounds 2 --warmup 1 --check \
  --transport mpi --mode "$mode"
