#!/usr/bin/env bash
# bits_cli_test.sh TUTTI [MPIRUN RANKS PROGRAM PRELOADED CALLS] - tutti bits: what it refuses; and of a job of RANKS ranks,
# what TUTTI_BITS=record:DIR writes, what compare:DIR tells, and what is made of two records. PROGRAM: bits_program. CALLS: a
# program without Tutti, for the library PRELOADED.
set -u
tutti=$1 mpirun=${2:-} ranks=${3:-1} program=${4:-} preloaded=${5:-} calls=${6:-}
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
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
  grep -q -E -e "$pattern" "$folder/stdout" "$folder/stderr" || fail "$* ('$pattern' expected)"
}
# told PATTERN WHAT, untold PATTERN WHAT: whether a line of the latest command has it.
told() { grep -q -E -e "$1" "$folder/stdout" "$folder/stderr" || fail "$2: no line '$1'"; }
untold() { ! grep -q -E -e "$1" "$folder/stdout" "$folder/stderr" || fail "$2: a line '$1'"; }
# json PROGRAM WHAT: about what the latest command printed, which is `read`.
json() {
  python3 -c "import json
read = json.load(open('$folder/stdout'))
$1" || fail "$2 (python: see above)"
}

expect 0 '^Usage: tutti bits A B \[options\]' "$tutti" bits --help
expect 2 '^tutti bits: A is missing' "$tutti" bits
expect 2 '^tutti bits: B is missing' "$tutti" bits "$folder"
expect 2 "cannot read the folder '$folder/none': No such file" "$tutti" bits "$folder/none" "$folder"
mkdir "$folder/empty" "$folder/foreign"
expect 2 'has no record \(\*.tutti-bits\)' "$tutti" bits "$folder/empty" "$folder/empty"
head -c 400 /dev/zero >"$folder/foreign/rank.0.tutti-bits"
expect 2 'byte 0: this is no record of bits' "$tutti" bits "$folder/foreign" "$folder/foreign"
echo short >"$folder/foreign/rank.0.tutti-bits"
expect 2 'byte 0: the file is too short' "$tutti" bits "$folder/foreign" "$folder/foreign"
[ -n "$mpirun" ] || exit $((failures > 0))

# job TUTTI_BITS ARGUMENTS...: runs the program; settings of the test's own are in the array `settings`.
settings=(TUTTI_ALGORITHM=)
job() {
  local bits=$1
  shift
  timeout 200 "$launch" "$mpirun" "$ranks" env "${settings[@]}" TUTTI_BITS="$bits" "$program" "$@" \
    >"$folder/stdout" 2>"$folder/stderr"
}
must() { job "$@" || fail "$* (exit code 0 expected)"; }
last=$((ranks - 1))
all=$([ "$ranks" = 1 ] && echo 'on rank 0' || echo "on ranks 0-$last")

job 'record:' && fail 'record: without a folder'
job 'fixed,same' && fail 'two orders'
told "TUTTI_BITS is 'fixed,same': an order comes twice; allowed: same or fixed, once" 'two orders'
job "record:$folder/x,compare:$folder/x" && fail 'one folder for both'
told 'the folder to record in is the one to compare with' 'one folder for both'
job "record:$folder/x:deep=7Q" && fail 'a size that is none'
told "'7Q' is no size; allowed: deep=SIZE" 'a size that is none'
job 'recrod:x' && fail 'an unknown word'
job same || fail 'same' # the files of tests before stay away
if grep -q 'built without xxHash' <("$launch" "$mpirun" 1 env TUTTI_BITS=record:"$folder/probe" "$program" calls=1 2>&1); then
  echo 'SKIP: built without xxHash'
  exit $((failures > 0))
fi

# Two runs of the same: no difference, whatever is in the memory that no call defines.
must "record:$folder/a"
[ "$(find "$folder/a" -name 'rank.*.tutti-bits' | wc -l)" = "$ranks" ] || fail 'not a file of each rank'
must "record:$folder/deep/made:deep"
must "fixed,record:$folder/fixed"
must "compare:$folder/fixed,fixed"
told "^tutti: bits: no difference in $((ranks * 220)) calls" 'fixed'
must "record:$folder/b"
expect 0 "^$ranks ranks?, $((ranks * 220)) calls: none differs" "$tutti" bits "$folder/a" "$folder/b"
must "compare:$folder/a"
told "^tutti: bits: no difference in $((ranks * 220)) calls of $ranks ranks? from the record in '$folder/a'$" 'the same again'
untold ' differs? ' 'the same again'
expect 0 '"complete": true' "$tutti" bits "$folder/a" "$folder/b" --json
json "assert read['calls'] == $((ranks * 220)) and read['differing'] == 0 and not read['first'] and not read['notes']" \
  'json of the same'

# One element of one input: found with its rank.
must "record:$folder/planted,compare:$folder/a" plant=137
where="call 137 of communicator 0/$ranks \(allreduce of 100 fp64, sum\)"
told "^tutti: rank $last: bits: $where: the input of this rank differs, so the program made the difference" 'planted'
told "^tutti: bits: the first of all ranks: $where: the program made the difference: inputs differ on rank $last; results differ $all" \
  'planted'
told "^tutti: rank $last: bits: 1 of 220 calls differ from the record in '$folder/a'" 'planted'
untold 'element' 'planted, without data'
expect 1 "^first: $where: the program made the difference: inputs differ on rank $last; results differ $all" \
  "$tutti" bits "$folder/a" "$folder/planted"
told "^$ranks ranks?, $((ranks * 220)) calls: $ranks differs?" 'planted'
must "record:$folder/deep/b:deep=64M,compare:$folder/deep/made" plant=137
told "the input of this rank differs.*; element 17 of 100 is [-0-9.e+]+ \(0x[0-9a-f]{16}\) recorded, [-0-9.e+]+ \(0x[0-9a-f]{16}\) now; 1 element differs" \
  'planted, deep'
expect 1 "^  rank $last: input, result: element 17 of 100 is .* in A, .* in B; 1 element differs" \
  "$tutti" bits "$folder/deep/made" "$folder/deep/b"
"$tutti" bits "$folder/deep/made" "$folder/deep/b" --json >"$folder/stdout" 2>"$folder/stderr"
[ $? = 1 ] || fail 'json of a difference: exit code 1 expected'
json "first, = read['first']
on = [each for each in first['ranks'] if each['rank'] == $last]
assert first['number'] == 137 and first['inputs_on'] == [$last] and not first['only_result'], first
assert on[0]['element'] == 17 and on[0]['differing'] == 1 and on[0]['a'] != on[0]['b'], on" 'json of a difference'

# Two algorithms: the result alone. Two operands have one sum only.
if [ "$ranks" -gt 2 ]; then
  settings=(TUTTI_ALGORITHM=allreduce=recursive_doubling)
  must "record:$folder/doubling:deep"
  settings=(TUTTI_ALGORITHM=allreduce=ring)
  must "record:$folder/ring:deep,compare:$folder/doubling"
  told 'the input of this rank is the same, its result differs, by recursive_doubling recorded, ring now; element' 'ring'
  told 'inputs are the same on all ranks, the result alone differs: results differ' 'ring'
  untold 'the program made the difference' 'ring'
  expect 1 '^first: call [0-9]+ .*: inputs are the same on all ranks, the result alone differs: results differ' \
    "$tutti" bits "$folder/doubling" "$folder/ring"
  told '^  rank 0: result, by recursive_doubling in A, ring in B: element' 'ring'
  settings=(TUTTI_ALGORITHM=)
fi

# Calls that are others, and more or fewer of them.
must "record:$folder/other,compare:$folder/a" other=137
told "call 137 .*: this is another call: allreduce recorded, barrier now" 'another collective'
expect 1 'another call on rank.*' "$tutti" bits "$folder/a" "$folder/other"
must "compare:$folder/a" count=137
told 'this is another call: count 100 recorded, 99 now' 'another count'
must "record:$folder/fewer,compare:$folder/a" calls=150
told '^tutti: rank 0: bits: the record has 55 calls more than this run' 'fewer'
expect 1 '^note: rank 0: A has 55 more calls than B' "$tutti" bits "$folder/a" "$folder/fewer"
must "compare:$folder/fewer"
told 'call 151 .*: there is no such call recorded' 'more'
told "^tutti: bits: the first of all ranks: call 151 .*no such call before $all" 'more'
must "compare:$folder/a" first=1
told 'call 1 of .*: this is another call: broadcast recorded, barrier now' 'one call more at the start'

# Several communicators: what came first on those that share a rank.
must "record:$folder/split" split=1
must "record:$folder/split_planted" split=1 plant=137
expect 1 "^first: $where: the program made the difference: inputs differ on rank $last" \
  "$tutti" bits "$folder/split" "$folder/split_planted"
told '^later: call 137 of communicator 1/' 'split'
untold '^first: .* of communicator 1/' 'split'

# Records that cannot be used.
job "compare:$folder/none" && fail 'a missing folder'
told "TUTTI_BITS is 'compare:$folder/none', but rank 0: cannot read '.*': No such file.*; allowed: record:DIR" 'a missing folder'
job "compare:$folder/foreign" && fail 'a foreign file'
told 'byte 0: the file is too short for a record of bits' 'a foreign file'
other=$((ranks + 1)) mine=$ranks
ranks=$other job "record:$folder/larger" calls=3 || fail 'one rank more'
job "compare:$folder/larger" calls=3 && fail 'another number of ranks'
told "is the record of rank [0-9] of $other, and this is rank [0-9] of $mine" 'another number of ranks'
expect 2 "is the record of $mine ranks, and '.*' of $other: their calls do not correspond" \
  "$tutti" bits "$folder/a" "$folder/larger"
cp -r "$folder/a" "$folder/mixed"
cp "$folder/larger/rank.$mine.tutti-bits" "$folder/mixed"
expect 2 'has records of several runs' "$tutti" bits "$folder/mixed" "$folder/a"
[ "$ranks" = 1 ] || {
  cp -r "$folder/a" "$folder/partial"
  rm "$folder/partial/rank.$last.tutti-bits"
  expect 2 "^note: rank $last has no record in '$folder/partial'" "$tutti" bits "$folder/partial" "$folder/a"
}
cp -r "$folder/a" "$folder/damaged"
truncate -s 20000 "$folder/damaged/rank.0.tutti-bits"
expect 2 'note: rank 0: .*byte [0-9]+: the file ends within a record; its calls from there' "$tutti" bits "$folder/damaged" "$folder/a"
must "compare:$folder/damaged"
told 'byte [0-9]+: the file ends within a record; calls from here on are not compared' 'a file that was cut'
cp "$folder/a/rank.0.tutti-bits" "$folder/damaged"
printf x | dd of="$folder/damaged/rank.0.tutti-bits" bs=1 seek=20050 conv=notrunc 2>/dev/null
must "compare:$folder/damaged"
told 'the checksum of a record is wrong' 'a damaged record'

# What cannot be written.
mkdir -p "$folder/full"
ln -s /dev/full "$folder/full/rank.0.tutti-bits"
job "record:$folder/full" && fail 'a full disk at the start'
told 'but rank 0: cannot write .*No space left on device' 'a full disk at the start'
must "record:$folder/limited" limit=40960
told "^tutti: rank 0: cannot write '.*': File too large; the record of the calls' bits ends here" 'a full disk later'
expect 2 'note: rank 0: .* does not end as the record of a program that has ended; [0-9]* calls of the other run, which may come later, were not compared' "$tutti" bits "$folder/a" "$folder/limited"
mkdir "$folder/read_only" && touch "$folder/read_only/rank.0.tutti-bits"
if chmod a-w "$folder/read_only" "$folder/read_only/rank.0.tutti-bits" && ! [ -w "$folder/read_only" ]; then
  job "record:$folder/read_only" && fail 'a folder that is read-only'
  told 'cannot write .*Permission denied' 'a folder that is read-only'
fi
job record:/proc/bits && fail 'a folder that cannot be made'
told "cannot make the folder '/proc/bits'" 'a folder that cannot be made'
must "record:$folder/little:deep=20K"
expect 0 'none differs' "$tutti" bits "$folder/a" "$folder/little"
[ "$(stat -c %s "$folder/little/rank.0.tutti-bits")" -le $(($(stat -c %s "$folder/a/rank.0.tutti-bits") + 20480)) ] ||
  fail 'deep=20K: more data than that'

# What refuses the one leaves older files of the other alone.
settings+=("TUTTI_TRACE=$folder/older/trace")
must "record:$folder/older/bits" calls=2
cp -r "$folder/older" "$folder/copy"
job "compare:$folder/none" calls=2 && fail 'no record to compare with, and a trace'
diff -r "$folder/older" "$folder/copy" || fail 'refused bits changed the older trace'
settings[1]="TUTTI_TRACE=/proc/trace"
job "record:$folder/older/bits" calls=2 && fail 'a folder for traces that cannot be made'
diff -r "$folder/older" "$folder/copy" || fail 'a refused trace changed the older bits'
settings=("${settings[0]}")

# Programs that know nothing of Tutti.
[ -z "$preloaded" ] || {
  for run in first second; do
    timeout 120 "$launch" "$mpirun" "$ranks" env TUTTI_BITS="record:$folder/preloaded.$run" TUTTI_INTERPOSE=all \
      LD_PRELOAD="$preloaded" "$calls" >"$folder/stdout" 2>"$folder/stderr" || fail 'a preloaded program'
  done
  timeout 120 "$launch" "$mpirun" "$ranks" env TUTTI_BITS="compare:$folder/preloaded.first" TUTTI_INTERPOSE=all \
    LD_PRELOAD="$preloaded" "$calls" >"$folder/stdout" 2>"$folder/stderr" || fail 'a preloaded program, compared'
  told "^tutti: bits: no difference in [1-9][0-9]* calls of $ranks ranks?" 'a preloaded program, compared'
  expect 0 "^$ranks ranks?, [1-9][0-9]* calls: none differs" "$tutti" bits "$folder/preloaded.first" "$folder/preloaded.second"
}
exit $((failures > 0))
