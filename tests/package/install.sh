#!/usr/bin/env bash
# install.sh SETTINGS - installs the build, once for all tests, and moves what was installed: nothing of it may know its place.
source "$(dirname "$0")/common.sh" "$1"
rm -rf "$prefix" "$prefix.first"
cmake --install "$build" --prefix "$prefix.first" >"$log" 2>&1 || fail 'cmake --install'
! grep -rlE -e "$prefix.first|$build" "$prefix.first/$library_folder"/{cmake,pkgconfig} >"$log" ||
  fail 'files name the place of the build or of the installation'
mv "$prefix.first" "$prefix"
finish
