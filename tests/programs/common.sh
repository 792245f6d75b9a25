# Sourced by the scripts of this folder: MPIRUN RANKS [PRELOAD_LIBRARY]; a scratch folder to work in; how they end.

if [ $# -lt 2 ]; then
  echo "usage: $0 MPIRUN RANKS [PRELOAD_LIBRARY]" >&2
  exit 2
fi
mpirun=$1 ranks=$2 preload=${3:+$(realpath "$3")}
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OMPI_MCA_mpi_yield_when_idle=1 # other work on the machine then slows them down less
cd "$scratch"

skip() {
  echo "SKIP: $*"
  exit 77
}

# fail WHY: with the end of what the program said.
fail() {
  tail -n 100 output errors 2>/dev/null || :
  echo "FAILED: $*"
  exit 1
}

is_open_mpi() { "$mpirun" --version 2>&1 | grep -qE 'Open MPI|OpenRTE|PRRTE'; }

# of_open_mpi PROGRAM: Debian builds its programs with Open MPI alone.
of_open_mpi() {
  command -v "$1" >/dev/null || [ -e "$1" ] || skip "$1 is not installed: scripts/setup.sh programs"
  is_open_mpi || skip "Debian's $1 is built with Open MPI, which $mpirun does not start"
}

# needs_mpi4py: Debian's, for Debian's Python.
python=/usr/bin/python3
needs_mpi4py() {
  "$python" -c 'import mpi4py' 2>/dev/null || skip "python3-mpi4py is not installed: scripts/setup.sh programs"
  is_open_mpi || skip "Debian's mpi4py is built with Open MPI, which $mpirun does not start"
}

# launch LIBRARY PROGRAM...: under mpirun, which alone is spared the library. What it prints goes to the files output
# and errors. All calls that Tutti can take are served. The library has to say at the end what it did: a preload that did
# not happen would pass every check.
launch() {
  local library=$1 options=() code=0 serve=${TUTTI_INTERPOSE:-all}
  shift
  if [ -n "$library" ]; then
    if is_open_mpi; then
      options=(-x "LD_PRELOAD=$library" -x TUTTI_LOG=info -x TUTTI_INTERPOSE="$serve")
    else
      options=(-genv LD_PRELOAD "$library" -genv TUTTI_LOG info -genv TUTTI_INTERPOSE "$serve")
    fi
  fi
  timeout 250 "$programs/../../scripts/mpirun.sh" "$mpirun" "$ranks" "${options[@]}" "$@" >output 2>errors || code=$?
  [ $code -eq 0 ] || fail "exit status $code of $*"
  [ -z "$library" ] || grep -qi tutti errors || fail "$library did not say what it served: was it preloaded?"
}

# run PROGRAM...: the program as it was asked for, with the library or without.
run() { launch "$preload" "$@"; }

# passed VERDICT: prints it, and what the library said.
passed() {
  echo "PASSED: $*"
  [ -z "$preload" ] || cat errors
}
