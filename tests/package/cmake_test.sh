#!/usr/bin/env bash
# cmake_test.sh SETTINGS shared|static - a project builds with find_package(Tutti), in that way, and its programs run.
source "$(dirname "$0")/common.sh" "$1"
linkage=$2
here=$sources/tests/package
use_static=$([ "$linkage" = static ] && echo ON || echo OFF)
programs=$(awk '{ print $1 }' "$consumers" | paste -sd ';')

# build_project FOLDER PROGRAMS LIBRARY COMPONENTS
build_project() {
  configure "$here/consumer" "$folder/$1" -DCMAKE_PREFIX_PATH="$prefix" -DPROGRAMS="$2" -DLIBRARY="$3" -DCOMPONENTS="$4" \
    -DTutti_USE_STATIC_LIBS=$use_static && cmake --build "$folder/$1" >"$log" 2>&1 || fail "$3 ($linkage) does not build"
}
# needs PROGRAM: the libraries that it looks for when it starts.
needs() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

build_project all "$programs" Tutti::tutti "schedule${mpirun:+;mpi}"
run_consumers "$folder/all"
first=$folder/all/$(basename "${programs%%.*}")
needs "$first" >"$log"
if [ "$linkage" = shared ]; then
  grep -qx "libtutti.so.${version%.*}" "$log" || fail 'the program does not look for the shared library'
else
  ! grep -q libtutti "$log" || fail 'the program looks for a shared library'
fi
# The transport over UCX registers itself, in whatever way it is linked.
if [ "$ucx" = ON ]; then
  TUTTI_TRANSPORT=ucx run 2 "$first"
  ! grep -q "TUTTI_TRANSPORT is 'ucx'" "$log" || fail 'the program has no UCX'
fi

# The modules of Fortran, by the project's compiler.
if [ "$fortran" = ON ] && [ "$f08" = TRUE ]; then
  build_project fortran "$sources/examples/fortran/dot_product.f90" Tutti::fortran fortran
  run 2 "$folder/fortran/dot_product" && grep -q 'dot product 4002000.0' "$log" || fail 'the program in Fortran does not run'
fi

# Schedules alone: the archive of them needs no MPI, neither the package nor the library.
if [ "$linkage" = static ]; then
  mpicxx='' build_project schedules "$here/algorithms.cpp" Tutti::schedule schedule
  "$folder/schedules/algorithms" >"$log" 2>&1 && grep -qE '^[1-9][0-9]* algorithms$' "$log" || fail 'algorithms does not run'
  needs "$folder/schedules/algorithms" >"$log"
  ! grep -i mpi "$log" || fail 'schedules alone need MPI'
  ! grep '^MPI_' "$folder/schedules/CMakeCache.txt" >"$log" || fail 'find_package looks for MPI, for schedules alone'
fi
finish
