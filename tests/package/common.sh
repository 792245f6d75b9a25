# common.sh SETTINGS - sourced by the tests of what is installed. SETTINGS is settings.sh of the build, with the names of the
# source tree, the build, the installed tree and the compilers. Gives `folder` to write in, `log` for what commands say.
set -u
source "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/log
touch "$log"
failures=0

fail() {
  echo "FAILED: $*" >&2
  tail -n 30 "$log" >&2
  failures=$((failures + 1))
}

# skip WHY: ends the test, which CTest counts as skipped.
skip() {
  echo "SKIP: $*"
  exit 77
}

finish() { exit $((failures > 0)); }

# run RANKS PROGRAM...: under mpirun, or as it is where there is no MPI. What it says goes to the log.
run() {
  local ranks=$1
  shift
  if [ -n "$mpirun" ]; then
    timeout 120 "$sources/scripts/mpirun.sh" "$mpirun" "$ranks" "$@" >"$log" 2>&1
  else
    timeout 120 "$@" >"$log" 2>&1
  fi
}

# run_consumers FOLDER: the programs there, one for each line of consumers.txt, do what their lines say.
run_consumers() {
  local source ranks expected program
  while read -r source ranks expected; do
    program=$1/$(basename "${source%.*}")
    run "$ranks" "$program" && grep -qE "$expected" "$log" || fail "$program on $ranks ranks does not say '$expected'"
  done <"$consumers"
}

# configure SOURCES FOLDER OPTIONS...: CMake with the compiler and the MPI of this build.
configure() {
  cmake -S "$1" -B "$2" -DCMAKE_CXX_COMPILER="$cxx" ${mpicxx:+-DMPI_CXX_COMPILER="$mpicxx" -DMPI_Fortran_COMPILER="${mpicxx/mpicxx/mpifort}" -DMPIEXEC_EXECUTABLE="$mpirun"} \
    "${@:3}" >"$log" 2>&1
}
