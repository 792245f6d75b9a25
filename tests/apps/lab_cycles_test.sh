#!/usr/bin/env bash
# lab_cycles_test.sh TIMES PROGRAM [slurm] - brings the several-node lab up, runs a program of 4 ranks on 2 nodes, ends the
# lab, TIMES times: each time all works, and nothing is left. Even cycles have other nodes and Slurm, if that is given.
set -eu
times=$1 program=$2 slurm=${3:+--slurm}
source "$(dirname "$0")/lab_support.sh"

cycle() {
  if [ $(($1 % 2)) = 1 ]; then
    cluster up 2
    cluster run -np 4 "$program"
  else
    cluster up 3 --cores 2 --rate 2gbit $slurm
    cluster run --map 1,2,1 --by node "$program"
    [ -z "$slurm" ] || cluster sh login srun --mpi=pmix -N 2 --ntasks-per-node=2 "$program"
  fi
  note_namespaces
  cluster down
}

for ((i = 1; i <= times; ++i)); do
  # In a shell of its own: where "||" follows, a function goes on after a command that failed.
  bash -c "set -eu; $(declare -f cycle cluster note_namespaces); $(declare -p lab script program slurm scratch); cycle $i" \
    >"$scratch/output" 2>&1 || { cat "$scratch/output" >&2 && fail "cycle $i of $times"; }
  [ "$(wc -l <"$scratch/namespaces")" -ge 15 ] || fail "cycle $i: only these namespaces: $(cat "$scratch/namespaces")"
  expect_nothing_left "cycle $i of $times"
done
echo "$times cycles of up, run, down: 0 failed, nothing left"
