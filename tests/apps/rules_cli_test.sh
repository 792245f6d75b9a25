#!/usr/bin/env bash
# rules_cli_test.sh TUTTI SOURCES - tutti choose and tutti rules: what they write, what they refuse, and their exit codes.
set -u
tutti=$1 sources=$2
samples=$sources/tests/apps/import
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
export ASAN_OPTIONS=detect_leaks=0 # what an MPI leaves behind when it is only loaded
unset TUTTI_RULES
export HOME=$folder XDG_CONFIG_HOME=$folder/config

fail() {
  echo "FAILED: tutti $*" >&2
  head -c 2000 "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

# expect CODE PATTERN ARGUMENTS...: ends with CODE, and a line of what it writes matches PATTERN, if there is one.
expect() {
  local code=$1 pattern=$2
  shift 2
  "$tutti" "$@" >"$folder/stdout" 2>"$folder/stderr"
  local got=$?
  [ $got = "$code" ] || fail "$* (exit code $code expected, not $got)"
  [ -z "$pattern" ] || cat "$folder/stdout" "$folder/stderr" | grep -q -e "$pattern" || fail "$* ('$pattern' expected)"
}
# lacks PATTERN: no line of the last output matches.
lacks() { ! grep -q -e "$1" "$folder/stdout" || fail "... writes '$1'"; }
# same FILE: the last output is the file, byte for byte.
same() { cmp -s "$1" "$folder/stdout" || fail "... differs from $1"; }
# python PROGRAM: about the JSON that the last command wrote, which is `said`.
python() {
  python3 -c "import json
said = json.load(open('$folder/stdout'))
$1" || fail "... (python: see above)"
}

cat >"$folder/a.json" <<'RULES'
{
  "tutti_rules": 1,
  "rules": [
    {"collective": "allreduce", "ranks": [2, 4], "bytes": [null, 2048], "use": "recursive_doubling", "measured": {"us": 8, "default_us": 12, "next": "one_shot", "next_us": 10}},
    {"collective": "allreduce", "ranks": [5, 8], "bytes_per_rank": [8192, null], "commutative": true, "use": "ring/64K"}
  ]
}
RULES

# tutti choose: the rule, and why the others do not fit.
expect 0 '^1024  *one_shot  *builtin:[0-9]*  *as few ranks' choose allreduce -p 4 -n 8,1K,1M --rules none
expect 0 "^1024  *recursive_doubling  *$folder/a.json:4  *by line 4 of .*1.50 times as fast as the default, 1.25 times" \
  choose allreduce -p 4 -n 1K --rules "$folder/a.json"
expect 0 "^  $folder/a.json:5  *ring/65536  *ranks: 5 to 8, and here 4" choose allreduce -p 4 -n 4K --rules "$folder/a.json" --passed-over
grep -q "^  $folder/a.json:4  *recursive_doubling  *bytes: up to 2048, and here 4096" "$folder/stdout" || fail 'choose: bytes'
expect 0 "a.json:5  *ring/65536  *bytes_per_rank: 8192 and more, and here 8191.88" \
  choose allreduce -p 8 -n 65535 --rules "$folder/a.json" --passed-over
expect 0 "a.json:5  *ring/65536  *commutative: true, and here false" \
  choose allreduce -p 8 -n 64K --rules "$folder/a.json" --passed-over --not-commutative
expect 0 '^allreduce, 4 ranks on 2 nodes; device memory, persistent, not commutative$' \
  choose allreduce -p 4 --nodes 2,2 --memory device --mode persistent --not-commutative
expect 0 'all share memory, two or more for each processor' choose allreduce -p 4 --processors 2
expect 0 '^allreduce, 4 ranks on 1 node; host' choose allreduce -p 4 --shared-memory no
expect 0 '^0  *dissemination' choose barrier -p 4
expect 0 '^any  *linear  *builtin' choose gather -p 4 --uneven --rules none
expect 0 '^8  *circulant  *builtin' choose allgather -p 32 -n 8 --uneven --rules none
expect 2 '\-\-uneven: allreduce has no blocks' choose allreduce --uneven
expect 0 '"passed_over"' choose allreduce -p 4 -n 1K,1M --rules "$folder/a.json" --format json
python 'assert [row["algorithm"] for row in said["choices"]][0] == "recursive_doubling" and said["ranks"] == 4
first, second = said["choices"]
assert not first["is_builtin"] and first["measured"] == {"us": 8, "default_us": 12, "next_us": 10, "next": "one_shot", "mpi_us": None}
assert second["is_builtin"] and second["measured"]["us"] is None
assert [each["rule"] for each in second["passed_over"]][:2] == [said["rules"] + ":4", said["rules"] + ":5"]
assert all(each["why"] for each in second["passed_over"])'
# The file that a job would find, and one for other machines.
mkdir -p "$XDG_CONFIG_HOME/tutti/rules.d"
cp "$folder/a.json" "$XDG_CONFIG_HOME/tutti/rules.d/"
expect 0 "^rules: $XDG_CONFIG_HOME/tutti/rules.d/a.json$" choose allreduce -p 4
rm -r "$XDG_CONFIG_HOME"
sed 's/"rules"/"for": {"cpu": "no such cpu"}, "rules"/' "$folder/a.json" >"$folder/other.json"
expect 0 "^note: .*other.json is not for this machine: it is for cpu 'no such cpu'" choose allreduce -p 4 --rules "$folder/other.json"
expect 2 "'allreduc' is no collective; allowed: .*(did you mean allreduce" choose allreduc
expect 2 '\-\-nodes has 3 ranks in all, --ranks 4' choose allreduce -p 4 --nodes 2,1
expect 2 '\-\-shared-memory yes: there are several nodes' choose allreduce -p 4 --nodes 2,2 --shared-memory yes
expect 2 'none.json: No such file' choose allreduce --rules "$folder/none.json"
[ "$(wc -l <"$folder/stderr")" = 1 ] || fail 'choose: a complaint of several lines'

# What the page shows, but for the lines of built-in rules.
"$tutti" choose allreduce -p 4 -n 8,8K,1M --rules none | sed 's/builtin:[0-9]*/builtin:N/' >"$folder/stdout"
sed -n '/^    \$ tutti choose/,/^$/s/^    //p' "$sources/docs/rules.md" | sed '1d;s/builtin:[0-9]*/builtin:N/' >"$folder/page"
same "$folder/page"

# tutti rules check
expect 0 ': 2 rules, 0 warnings; it fits this machine$' rules check "$folder/a.json"
expect 0 ': 107 rules, 0 warnings\|: [0-9]* rules, 0 warnings' rules check "$sources/lib/core/selection/builtin.json"
expect 0 "it does not fit this machine: it is for cpu 'no such cpu', and here is" rules check "$folder/other.json"
cat >"$folder/warned.json" <<'RULES'
{"tutti_rules": 1, "rules": [
  {"collective": "allgather", "bytes": [null, 4096], "use": "bruck"},
  {"collective": "allgather", "bytes": [4096, null], "use": "ring"},
  {"collective": "allgather", "bytes": [1, 2], "use": "ring"},
  {"collective": "reduce", "commutative": false, "use": "chain"},
  {"collective": "broadcast", "nodes": [3, null], "ranks": 2, "use": "chain"}]}
RULES
expect 1 'warned.json:3:1: warning: some calls of allgather fit this rule and the one in line 2, which counts: bruck in place of ring' \
  rules check "$folder/warned.json"
for line in 4 5 6; do
  grep -q "warned.json:$line:1: warning: this rule of .* is never used: " "$folder/stdout" || fail "rules check: line $line"
done
echo '{"tutti_rules": 1, "rules": [{"colective": "scan"}]}' >"$folder/wrong.json"
expect 2 "wrong.json:1:31: 'colective' is no key of a rule; .*(did you mean collective" rules check "$folder/a.json" "$folder/wrong.json"
grep -q 'a.json: 2 rules' "$folder/stdout" || fail 'rules check: no word of the file that is right'
expect 2 'FILE is missing' rules check
expect 2 'none.json: No such file' rules check "$folder/none.json"

# tutti rules show
expect 0 '^4  *allreduce  *2 to 4  *any  *up to 2048  *-  *recursive_doubling  *1.50 times the default, 1.25 times one_shot$' \
  rules show "$folder/a.json"
expect 0 '^5  *allreduce  *5 to 8  *any  *8192 and more per rank  *commutative  *ring/65536  *-$' rules show "$folder/a.json"
expect 0 'tutti_rules' rules show --builtin --format json
same "$sources/lib/core/selection/builtin.json"
expect 0 '^[0-9]*  *scan ' rules show --builtin --collective scan
lacks 'allreduce'
expect 0 '"collective": "allreduce"' rules show "$folder/a.json" --format json
python 'assert len(said["rules"]) == 2 and said["rules"][0]["measured"]["us"] == 8'
expect 2 'allowed: FILE or --builtin' rules show
expect 2 'allowed: FILE or --builtin' rules show "$folder/a.json" --builtin

# tutti rules diff
expect 0 '' rules diff "$folder/a.json" "$folder/a.json"
[ -s "$folder/stdout" ] && fail 'rules diff: writes where nothing differs'
expect 1 '^allreduce  *3 to 4  *1  *-  *up to 2048  *recursive_doubling (8 us)  *one_shot$' rules diff "$folder/a.json" builtin
expect 1 '^allreduce  *7 to 8  *1  *commutative  *57344 to ' rules diff "$folder/a.json" builtin
sed 's/"ranks": \[5, 8\]/"power_of_two": true/' "$folder/a.json" >"$folder/powers.json"
expect 1 ' a power of two, commutative\|commutative, a power of two' rules diff "$folder/powers.json" builtin
echo '{"tutti_rules": 1, "rules": [{"collective": "gather", "uneven": true, "use": "segmented"}]}' >"$folder/uneven.json"
expect 1 '^gather  *2 and more  *1  *uneven  *any  *segmented  *linear$' rules diff "$folder/uneven.json" builtin
expect 2 'OTHER is missing' rules diff builtin

# tutti rules merge: the first file's rules come first; a file is replaced as a whole, or not at all.
echo '{"tutti_rules": 1, "rules": [{"collective": "allreduce", "note": "last", "use": "ring"}], "tuning": {}}' >"$folder/b.json"
expect 0 '"use": "ring"}' rules merge "$folder/a.json" "$folder/b.json"
python 'assert [rule["use"] for rule in said["rules"]] == ["recursive_doubling", "ring/65536", "ring"]
assert said["rules"][2]["note"] == "last" and "merge" in said["made"]["by"]'
expect 0 '' rules merge "$folder/a.json" "$folder/b.json" --write "$folder/ab.json"
expect 0 ': 3 rules, 0 warnings' rules check "$folder/ab.json"
expect 0 'warning: this rule of allreduce is never used' rules merge "$folder/b.json" "$folder/a.json"
for ranks in 16 6 16; do
  echo "{\"tutti_rules\": 1, \"made\": {\"ranks\": \"$ranks\"}, \"rules\": []}" >"$folder/of$ranks.json"
done
expect 0 '"ranks": "16; 6"' rules merge "$folder/of16.json" "$folder/of6.json" "$folder/of16.json"
expect 2 'are for different machines' rules merge "$folder/a.json" "$folder/other.json"
expect 0 'recursive_doubling' rules merge "$folder/a.json" "$folder/other.json" --for-any
python 'assert "for" not in said'
expect 0 'no such cpu' rules merge "$folder/other.json" "$folder/other.json"
expect 2 'wrong.json:1:31' rules merge "$folder/a.json" "$folder/wrong.json"
expect 1 "cannot write '$folder/none/ab.json': there is no folder '$folder/none'" rules merge "$folder/a.json" --write "$folder/none/ab.json"
before=$(cat "$folder/ab.json")
said=$(ulimit -f 0 && trap '' XFSZ && "$tutti" rules merge "$folder/a.json" --write "$folder/ab.json" 2>&1)
[ $? = 1 ] && [[ $said == "tutti: cannot write '"* ]] || fail 'rules merge: to a file that cannot grow'
[ "$(cat "$folder/ab.json")" = "$before" ] || fail 'rules merge: the old file is lost'
[ "$(find "$folder" -name 'ab.json*' | wc -l)" = 1 ] || fail 'rules merge: leaves a temporary file'

# tutti rules plot
expect 0 '' rules plot "$folder/a.json" --output "$folder/a.svg"
python3 -c "
import xml.dom.minidom
picture = xml.dom.minidom.parse('$folder/a.svg')
titles = [title.firstChild.data for title in picture.getElementsByTagName('title')]
assert 'allreduce, 2 to 4 ranks, up to 2048 bytes: recursive_doubling (line 4: 1.50 times the default, 1.25 times one_shot)' in titles, titles
assert any('(built-in rules)' in title for title in titles)
assert len(picture.getElementsByTagName('rect')) > len(titles)" || fail 'rules plot: the picture'
expect 0 '<svg' rules plot builtin --collective scan --memory device --ppn 4
# Rules for ranks that share processors are drawn, and grey fields name no algorithm.
sed 's/"ranks": \[2, 4\]/"ranks": [2, 4], "shares_processors": true/' "$folder/a.json" >"$folder/shared.json"
expect 0 '<title>allreduce, 2 to 4 ranks, up to 2048 bytes: recursive_doubling (line 4' rules plot "$folder/shared.json"
grep -q '<title>allreduce, 2 to 4 ranks, [0-9a-z ]*: (built-in rules)</title>' "$folder/stdout" || fail 'rules plot: a grey field'
expect 0 '<title>allreduce, 2 to 4 ranks, [0-9a-z ]*: (built-in rules)</title>' rules plot "$folder/shared.json" --processors 64
lacks 'recursive_doubling'
expect 2 "'scam' is no collective" rules plot builtin --collective scam

# tutti rules import: counts, refusals with their lines, and rules that are right.
while read -r form file counts; do
  expect 0 "$file: $counts refused$" rules import --from $form "$samples/$file" --model milan --write "$folder/imported.json"
  expect 0 ', 0 warnings; it fits this machine' rules check "$folder/imported.json"
done <<'FORMS'
ompi openmpi.conf 8 rules read, 5 translated into 5, 3
ompi-json openmpi.json 8 rules read, 6 translated into 11, 2
mpich mpich.json 10 rules read, 6 translated into 8, 4
ucc ucc.conf 9 rules read, 5 translated into 6, 4
nccl nccl.csv 6 rules read, 2 translated into 8, 4
ncclx nccl.csv 6 rules read, 2 translated into 8, 4
ncclx ncclx.json 3 rules read, 2 translated into 2, 1
FORMS
expect 0 'mpich.json:11: allreduce, .*: refused: Tutti has no condition .count<pow2.' rules import --from mpich "$samples/mpich.json"
python 'assert said["rules"][0]["note"].startswith("mpich.json:5: ")'
expect 0 '^| Open MPI | allreduce | ' rules import --names
sed -n '/^<!-- table: tutti rules import --names -->$/,/^<!-- end of table -->$/p' "$sources/docs/rules.md" | sed '1d;$d' >"$folder/names.md"
same "$folder/names.md"
expect 2 'FILE is missing' rules import --from nccl
expect 2 '\-\-from is missing' rules import "$samples/nccl.csv"
expect 2 "nccl.csv:2: 'collective,.*' is no number of collectives" rules import --from ompi "$samples/nccl.csv"
expect 2 'none.csv: No such file' rules import --from nccl "$folder/none.csv"

# The example that is shipped: files of `tutti tune`, joined. All of its rules count, and they are followed.
example=$sources/etc/tutti/rules.d/two-cores.json
expect 0 ' rules, 0 warnings' rules check "$example"
python3 - "$tutti" "$example" <<'PYTHON' || fail 'the rules of etc/tutti/rules.d/two-cores.json'
import json, subprocess, sys
tutti, path = sys.argv[1:]
said = json.load(open(path))
assert said["for"]["cpu"] and said["for"]["mpi"], said
assert said["made"]["ranks"] == "2; 4; 8" and "merge" in said["made"]["by"], said["made"]
assert {str(rule["ranks"]) for rule in said["rules"]} == {"2", "4", "8", "[3, 5]", "[6, 11]"}
assert all(rule["measured"]["us"] > 0 and rule["measured"]["default_us"] > 0 for rule in said["rules"])
changed = [rule for rule in said["rules"] if rule["ranks"] == 2 and not rule.get("uneven")
           and rule["measured"]["us"] * 1.05 <= rule["measured"]["default_us"]]
assert changed
for rule in changed:
    least, most = rule["bytes"]
    size = min(most or 1 << 23, 2 * (least or 4))
    chosen = subprocess.run([tutti, "choose", rule["collective"], "-p", "2", "-n", str(size), "--rules", path],
                            capture_output=True, text=True)
    assert rule["use"] in chosen.stdout.split(), (rule, chosen.stdout, chosen.stderr)
PYTHON

expect 0 '^Usage: tutti rules COMMAND' rules
for command in check show diff merge plot import; do
  expect 0 "^Usage: tutti rules $command" rules $command --help
  expect 2 "unrecognised option '--no-such'" rules $command --no-such
done
expect 2 "'chek' is no command; allowed: check, .*(did you mean check?)" rules chek

[ $failures = 0 ]
