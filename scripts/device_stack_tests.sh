#!/usr/bin/env bash
# device_stack_tests.sh BUILD MPI [UCX] - the tests on device buffers with an Open MPI that knows CUDA, over the fake driver.
#   BUILD   a build with Open MPI 4 or 5 that has the tests
#   MPI     the folder of the other Open MPI: bin/mpirun, lib/libmpi.so.40
#   UCX     the folder of a UCX with CUDA for it: lib/libucp.so.0. Without it the MPI's own way, pml ob1, is taken
# Prints a line for each suite. Exit code 1 if one failed, 2 if something is missing.
set -eu
fail() { echo "device_stack_tests.sh: $*" >&2 && exit 2; }
[ $# -ge 2 ] && [ $# -le 3 ] || { sed -n '2,6s/^# \?//p' "$0" >&2 && exit 2; }
build=$(realpath "$1") mpi=$(realpath "$2") ucx=${3:+$(realpath "$3")}
[ -x "$mpi/bin/mpirun" ] || fail "there is no $mpi/bin/mpirun"
[ -e "$build/tests/fake_cuda/libcuda.so.1" ] || fail "$build has no fake driver: build the target fake_cuda"
[ -x "$build/tests/device_suites" ] || fail "$build has no tests/device_suites"

export OPAL_PREFIX=$mpi PRTE_PREFIX=$mpi PMIX_PREFIX=$mpi PATH=$mpi/bin:$PATH
export LD_LIBRARY_PATH=$build/tests/fake_cuda:$mpi/lib${ucx:+:$ucx/lib}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mca_base_component_show_load_errors=0
export FAKE_CUDA_ABORT=1 GTEST_COLOR=no
way=(--mca pml ob1)
[ -z "$ucx" ] || way=(--mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failures=0

# run RANKS SUITE [VARIABLE=VALUE ...]
run() {
  local ranks=$1 suite=$2 code=0 start=$SECONDS
  shift 2
  env TUTTI_TRANSPORT=mpi "$@" timeout -k 5 600 mpirun -n "$ranks" --oversubscribe --bind-to none \
    --mca mpi_yield_when_idle 1 "${way[@]}" "$build/tests/device_suites" --suite="$suite" >"$log" 2>&1 || code=$?
  if [ $code -eq 0 ]; then
    echo "passed: $suite, $ranks ranks${*:+, $*} ($(grep -c '^\[ *OK' "$log") tests, $((SECONDS - start)) s)"
  else
    echo "FAILED: $suite, $ranks ranks${*:+, $*} (exit code $code)"
    grep -E 'Failure|FAILED|fake_cuda|ERROR|error|rank [0-9]+:' "$log" | head -n 20
    failures=1
  fi
}

late=(FAKE_CUDA_DELAY_US=100 FAKE_CUDA_RACE=1)
for suite in device_far_test device_collectives_test; do
  run 2 $suite TUTTI_DEVICE_PATH=mpi
  run 3 $suite TUTTI_DEVICE_PATH=mpi FAKE_CUDA_DEVICES=3
  run 4 $suite TUTTI_TRANSPORT=auto TUTTI_NODES=0,0,1,1
  run 3 $suite TUTTI_DEVICE_PATH=mpi "${late[@]}"
  run 3 $suite TUTTI_TRANSPORT=auto TUTTI_NODES=0,1,0 "${late[@]}"
done
run 2 device_far_test TUTTI_DEVICE_PATH=mpi TUTTI_PROGRESS_THREAD=1
run 2 device_far_test TUTTI_DEVICE_PATH=mpi TUTTI_MESSAGE_LIMIT=100000
[ $failures -eq 0 ] && echo "all passed"
exit $failures
