#!/usr/bin/env bash
# components_test.sh SETTINGS - find_package(Tutti) finds the components that this build has; of others, of another MPI and of
# both libraries in one program it says what is wrong.
source "$(dirname "$0")/common.sh" "$1"
here=$sources/tests/package

# find_component COMPONENT: asks for what is not there, without a project: nothing else is looked for then.
find_component() {
  cat >"$folder/find.cmake" <<CMAKE
find_package(Tutti REQUIRED COMPONENTS $1 PATHS "$prefix" NO_DEFAULT_PATH)
CMAKE
  cmake -P "$folder/find.cmake" >"$log" 2>&1
}
# expect_refusal WORDS...: the last command was refused with these words, across its lines.
expect_refusal() { tr -s ' \n' ' ' <"$log" | grep -qF "$*" || fail "nothing says: $*"; }

! find_component network || fail 'an unknown component is found'
expect_refusal "Tutti has no component 'network'; there are: schedule, mpi, ucx, cuda, fortran."
present=schedule absent=
for part in mpi ucx cuda; do
  case $part in
    mpi) has=${mpirun:+ON} ;;
    ucx) has=$ucx ;;
    cuda) has=$cuda ;;
  esac
  if [ "$has" = ON ]; then
    present="$present;$part"
  else
    absent="$absent;$part"
    ! find_component $part || fail "$part is found, which was not built"
    expect_refusal "This Tutti was built without $part: build it with -DTUTTI_${part^^}=ON"
  fi
done

# A project that asks for all that there is, links both libraries, and may have the wrong MPI.
mkdir "$folder/project"
cp "$here/algorithms.cpp" "$folder/project"
cat >"$folder/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(both CXX)
find_package(Tutti REQUIRED COMPONENTS ${COMPONENTS} OPTIONAL_COMPONENTS ${ABSENT})
message(STATUS "version ${Tutti_VERSION}, schedule ${Tutti_schedule_FOUND}, cuda ${Tutti_cuda_FOUND}")
add_executable(both algorithms.cpp)
target_link_libraries(both Tutti::tutti_shared Tutti::${OTHER})
CMAKE
for other in tutti_static schedule_static; do
  ! configure "$folder/project" "$folder/both" -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENTS="$present" \
    -DABSENT="$absent" -DOTHER=$other || fail "a program may link two copies of Tutti: Tutti::tutti_shared and Tutti::$other"
  expect_refusal 'TUTTI_LINKAGE'
done
has_cuda=$([ "$cuda" = ON ] && echo TRUE || echo FALSE)
expect_refusal "version $version, schedule TRUE, cuda $has_cuda"

# A project in C alone may link the shared library.
mkdir "$folder/c"
echo 'int main(void) { return 0; }' >"$folder/c/c.c"
cat >"$folder/c/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(c C)
find_package(Tutti REQUIRED COMPONENTS ${COMPONENTS} OPTIONAL_COMPONENTS ${OPTIONAL})
add_executable(c c.c)
target_link_libraries(c Tutti::tutti)
CMAKE
# configure_in_c FOLDER OPTIONS...
configure_in_c() {
  cmake -S "$folder/c" -B "$folder/$1" -DCMAKE_PREFIX_PATH="$prefix" ${mpicxx:+-DMPI_C_COMPILER="${mpicxx/mpicxx/mpicc}"} \
    "${@:2}" >"$log" 2>&1
}
configure_in_c c_shared && cmake --build "$folder/c_shared" >"$log" 2>&1 && "$folder/c_shared/c" ||
  fail 'a project in C does not build with the shared library'
if [ -n "$mpirun" ]; then
  ! configure_in_c c_fortran -DCOMPONENTS=fortran || fail 'a project in C has the component fortran'
  expect_refusal "The component fortran is made by the project's compiler: enable the language Fortran, and set"
  configure_in_c c_optional -DOPTIONAL=fortran || fail 'a project in C may not ask for the component fortran if it is there'
fi
! configure_in_c c_static -DTutti_USE_STATIC_LIBS=ON || fail 'a project in C takes the static library'
expect_refusal 'The static library is of C++: enable the language CXX, or link the shared library.'

# Which MPI mpi.h is of.
expect_kind() { # expect_kind KIND TEXT_OF_MPI_H [LIBRARIES]
  mkdir -p "$folder/mpi"
  echo "$2" >"$folder/mpi/mpi.h"
  cat >"$folder/kind.cmake" <<CMAKE
set(MPI_CXX_INCLUDE_DIRS "$folder/nowhere" "$folder/mpi")
set(MPI_CXX_LIB_NAMES "${3:-mpi}")
include("$prefix/$library_folder/cmake/Tutti/TuttiMpiKind.cmake")
tutti_mpi_kind(kind CXX)
message("'\${kind}'")
CMAKE
  [ "$(cmake -P "$folder/kind.cmake" 2>&1)" = "'$1'" ] || fail "not '$1': $2"
}
expect_kind 'Open MPI' '#define OPEN_MPI 1'
expect_kind MPICH '#define MPICH_VERSION "4.0"'
expect_kind MPICH '#define I_MPI_VERSION "2021"'
expect_kind 'an MPI of the standard ABI' '#define MPI_VERSION 5' 'mpi_abi'
expect_kind '' '#define MPI_VERSION 3'

case $mpi_kind in
  'Open MPI') other=mpicxx.mpich ;;
  MPICH) other=mpicxx.openmpi ;;
  *) other=none ;;
esac
if command -v "$other" >/dev/null; then
  mpicxx=$(command -v "$other") configure "$folder/project" "$folder/other" -DCMAKE_PREFIX_PATH="$prefix" \
    -DOTHER=tutti_shared && fail "the package of $mpi_kind takes $other"
  expect_refusal "This Tutti was built with $mpi_kind, but the MPI here is"
else
  echo "there is no other MPI here, by the name $other, to try a project with"
fi
finish
