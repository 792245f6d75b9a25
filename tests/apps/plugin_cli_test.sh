#!/usr/bin/env bash
# plugin_cli_test.sh TUTTI FOLDER - libraries of algorithms: listed, proved, drawn and priced; and those that are refused.
set -eu
tutti=$1 folder=$2
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }
# has TEXT COMMAND...: the command succeeds and prints the text.
has() {
  local text=$1
  shift
  said=$("$@" 2>&1) || { fail "$*: $said"; return; }
  grep -qF -- "$text" <<<"$said" || fail "$*: no '$text' in: $said"
}
# refused LIBRARY TEXT: the tool ends with an error that has the text.
refused() {
  if said=$(TUTTI_ALGORITHMS=$1 "$tutti" list allreduce 2>&1); then fail "$1 is taken: $said"; fi
  grep -qF -- "$2" <<<"$said" || fail "$1: no '$2' in: $said"
}

export TUTTI_ALGORITHMS=$folder/libtorus.so
has 'rings along the rows and the columns' "$tutti" list allreduce
has '1 algorithms' "$tutti" verify allreduce torus --quick
has ' 0 failed' "$tutti" verify allreduce torus --quick
has 'allreduce torus' "$tutti" show allreduce torus -p 6
has '<svg' "$tutti" show allreduce torus -p 6 --format svg
has 'torus:3' "$tutti" cost allreduce torus torus:3 -p 12 -n 1200
"$tutti" show allreduce torus -p 6 --format json | "$tutti" verify --file - >/dev/null || fail 'its file is not proved'
has 'torus' env TUTTI_ALGORITHMS="$folder/libtorus.so:$folder/libtorus.so" "$tutti" list allreduce

refused "$folder/nothing.so" 'cannot open shared object file'
refused "$folder/libwrong_version.so" 'it was built for Tutti 0.1.9, and this is'
refused "$folder/libwrong_layout.so" 'it was built with other headers'
refused "$folder/libwrong_nothing.so" 'it has no function tutti_algorithms()'
refused "$folder/libwrong_taken.so" "there is already allreduce 'ring'"
refused "$folder/libwrong_empty.so" "allreduce 'empty' has no function 'build'"
refused "$folder/libwrong_odd.so" "the name of allreduce 'a:b' is not usable"

if said=$(TUTTI_ALGORITHMS=$folder/libwrong_sumless.so "$tutti" verify allreduce sumless --quick 2>&1); then fail "$said"; fi
grep -q 'FAILED: .*is r0\[0\], not element 0 of ranks' <<<"$said" || fail "sumless: $said"
exit $failed
