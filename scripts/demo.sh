#!/usr/bin/env bash
# demo.sh [--ranks N] [--no-install] - from nothing to a first look: about two minutes, less the second time.
#   1. installs what is missing (Debian or Ubuntu packages, as root or through sudo) and builds the two programs that it runs
#   2. measures Tutti's allreduce beside the MPI's own
#   3. trains a small neural network on N processes
#   --ranks N     processes to run on, 4 if not given
#   --no-install  uses what is there
set -eu -o pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh

ranks=4 install=1 over=
usage() { sed -n '2,7s/^# \?//p' scripts/demo.sh; }
while [ $# -gt 0 ]; do
  case $1 in
    --ranks)
      ranks=${2:-}
      [[ $ranks =~ ^[1-9][0-9]{0,3}$ ]] || { echo "demo.sh: --ranks needs a number" >&2 && exit 2; }
      shift
      ;;
    --no-install) install= ;;
    --help | -h) usage && exit 0 ;;
    *) echo "demo.sh: unknown option $1" >&2 && usage >&2 && exit 2 ;;
  esac
  shift
done

[ -z "$install" ] || ./scripts/setup.sh build

folder=${TUTTI_BUILD:-build}/demo
mkdir -p "$folder"
log=$folder.log # the folder may start over
build() { # without the parts that nothing here uses
  configure "$folder" -DCMAKE_BUILD_TYPE=Release -DTUTTI_TESTS=OFF -DTUTTI_UCX=OFF -DTUTTI_CUDA=OFF -DTUTTI_FORTRAN=OFF \
    -DTUTTI_MAN=OFF $(mpi_options openmpi) &&
    cmake --build "$folder" --target tutti-bench tutti-sgd
}
echo "Building tutti-bench and tutti-sgd in $folder (the first time takes about two minutes on two cores)"
if ! build 2>&1 | progress "$log"; then
  tail -n 40 "$log" >&2
  echo "demo.sh: the build failed; its whole output is in $log" >&2
  exit 1
fi
mpirun=(scripts/mpirun.sh "$(cached "$folder" MPIEXEC_EXECUTABLE)" "$ranks")

[ "$ranks" -le "$cores" ] || over="
They share $cores cores: small messages are slow then, for the MPI as well."
cat <<TEXT

== Allreduce on $ranks processes: Tutti beside the MPI ==
Every process has an array, and all of them get the sum of all arrays.$over
Each row is an array size. "median" is the time of a call of Tutti, the last columns are the MPI's time for the same and
"ratio", how many times faster Tutti is (below 1: slower); "?" marks a ratio that other programs or chance may have made.
"#wrong" counts wrong elements of the result.

TEXT
"${mpirun[@]}" "$folder/apps/bench/tutti-bench" --collective allreduce --min 8 --max 1M --factor 8 --placement out \
  --compare mpi --check

cat <<TEXT

== Training on $ranks processes ==
A small neural network learns to read handwritten digits. In every step each process takes its share of the images, and
Tutti's allreduce sums their gradients. "test accuracy" is over images that the training never sees, "communication" the
share of the time that went into the allreduce.

TEXT
"${mpirun[@]}" "$folder/apps/sgd/tutti-sgd" --epochs 10

cat <<TEXT

== What next ==
$folder/apps/bench/tutti-bench --help   all that can be measured
$folder/apps/sgd/tutti-sgd --help       other networks, data and algorithms
README.md                               how to build and install all of it; a first program of your own
algorithms/README.md                    how an allreduce is written, in 20 lines, and how to add one
./scripts/test.sh                       the tests
TEXT
