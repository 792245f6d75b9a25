#!/usr/bin/env bash
# python_deb.sh FOLDER - makes python3-tutti_VERSION_ARCHITECTURE.deb in FOLDER, for the machine's own python3, beside the .deb of the
# library, which cpack makes and which has to be installed, or to be named by Tutti_ROOT. The modules have nanobind inside.
# PYTHON names the Python that builds, with scikit-build-core and nanobind; it must be of the version of the machine's own.
set -eu
fail() { echo "python_deb.sh: $*" >&2 && exit 1; }
[ $# -eq 1 ] || { sed -n '2,4s/^# \?//p' "$0" >&2 && exit 2; }
tree=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
mkdir -p "$1"
out=$(realpath "$1")
for tool in dpkg-deb dpkg-shlibdeps unzip; do
  command -v "$tool" >/dev/null || fail "there is no $tool"
done
version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }
[ "$(version "$python")" = "$(version /usr/bin/python3)" ] || fail "$python is not of the version of /usr/bin/python3"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$work" "$tree/bindings/python" -C wheel.py-api= \
  -C "build-dir=$out/build" -C cmake.define.TUTTI_PYTHON_STATIC=ON >"$work/log" 2>&1 || fail "the build failed: $(tail -n 20 "$work/log")"
packages=$work/root/usr/lib/python3/dist-packages
mkdir -p "$packages" "$work/root/DEBIAN" "$work/debian"
unzip -q "$work"/tutti-*.whl -d "$packages"
sed -i '/^Requires-Dist: nanobind-backend/d' "$packages"/tutti-*.dist-info/METADATA
rm "$packages"/tutti-*.dist-info/RECORD
modules=("$packages"/tutti/*.so)
strip --strip-unneeded "${modules[@]}"

# What the modules link, but the library: that is the package tutti of the same version.
touch "$work/debian/control"
release=$(sed -nE 's/^Version: //p' "$packages"/tutti-*.dist-info/METADATA)
library=${Tutti_ROOT:-/usr}/lib
links=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$library" "${modules[@]}" 2>/dev/null |
  sed -nE 's/^shlibs:Depends=//p' | sed -E 's/(^|, )tutti \([^)]*\)//')
this=$(version /usr/bin/python3)
cat >"$work/root/DEBIAN/control" <<END
Package: python3-tutti
Version: $release
Architecture: $(dpkg --print-architecture)
Maintainer: the authors of Tutti <tutti@localhost>
Section: python
Priority: optional
Depends: tutti (= $release), python3 (>= $this), python3 (<< ${this%.*}.$((${this#*.} + 1))), python3-numpy${links:+, $links}
Suggests: python3-mpi4py, python3-torch
Description: collectives for MPI programs in Python, as readable, proved schedules
 The package tutti has the collectives of the library of the same name for arrays of NumPy and other libraries, a launcher
 of ranks, and schedules to be read, proved and drawn.
END
dpkg-deb --root-owner-group --build "$work/root" "$out" | sed 's/^dpkg-deb: //'
