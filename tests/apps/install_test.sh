#!/usr/bin/env bash
# install_test.sh SOURCES BUILD CXX [MPICXX MPIRUN] - what is built can be installed and used by another project, and the
# installed package asks for what its libraries link, and for nothing else; the demo builds what can be installed.
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
else
  "$folder/project/build/first" >"$log" 2>&1 && grep -q '^[1-9][0-9]* algorithms$' "$log" || fail 'the project does not run'
fi

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
