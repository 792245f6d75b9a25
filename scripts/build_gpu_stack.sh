#!/usr/bin/env bash
# build_gpu_stack.sh [OPTIONS] DIR - builds an Open MPI that knows CUDA, and UCX, from Debian's source packages, in DIR.
#   --cuda DIR        the CUDA toolkit; default: that of nvcc, else /usr/local/cuda
#   --mirror URI      a Debian mirror; default: the one that apt knows
#   --jobs N          default: as many as cores
#   --only ucx        not Open MPI, which takes ten minutes on two cores; UCX takes two
#   --download-only   leaves the sources in DIR/sources, from where a later call takes them
#   --help
# UCX 1.13.1 of Debian 12 and Open MPI 5.0.7 of Debian 13, with Open MPI's own hwloc, libevent, PMIx and PRRTE. DIR may be
# moved, to another machine with as new a C library: "source DIR/env.sh" puts both first. It needs no root. Logs: DIR/logs
# Exit code 2: something is missing that the script needs; each thing is a line.
set -eu

ucx_version=1.13.1-1 ucx_suite=bookworm
ompi_version=5.0.7-1 ompi_suite=trixie

usage() { sed -n '2,11s/^# \?//p' "$0"; }
say() { echo "build_gpu_stack: $*"; }
refuse() {
  say "$*" >&2
  exit 2
}

folder='' cuda='' mirror='' only='' download_only=''
jobs=$(nproc)
value() { [ -n "${2:-}" ] || refuse "$1 wants a value"; }
while [ $# -gt 0 ]; do
  case $1 in
    --cuda) value "$@" && cuda=$2 && shift ;;
    --mirror) value "$@" && mirror=$2 && shift ;;
    --jobs) value "$@" && jobs=$2 && shift ;;
    --only) [ "${2:-}" = ucx ] || refuse "--only '${2:-}'; allowed: ucx" && only=ucx && shift ;;
    --download-only) download_only=1 ;;
    --help | -h) usage && exit ;;
    -*) refuse "unknown option $1 (see --help)" ;;
    *) [ -z "$folder" ] || refuse "two folders: $folder and $1" && folder=$1 ;;
  esac
  shift
done
[ -n "$folder" ] || { usage >&2 && exit 2; }
[[ $jobs =~ ^[1-9][0-9]*$ ]] || refuse "--jobs '$jobs'; allowed: 1 or more"
if [ -z "$cuda" ]; then
  cuda=/usr/local/cuda
  ! nvcc=$(command -v nvcc) || cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
fi

# ---- what is needed ---------------------------------------------------------------------------------------------

# stubs: the folder with a libcuda.so to link with.
stubs() {
  local place
  for place in "$cuda"/lib64/stubs "$cuda"/lib/stubs "$cuda"/targets/*/lib/stubs; do
    [ ! -e "$place/libcuda.so" ] || { echo "$place" && return; }
  done
  return 1
}

# runtime: the folder with CUDA's runtime library, which UCX uses.
runtime() {
  local place
  for place in "$cuda"/lib64 "$cuda"/lib "$cuda"/targets/*/lib; do
    [ ! -e "$place/libcudart.so" ] || { echo "$place" && return; }
  done
  return 1
}

# missing: a line for each thing that is not there, with a remedy.
missing() {
  local command
  for command in apt-get dpkg-source xz; do
    command -v "$command" >/dev/null || echo "$command, which gets and unpacks the sources: a Debian or Ubuntu with dpkg-dev"
  done
  [ -z "$download_only" ] || return 0
  for command in gcc g++ make perl autoreconf automake libtoolize; do
    command -v "$command" >/dev/null ||
      echo "$command, which builds: apt-get install gcc g++ make perl autoconf automake libtool"
  done
  [ -e "$cuda/include/cuda_runtime.h" ] || echo "$cuda/include/cuda_runtime.h: name a CUDA toolkit with --cuda DIR"
  stubs >/dev/null || echo "libcuda.so in $cuda/lib64/stubs: name a CUDA toolkit with --cuda DIR"
  runtime >/dev/null || echo "libcudart.so in $cuda/lib64: name a CUDA toolkit with --cuda DIR"
}
mapfile -t lacks < <(missing)
if [ ${#lacks[@]} -gt 0 ]; then
  printf 'build_gpu_stack: missing: %s\n' "${lacks[@]}" >&2
  exit 2
fi

mkdir -p "$folder"/{sources,build,logs}
folder=$(cd "$folder" && pwd)
sources=$folder/sources build=$folder/build logs=$folder/logs

# step NAME COMMAND...: its output goes to a log, the end of which is shown if it fails. In the background, since a function
# whose exit code is looked at would go on behind a failure.
step() {
  local name=$1 since=$SECONDS code=0
  shift
  ("$@") >"$logs/$name" 2>&1 </dev/null &
  wait $! || code=$?
  if [ $code -ne 0 ]; then
    tail -n 20 "$logs/$name" >&2
    say "$name failed, see $logs/$name" >&2
    exit 1
  fi
  say "$name: $((SECONDS - since)) s"
}

# ---- sources ----------------------------------------------------------------------------------------------------

# apt_here ARGUMENTS...: apt-get with lists of its own in DIR, so that it needs no root and changes nothing of the system's.
apt_here() {
  apt-get -o Dir::Etc::sourcelist="$build/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State="$build/apt/state" -o Dir::State::lists="$build/apt/lists" -o Dir::Cache="$build/apt/cache" \
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 "$@"
}

# write_sources_list: the source packages of both suites, of the mirror that the system uses.
write_sources_list() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=''
  # shellcheck disable=SC2016 # apt's own variable
  [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' \
    'Origin: Debian' 'Label: Debian' | head -n 1)
  [ -n "$mirror" ] || refuse "apt knows no Debian mirror (the sources are Debian's): name one with --mirror URI"
  [ ! -e "$keyring" ] || signed="[signed-by=$keyring] "
  mkdir -p "$build"/apt/{state,lists/partial,cache/archives/partial}
  printf 'deb-src %s%s %s main\n' "$signed" "$mirror" "$ucx_suite" "$signed" "$mirror" "$ompi_suite" \
    >"$build/apt/sources.list"
}

get_source() {
  cd "$sources"
  apt_here source --download-only "$1"
}

# download PACKAGE VERSION: nothing if it is there. apt compares the files with what the archive has signed.
download() {
  [ ! -e "$sources/$1_$2.dsc" ] || return 0
  [ -e "$build/apt/sources.list" ] || write_sources_list
  [ -e "$build/apt/updated" ] || step update apt_here update
  touch "$build/apt/updated"
  step "download-$1" get_source "$1=$2"
  [ -e "$sources/$1_$2.dsc" ] || { say "the mirror $mirror has no $1 $2" >&2 && exit 1; }
}

download ucx $ucx_version
[ -n "$only" ] || download openmpi $ompi_version
if [ -n "$download_only" ]; then
  say "the sources are in $sources"
  exit
fi

# ---- UCX --------------------------------------------------------------------------------------------------------

# write_nvml: what UCX uses of NVML, declared as NVIDIA documents it, and a library to link with. Toolkits without the
# driver's development files have neither.
write_nvml() {
  mkdir -p "$build/nvml"
  cat >"$build/nvml/nvml.h" <<'C'
#pragma once
typedef struct nvmlDevice_st* nvmlDevice_t;
typedef enum { NVML_SUCCESS = 0 } nvmlReturn_t;
typedef enum { NVML_VALUE_TYPE_DOUBLE = 0, NVML_VALUE_TYPE_UNSIGNED_INT = 1 } nvmlValueType_t;
typedef union {
  double dVal;
  unsigned uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
  long long sllVal;
} nvmlValue_t;
typedef struct {
  unsigned fieldId, scopeId;
  long long timestamp, latencyUsec;
  nvmlValueType_t valueType;
  nvmlReturn_t nvmlReturn;
  nvmlValue_t value;
} nvmlFieldValue_t;
typedef struct {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;
#define NVML_FI_DEV_NVLINK_LINK_COUNT 91
#define nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByIndex_v2
#define nvmlDeviceGetNvLinkRemotePciInfo nvmlDeviceGetNvLinkRemotePciInfo_v2
nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlShutdown(void);
const char* nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link, nvmlPciInfo_t* pci);
C
  printf 'void %s(void) {}\n' nvmlInit nvmlInit_v2 nvmlShutdown nvmlErrorString nvmlDeviceGetHandleByIndex_v2 \
    nvmlDeviceGetFieldValues nvmlDeviceGetNvLinkRemotePciInfo_v2 |
    gcc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -x c - -o "$build/nvml/libnvidia-ml.so"
}

# unpack PACKAGE VERSION OPTIONS...: in build/PACKAGE.
unpack() {
  rm -rf "${build:?}/$1"
  dpkg-source --no-check "${@:3}" -x "$sources/$1_$2.dsc" "$build/$1"
}

# test/apps calls cuCtxCreate as it was before CUDA 13. Nothing of it is installed.
configure_ucx() {
  cd "$build/ucx"
  sed -i '/^[[:space:]]*test\/apps \\$/d' Makefile.am
  ./autogen.sh
  ./configure --prefix="$folder/ucx" --enable-mt --with-cuda="$cuda" --disable-logging --disable-debug \
    --disable-assertions --disable-params-check --enable-optimizations --without-go --without-java \
    CPPFLAGS="-I$build/nvml" LDFLAGS="-L$build/nvml -L$(stubs)"
}

install_ucx() {
  make -C "$build/ucx" install
  # Another machine may have a driver and no toolkit, and no libnuma.
  cp -L "$(runtime)"/libcudart.so.[0-9]* "$folder/ucx/lib/"
  ldd "$folder/ucx/lib/libucs.so" | awk '/libnuma/ { print $3 }' | xargs -r cp -Lt "$folder/ucx/lib"
}

# ---- Open MPI ---------------------------------------------------------------------------------------------------

# The files from which autotools make others are given an old date: else make would start autotools.
unpack_ompi() {
  unpack openmpi $ompi_version --skip-patches
  find "$build/openmpi" \( -name '*.m4' -o -name configure.ac -o -name Makefile.am \) ! -name aclocal.m4 \
    -exec touch -d 2020-01-01 {} +
}

configure_ompi() {
  cd "$build/openmpi"
  ./configure --prefix="$folder/ompi" --with-cuda="$cuda" --with-cuda-libdir="$(stubs)" --with-ucx="$folder/ucx" \
    --enable-mca-dso=accelerator-cuda,btl-smcuda,rcache-rgpusm,rcache-gpusm \
    --enable-mca-no-build=reachable-netlink,prtereachable-netlink --with-hwloc=internal --with-libevent=internal \
    --with-pmix=internal --with-prrte=internal --enable-mpi-fortran=no --disable-oshmem --disable-sphinx \
    --disable-io-romio
}

# ---- the folder as it is used -----------------------------------------------------------------------------------

finish_folder() {
  cat >"$folder/env.sh" <<'ENV'
# Source it: the programs and libraries of this folder come first, wherever it lies.
gpu_stack=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PATH=$gpu_stack/ompi/bin:$gpu_stack/ucx/bin:$PATH
export LD_LIBRARY_PATH=$gpu_stack/ompi/lib:$gpu_stack/ucx/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export OPAL_PREFIX=$gpu_stack/ompi PRTE_PREFIX=$gpu_stack/ompi PMIX_PREFIX=$gpu_stack/ompi
# Modules for devices do not load where there is no driver: that is no reason to warn.
export OMPI_MCA_mca_base_component_show_load_errors=0
unset gpu_stack
ENV
  # A machine that runs programs has no use for these, which are most of the bytes.
  rm -rf "$folder"/ompi/share/{doc,man}
  find "$folder"/ucx "$folder"/ompi \( -name '*.la' -o -name '*.a' \) -delete 2>/dev/null || :
  find "$folder"/ucx "$folder"/ompi -type f \( -name '*.so*' -o -path '*/bin/*' \) -exec strip -g {} + 2>/dev/null || :
}

# The checks that need no GPU: what is built knows CUDA, and runs.
check_stack() {
  # shellcheck disable=SC1091 # written above
  source "$folder/env.sh"
  ls "$folder"/ucx/lib/ucx/libuct_cuda.so*
  ucx_info -v
  [ -n "$only" ] || {
    mpirun --version
    ompi_info --parsable --all | grep 'mca:mpi:base:param:mpi_built_with_cuda_support:value:true'
    ompi_info | grep 'pml: ucx'
    ls "$folder/ompi/lib/openmpi/mca_accelerator_cuda.so" # loads where there is a driver
  }
}

if [ ! -e "$folder/ucx/complete" ]; then
  step nvml write_nvml
  step ucx-unpack unpack ucx $ucx_version
  step ucx-configure configure_ucx
  step ucx-build make -C "$build/ucx" -j "$jobs"
  step ucx-install install_ucx
  touch "$folder/ucx/complete"
fi
if [ -z "$only" ] && [ ! -e "$folder/ompi/complete" ]; then
  step openmpi-unpack unpack_ompi
  step openmpi-configure configure_ompi
  step openmpi-build make -C "$build/openmpi" -j "$jobs"
  step openmpi-install make -C "$build/openmpi" install
  touch "$folder/ompi/complete"
fi
finish_folder
step check check_stack
say "done: source $folder/env.sh; $build is not needed any more"
