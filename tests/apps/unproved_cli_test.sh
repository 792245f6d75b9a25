#!/usr/bin/env bash
# unproved_cli_test.sh SHOW_FAULTY - tutti show of algorithms that are wrong: refused, or with --unproved shown with the fault
# marked, in every form, and exit code 1.
set -u
show=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0 ranks=3

fail() {
  echo "FAILED: $*" >&2
  head -c 3000 "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

# expect CODE ALGORITHM OPTIONS...
expect() {
  local code=$1
  shift
  "$show" allreduce "$@" -p "$ranks" -n 4 >"$folder/stdout" 2>"$folder/stderr"
  local got=$?
  [ $got = "$code" ] || fail "$* (exit code $code expected, not $got)"
}
python() { python3 -c "$1" "$folder" || fail "$2 (python: see above)"; }

for case in 'deadlock:deadlock under' 'unreceived:rank 1, step 1 (send output.* to 0): is never received' \
  'incomplete:rank 0: output\[0\] is' 'garbage:rank ., step 0 (send scratch.*): reads garbage' 'race:rank 0, step 2 (copy .*): race with rank 0, step 1' \
  'outside:rank 0, step 0 (send input.*): input.* leaves its buffer'; do
  name=${case%%:*} fault=${case#*:}
  expect 1 "$name"
  [ ! -s "$folder/stdout" ] || fail "$name is drawn without --unproved"
  grep -q "^tutti show: .*: not proved: $fault.*(--unproved shows the schedule)$" "$folder/stderr" || fail "$name"

  expect 1 "$name" --unproved
  grep -q "^not proved: .*$fault" "$folder/stdout" || fail "$name: no fault in the text"
  grep -q "^tutti show: .*: not proved: .*$fault" "$folder/stderr" || fail "$name: no fault on stderr"
  cp "$folder/stdout" "$folder/text"
  expect 1 "$name" --unproved --format json
  python '
import json, re, sys
text, shown = open(sys.argv[1] + "/text").read(), json.load(open(sys.argv[1] + "/stdout"))
fault = shown["fault"]
assert "cost" not in shown and ("not proved: " + fault["text"]) in text
rank, marked = None, set()
for line in text.splitlines()[2:]:
    found = re.match(r"rank (\d+)( !)?$", line)
    if found:
        rank = int(found[1])
        if found[2]: marked.add((rank, None))
    elif line.startswith("!"):
        marked.add((rank, int(line.split()[1])))
assert marked == {(place["rank"], place.get("step")) for place in fault["places"]} and marked, (marked, fault)
named = {(int(a), int(b)) for a, b in re.findall(r"rank (\d+), step (\d+)", fault["text"])}
assert named == {place for place in marked if place[1] is not None}, (named, marked)' "$name: marks"
  expect 1 "$name" --unproved --format dot
  grep -q '#dc2626' "$folder/stdout" || fail "$name: nothing is marked in the graph"
  [ "$name" != outside ] || continue
  expect 1 "$name" --unproved --format svg
  python 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1] + "/stdout")' "$name: svg"
  grep -q 'class="note faulty">not proved: ' "$folder/stdout" || fail "$name: no fault in the picture"
  grep -q 'class="rank faulty">[0-2]<' "$folder/stdout" || fail "$name: no rank is marked in the picture"
done
expect 1 outside --unproved --format svg
grep -q 'leaves its buffer.*: cannot be drawn in time; allowed: --format text, json, dot' "$folder/stderr" || fail 'outside as a picture'

# Two ranks that differ are both named.
expect 1 right_for_two --unproved
[ "$(grep '^rank . !$' "$folder/stdout" | tr '\n' ' ')" = 'rank 0 ! rank 2 ! ' ] || fail 'two ranks that differ'
# What is proved is shown as without the option.
ranks=2
expect 0 right_for_two
cp "$folder/stdout" "$folder/text"
expect 0 right_for_two --unproved
cmp -s "$folder/text" "$folder/stdout" || fail 'an algorithm that is proved is shown otherwise'

[ $failures -eq 0 ] && echo passed
exit $((failures > 0))
