#!/usr/bin/env bash
# Our Fortran programs: MPI's collectives by mpif.h, `use mpi` and `use mpi_f08`.
set -eu
source "$(dirname "$0")/common.sh" "$@"

# The compiler beside mpirun, by the same suffix: mpirun.openmpi, mpifort.openmpi.
name=${mpirun##*/}
suffix=${name#mpirun}
mpifort=${mpirun%"$name"}mpifort${suffix#mpiexec}
command -v "$mpifort" >/dev/null && "$mpifort" --version >/dev/null 2>&1 || skip "there is no Fortran compiler $mpifort"

sources=(checks blocking in_place types requests completions communicators main)

# build BINDING OPTIONS...: old bindings have no interfaces, and take any buffer.
build() {
  local binding=$1
  shift
  mkdir "$binding"
  (
    cd "$programs/fortran"
    "$mpifort" -cpp -O0 -fallow-argument-mismatch -w -J "$scratch/$binding" -o "$scratch/$binding/program" "$@" \
      arithmetic.F90 "binding_$binding.F90" "${sources[@]/%/.F90}"
  ) >output 2>errors || fail "the program for $binding does not compile"
}

for binding in mpif_h mpi mpi_f08; do
  build "$binding" $([ "$binding" != mpi_f08 ] || echo -DUSE_MPI_F08)
  run "./$binding/program"
  verdict=$(grep " checks on $ranks ranks, 0 wrong" output) || fail "no verdict"
  passed "$verdict"
done
