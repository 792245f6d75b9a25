#!/usr/bin/env bash
# subdirectory_test.sh SETTINGS - Tutti can be a part of another project, which gets the library alone, and is not told how to
# treat warnings; nor is whoever builds Tutti by itself.
source "$(dirname "$0")/common.sh" "$1"
with_mpi=-DTUTTI_MPI=$([ -n "$mpirun" ] && echo ON || echo OFF)

# commands FOLDER: how CMake would compile.
commands() { sed -n 's/^ *"command": //p' "$1/compile_commands.json"; }
cp "$(awk 'NR == 1 { print $1 }' "$consumers")" "$folder/program.cpp"
ln -s "$(realpath "$sources")" "$folder/tutti"
cat >"$folder/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(whole CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_subdirectory(tutti)
add_executable(program program.cpp)
target_link_libraries(program Tutti::tutti)
CMAKE
configure "$folder" "$folder/within" "$with_mpi" || fail 'a project with add_subdirectory(tutti) is not configured'
commands "$folder/within" >"$log"
grep -q 'program\.cpp' "$log" && grep -q 'allreduce_ring\.cpp' "$log" || fail 'a project with add_subdirectory(tutti) lacks a source'
! grep -E -e ' -W(all|extra|pedantic|error)' "$log" || fail 'a project with add_subdirectory(tutti) gets its warnings'
! grep -q '/tests/\|/apps/' "$log" || fail 'a project with add_subdirectory(tutti) builds tests or apps'

configure "$sources" "$folder/alone" "$with_mpi" -DTUTTI_TESTS=OFF || fail 'Tutti alone is not configured'
commands "$folder/alone" >"$log"
grep -q -e ' -Wall ' "$log" || fail 'Tutti alone is built without warnings'
! grep -e ' -Werror' "$log" || fail 'Tutti alone: warnings are errors'
grep -q '"TUTTI_WERROR": "ON"' "$sources/CMakePresets.json" || fail 'the presets: warnings are no errors'
finish
