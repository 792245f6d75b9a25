#!/usr/bin/env bash
# setup.sh build|lab|test|cuda FOLDER|ucx FOLDER - installs Debian's or Ubuntu's packages that are missing (apt, as root or with sudo).
#   build   what building and running the apps needs
#   lab     what slurm/cluster.sh needs, Slurm included (it starts its own; Debian also starts a munge service)
#   test    both, and what scripts/test.sh needs: MPICH, UCX, clang, clang-format, clang-tidy, ccache, gfortran, mpi4py
#   cuda    nvcc and CUDA's headers into FOLDER, if no toolkit is installed: Python packages, 250 MB. Not an error if it fails
#   ucx     a UCX with CUDA, for tests, into FOLDER/libucx: a Python package, 150 MB. Not an error if it fails
# Silent when nothing is missing. Exit code 2: something is missing and cannot be installed.
set -eu

build=(g++ cmake ninja-build libopenmpi-dev openmpi-bin libboost-dev libboost-program-options-dev libfmt-dev
       libhwloc-dev nlohmann-json3-dev)
lab=(util-linux iproute2 slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)
test=("${build[@]}" "${lab[@]}" libgtest-dev libgmock-dev libmpich-dev mpich libucx-dev clang clang-format clang-tidy
      ccache python3 gfortran python3-mpi4py)

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

case ${1:-} in
  build) wanted=("${build[@]}") ;;
  lab) wanted=("${lab[@]}") ;;
  test)
    wanted=("${test[@]}")
    have_pip || wanted+=(python3-pip)
    ;;
  cuda) cuda "${2:?setup.sh cuda needs a folder}" && exit 0 ;;
  ucx) ucx "${2:?setup.sh ucx needs a folder}" && exit 0 ;;
  --help | -h) sed -n '2,8s/^# \?//p' "$0" && exit 0 ;;
  *) sed -n '2,8s/^# \?//p' "$0" >&2 && exit 2 ;;
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
