#!/usr/bin/env bash
# symbols_test.sh SOURCES LIBRARY [mpi] - the shared library exports what include/tutti marks with TUTTI_API, the functions
# of C that tests/c/symbols.txt lists, and nothing else; all of it, if it was built with MPI.
set -u
sources=$1 library=$2 with_mpi=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# fail_if_any WHAT NAMES: unless the file is empty.
fail_if_any() {
  [ -s "$2" ] || return 0
  echo "FAILED: $1" >&2
  cat "$2" >&2
  failures=$((failures + 1))
}

# Names without arguments: "tutti::Batch::send"; of a type's information, the type: "tutti::Error".
nm -DC --defined-only "$library" | sed -E 's/^[0-9a-f]* +[A-Za-z] //; s/^(typeinfo|typeinfo name|vtable) for //
  s/operator\(\)/operator call/; s/\[abi:[^]]*\]//g; s/\(.*//' | sort -u >"$folder/exported"

# What headers mark: "send", "~Batch", "operator=". A class that is marked stands for its members.
grep -h TUTTI_API "$sources"/include/tutti/*.hpp | grep -v '#define' >"$folder/lines"
sed -nE 's/.*class TUTTI_API (\w+).*/\1/p' "$folder/lines" | sort -u >"$folder/classes"
sed -E 's/operator\(\)/operator call/' "$folder/lines" | grep -v 'class TUTTI_API' |
  grep -oE '(operator *[^ (]+|~?\w+)\(' | tr -d '(' | sort -u >"$folder/functions"

[ -s "$folder/exported" ] || echo "none at all" >"$folder/none"
fail_if_any 'symbols that it exports:' "$folder/none"
grep -v '^tutti::' "$folder/exported" | grep -vxF -f "$sources/tests/c/symbols.txt" >"$folder/foreign"
fail_if_any 'it exports what is neither in namespace tutti nor in tests/c/symbols.txt:' "$folder/foreign"

grep '^tutti::' "$folder/exported" | while read -r name; do
  scope=${name%::*}
  grep -qxF -e "${name##*::}" "$folder/functions" "$folder/classes" || grep -qxF -e "${scope##*::}" "$folder/classes" ||
    echo "$name"
done >"$folder/unmarked"
fail_if_any 'it exports what no header marks with TUTTI_API:' "$folder/unmarked"

sed 's/.*:://' "$folder/exported" | sort -u >"$folder/last"
if [ -n "$with_mpi" ]; then
  sort -u "$folder/functions" "$folder/classes" "$sources/tests/c/symbols.txt" | comm -23 - "$folder/last" >"$folder/missing"
else
  printf '%s\n' ArgumentError Error ScheduleBuilder algorithms to_string | comm -23 - "$folder/last" >"$folder/missing"
fi
fail_if_any 'it does not export what is marked:' "$folder/missing"
exit $((failures > 0))
