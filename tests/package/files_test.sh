#!/usr/bin/env bash
# files_test.sh SETTINGS - the installed tree has the libraries, both of the same parts, the headers, the programs and their
# pages; its libraries need what the package asks for, and nothing else.
source "$(dirname "$0")/common.sh" "$1"
libraries=$prefix/$library_folder

minor=${version%.*}
# expect_link NAME FILE
expect_link() { [ "$(readlink "$libraries/$1")" = "$2" ] || fail "$1 is no link to $2"; }
expect_link libtutti.so "libtutti.so.$minor"
expect_link "libtutti.so.$minor" "libtutti.so.$version"
readelf -d "$libraries/libtutti.so" >"$log" 2>&1
grep -q "SONAME.*\[libtutti.so.$minor\]" "$log" || fail "the shared library's name is not libtutti.so.$minor"
! grep -E 'RPATH|RUNPATH' "$log" || fail 'the shared library has a path to other libraries'

# defined FILE OPTIONS...: the functions of namespace tutti that it defines for programs.
defined() { nm -C --defined-only "${@:2}" "$1" 2>/dev/null | sed -nE 's/^[0-9a-f]+ [TW] (tutti::.*)/\1/p' | sort -u; }
defined "$libraries/libtutti.so" -D >"$folder/shared"
defined "$libraries/libtutti.a" >"$folder/static"
[ -s "$folder/shared" ] || fail 'the shared library exports nothing'
comm -23 "$folder/shared" "$folder/static" >"$log"
[ ! -s "$log" ] || fail 'the shared library has what the static one has not'

diff -r -x fortran "$sources/include" "$prefix/include" >"$log" || fail 'the headers are not those of the sources'
for file in share/doc/tutti/{LICENSE,copyright,CHANGELOG.md,environment.md} bin/tutti \
  ${mpirun:+bin/tutti-bench bin/tutti-sgd bin/tutti-soak share/tutti/digits.csv "$library_folder/libtutti_mpi.so"}; do
  [ -s "$prefix/$file" ] || fail "$file is missing"
done
"$prefix/bin/tutti" --version >"$log" 2>&1 && grep -q "$version" "$log" || fail 'the tool does not run'
[ -z "$mpirun" ] || run 2 "$prefix/bin/tutti-sgd" --epochs 1 || fail 'tutti-sgd does not find its data'
[ -z "$mpirun" ] || run 2 "$prefix/bin/tutti-soak" --calls 100 || fail 'tutti-soak does not run'

# Nobody has to have what only this project's own build needs.
grep -ohE '\b[A-Za-z]+::' "$libraries"/cmake/Tutti/TuttiTargets*.cmake | sort -u | grep -vE '^(Tutti|fmt|MPI)::' >"$log"
[ ! -s "$log" ] || fail 'the libraries link packages that TuttiConfig.cmake does not look for'
finish
