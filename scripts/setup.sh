#!/usr/bin/env bash
# setup.sh KIND [FOLDER] - installs Debian's or Ubuntu's packages that are missing (apt, as root or with sudo).
#   build     what building and running the apps needs
#   lab       what slurm/cluster.sh needs, Slurm included (it starts its own; Debian also starts a munge service)
#   programs  what tests/programs runs: a Fortran compiler, hpcc, mpi4py, ScaLAPACK's tests (35 MB), LAMMPS (70 MB)
#   test      build, lab, programs, and what scripts/test.sh needs: MPICH, UCX, clang, clang-format, clang-tidy
#   simgrid   SimGrid, a referee of the network simulator: 65 MB
#   cuda      nvcc and CUDA's headers into FOLDER, if no toolkit is installed: Python packages, 250 MB
#   ucx       a UCX with CUDA, for tests, into FOLDER/libucx: a Python package, 150 MB
#   mpi4py    the tests of the mpi4py that is installed, into FOLDER: the sources of a Python package, 5 MB
#   python    what builds and tests Tutti's Python package, into FOLDER, a virtual environment: 120 MB
#   torch     PyTorch for the CPU, with what the Python package needs, into FOLDER, a virtual environment: 1 GB or, where
#             only the wheel with CUDA is to be had, 5.5 GB
# That one of the last five cannot be had is no error. Silent when nothing is missing.
# Exit code 2: something is missing and cannot be installed.
set -eu

build=(g++ cmake ninja-build libopenmpi-dev openmpi-bin libboost-dev libboost-program-options-dev libfmt-dev
       libhwloc-dev libxxhash-dev libpugixml-dev libopenblas-serial-dev libopenblas0 nlohmann-json3-dev help2man)
lab=(util-linux iproute2 slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)
programs=(gfortran hpcc python3-mpi4py scalapack-mpi-test lammps)
test=("${build[@]}" "${lab[@]}" "${programs[@]}" libgtest-dev libgmock-dev libmpich-dev mpich libucx-dev
      clang clang-format clang-tidy python3 dpkg-dev file groff-base pkg-config)

have_pip() { python3 -m pip --version >/dev/null 2>&1; }
have_toolkit() { command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -n "${CUDAToolkit_ROOT:-}" ]; }

# Under nvidia/cu13 of the folder.
cuda() {
  local folder=$1
  ! have_toolkit && [ ! -x "$folder/nvidia/cu13/bin/nvcc" ] || return 0
  echo "setup: installing nvcc and the headers of CUDA 13.0 in $folder"
  python3 -m pip install -q --no-deps --disable-pip-version-check --root-user-action=ignore --target "$folder" \
    'nvidia-cuda-nvcc==13.0.*' 'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-nvvm==13.0.*' || {
    rm -rf "$folder"
    echo "setup: that failed; the build goes on without CUDA" >&2
  }
}

# Debian's UCX has no CUDA.
ucx() {
  local folder=$1
  [ ! -e "$folder/libucx/lib/ucx/libuct_cuda.so.0" ] || return 0
  echo "setup: installing UCX 1.22 with CUDA in $folder"
  python3 -m pip install -q --no-deps --disable-pip-version-check --root-user-action=ignore --target "$folder" \
    'libucx-cu13==1.22.0' || {
    rm -rf "$folder"
    echo "setup: that failed; tests over a UCX with CUDA are skipped" >&2
  }
}

# Debian's package of mpi4py is for Debian's Python, and has no tests; those of another version may not fit.
mpi4py() {
  local folder=$1 version scratch
  version=$(/usr/bin/python3 -c 'import mpi4py; print(mpi4py.__version__)' 2>/dev/null) || return 0
  [ ! -e "$folder/test/runtests.py" ] || return 0
  echo "setup: unpacking the tests of mpi4py $version in $folder"
  scratch=$(mktemp -d)
  if timeout 300 python3 -m pip download -q --no-deps --no-binary :all: --disable-pip-version-check -d "$scratch" \
    "mpi4py==$version" && mkdir -p "$folder" && tar xzf "$scratch"/mpi4py-*.tar.gz -C "$folder" --strip-components 1; then
    rm -rf "$scratch"
  else
    rm -rf "$scratch" "$folder"
    echo "setup: that failed; mpi4py's own tests are skipped" >&2
  fi
}

# Of Python 3.11 or newer, with the modules that scripts/test.sh wants: FOLDER/bin/python.
python() {
  local folder=$1 wanted=(nanobind==3.1.0 nanobind-backend==1.0.0 scikit-build-core==1.1.2 numpy==2.4.6
                          ml_dtypes==0.6.0 mpi4py==4.1.2 pytest==9.2.0)
  [ "$(cat "$folder/wanted" 2>/dev/null)" != "${wanted[*]}" ] || return 0
  echo "setup: installing nanobind, NumPy, mpi4py and pytest in $folder"
  rm -rf "$folder"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$folder" &&
    timeout 600 "$folder/bin/python" -m pip install -q --disable-pip-version-check "${wanted[@]}" &&
    echo "${wanted[*]}" >"$folder/wanted" || {
    rm -rf "$folder"
    echo "setup: that failed; tests of the Python package are skipped" >&2
  }
}

# Kept outside the tree, as it is large: scripts/test.sh --full looks where TUTTI_TORCH_VENV says, or in the user's cache.
torch() {
  local folder=$1
  [ ! -e "$folder/wanted" ] || return 0
  python "$folder"
  [ -e "$folder/wanted" ] || return 0
  echo "setup: installing PyTorch in $folder"
  timeout 1800 "$folder/bin/python" -m pip install -q --disable-pip-version-check torch expecttest || {
    rm -rf "$folder"
    echo "setup: that failed; tests of torch.distributed are skipped" >&2
  }
}

case ${1:-} in
  build) wanted=("${build[@]}") ;;
  lab) wanted=("${lab[@]}") ;;
  programs) wanted=("${programs[@]}") ;;
  test)
    wanted=("${test[@]}")
    have_pip || wanted+=(python3-pip)
    python3 -c 'import ensurepip' 2>/dev/null || wanted+=(python3-venv)
    ;;
  simgrid) wanted=(libsimgrid-dev) ;;
  cuda) cuda "${2:?setup.sh cuda needs a folder}" && exit 0 ;;
  ucx) ucx "${2:?setup.sh ucx needs a folder}" && exit 0 ;;
  mpi4py) mpi4py "${2:?setup.sh mpi4py needs a folder}" && exit 0 ;;
  python) python "${2:?setup.sh python needs a folder}" && exit 0 ;;
  torch) torch "${2:?setup.sh torch needs a folder}" && exit 0 ;;
  --help | -h) sed -n '2,15s/^# \?//p' "$0" && exit 0 ;;
  *) sed -n '2,15s/^# \?//p' "$0" >&2 && exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian or Ubuntu system, nothing is installed; needed are the equivalents of: ${wanted[*]}" >&2
  exit 0
fi

missing() {
  local package
  for package in "${wanted[@]}"; do
    dpkg-query -W -f '${db:Status-Abbrev}\n' "$package" 2>/dev/null | grep -q '^ii' || echo "$package"
  done
}

mapfile -t packages < <(missing)
[ ${#packages[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
  if ! command -v sudo >/dev/null; then
    echo "setup: missing: ${packages[*]}" >&2
    echo "setup: neither root nor sudo; have them installed with: apt-get install ${packages[*]}" >&2
    exit 2
  fi
fi

echo "setup: installing ${packages[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 "$@"; }
apt update >"$log" 2>&1 || echo "setup: apt-get update failed; trying with the package lists at hand" >&2
if ! apt install --no-install-recommends "${packages[@]}" >>"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: could not install: $(missing | tr '\n' ' ')" >&2
  exit 2
fi
