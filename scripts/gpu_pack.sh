#!/usr/bin/env bash
# gpu_pack.sh BUILD DIR - what scripts/gpu_check.sh needs of a build, in the new folder DIR, to be carried to another machine.
# There: DIR/scripts/gpu_check.sh. Programs are stripped, and the libraries beside them that small systems lack (fmt, Boost,
# hwloc). The machine brings the C and C++ libraries, as new as those of this one, the MPI (or --stack) and the driver.
set -eu
if [ $# -ne 2 ] || [ "$1" = --help ]; then
  sed -n '2,4s/^# \?//p' "$0" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1 folder=$2
[ -e "$build/gpu_tests.txt" ] || { echo "gpu_pack: no gpu_tests.txt in $build: it is no build with CUDA and nvcc" >&2 && exit 2; }
[ ! -e "$folder" ] || { echo "gpu_pack: $folder is there already" >&2 && exit 2; }

programs() {
  cut -d '|' -f 2 "$build/gpu_tests.txt" | sort -u
  printf '%s\n' tests/{gpu_probe,gpu_report,nccl_bench,fake_cuda_conformance_test} apps/tutti/tutti apps/bench/tutti-bench
}

# libraries PROGRAM: those that small systems lack, but for the MPI's and the driver's.
libraries() {
  ldd "$1" | awk '$3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libz|libudev|libcuda|libmpi|libmpich|libopen-[a-z]*|libevent[a-z_]*-[0-9.]*)\.so'
}

mkdir -p "$folder"/{scripts,apps/data,build/lib}
cp "$root"/scripts/{gpu_check.sh,gpu_steps.sh,mpirun.sh} "$folder/scripts"
cp "$root/apps/data/digits.csv" "$folder/apps/data"
cp "$build/gpu_tests.txt" "$folder/build"
programs | while read -r program; do
  mkdir -p "$folder/build/$(dirname "$program")"
  strip -o "$folder/build/$program" "$build/$program"
  libraries "$build/$program" | while read -r library; do cp -uL "$library" "$folder/build/lib/"; done
done
du -sh "$folder"
