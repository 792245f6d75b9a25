#!/usr/bin/env bash
# archives_test.sh SETTINGS FOLDER - cpack makes a .tar.gz and a .deb in FOLDER, which have what --install installs; the .deb
# says what it is, and needs the packages of the libraries that its programs link.
source "$(dirname "$0")/common.sh" "$1"
archives=$2
rm -rf "$archives"
generators=$(sed -nE 's/^set\(CPACK_GENERATOR "(.*)"\)/\1/p' "$build/CPackConfig.cmake")
(cd "$build" && cpack -B "$archives") >"$log" 2>&1 || fail 'cpack'
rm -rf "$archives/_CPack_Packages"
(cd "$prefix" && find . ! -type d | sort) >"$folder/installed"

# expect_installed FOLDER: it has the files of the installed tree.
expect_installed() {
  (cd "$1" && find . ! -type d | sort) | diff - "$folder/installed" >"$log" || fail "$1 does not have the installed files"
  "$1/bin/tutti" --version >"$log" 2>&1 && grep -q "Tutti $version" "$log" || fail "$1: the tool does not run"
}
mkdir "$folder/tar"
tar -xzf "$archives/tutti-$version-Linux.tar.gz" -C "$folder/tar" --strip-components=1 >"$log" 2>&1 || fail 'the .tar.gz'
expect_installed "$folder/tar"

if [[ $generators == *DEB* ]]; then
  architecture=$(dpkg --print-architecture)
  deb=$archives/tutti_${version}_$architecture.deb
  dpkg-deb -x "$deb" "$folder/root" >"$log" 2>&1 || fail 'the .deb cannot be unpacked'
  expect_installed "$folder/root/usr"
  # expect_field FIELD PATTERN
  expect_field() { dpkg-deb -f "$deb" "$1" | tee "$log" | grep -qE "$2" || fail "the .deb: $1 is not '$2'"; }
  expect_field Package '^tutti$'
  expect_field Version "^${version//./\\.}$"
  expect_field Architecture "^$architecture$"
  expect_field Description '^[a-z].{20,80}$'
  expect_field Section '^libs$'
  for library in libc6 libfmt libstdc ${mpirun:+mpi}; do
    expect_field Depends "(^|, )[a-z]*$library"
  done
  grep -q '^License: Apache-2.0' "$folder/root/usr/share/doc/tutti/copyright" || fail 'the .deb has no licence'
  [ -s "$folder/root/usr/share/doc/tutti/docs/tool.md" ] || fail 'the .deb has no pages'
  dpkg-deb -I "$deb" shlibs 2>/dev/null | grep -q "^libtutti ${version%.*} tutti (= $version)" || fail 'the .deb: no shlibs'
  dpkg-deb -c "$deb" | grep -v ' root/root ' >"$log"
  [ ! -s "$log" ] || fail 'files of the .deb do not belong to root'
else
  echo 'dpkg-shlibdeps or file is missing: no .deb'
fi
finish
