#!/usr/bin/env bash
# gpu_check.sh [OPTIONS] - tests and measures Tutti on a machine with NVIDIA GPUs, in one call of less than eight minutes.
#   --build DIR   where Tutti was built, or what scripts/gpu_pack.sh made of it; default: build, else build/develop
#   --stack DIR   an MPI that knows CUDA, and UCX, as scripts/build_gpu_stack.sh makes them; default: the machine's mpirun
#   --out DIR     for the results; default: gpu-check
#   --quick       a few tests on one and two ranks, and one size, in less than a minute
#   --help
# Nothing is built and no setting of the machine is changed. It needs bash, GNU coreutils, grep, sed, findutils, an MPI,
# and the libraries that the programs were linked with; nvidia-smi, compute-sanitizer and libnccl.so.2 are used if they are
# there. Steps that fail are named, and the rest goes on. DIR has results.json, results.md and a log of each step.
# The last line is "N passed, N failed, N skipped"; exit code 1 if anything failed.
# shellcheck disable=SC2317 # some functions are called by others that get their names
set -u
command="$0 $*"
root=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n '2,11s/^# \?//p' "$0"; }
refuse() {
  echo "gpu_check: $*" >&2
  exit 2
}

build='' stack='' out=gpu-check quick=''
while [ $# -gt 0 ]; do
  case $1 in
    --build | --stack | --out)
      [ -n "${2:-}" ] || refuse "$1 wants a folder"
      case $1 in --build) build=$2 ;; --stack) stack=$2 ;; --out) out=$2 ;; esac
      shift
      ;;
    --quick) quick=1 ;;
    --help | -h) usage && exit ;;
    *) refuse "unknown option $1 (see --help)" ;;
  esac
  shift
done
if [ -z "$build" ]; then
  build=$root/build
  [ -e "$build/gpu_tests.txt" ] || build=$root/build/develop
fi
[ -e "$build/gpu_tests.txt" ] || refuse "no gpu_tests.txt in $build: name a build with CUDA and nvcc by --build DIR"
[ -x "$build/tests/gpu_probe" ] || refuse "no tests/gpu_probe in $build: build the target gpu_kit"
build=$(cd "$build" && pwd)
[ -z "$stack" ] || [ -e "$stack/env.sh" ] || refuse "no env.sh in $stack: it is what scripts/build_gpu_stack.sh makes"
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
[ -e "$out/steps.txt" ] || [ -z "$(ls -A "$out")" ] || refuse "$out is not empty, and has no results of an earlier call"
rm -rf "$out"/{logs,driver,steps.txt,facts.txt,results.md} "$out"/{probe,results,bench.*,nccl.*}.json
mkdir -p "$out"/{logs,driver}

# Seconds from the beginning after which no test, and no other step, begins.
all_seconds=450 test_seconds=260
[ -z "$quick" ] || all_seconds=100 test_seconds=60
# shellcheck source=scripts/gpu_steps.sh
source "$root/scripts/gpu_steps.sh"

# ---- libraries --------------------------------------------------------------------------------------------------

# library NAME: where the loader finds it.
library() {
  local place known
  IFS=: read -ra known <<<"${LD_LIBRARY_PATH:-}"
  for place in "${known[@]}"; do
    [ -z "$place" ] || [ ! -e "$place/$1" ] || { echo "$place/$1" && return; }
  done
  place=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -F "	$1 " | head -n 1)
  [ -z "$place" ] || { echo "${place##*=> }" && return; }
  for place in /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 /usr/local/nvidia/lib64 /usr/lib/wsl/lib; do
    [ ! -e "$place/$1" ] || { echo "$place/$1" && return; }
  done
  return 1
}

set_libraries() {
  local name file
  # shellcheck disable=SC1091 # another folder's
  [ -z "$stack" ] || source "$stack/env.sh"
  [ ! -d "$build/lib" ] || export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$build/lib
  # By links in a folder of their own: the machine's other libraries must not come before those of the stack. What was
  # built beside the fake driver looks for it in the build.
  for name in libcuda.so.1 libnvidia-ml.so.1 libnccl.so.2; do
    ! file=$(library $name) || ln -s "$file" "$out/driver/$name"
  done
  if [ ! -e "$out/driver/libnccl.so.2" ]; then # of a Python package
    file=$(find /usr/lib/python3* /usr/local/lib/python3* /opt -path '*nccl/lib/libnccl.so.2' 2>/dev/null | head -n 1)
    [ -z "$file" ] || ln -s "$file" "$out/driver/libnccl.so.2"
  fi
  export LD_LIBRARY_PATH=$out/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# ---- the steps --------------------------------------------------------------------------------------------------

check_machine() {
  {
    uname -srm
    lscpu
    free -g
    df -h /dev/shm
    echo "locked memory: $(ulimit -l) KiB; ptrace: $(cat /proc/sys/kernel/yama/ptrace_scope)"
  } >"$out/logs/machine.log" 2>&1
  if command -v nvidia-smi >/dev/null; then
    step nvidia-smi 20 nvidia-smi -q
    step topology 20 nvidia-smi topo -m
    fact 'devices, driver, MIG, compute mode' "$(timeout 20 nvidia-smi \
      --query-gpu=name,driver_version,mig.mode.current,compute_mode --format=csv,noheader 2>&1 | paste -sd ';')"
  else
    record nvidia-smi skipped 0 "nvidia-smi is missing"
  fi
  mpi_settings=()
  [ -z "$stack" ] || choose_ucx
  step info 30 "$build/apps/tutti/tutti" info
  on_ranks info.p2 40 2 "$build/apps/tutti/tutti" info
}

# Open MPI moves memory of devices through UCX, if UCX can. If it cannot, it would take it for memory of the host and crash.
choose_ucx() {
  timeout 30 ucx_info -d >"$out/logs/ucx.log" 2>&1
  if grep -q 'Transport: cuda_copy' "$out/logs/ucx.log"; then
    mpi_settings=("OMPI_MCA_pml=${OMPI_MCA_pml:-ucx}" OMPI_MCA_opal_common_ucx_tls=any
      OMPI_MCA_opal_common_ucx_devices=any "UCX_MEMTYPE_CACHE=${UCX_MEMTYPE_CACHE:-n}")
    record ucx passed 0 ''
  else
    record ucx failed 0 "ucx_info lists no cuda_copy: Open MPI is measured without UCX"
  fi
}

# The questions of the probe are steps of their own.
check_probe() {
  local question state why code=0 log=$out/logs/probe.log
  timeout -k 5 150 "$build/tests/gpu_probe" ${quick:+--quick} --json "$out/probe.json" >"$log" 2>&1 || code=$?
  while IFS=: read -r question state why; do
    state=${state# }
    record "probe.${question#question }" "${state/answered/passed}" 0 "${why# }"
  done < <(grep -a '^question ' "$log")
  [ $code -le 1 ] || record probe failed 0 "$(why_of "$log" $code 150)"
  [ $code -ne 2 ] || finish # no device can be used
  devices=$(sed -n 's/^  devices  *\([0-9]*\).*/\1/p' "$log")
  devices=${devices:-1}
  fact devices "$(sed -n 's/^  device [0-9]*  *//p' "$log" | sort | uniq -c | sed 's/^ *//' | paste -sd ';')"
}

# Each test in a process of its own: one may lose the device.
check_conformance() {
  local program=$build/tests/fake_cuda_conformance_test suite='' line
  while read -r line; do
    case $line in
      *.) suite=$line ;;
      ?*)
        [ -z "$quick" ] || [ "$suite" = Identity. ] || continue
        step "conformance.$suite${line%% *}" 20 "$program" --gtest_filter="$suite${line%% *}"
        ;;
    esac
  done < <("$program" --gtest_list_tests 2>"$out/logs/conformance.log" | grep -v '^Running')
  [ -n "$suite" ] || record conformance failed 0 "no list of tests: $(tail -n 1 "$out/logs/conformance.log")"
}

# run_test NAME PROGRAM RANKS ENVIRONMENT ARGUMENTS: a line of gpu_tests.txt.
run_test() {
  local environment arguments
  read -ra environment <<<"$4"
  read -ra arguments <<<"$5"
  if [[ "$4 $5" == *ucx* ]] && ! library libucp.so.0 >/dev/null; then
    record "$1" skipped 0 "libucp.so.0 was not found"
  elif [ "$3" = 0 ]; then
    step "$1" 90 env "${environment[@]}" "$build/$2" "${arguments[@]}"
  else
    on_ranks "$1" 90 "$3" env "${environment[@]}" "$build/$2" "${arguments[@]}"
  fi
}

# First what has few ranks: if the time is short, the rest is left out.
check_tests() {
  local wanted name program ranks environment arguments until=$test_seconds
  for wanted in 0 1 2 4 8 3 ''; do
    while IFS='|' read -r name program ranks environment arguments <&3; do
      [[ $wanted = "$ranks" || ($wanted = '' && ! " 0 1 2 3 4 8 " == *" $ranks "*) ]] || continue
      [ -z "$quick" ] || [[ $name =~ ^(cuda_driver_test|device_(buffers_test.p[12]|counts_test.p1))$ ]] || continue
      run_test "$name" "$program" "$ranks" "$environment" "$arguments"
    done 3<"$build/gpu_tests.txt"
  done
}

check_sanitizer() {
  local sanitizer
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) ||
    { record sanitizer skipped 0 "compute-sanitizer is missing" && return; }
  set -- "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode 1
  step sanitizer.kernels 60 "$@" "$build/tests/device_units" --suite=kernels_test --gtest_filter='*InPlace*:*CopyOneInput*'
  on_ranks sanitizer.allreduce 60 2 "$@" "$build/tests/device_suites" --suite=device_collectives_test \
    --gtest_filter='All/DeviceCollectives.GiveTheBitsOfTheHost/allreduce'
}

# devices_of PLACE: one device that all ranks share, or one for each.
devices_of() {
  local all=${CUDA_VISIBLE_DEVICES:-$(seq -s , 0 $((devices - 1)))}
  [ "$1" = spread ] || all=${all%%,*}
  echo "$all"
}

# bench WAY COLLECTIVES PLACE RANKS: with its results checked; the direct way beside the MPI's own calls.
bench() {
  local options=(--min 1K --max 64M --factor 4 --rounds 3 --warmup 1) name=bench.$1.$3.p$4.${2/*,*/others}
  local environment=("CUDA_VISIBLE_DEVICES=$(devices_of "$3")" "${mpi_settings[@]}")
  [ -z "$quick" ] || options=(--min 4K --max 4K --rounds 1 --warmup 0 --iters 2)
  [ "$1" != staged ] || environment+=(TUTTI_DEVICE_PATH=staging)
  [ "$1" != direct ] || options+=(--compare mpi)
  [ "$1" != stream ] || options+=(--mode stream)
  on_ranks "$name" 60 "$4" env "${environment[@]}" "$build/apps/bench/tutti-bench" --memory device --placement out \
    --check --collective "$2" "${options[@]}" --json "$out/$name.json"
}

# nccl PLACE RANKS
nccl() {
  on_ranks "nccl.$1.p$2" 40 "$2" env "CUDA_VISIBLE_DEVICES=$(devices_of "$1")" "$build/tests/nccl_bench" \
    ${quick:+--quick} --json "$out/nccl.$1.p$2.json"
}

# thresholds PLACE RANKS: those by which the library chooses, measured.
thresholds() {
  local options=(--min 1K --max 4M --factor 4 --rounds 5)
  [ -z "$quick" ] || options=(--min 4K --max 16K --rounds 1 --warmup 0 --iters 2)
  on_ranks "thresholds.$1.p$2" 60 "$2" env "CUDA_VISIBLE_DEVICES=$(devices_of "$1")" "${mpi_settings[@]}" \
    "$build/apps/bench/tutti-bench" --memory device --thresholds "${options[@]}" --json "$out/thresholds.$1.p$2.json"
}

# everywhere COMMAND...: with each place and number of ranks.
everywhere() {
  local ranks
  for ranks in 2 4 8; do
    [ -z "$quick" ] || [ $ranks = 2 ] || continue
    "$@" shared $ranks
    [ $ranks -gt "$devices" ] || "$@" spread $ranks
  done
}

# The first matter most, if the time is short. A run of its own for each collective: one that is stopped leaves no results.
check_speed() {
  local collective others=broadcast,allgather,alltoall,reduce_scatter
  everywhere bench direct allreduce
  everywhere bench staged allreduce
  everywhere nccl
  everywhere bench stream allreduce
  for collective in ${quick:+$others} $([ -n "$quick" ] || echo ${others//,/ }); do
    everywhere bench direct "$collective"
  done
  everywhere bench staged $others
  everywhere thresholds
}

finish() {
  "$build/tests/gpu_report" "$out" || record report failed 0 "gpu_report failed"
  echo "results: $out/results.md"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed -eq 0 ]
  exit
}

set_libraries
export TUTTI_TEST_DIGITS=$root/apps/data/digits.csv GTEST_COLOR=no
mpirun=${MPIRUN:-$(command -v mpirun || :)}
fact date "$(date -u +%FT%TZ)"
fact command "$command"
fact machine "$(nproc) cores, $(uname -srm)"
[ -z "$mpirun" ] || fact MPI "$("$mpirun" --version 2>&1 | head -n 1)"
fact settings "$(env | grep -E '^(CUDA|NCCL|UCX|OMPI_MCA|TUTTI|FAKE_CUDA)_' | sort | paste -sd ' ')"
if [ ! -e "$out/driver/libcuda.so.1" ]; then
  echo "gpu_check: there is no CUDA driver: libcuda.so.1 was not found" >&2
  record driver failed 0 "libcuda.so.1 was not found"
  finish
fi
driver=$(readlink -f "$out/driver/libcuda.so.1")
fact driver "${driver##*/}$(! grep -q fake_cuda_counters "$driver" || echo ', the fake one of the tests: no figure means anything')"
record driver passed 0 ''
check_machine
check_probe
check_conformance
check_tests
check_sanitizer
check_speed
finish
