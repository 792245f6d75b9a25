#!/usr/bin/env bash
# slurm_test.sh JOB BUILD - submits a script of slurm/ as users do, on a cluster with Slurm that is up (slurm/cluster.sh),
# and checks what it writes. "slurm_test.sh --list" names the jobs. Exit code 77: cannot be tested here, the last line says why.
set -eu
[ "$1" != --list ] || { echo bench bench_mpirun tune train train_resumed gpu gpu_missing salloc alone singletons && exit; }
job=$1 build=$(realpath "$2")
bench=$build/apps/bench/tutti-bench
slurm=$(cd "$(dirname "$0")/../../slurm" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export TUTTI_BUILD_DIR=$build OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Ranks of several nodes share the machine's cores.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
on_login() { "$slurm/cluster.sh" sh login "$@"; }

fail() {
  echo "FAILED: $job: $*" >&2
  tail -n 50 "$folder"/*.out >&2 || :
  exit 1
}

# submit SCRIPT ARGUMENTS...: waits for its end; leaves its `number`, its `state`, and the file of its `output`.
submit() {
  local answer
  answer=$(on_login sbatch "$slurm/$1" "${@:2}") || fail "sbatch: $answer"
  [[ $answer =~ ^Submitted\ batch\ job\ ([0-9]+)$ ]] || fail "sbatch says: $answer"
  number=${BASH_REMATCH[1]}
  state=PENDING
  while [[ $state =~ ^(PENDING|CONFIGURING|RUNNING|COMPLETING)$ ]]; do # sbatch --wait looks every ten seconds
    sleep 0.2
    state=$(on_login scontrol -o show job "$number" | sed 's/.* JobState=\([A-Z]*\) .*/\1/')
  done
  output=$(echo "$folder"/*-"$number".out)
  [ -e "$output" ] || fail "no output"
}
expect() { grep -qE -e "$1" "$output" || fail "'$1' is not in the output"; }
expect_state() { [ "$state" = "$1" ] || fail "state $state, $1 expected"; }
# Both nodes are in it, and each ran its ranks.
expect_job() { expect "^job $number on node\[1-2\], 4 tasks: $1"; }

expect_bench() {
  expect_state COMPLETED
  expect_job "$1"
  python3 - "$folder/tutti-bench-$number.json" <<'PYTHON' || fail "see above"
import json, sys
report = json.load(open(sys.argv[1]))
where, results = report["environment"], report["results"]
assert (where["ranks"], where["hosts"]) == (4, ["node1", "node2"]), where
assert len(results) == 8, results  # four sizes, in place and not
assert all(result["wrong"] == 0 and result["peer"]["ratio"] > 0 for result in results), results
PYTHON
}

small=(--collective allreduce --min 8 --max 32K --factor 16 --type fp32 --compare mpi --check --rounds 2)
case $job in
  bench)
    submit bench.sbatch "${small[@]}"
    expect_bench 'srun --mpi=pmix'
    ;;
  bench_mpirun)
    export TUTTI_LAUNCH=mpirun
    submit bench.sbatch "${small[@]}"
    expect_bench mpirun
    ;;
  tune)
    submit tune.sbatch --budget 0.2 --collective allreduce,barrier --max 1K
    expect_state COMPLETED
    expect_job 'srun --mpi=pmix'
    grep -q '"nodes": 2, "ppn": 2' tutti-rules-2-4.json || fail "no rules for two nodes of two ranks"
    ;;
  train | train_resumed)
    submit train.sbatch --epochs 2 --batch 64
    expect_state COMPLETED
    expect_job 'srun --mpi=pmix'
    [ -s "tutti-sgd-$number.checkpoint" ] || fail "no checkpoint"
    [ "$job" = train ] || {
      export TUTTI_CHECKPOINT=$folder/tutti-sgd-$number.checkpoint
      submit train.sbatch --epochs 3 --batch 64
      expect_state COMPLETED
      expect '[Rr]esum'
    }
    ;;
  gpu_missing)
    ! command -v nvidia-smi >/dev/null || { echo "SKIP: this machine has nvidia-smi" && exit 77; }
    submit gpu.sbatch "$build/tests/mpi_internal_suites" --suite=launch_check_test
    expect_state FAILED
    expect '^node[12]: .*nvidia-smi'
    expect '^not every node has its GPUs'
    ;;
  gpu) # with an nvidia-smi that finds some
    mkdir bin
    printf '#!/bin/sh\necho "GPU 0: a stand-in (UUID: GPU-0)"\n' >bin/nvidia-smi
    chmod +x bin/nvidia-smi
    export PATH=$folder/bin:$PATH
    submit gpu.sbatch "$build/tests/mpi_internal_suites" --suite=launch_check_test
    expect_state COMPLETED
    expect_job 'srun --mpi=pmix'
    expect '^node1: GPU 0: '
    expect '^node2: GPU 0: '
    expect '\[  PASSED  \]'
    ;;
  salloc) # the second way to start: mpirun reads the allocation
    output=$folder/salloc.out
    on_login salloc -N 2 --ntasks-per-node=2 mpirun "$bench" "${small[@]}" >"$output" 2>&1 || fail "exit code $?"
    expect '^# ranks 4, nodes 2 '
    ;;
  alone) # one process in an allocation of four is no error, in whatever way it was started
    output=$folder/alone.out
    one="$bench --collective allreduce --min 8 --max 8 --rounds 1"
    on_login salloc -N 2 --ntasks-per-node=2 bash -ec \
      "mpirun -n 1 $one; mpirun -n 1 --host node2 $one; srun --mpi=pmix -N 1 -n 1 $one" >"$output" 2>&1 ||
      fail "exit code $?"
    [ "$(grep -c '^# ranks 1, ' "$output")" = 3 ] || fail "not three runs"
    ;;
  singletons) # a process that MPI does not tell of the others, as MPICH's under --mpi=pmix
    output=$folder/singletons.out
    mpich=$build/../mpich/tests/readme_program
    [ -x "$mpich" ] || { echo "SKIP: there is no build with MPICH beside $build" && exit 77; }
    ! on_login srun --mpi=pmix -N 2 -n 4 "$mpich" >"$output" 2>&1 || fail "is not refused"
    expect "srun started 4 tasks, this is number 3, but MPI's world has 1 process: MPICH"
    # On one node: MPICH 4.0.2 with UCX over TCP hangs in one MPI_Finalize of five, also of a program without Tutti.
    on_login timeout 60 srun --mpi=pmi2 -N 1 -n 2 "$mpich" >"$output" 2>&1 || fail "pmi2: exit code $?"
    expect '^2 ranks, sum 2$'
    ;;
  *) echo "slurm_test.sh: unknown job $job" >&2 && exit 2 ;;
esac
echo "$job: as expected"
