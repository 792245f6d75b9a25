#!/usr/bin/env bash
# demo_test.sh SETTINGS - what Ninja builds of the demo has every file that is installed from the build.
source "$(dirname "$0")/common.sh" "$1"
command -v ninja >/dev/null || skip 'ninja is missing, which would tell what it builds'
demo=$folder/demo
targets=$(sed -n 's/.*cmake --build "$folder"//p' "$sources/scripts/demo.sh" | head -n 1)
configure "$sources" "$demo" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTUTTI_TESTS=OFF || fail "the demo's build is not configured"
# made TARGETS: the words of the commands that make them.
made() { ninja -C "$demo" -t commands "$@" | tr ' ' '\n' | sort -u; }
# shellcheck disable=SC2086
made ${targets#*--target} >"$folder/made"
made tutti_product >"$folder/product"
find "$demo" -name cmake_install.cmake -exec grep -ohE "\"$demo/[^\"]*\"" {} + | tr -d '"' | sort -u |
  grep -vE '\.(cmake|pc)$|[$]|/CMakeFiles/|/modules/$' >"$folder/installed"
[ -s "$folder/installed" ] || fail 'nothing is installed from the build'
for what in made product; do
  while read -r file; do
    grep -qxF -e "${file#"$demo"/}" -e "$file" "$folder/$what" || echo "$file"
  done <"$folder/installed" >"$log"
  [ ! -s "$log" ] || fail "$what: not all is built that --install wants"
done
finish
