#!/usr/bin/env bash
# install_test.sh SOURCES BUILD CXX [MPICXX MPIRUN] - what is built can be installed and used by another project, and the
# installed package asks for what its libraries link, and for nothing else; the demo builds what can be installed. Whoever
# builds Tutti, or has it in a project of his own, is not told how to treat warnings.
set -u
sources=$1 build=$2 cxx=$3 mpicxx=${4:-} mpirun=${5:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
log=$folder/log

fail() {
  echo "FAILED: $*" >&2
  tail -n 30 "$log" >&2
  failures=$((failures + 1))
}

cmake --install "$build" --prefix "$folder/prefix" >"$log" 2>&1 || fail 'cmake --install'
package=$(dirname "$(find "$folder/prefix" -name TuttiConfig.cmake)")
installed=$(find "$folder/prefix" -name libtutti.so -o -name libtutti.a)

# asks PACKAGE NAMESPACE: one if and only if the other.
asks() {
  local is_asked=no is_linked=no
  grep -q "find_dependency($1[ )]" "$package/TuttiConfig.cmake" && is_asked=yes
  grep -q "$2::" "$package/TuttiTargets.cmake" && is_linked=yes
  [ $is_asked = $is_linked ] || fail "package $1 is asked for: $is_asked; its targets are linked: $is_linked"
}
asks fmt fmt
asks MPI MPI
asks CUDAToolkit CUDA
asks ucx ucx
others=$(grep -oE '[A-Za-z_]+::' "$package/TuttiTargets.cmake" | sort -u | grep -vE '^(Tutti|fmt|MPI|CUDA|ucx)::' | tr '\n' ' ')
[ -z "$others" ] || fail "the libraries link $others, which no line here knows"

# README.md's first program, or without MPI one that names the algorithms.
mkdir "$folder/project"
library=Tutti::schedule
cat >"$folder/project/first.cpp" <<'CPP'
#include <cstdio>
#include "tutti/algorithm.hpp"
int main() { std::printf("%zu algorithms\n", tutti::algorithms().size()); }
CPP
if [ -n "$mpirun" ]; then
  library=Tutti::tutti
  sed -n '/^```cpp$/,/^```$/p' "$sources/README.md" | sed '1d;$d' >"$folder/project/first.cpp"
fi
cat >"$folder/project/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(first CXX)
find_package(Tutti REQUIRED)
add_executable(first first.cpp)
target_link_libraries(first $library)
CMAKE
{
  cmake -S "$folder/project" -B "$folder/project/build" -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_CXX_COMPILER="$cxx" \
    ${mpicxx:+-DMPI_CXX_COMPILER="$mpicxx"} && cmake --build "$folder/project/build"
} >"$log" 2>&1 || fail 'a project with find_package(Tutti) does not build'
if [ -n "$mpirun" ]; then
  "$sources/scripts/mpirun.sh" "$mpirun" 2 "$folder/project/build/first" >"$log" 2>&1
  grep -q '^2 ranks, sum 2$' "$log" || fail 'a project with find_package(Tutti) does not run'
  if nm "$installed" 2>/dev/null | grep -q tutti_ucx_component; then # it registers itself, in whatever way it is linked
    TUTTI_TRANSPORT=ucx "$sources/scripts/mpirun.sh" "$mpirun" 2 "$folder/project/build/first" >"$log" 2>&1
    ! grep -q "TUTTI_TRANSPORT is 'ucx'" "$log" || fail 'a project with find_package(Tutti) has no UCX'
  fi
else
  "$folder/project/build/first" >"$log" 2>&1 && grep -q '^[1-9][0-9]* algorithms$' "$log" || fail 'the project does not run'
fi

# A shared library has a version, and needs neither CMake nor more headers than its own.
if [[ $installed == *.so ]]; then
  version=$(sed -nE 's/^#define TUTTI_VERSION "([0-9]+\.[0-9]+)\..*/\1/p' "$sources/include/tutti/version.h")
  readelf -d "$folder/project/build/first" >"$log" 2>&1
  grep -q "NEEDED.*\[libtutti.so.$version\]" "$log" || fail "the project's program does not link libtutti.so.$version"
  find "$folder/prefix" -name 'libtutti*.a' >"$log"
  [ ! -s "$log" ] || fail 'archives are installed, too'
  prefix_lib=$(dirname "$installed")
  "${mpicxx:-$cxx}" -std=c++20 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -I"$folder/prefix/include" \
    "$folder/project/first.cpp" -o "$folder/by_hand" -L"$prefix_lib" -ltutti -Wl,-rpath,"$prefix_lib" >"$log" 2>&1 ||
    fail 'a program does not link with the shared library alone'
  if [ -n "$mpirun" ]; then
    "$sources/scripts/mpirun.sh" "$mpirun" 2 "$folder/by_hand" >"$log" 2>&1
    grep -q '^2 ranks, sum 2$' "$log" || fail 'a program that links the shared library alone does not run'
  fi
fi

# commands FOLDER: how CMake would compile.
commands() { sed -n 's/^ *"command": //p' "$1/compile_commands.json"; }
sed 's/^find_package.*/set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\nadd_subdirectory(tutti)/' "$folder/project/CMakeLists.txt" \
  >"$folder/CMakeLists.txt"
cp "$folder/project/first.cpp" "$folder"
ln -s "$(realpath "$sources")" "$folder/tutti"
configure_plainly() { # configure_plainly SOURCES FOLDER OPTIONS...
  cmake -S "$1" -B "$2" -DCMAKE_CXX_COMPILER="$cxx" ${mpicxx:+-DMPI_CXX_COMPILER="$mpicxx" -DMPIEXEC_EXECUTABLE="$mpirun"} \
    -DTUTTI_MPI="$([ -n "$mpirun" ] && echo ON || echo OFF)" "${@:3}" >"$log" 2>&1
}
configure_plainly "$folder" "$folder/within" || fail 'a project with add_subdirectory(tutti) is not configured'
commands "$folder/within" >"$log"
grep -q 'first\.cpp' "$log" && grep -q 'registry\.cpp' "$log" || fail 'a project with add_subdirectory(tutti) lacks a source'
! grep -E -e ' -W(all|extra|pedantic|error)' "$log" || fail 'a project with add_subdirectory(tutti) gets its warnings'
! grep -q '/tests/\|/apps/' "$log" || fail 'a project with add_subdirectory(tutti) builds tests or apps'

configure_plainly "$sources" "$folder/alone" -DTUTTI_TESTS=OFF || fail 'Tutti alone is not configured'
commands "$folder/alone" >"$log"
grep -q -e ' -Wall ' "$log" || fail 'Tutti alone is built without warnings'
! grep -e ' -Werror' "$log" || fail 'Tutti alone: warnings are errors'
grep -q '"TUTTI_WERROR": "ON"' "$sources/CMakePresets.json" || fail 'the presets: warnings are no errors'

# The demo: what Ninja would build of it has every file that is installed from the build.
targets=$(sed -n 's/.*cmake --build "$folder"//p' "$sources/scripts/demo.sh" | head -n 1)
if [ -n "$mpirun" ] && command -v ninja >/dev/null; then
  cmake -S "$sources" -B "$folder/demo" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release -DTUTTI_TESTS=OFF \
    -DMPI_CXX_COMPILER="$mpicxx" -DMPIEXEC_EXECUTABLE="$mpirun" >"$log" 2>&1 || fail "the demo's build is not configured"
  # shellcheck disable=SC2086
  ninja -C "$folder/demo" -t commands ${targets#*--target} | tr ' ' '\n' | sort -u >"$folder/made"
  find "$folder/demo" -name cmake_install.cmake -exec grep -ohE "\"$folder/demo/[^\"]*\"" {} + | tr -d '"' | sort -u |
    grep -vE '\.cmake$|[$]' | while read -r file; do
    grep -qxF "${file#"$folder"/demo/}" "$folder/made" || echo "$file"
  done >"$folder/missing"
  [ ! -s "$folder/missing" ] || fail "the demo does not build, but --install wants: $(tr '\n' ' ' <"$folder/missing")"
fi
exit $((failures > 0))
