#!/usr/bin/env bash
# gpu_check.sh [OPTIONS] - tests and measures Tutti on a machine with NVIDIA GPUs, in one call of eight minutes at most.
#   --build DIR   where Tutti was built; default: build, else build/develop
#   --stack DIR   an MPI that knows CUDA, and UCX, as scripts/build_gpu_stack.sh makes them; default: stack beside scripts,
#                 as scripts/gpu_pack.sh packs it, else the machine's mpirun
#   --out DIR     for the results; default: gpu-check
#   --first       only the steps that matter most, in four minutes at most. A full call begins with them
#   --quick       a few tests on one and two ranks, and one size
#   --help
# Nothing is built and no setting of the machine is changed. It needs bash, GNU coreutils, grep, sed, findutils, an MPI,
# and the libraries that the programs were linked with; nvidia-smi, compute-sanitizer and libnccl.so.2 are used if they are
# there. Steps that fail are named, and the rest goes on. A step for which no time was left has failed. DIR has
# gpu-machine.md, results.json and a log of each step. The last line is "N passed, N failed, N skipped"; exit code 1 if
# anything failed.
# shellcheck disable=SC2034 # the sourced files use variables of this one
set -u

# The parts in their order: the effort that has it, its seconds, and the most seconds of one of its steps. A part may also
# use what the parts before it have left. The quick ones end in less than a minute where nothing else runs. The test of the
# kit has tables of its own.
parts='first machine     10 10
       first tests      130 40
       first conformance 30 10
       first probe       30 30
       first speed       40 20
       rest  probe       40 40
       rest  speed       80 20
       rest  sanitizer   20 20
       rest  tests      100 40
       quick machine     60 60
       quick tests      120 60
       quick conformance 60 30
       quick probe      120 90
       quick sanitizer   20 20
       quick speed      240 60'
parts=${GPU_CHECK_PARTS:-$parts}
# The names in gpu_tests.txt of the tests of an effort; the rest are the others.
first_tests='^(cuda_(driver|kernels)_test|device_(buffers|collectives|streams)_test\.p[124]|device_ipc_test\.p2)$'
quick_tests='^(cuda_driver_test|device_(buffers_test\.p[12]|counts_test\.p1))$'

command="$0 $*"
root=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n '2,15s/^# \?//p' "$0"; }
refuse() {
  echo "gpu_check: $*" >&2
  exit 2
}

build='' stack='' out=gpu-check efforts='first rest' quick=''
while [ $# -gt 0 ]; do
  case $1 in
    --build | --stack | --out)
      [ -n "${2:-}" ] || refuse "$1 wants a folder"
      case $1 in --build) build=$2 ;; --stack) stack=$2 ;; --out) out=$2 ;; esac
      shift
      ;;
    --first) efforts=first ;;
    --quick) efforts=quick quick=1 ;;
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
[ -n "$stack" ] || [ ! -e "$root/stack" ] || stack=$root/stack
[ -z "$stack" ] || [ -e "$stack/env.sh" ] || refuse "no env.sh in $stack: it is what scripts/build_gpu_stack.sh makes"
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
[ -e "$out/steps.txt" ] || [ -z "$(ls -A "$out")" ] || refuse "$out is not empty, and has no results of an earlier call"
rm -rf "$out"/{logs,driver,steps.txt,parts.txt,facts.txt,gpu-machine.md} "$out"/{probe.*,results,tuned.*,bench.*,nccl.*}.json
mkdir -p "$out"/{logs,driver}

# shellcheck source=scripts/gpu_steps.sh
source "$root/scripts/gpu_steps.sh"
# shellcheck source=scripts/gpu_parts.sh
source "$root/scripts/gpu_parts.sh"

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

# ---- the call ---------------------------------------------------------------------------------------------------

write_facts() {
  fact date "$(date -u +%FT%TZ)"
  fact command "$command"
  fact machine "$(nproc) cores, $(uname -srm)"
  [ -z "$mpirun" ] || fact MPI "$("$mpirun" --version 2>&1 | head -n 1)"
  fact settings "$(env | grep -E '^(CUDA|NCCL|UCX|OMPI_MCA|TUTTI|FAKE_CUDA|GPU_CHECK)_' | sort | paste -sd ' ')"
}

set_libraries
export TUTTI_TEST_DIGITS=$root/apps/data/digits.csv GTEST_COLOR=no
mpirun=${MPIRUN:-$(command -v mpirun || :)}
mpi_settings=() devices=1
write_facts
begin_part start 'the driver' 30
start_driver
end_part
until=$SECONDS # what the start has left is no part's
while read -r effort part seconds most <&4; do
  [[ " $efforts " == *" $effort "* ]] || continue
  begin_part "$effort" "$part" "$seconds"
  "check_$part"
  end_part
done 4<<<"$parts"
finish
