#!/usr/bin/env bash
# tune_cli_test.sh MPIRUN TUTTI TUTTI_BENCH - tutti tune on two ranks: a file that is read and followed, what an interrupted run
# leaves, and input that cannot be used.
set -u
mpirun=$1 tutti=$2 bench=$3
ranks=2
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder # no rules of the user's
failures=0

fail() {
  echo "FAILED: $*" >&2
  cat "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}
run() { "$launch" "$mpirun" $ranks sh -c '"$@"; echo "exit code $?"' sh "$@" >"$folder/stdout" 2>"$folder/stderr"; }
# expect CODE PATTERN OPTIONS...: all ranks exit with CODE; a line that matches PATTERN comes once.
expect() {
  local code=$1 pattern=$2
  shift 2
  run "$tutti" tune "$@"
  [ "$(grep -c "^exit code $code" "$folder/stdout")" = $ranks ] || fail "$* (exit code $code expected)"
  [ "$(cat "$folder/stdout" "$folder/stderr" | grep -c -e "$pattern")" = 1 ] || fail "$* ('$pattern' expected once)"
}

expect 0 '^Usage: tutti tune' --help
expect 2 'write FILE is needed' --budget 1
expect 2 "budget.*'0'" --write "$folder/x" --budget 0
expect 2 '--budget 0.01 is too small for anything' --write "$folder/x" --budget 0.01 --collective allreduce
expect 2 '--min 1048576 is larger than --max 1024' --write "$folder/x" --min 1M --max 1K
expect 2 "'allreduc' is none of.*allreduce" --write "$folder/x" --collective allreduc
expect 2 'communicator leaders: this job has 2' --write "$folder/x" --communicator leaders
expect 2 "'sendrecv' is none of" --write "$folder/x" --collective sendrecv
expect 2 "$folder/none/x" --write "$folder/none/x"
expect 2 "$folder/missing.partial" --write "$folder/missing" --resume
echo 'no rules' >"$folder/broken"
expect 2 "add: $folder/broken:1:" --write "$folder/broken" --add --budget 1
grep -qx 'no rules' "$folder/broken" || fail 'a file that cannot be used stays as it was'

rules=$folder/rules.json
few=(--collective allreduce,alltoallv,barrier --max 64K)
expect 0 "# $rules: .* rules; another algorithm is taken at" --write "$rules" --budget 0.1 "${few[@]}"
grep -q '"tutti_rules": 1' "$rules" || fail 'a file of rules'
grep -q '"collective": "allreduce".*"measured": {"us": ' "$rules" || fail 'times in the rules'
grep -q '"mpi": {"us": ' "$rules" || fail "times of the MPI's own in the rules"
[ ! -e "$rules.partial" ] || fail 'nothing is left over'
"$tutti" rules check "$rules" >"$folder/stdout" 2>"$folder/stderr" || fail 'the file passes the check'
run "$bench" --rules "$rules" --compare default --collective allreduce --max 1K --factor 128 --rounds 3 --touch
grep -q 'Geometric mean' "$folder/stdout" || fail 'the rules are compared with the built-in ones'

# Each table has the ratios, and says where another algorithm is taken.
echo '{"tutti_rules": 1, "rules": [{"collective": "allreduce", "use": "reduce_broadcast"}]}' >"$folder/other.json"
run "$bench" --rules "$folder/other.json" --compare default --collective allreduce,reduce,barrier --sizes 8,1K --rounds 3 \
  --json "$folder/other_results.json"
[ "$(grep -c 'default *ratio$' "$folder/stdout")" = 3 ] || fail 'all tables have the ratios'
grep -q '^# another algorithm than by the built-in rules: 4 of 4 measurements, geometric mean [0-9.]*, [0-9] faster' \
  "$folder/stdout" || fail 'another algorithm is told'
grep -q '^# another algorithm than by the built-in rules: 0 of 4 measurements$' "$folder/stdout" || fail 'the same one is told'
python3 - "$folder/other_results.json" <<'PYTHON' || fail 'the algorithms of both sides in the JSON'
import json, sys
for each in json.load(open(sys.argv[1]))['results']:
    assert (each['algorithm'] != each['peer']['algorithm']) == (each['collective'] == 'allreduce'), each
PYTHON
run env TUTTI_LOG=info TUTTI_RULES="$rules" "$bench" --max 8 --rounds 1
grep -q "rules for algorithms: $rules" "$folder/stderr" || fail 'the rules are followed'

# --add keeps the rules for other collectives, and replaces those for the same.
before=$(grep -c '"collective": "alltoall"' "$rules")
expect 0 "# $rules:" --write "$rules" --budget 0.05 --collective allreduce --max 1K --add
[ "$(grep -c '"collective": "alltoall"' "$rules")" = "$before" ] || fail '--add keeps other rules'
"$tutti" rules check "$rules" >"$folder/stdout" 2>"$folder/stderr" || fail 'the file passes the check, with added rules'

# --add keeps to the machine that the file is for, and nothing is lost by a file that nobody could read.
sed 's/"for": {[^}]*}/"for": {"cpu": "no such cpu"}/' "$rules" >"$folder/elsewhere.json"
cp "$folder/elsewhere.json" "$folder/before.json"
expect 2 'elsewhere.json is not for this machine: it is for cpu' --write "$folder/elsewhere.json" --budget 0.05 --collective barrier --add
cmp -s "$folder/elsewhere.json" "$folder/before.json" || fail '--add leaves the file of another machine alone'
python3 - "$folder/full.json" <<'PYTHON'
import json, sys
rules = [{"collective": "scan", "ranks": 2 + i, "use": "linear"} for i in range(4096)]
json.dump({"tutti_rules": 1, "rules": rules}, open(sys.argv[1], "w"))
PYTHON
expect 2 'full.json stays as it was, as nobody could read the new one' --write "$folder/full.json" --budget 0.05 --collective barrier --add
"$tutti" rules check "$folder/full.json" >"$folder/stdout" 2>"$folder/stderr" || fail 'the file of 4096 rules is lost'
[ -e "$folder/full.json.partial" ] || fail 'what was measured is lost'
# A rank with another command line ends all.
if [[ $("$mpirun" --version 2>&1) == *'Open MPI'* ]]; then
  timeout 30 "$launch" "$mpirun" 1 "$tutti" tune --write "$folder/one.json" --collective barrier : -n 1 "$tutti" tune --no-such \
    >"$folder/stdout" 2>"$folder/stderr"
  grep -q 'another rank cannot use its command line' "$folder/stderr" || fail 'ranks with different command lines'
fi

# An interrupted run leaves what it measured; --resume goes on with it.
if [[ $("$mpirun" --version 2>&1) == *'Open MPI'* ]]; then
  "$launch" "$mpirun" $ranks "$tutti" tune --write "$folder/later.json" --budget 1 "${few[@]}" >"$folder/stdout" 2>"$folder/stderr" &
  job=$!
  for _ in $(seq 200); do
    [ -e "$folder/later.json.partial" ] && [ "$(wc -l <"$folder/later.json.partial")" -ge 3 ] && break
    sleep 0.1
  done
  pkill -INT -P $job mpirun 2>/dev/null || kill -INT $job
  wait $job
  points=$(wc -l <"$folder/later.json.partial")
  [ "$points" -ge 3 ] && [ ! -e "$folder/later.json" ] || fail 'an interrupted run leaves what it has measured'
  first=$(sed -n 2p "$folder/later.json.partial")
  printf '{"context": "wor' >>"$folder/later.json.partial" # as if the disk had been full
  cp "$folder/later.json.partial" "$folder/kept"
  expect 0 "# $folder/later.json: " --write "$folder/later.json" --budget 0.1 "${few[@]}" --resume
  [ -e "$folder/later.json" ] && [ ! -e "$folder/later.json.partial" ] || fail '--resume ends the run'
  # What was measured needs no time: with none left, it becomes rules all the same.
  cp "$folder/kept" "$folder/later.json.partial"
  expect 0 "# $folder/later.json: [1-9][0-9]* rules" --write "$folder/later.json" --budget 0.01 "${few[@]}" --resume
  # Points of other contexts stay.
  cp "$folder/kept" "$folder/later.json.partial"
  expect 0 "# $folder/later.json: " --write "$folder/later.json" --budget 0.05 --collective barrier --resume
  [ -e "$folder/later.json.partial" ] || fail 'points that were not asked for are lost'
  sed -i '2s/"us": *[0-9.e+-]*/"us": 0/' "$folder/later.json.partial"
  expect 2 'later.json.partial:2: a time that is none' --write "$folder/later.json" --budget 0.05 "${few[@]}" --resume
  # Another machine's.
  sed '1s/"ranks": *2/"ranks":3/' "$folder/kept" >"$folder/later.json.partial"
  expect 2 'is of another run' --write "$folder/later.json" --budget 0.1 "${few[@]}" --resume
  [ -n "$first" ] || fail 'a line for each size'
fi

[ $failures -eq 0 ] && echo "all as expected"
exit $((failures > 0))
