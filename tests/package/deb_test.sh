#!/usr/bin/env bash
# deb_test.sh SETTINGS FOLDER - the .deb in FOLDER is installed on this machine: its programs run, another program is built with
# it and runs; then it is purged, and nothing is left. Needs root.
source "$(dirname "$0")/common.sh" "$1"
deb=$(find "$2" -name '*.deb')
[ -n "$deb" ] || skip 'there is no .deb: dpkg-shlibdeps or file is missing'
[ "$(id -u)" = 0 ] || skip 'only root can install a package'
! dpkg-query -W -f '${db:Status-Status}' tutti 2>/dev/null | grep -q '^installed' || skip 'a package tutti is installed already'

# dpkg_in_turn OPTIONS...: another dpkg may be at work.
dpkg_in_turn() {
  for _ in $(seq 60); do
    dpkg "$@" >"$log" 2>&1 && return
    grep -q 'lock was locked' "$log" || return
    sleep 1
  done
}
trap 'dpkg --purge tutti >/dev/null 2>&1; rm -rf "$folder"' EXIT
dpkg_in_turn -i "$deb" || fail 'dpkg -i'
cd / || exit 1
dpkg-query -W -f '${db:Status-Abbrev}${Version}' tutti >"$log" 2>&1
grep -q "^ii *$version$" "$log" || fail "dpkg does not have tutti $version"

/usr/bin/tutti verify allreduce ring --quick >"$log" 2>&1 || fail 'the tool does not run'
if [ -n "$mpirun" ]; then
  run 2 /usr/bin/tutti-bench --collective allreduce --max 8 --rounds 1 --check || fail 'tutti-bench does not run'
  run 2 /usr/bin/tutti-sgd --epochs 1 || fail 'tutti-sgd does not run'
fi
read -r source ranks expected <"$consumers"
# shellcheck disable=SC2046
"${mpicxx:-$cxx}" "$source" -o "$folder/program" $(env -u PKG_CONFIG_PATH pkg-config --cflags --libs tutti) >"$log" 2>&1 ||
  fail 'a program does not build with the package'
run "$ranks" "$folder/program" && grep -qE "$expected" "$log" || fail 'a program that was built with the package does not run'

dpkg_in_turn --purge tutti || fail 'dpkg --purge'
dpkg-deb -c "$deb" | sed -E 's/.* \.(\/[^ ]*)( -> .*)?$/\1/' | while read -r path; do
  case $path in
    */) [[ ${path,,} != *tutti* || ! -d $path ]] || echo "$path" ;; # other folders belong to others, too
    *) [ ! -e "$path" ] && [ ! -L "$path" ] || echo "$path" ;;
  esac
done >"$log"
[ ! -s "$log" ] || fail 'the package leaves these behind'
! ldconfig -p | grep libtutti >"$log" || fail 'the linker still knows the library'
! dpkg-query -W tutti >"$log" 2>&1 || fail 'dpkg still knows the package'
finish
