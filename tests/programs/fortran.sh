#!/usr/bin/env bash
# Our Fortran programs: MPI's collectives by mpif.h, `use mpi` and `use mpi_f08`.
set -eu
source "$(dirname "$0")/common.sh" "$@"

# The compiler beside mpirun, by the same suffix: mpirun.openmpi, mpifort.openmpi.
name=${mpirun##*/}
suffix=${name#mpirun}
mpifort=${mpirun%"$name"}mpifort${suffix#mpiexec}
command -v "$mpifort" >/dev/null && "$mpifort" --version >/dev/null 2>&1 || skip "there is no Fortran compiler $mpifort"

# build PROGRAM BINDING SOURCES...: old bindings have no interfaces, and take any buffer.
build() {
  local program=$1 binding=$2
  shift 2
  mkdir -p "$binding"
  (
    cd "$programs/fortran"
    "$mpifort" -cpp -O0 -fallow-argument-mismatch -w -J "$scratch/$binding" -o "$scratch/$binding/$program" \
      $([ "$binding" != mpi_f08 ] || echo -DUSE_MPI_F08) arithmetic.F90 "binding_$binding.F90" checks.F90 "${@/%/.F90}"
  ) >output 2>errors || fail "the program $program for $binding does not compile"
}

# build_and_run PROGRAM SOURCES...: by all bindings.
build_and_run() {
  local program=$1 binding verdict
  shift
  for binding in mpif_h mpi mpi_f08; do
    build "$program" "$binding" "$@"
    run "./$binding/$program"
    verdict=$(grep " checks on $ranks ranks, 0 wrong" output) || fail "no verdict of $program"
    [ -z "$preload" ] || [ "$program" != collectives ] || served "$program by $binding"
    passed "$program, $verdict"
  done
}

has_persistent_collectives() {
  printf '%s\n' 'call mpi_barrier_init()' end >probe.f90
  "$mpifort" probe.f90 -o probe 2>/dev/null
}

# served WHAT: every blocking collective reached the library, which was told to serve all that it can.
served() {
  local collective
  for collective in barrier bcast reduce allreduce reduce_scatter reduce_scatter_block allgather allgatherv gather gatherv \
    scatter scatterv alltoall alltoallv alltoallw scan exscan; do
    grep -qE "^tutti: $collective +[1-9]" errors || fail "$1: no $collective was served"
  done
}

build_and_run collectives blocking in_place types requests completions communicators main
build_and_run forms lives forms
if has_persistent_collectives; then
  build_and_run persistent persistent
else
  echo "SKIP: this MPI has no persistent collectives, which begin with MPI 4"
fi
