#!/usr/bin/env bash
# symbols_test.sh SOURCES LIBRARY - the functions of C that the library has, static or shared, are those that the
# headers declare and that tests/c/symbols.txt lists. A function that goes or changes its name breaks programs: the list
# shows it.
set -u
sources=$1 library=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

dynamic=()
[[ $library != *.so* ]] || dynamic=(-D)
nm "${dynamic[@]}" --defined-only "$library" 2>/dev/null | awk '$2 == "T" && $3 ~ /^tutti_/ {print $3}' |
  grep -v '^tutti_ucx_component$' | LC_ALL=C sort -u >"$folder/library" # a mark for linkers, of no header
sed 's|//.*||' "$sources"/include/tutti/c/*.h | grep -v '^typedef\|^#' | grep -oE '\btutti_[a-z0-9_]+\(' | tr -d '(' |
  LC_ALL=C sort -u >"$folder/headers"

for made in library headers; do
  if ! diff "$sources/tests/c/symbols.txt" "$folder/$made" >"$folder/difference"; then
    echo "FAILED: tests/c/symbols.txt (<) and the $made (>) differ:" >&2
    cat "$folder/difference" >&2
    failures=$((failures + 1))
  fi
done
[ "$(wc -l <"$folder/library")" -gt 100 ] || { echo 'FAILED: next to no functions found' >&2; failures=$((failures + 1)); }
exit $((failures > 0))
