# Sourced by demo.sh and test.sh, which run in the root of the source tree. TUTTI_BUILD names another folder than build.

cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

# mpi_options NAME: CMake options for Debian's openmpi or mpich, which live side by side; nothing where there is no such
# name, and CMake looks for an MPI itself.
mpi_options() {
  if command -v "mpicxx.$1" >/dev/null; then
    echo "-DMPI_CXX_COMPILER=$(command -v "mpicxx.$1") -DMPIEXEC_EXECUTABLE=$(command -v "mpirun.$1")"
  fi
}

# configure FOLDER OPTIONS...: CMake with Ninja; starts over where the folder was configured in another way.
configure() {
  local folder=$1 how
  shift
  mkdir -p "$folder"
  how="$* of $PWD in $(realpath "$folder")" # a copy of both is another build
  if [ -e "$folder/options" ] && [ "$(cat "$folder/options")" != "$how" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
  fi
  echo "$how" >"$folder/options"
  cmake -S . -B "$folder" -G Ninja "$@"
}

# cached FOLDER VARIABLE: what CMake found.
cached() { sed -n "s/^$2:[A-Z]*=//p" "$1/CMakeCache.txt"; }

# progress LOG: copies a build's output to LOG, and shows how far it is: in one line of a terminal, else every tenth.
progress() {
  local log=$1 line tenth=0
  while IFS= read -r line || [ -n "$line" ]; do
    printf '%s\n' "$line"
    [[ $line =~ ^\[([1-9][0-9]*)/([1-9][0-9]*)\]' ' ]] || continue
    if [ -t 2 ]; then
      printf '\r  %d of %d files \e[K' "${BASH_REMATCH[@]:1}" >&2
    elif [ $((10 * BASH_REMATCH[1] / BASH_REMATCH[2])) -gt "$tenth" ]; then
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      printf '  %d of %d files\n' "${BASH_REMATCH[@]:1}" >&2
    fi
  done >"$log"
  [ ! -t 2 ] || printf '\r\e[K' >&2
}
