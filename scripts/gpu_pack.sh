#!/usr/bin/env bash
# gpu_pack.sh BUILD FILE.tar.xz [STACK] - what scripts/gpu_check.sh needs of a build, in one archive for another machine. The
# last line printed is the command that unpacks it there, runs it, and leaves the results in the folder $OUT.
# Programs are stripped, and the libraries beside them that small systems lack (fmt, Boost, hwloc, udev, zlib). The machine
# brings the C and C++ libraries, as new as those of this one, the MPI and the driver. With STACK, a folder of
# scripts/build_gpu_stack.sh, the archive has an MPI, too.
set -eu
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
  sed -n '2,6s/^# \?//p' "$0" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1 file=$2 stack=${3:-}
refuse() {
  echo "gpu_pack: $*" >&2
  exit 2
}
[ -e "$build/gpu_tests.txt" ] || refuse "no gpu_tests.txt in $build: it is no build with CUDA and nvcc"
[ ! -e "$file" ] || refuse "$file is there already"
[[ $file =~ ^[A-Za-z0-9./_-]+\.tar\.xz$ ]] || refuse "$file: name a .tar.xz, in letters, digits and ._-"
[ -z "$stack" ] || [ -e "$stack/env.sh" ] || refuse "no env.sh in $stack: it is what scripts/build_gpu_stack.sh makes"
above=$(mktemp -d)
trap 'rm -rf "$above"' EXIT
folder=$above/gpu-kit

programs() {
  cut -d '|' -f 2 "$build/gpu_tests.txt" | sort -u
  printf '%s\n' tests/{gpu_probe,gpu_report,nccl_bench} tests/fake_cuda_{conformance_test,one_queue_test,peer} \
    apps/tutti/tutti apps/bench/tutti-bench
}

# libraries PROGRAM: those that small systems lack, but for the MPI's and the driver's.
libraries() {
  ldd "$1" | awk '$3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libcuda|libmpi|libmpich|libopen-[a-z]*|libevent[a-z_]*-[0-9.]*)\.so'
}

mkdir -p "$folder"/{scripts,apps/data,build/lib}
cp "$root"/scripts/{gpu_check,gpu_steps,gpu_parts,mpirun}.sh "$folder/scripts"
cp "$root/apps/data/digits.csv" "$folder/apps/data"
# The constants that the figures decide, which the report shows with their lines.
"$build/tests/gpu_report" --files | (cd "$root" && xargs cp --parents -t "$folder")
cp "$build/gpu_tests.txt" "$folder/build"
programs | while read -r program; do
  mkdir -p "$folder/build/$(dirname "$program")"
  strip -o "$folder/build/$program" "$build/$program"
  libraries "$build/$program" | while read -r library; do cp -uL "$library" "$folder/build/lib/"; done
done
[ -z "$stack" ] || { mkdir "$folder/stack" && cp -a "$stack"/{ompi,ucx,env.sh} "$folder/stack"; }
tar cJf "$file" -C "$above" gpu-kit
echo "$file: $(du -h "$file" | cut -f 1), $(du -sh "$folder" | cut -f 1) unpacked. There, in the folder with it, or by its path:"

# Few files come out, for ways back that take few: the page, the figures, what was printed, and the logs.
cat <<COMMAND
mkdir -p kit "\${OUT:=gpu-results}"; { tar xJf $file -C kit || python3 -c 'import tarfile; tarfile.open("$file").extractall("kit")'; } && timeout -k 9 570 kit/gpu-kit/scripts/gpu_check.sh --out kit/out >"\$OUT/gpu-check.txt" 2>&1; code=\$?; tail -n 100 "\$OUT/gpu-check.txt"; cp kit/out/gpu-machine.md kit/out/results.json "\$OUT"; tar czf "\$OUT/logs.tar.gz" -C kit/out .; (exit \$code)
COMMAND
