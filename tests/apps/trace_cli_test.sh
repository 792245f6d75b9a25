#!/usr/bin/env bash
# trace_cli_test.sh TUTTI [MPIRUN PROGRAM PRELOADED CALLS] - tutti trace: what it refuses; and of a job, what ranks record
# and what is made of it. PROGRAM: does two allreduces. CALLS: a program without Tutti, for the library PRELOADED.
set -u
tutti=$1 mpirun=${2:-} program=${3:-} preloaded=${4:-} calls=${5:-}
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 # MPI leaves memory behind; what is preloaded has no ASan

fail() {
  echo "FAILED: $*" >&2
  head -c 3000 "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

# expect CODE PATTERN COMMAND...: ends with CODE, and a line of what it writes matches PATTERN.
expect() {
  local code=$1 pattern=$2
  shift 2
  timeout 120 "$@" >"$folder/stdout" 2>"$folder/stderr"
  local got=$?
  [ $got = "$code" ] || fail "$* (exit code $code expected, not $got)"
  grep -q -e "$pattern" "$folder/stdout" "$folder/stderr" || fail "$* ('$pattern' expected)"
}

# python FILE PROGRAM WHAT: about the JSON in the file, which is `read`.
python() {
  python3 -c "import json
read = json.load(open('$1'))
$2" || fail "$3 (python: see above)"
}

expect 0 '^Usage: tutti trace DIR \[options\]' "$tutti" trace --help
expect 0 '^tutti trace (Tutti' "$tutti" trace --version
expect 2 '^tutti trace: DIR is missing' "$tutti" trace
expect 2 "unrecognised option '--jsn' (did you mean --json?)" "$tutti" trace --jsn "$folder"
expect 2 "cannot read the folder '$folder/none': No such file" "$tutti" trace "$folder/none"
expect 2 "has no traces (\*.tutti-trace)" "$tutti" trace "$folder"
expect 2 '--svg and --operation: one needs the other' "$tutti" trace "$folder" --svg "$folder/x.svg"
expect 2 '--svg and --operation: one needs the other' "$tutti" trace "$folder" --operation 1
expect 2 "--operation: '-1'" "$tutti" trace "$folder" --operation -1 --svg x.svg
expect 2 '--communicator needs --operation' "$tutti" trace "$folder" --communicator 0
expect 2 '--svg: not with --json or --output' "$tutti" trace "$folder" --operation 1 --svg x.svg --json
echo 'this is no trace, though it is long enough to be one' >"$folder/a.0.tutti-trace"
expect 2 "^tutti trace: '$folder/a.0.tutti-trace', byte 0: the file is too short" "$tutti" trace "$folder"
rm "$folder/a.0.tutti-trace"
[ -n "$mpirun" ] || exit $((failures > 0))

two() { timeout 120 "$launch" "$mpirun" 2 env "$@" >"$folder/stdout" 2>"$folder/stderr"; }
traces=$folder/made/traces
two TUTTI_TRACE="$traces" "$program" || fail 'TUTTI_TRACE: exit code 0 expected'
[ "$(find "$traces" -name '*.[01].tutti-trace' | wc -l)" = 2 ] || fail 'TUTTI_TRACE: not a file of each rank'
expect 0 '^2 ranks on 1 host, .* 0 dropped; [1-9]' "$tutti" trace "$traces"
for line in 'all ranks share one clock' '0/2 .* 2$' 'allreduce .* 2  *4,000 ' '[01]  .*  2  '; do
  grep -qE "^$line" "$folder/stdout" || fail "trace: no line '$line'"
done
python "$traces/trace.json" '
slices = [each for each in read["traceEvents"] if each["ph"] == "X"]
assert sum(each["name"] == "allreduce" for each in slices) == 4
assert {each["args"]["called"] for each in slices if each["name"] == "allreduce"} == {"blocking", "nonblocking"}
begins = {each["id"] for each in read["traceEvents"] if each["ph"] == "s"}
ends = {each["id"] for each in read["traceEvents"] if each["ph"] == "f"}
sends = sum(each["name"].startswith("send to") for each in slices)
assert begins == ends and len(begins) == sends > 0
' 'the timeline'
expect 0 '"calls"' "$tutti" trace "$traces" --json --output "$folder/other.json"
cmp -s "$traces/trace.json" "$folder/other.json" || fail '--output: another timeline'
python "$folder/stdout" '
assert [rank["rank"] for rank in read["ranks"]] == [0, 1] and all(rank["entered"] == 2 for rank in read["ranks"])
assert sum(rank["last"] for rank in read["ranks"]) == 2
assert read["dropped"] == 0 and read["unmatched_ends"] == 0 and not read["notes"]
assert [each["collective"] for each in read["calls"]] == ["allreduce"] and read["calls"][0]["rank_calls"] == 4
' 'trace --json'
"$tutti" trace "$traces" --operation 1 --svg "$folder/one.svg" --communicator 0 || fail 'trace --svg'
python3 -c "import xml.etree.ElementTree as tree
root = tree.parse('$folder/one.svg').getroot()
titles = [each.text for each in root.iter() if each.tag.endswith('title')]
assert root.tag.endswith('svg') and any(' sends ' in each for each in titles), titles" || fail 'trace --svg'
expect 2 '--operation 9: no collective has that number; the communicators are 0/2' \
  "$tutti" trace "$traces" --operation 9 --svg "$folder/one.svg"
expect 2 'cannot write' "$tutti" trace "$traces" --output "$folder/nowhere/x.json"
"$tutti" trace "$traces" >/dev/full 2>"$folder/stderr"
[ $? = 1 ] || fail 'trace >/dev/full: exit code 1 expected'

# Damaged: cut off, then of another run.
file=$(find "$traces" -name '*.1.tutti-trace') size=$(stat -c %s "$(find "$traces" -name '*.1.tutti-trace')")
cp "$file" "$folder/whole"
truncate -s $((size - 10)) "$file"
expect 2 "^tutti trace: '$file', byte [0-9]*: the file ends within a block; .* --salvage takes them" "$tutti" trace "$traces"
expect 0 "^note: rank 1: '$file', byte [0-9]*: the file ends within a block" "$tutti" trace "$traces" --salvage
cp "$folder/whole" "$file"
cp "$file" "$traces/elsewhere.1.tutti-trace"
expect 2 'files of several runs: .*elsewhere.1.tutti-trace' "$tutti" trace "$traces"
rm "$traces/elsewhere.1.tutti-trace"

# A second run replaces the files of the first.
two TUTTI_TRACE="$traces" TUTTI_TRANSPORT=mpi "$program" || fail 'TUTTI_TRACE, again'
expect 0 '"by":"MPI"' sh -c "'$tutti' trace '$traces' >/dev/null && cat '$traces/trace.json'"
grep -q 'shared memory' "$traces/trace.json" && fail 'a second run: traces of the first are left'

# What cannot be written ends every rank, with the reason of the one that has it.
for number in 0 1; do
  rm -rf "$folder/wrong" && mkdir -p "$folder/wrong/$(hostname).$number.tutti-trace"
  two TUTTI_TRACE="$folder/wrong" "$program"
  code=$?
  [ $code != 0 ] && [ $code != 124 ] || fail "a file that rank $number cannot write (exit code $code)"
  grep -q "TUTTI_TRACE is '$folder/wrong', but rank $number: cannot write '.*': Is a directory; allowed: a folder" \
    "$folder/stderr" || fail "a file that rank $number cannot write"
  [ "$(find "$folder/wrong" -type f | wc -l)" = 0 ] || fail "a file that rank $number cannot write: others stay"
done
two TUTTI_TRACE=/proc/traces "$program" && fail 'a folder that cannot be made: exit code 0'
grep -q "cannot make the folder '/proc/traces'" "$folder/stderr" || fail 'a folder that cannot be made'

# Programs that know nothing of Tutti.
[ -z "$preloaded" ] || {
  two TUTTI_TRACE="$folder/preloaded" TUTTI_INTERPOSE=all LD_PRELOAD="$preloaded" "$calls" || fail 'a preloaded program'
  expect 0 '^barrier  *dissemination.*  10  ' "$tutti" trace "$folder/preloaded"
}
exit $((failures > 0))
