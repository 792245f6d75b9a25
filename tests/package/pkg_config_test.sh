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

# build_by_hand FOLDER COMMAND...: every program, with the flags that the command gives for its language's package.
build_by_hand() {
  local source compiler package
  mkdir "$folder/$1"
  while read -r source _; do
    case $source in
      *.cpp) compiler=${mpicxx:-$cxx} package=tutti ;;
      *.c) compiler=${mpicxx/mpicxx/mpicc} package=tutti-c ;;
      *) continue ;; # modules of Fortran are found by CMake
    esac
    # shellcheck disable=SC2046
    "$compiler" "$source" -o "$folder/$1/$(basename "${source%.*}")" $("${@:2}" $package) >"$log" 2>&1 ||
      fail "$1: $source does not link"
  done <"$consumers"
}
shared_flags() { pkg-config --cflags --libs "$1"; }
# As docs/building.md says: the linker takes the shared one unless the archive is named.
static_flags() { pkg-config --static --cflags --libs "$1" | sed 's/-ltutti/-l:libtutti.a/'; }

build_by_hand shared shared_flags
LD_LIBRARY_PATH=$prefix/$library_folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} run_consumers "$folder/shared"
build_by_hand static static_flags
run_consumers "$folder/static"
first=$folder/static/$(awk 'NR == 1 { print $1 }' "$consumers" | xargs basename -s .cpp)
readelf -d "$first" >"$log"
! grep libtutti "$log" || fail 'the program looks for a shared library'
if [ "$ucx" = ON ]; then
  TUTTI_TRANSPORT=ucx run 2 "$first"
  ! grep -q "TUTTI_TRANSPORT is 'ucx'" "$log" || fail 'the program has no UCX'
fi
finish
