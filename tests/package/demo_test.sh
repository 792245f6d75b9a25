#!/usr/bin/env bash
# demo_test.sh SETTINGS - the demo builds what it runs and nothing else; the product has every file that is installed.
source "$(dirname "$0")/common.sh" "$1"
command -v ninja >/dev/null || skip 'ninja is missing, which would tell what it builds'
demo=$folder/demo
options=$(grep -oE -e ' -DTUTTI_[A-Z]+=OFF' "$sources/scripts/demo.sh" | sort -u)
targets=$(sed -n 's/.*cmake --build "$folder" --target //p' "$sources/scripts/demo.sh")
# shellcheck disable=SC2086
configure "$sources" "$demo" -G Ninja -DCMAKE_BUILD_TYPE=Release $options || fail "the demo's build is not configured"
# made FOLDER TARGETS: the words of the commands that make them.
made() { ninja -C "$1" -t commands "${@:2}" | tr ' ' '\n' | sort -u; }
# shellcheck disable=SC2086
made "$demo" $targets >"$folder/made"
for program in tutti-bench tutti-sgd; do
  grep -qxE "apps/[a-z]+/$program" "$folder/made" || fail "the demo does not build $program, which it runs"
done
! grep -E '/(checker|plan_checker|soak|interpose|tutti_tool|tutti_mpi|fortran|tests)[./]|nvcc|libtutti\.(a|so)' "$folder/made" >"$log" ||
  fail 'the demo builds what it does not run'

configure "$sources" "$folder/whole" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTUTTI_TESTS=OFF || fail 'the release is not configured'
made "$folder/whole" tutti_product >"$folder/product"
find "$folder/whole" -name cmake_install.cmake -exec grep -ohE "\"$folder/whole/[^\"]*\"" {} + | tr -d '"' | sort -u |
  grep -vE '\.(cmake|pc)$|[$]|/CMakeFiles/|/modules/$' >"$folder/installed"
[ -s "$folder/installed" ] || fail 'nothing is installed from the build'
while read -r file; do
  grep -qxF -e "${file#"$folder/whole"/}" -e "$file" "$folder/product" || echo "$file"
done <"$folder/installed" >"$log"
[ ! -s "$log" ] || fail 'tutti_product has not all that --install wants'
finish
