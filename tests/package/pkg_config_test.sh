#!/usr/bin/env bash
# pkg_config_test.sh SETTINGS - without CMake: the wrapper of the MPI and pkg-config build each program, with either library.
source "$(dirname "$0")/common.sh" "$1"
command -v pkg-config >/dev/null || skip 'pkg-config is missing'
export PKG_CONFIG_PATH=$prefix/$library_folder/pkgconfig

[ "$(pkg-config --modversion tutti)" = "$version" ] || fail "the version is not $version"
[ "$(pkg-config --variable=mpi tutti)" = "$mpi_kind" ] || fail "the MPI is not $mpi_kind"
[ "$(pkg-config --variable=libdir tutti)" -ef "$prefix/$library_folder" ] || fail 'the folder of the libraries'
pkg-config --validate tutti tutti-c >"$log" 2>&1 && [ ! -s "$log" ] || fail 'pkg-config warns'
! pkg-config --cflags tutti-c | grep -e -std >"$log" || fail 'tutti-c has flags that are for C++ only'

# build_by_hand FOLDER FLAGS...: every program.
build_by_hand() {
  local source ranks expected compiler
  mkdir "$folder/$1"
  while read -r source ranks expected; do
    [[ $source == *.cpp ]] || continue # others have packages of their own
    # shellcheck disable=SC2086
    "${mpicxx:-$cxx}" "$source" -o "$folder/$1/$(basename "${source%.*}")" ${*:2} >"$log" 2>&1 || fail "$1: $source does not link"
  done <"$consumers"
}
build_by_hand shared "$(pkg-config --cflags --libs tutti)"
LD_LIBRARY_PATH=$prefix/$library_folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} run_consumers "$folder/shared"
# As docs/building.md says: the linker takes the shared one unless the archive is named.
build_by_hand static "$(pkg-config --static --cflags --libs tutti | sed 's/-ltutti/-l:libtutti.a/')"
run_consumers "$folder/static"
first=$folder/static/$(awk 'NR == 1 { print $1 }' "$consumers" | xargs basename -s .cpp)
readelf -d "$first" >"$log"
! grep libtutti "$log" || fail 'the program looks for a shared library'
if [ "$ucx" = ON ]; then
  TUTTI_TRANSPORT=ucx run 2 "$first"
  ! grep -q "TUTTI_TRANSPORT is 'ucx'" "$log" || fail 'the program has no UCX'
fi
finish
