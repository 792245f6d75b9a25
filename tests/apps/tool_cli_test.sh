#!/usr/bin/env bash
# tool_cli_test.sh TUTTI SOURCES - every command of the offline tool: what it writes, what it refuses, and its exit codes.
set -u
tutti=$1 sources=$2
catalogue=$sources/algorithms/README.md
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: tutti $*" >&2
  head -c 2000 "$folder/stdout" >&2
  head -c 2000 "$folder/stderr" >&2
  failures=$((failures + 1))
}

# expect CODE PATTERN ARGUMENTS...: ends with CODE and writes a line that matches PATTERN: to stdout if CODE is 0, else to
# stderr.
expect() {
  local code=$1 pattern=$2
  shift 2
  "$tutti" "$@" >"$folder/stdout" 2>"$folder/stderr"
  local got=$?
  local where=$folder/stdout
  [ "$code" = 0 ] || where=$folder/stderr
  [ $got = "$code" ] || fail "$* (exit code $code expected, not $got)"
  grep -q -e "$pattern" "$where" || fail "$* ('$pattern' expected)"
}

# python PROGRAM: about what the last command wrote, which is `text`.
python() {
  python3 -c "text = open('$folder/stdout').read()
$1" || fail "$2 (python: see above)"
}

expect 0 '^Usage: tutti COMMAND'
expect 0 '^Usage: tutti COMMAND' --help
expect 0 '^tutti (Tutti [0-9.]*)' --version
expect 2 "'shaw' is no command; allowed: list, .*(did you mean show?)" shaw
expect 2 "unrecognised option '--verison' (did you mean --version?)" --verison
for command in list show verify cost; do # info: info_cli_test.sh
  expect 0 "^Usage: tutti $command" $command --help
  expect 0 "^tutti $command (Tutti" $command --version
  expect 2 "tutti $command: 'allreduc' is no collective; allowed: .*(did you mean allreduce" $command allreduc ring
  expect 2 "unrecognised option '--no-such-option'" $command --no-such-option
done

expect 0 '^allreduce  *ring  *any  *-$' list
grep -A 2 '^allreduce  *ring ' "$folder/stdout" | grep -q '^    Patarasuk' || fail 'list: no source below allreduce ring'
python '
wide = [line for line in text.splitlines() if len(line) > 100]
assert not wide, wide
' 'list is wider than 100 columns'
expect 0 'allreduce  *rabenseifner  *fixed' list allreduce
expect 0 '^| allreduce | `ring` | - | any | 14 | 1.75 n | 0.125 n |' list --markdown
expect 2 'unexpected argument' list allreduce ring
expect 2 '--markdown' list allreduce --markdown
expect 2 '--write needs --markdown' list --write "$folder/page.md"
# The table of the algorithms' page is what the tool writes: a page with another one gets it, and nothing else changes.
sed 's/^| allreduce | `ring` .*/| a row that is wrong |/' "$catalogue" >"$folder/page.md"
cmp -s "$catalogue" "$folder/page.md" && fail 'list --write: the page to test with is right already'
"$tutti" list --markdown --write "$folder/page.md" >"$folder/stdout" 2>"$folder/stderr" || fail 'list --markdown --write'
[ -s "$folder/stdout" ] && fail 'list --markdown --write prints'
cmp -s "$catalogue" "$folder/page.md" || fail 'list --markdown --write: the page differs from algorithms/README.md'
echo 'no table' >"$folder/page.md"
expect 2 "page.md' has no table between" list --markdown --write "$folder/page.md"
[ "$(cat "$folder/page.md")" = 'no table' ] || fail 'list --write changed a page without a table'
expect 2 'cannot open' list --markdown --write "$folder/none.md"

expect 0 '^rank 5$' show allreduce ring
expect 0 'busiest rank: 4 messages in 4 rounds' show allreduce ring -p 3 -n 6
# Rounds are the same everywhere, in the text and in the cost: a leaf of the tree receives in the last one.
expect 0 '^round 3$' show broadcast knomial -p 8 --rank 7
grep -q '^round 1$' "$folder/stdout" && fail 'show broadcast knomial --rank 7: it has nothing to do in round 1'
expect 0 'in 1 round,' show allreduce one_shot -p 8
[ "$(grep -c '^round 1$' "$folder/stdout")" = 8 ] || fail 'show allreduce one_shot: not one round on each rank'
grep -q '^round 2$' "$folder/stdout" && fail 'show allreduce one_shot: more than one round'
expect 0 'send input\[[024]\.\.[246]) to 1' show allreduce ring -p 3 -n 6 --rank 0
grep -q '^rank 1' "$folder/stdout" && fail 'show --rank 0 shows rank 1'
expect 0 'in place' show allreduce ring -p 3 -n 6 --in-place
expect 0 'message 3' show allreduce ring/1 -p 3 -n 6
expect 0 'recv .*, reduce' show allreduce ring -p 3 -n 6 --fused
expect 0 'nodes 0,0,0,1,1, sockets 0,0,1,2,2' show reduce three_level -p 5 --nodes 3,2 --sockets 2,1,2
expect 2 '\-\-sockets has 4 ranks in all, --ranks 5' show reduce three_level -p 5 --nodes 3,2 --sockets 2,2
expect 2 '\-\-sockets has ranks 2 and 3 on one socket, --nodes on different nodes' \
  show reduce three_level -p 5 --nodes 3,2 --sockets 2,3
expect 2 'COLLECTIVE is missing' show
expect 2 'ALGORITHM is missing' show allreduce
expect 2 "'rinq' does not serve allreduce; allowed: .*(did you mean ring?)" show allreduce rinq
expect 2 "'rign' does not serve allreduce; allowed: .*(did you mean ring?)" show allreduce rign
expect 2 'has no parameter' show allreduce ring:3
expect 2 'is no segment size' show allreduce ring/0
expect 2 "'svgg' is none of: text, dot, svg, json (did you mean svg?)" show allreduce ring --format svgg
expect 2 "unrecognised option '--fromat' (did you mean --format?)" show allreduce ring --fromat svg
expect 2 "--ranks: '0' is not an integer from 1" show allreduce ring -p 0
expect 2 "'x' is no count" show allreduce ring -n x
expect 2 '--count: allowed for 8 ranks: up to' show allreduce ring -p 8 -n 1G
expect 2 '--rank 6 is no rank: allowed: 0 to 5' show allreduce ring --rank 6
expect 2 '--root: allreduce has no root' show allreduce ring --root 1
expect 2 'draws at most 64 ranks' show allreduce ring -p 65 --format svg
expect 2 'draws all ranks' show allreduce ring --rank 1 --format dot

expect 0 '"collective": "allreduce"' show allreduce ring -p 3 -n 6 --format json
python '
import json
whole = json.loads(text)
assert whole["size"] == 3 and whole["chunks"] == 6 and whole["tutti_schedule"] == 1 and whole["cost"]["messages"] == 4, whole
assert [rank["rank"] for rank in whole["ranks"]] == [0, 1, 2]
sent, received = [], []
for rank in whole["ranks"]:
    for number, step in enumerate(rank["steps"]):
        assert all(before < number for before in step["after"])
        if step["action"] == "send":
            sent.append((rank["rank"], step["to"], step["message"], sum(r["count"] for r in step["from"])))
        if step["action"] == "recv":
            received.append((step["from"], rank["rank"], step["message"], sum(r["count"] for r in step["into"])))
assert len(sent) == 12 and sorted(sent) == sorted(received)
' 'show --format json'
expect 0 '"rank": 2' show allreduce ring -p 3 -n 6 --format json --rank 2
python 'import json; assert [rank["rank"] for rank in json.loads(text)["ranks"]] == [2]' 'show --rank 2 --format json'

expect 0 '^digraph' show allreduce rabenseifner -p 4 --format dot
python '
import re
assert text.count("{") == text.count("}")
assert len(re.findall("style=dashed", text)) == 16
' 'show --format dot'
expect 0 '^<svg' show allreduce ring -p 8 --format svg
python '
import xml.etree.ElementTree as tree
root = tree.fromstring(text)
assert root.tag.endswith("svg")
messages = [each.text for each in root.iter() if each.tag.endswith("title")]
assert len(messages) == 8 * 14, len(messages)
assert sum(each.startswith("time step 1: rank 0 sends 3 elements, input[") for each in messages) == 1
' 'show --format svg'
# A rank that sends everything in one round needs a time step for each message: the picture has both words.
expect 0 '1 round, .* 7 time steps' show allreduce one_shot -p 8 --format svg
grep -q '>time 7<' "$folder/stdout" || fail 'show allreduce one_shot --format svg: no row of time step 7'
grep -q '>round 2<' "$folder/stdout" && fail 'show allreduce one_shot --format svg: rows are called rounds'
# The pictures of the manual are what the tool draws.
for picture in "$sources"/docs/pictures/*_p8.svg; do
  name=$(basename "$picture" _p8.svg) count=24
  [ "${name%%_*}" != alltoall ] || count=1
  "$tutti" show "${name%%_*}" "${name#*_}" -p 8 -n $count --format svg >"$folder/picture.svg"
  cmp -s "$picture" "$folder/picture.svg" ||
    fail "show ${name%%_*} ${name#*_} -p 8 -n $count --format svg: docs/pictures has another picture"
done
# Every collective can be drawn.
for collective in $("$tutti" list | sed 1d | grep '^[a-z]' | cut -d ' ' -f 1 | sort -u); do
  algorithm=$("$tutti" list "$collective" | sed -n 2p | tr -s ' ' | cut -d ' ' -f 2)
  expect 0 '^<svg' show "$collective" "$algorithm" -p 5 -n 10 --format svg
  python 'import xml.etree.ElementTree as tree; tree.fromstring(text)' "show $collective $algorithm --format svg"
done

expect 0 '^allreduce  *ring .*[1-9]' verify allreduce ring --quick -j 2
expect 0 '^1 algorithms, .* 0 failed' verify allreduce ring --quick
[ -s "$folder/stderr" ] && fail 'verify writes its progress though stderr is no terminal'
expect 2 'name a collective' verify
expect 2 'name a collective' verify allreduce --all
expect 2 "'rinq' does not serve allreduce" verify allreduce rinq
expect 2 'only a name' verify allreduce ring/4
expect 2 "--jobs: '0'" verify --all -j 0

# Whatever the command: output that does not arrive is an error, and a closed stdout is no other file.
for arguments in --help --version list 'list --markdown' 'list --help' 'show allreduce ring' 'show reduce chain --format json' \
  'show scan linear --format svg' 'verify barrier dissemination --quick' 'cost scan' 'cost --version' info 'info --json'; do
  # shellcheck disable=SC2086
  "$tutti" $arguments >/dev/full 2>"$folder/stderr"
  [ $? = 1 ] || fail "$arguments >/dev/full (exit code 1 expected)"
  grep -q '^tutti: cannot write to standard output: No space left' "$folder/stderr" || fail "$arguments >/dev/full"
  # shellcheck disable=SC2086
  "$tutti" $arguments >&- 2>"$folder/stderr"
  [ $? = 1 ] || fail "$arguments >&- (exit code 1 expected)"
  grep -q '^tutti: cannot write to standard output: Bad file descriptor' "$folder/stderr" || fail "$arguments >&-"
done

expect 0 '^8 ranks, 1024 elements' cost allreduce
expect 0 ' ring  *14  *14 .* 14.000' cost allreduce ring -p 8 -n 8 --alpha 1 --beta 0 --gamma 0
expect 0 ' recursive_doubling .* 3.000 \*' cost allreduce -p 8 -n 8 --alpha 1 --beta 0 --gamma 0
expect 0 ' ring/1  *28  *- ' cost allreduce ring/1 -p 8 -n 16
expect 0 '^-: not simulated' cost allreduce ring -p 65536 -n 1
expect 0 ' ring  *131070  *131070 .* -' cost allreduce ring -p 65536 -n 1
expect 2 "'12Q' is no count" cost allreduce -n 12Q
expect 2 '--alpha' cost allreduce --alpha -1
# Links between nodes: two ranks a node share one, and have one each.
nodes='-p 4 --nodes 2,2'
expect 0 '^between nodes: 2 per message, 0.00032 per element sent, 1 link a node' cost allreduce ring $nodes
expect 0 '^4 ranks' cost allreduce ring -p 4 --nodes 4
python 'assert "between nodes" not in text' 'cost on one node'
rates='--alpha 1 --beta 0 --gamma 0 --alpha-between 10 --beta-between 0.5'
expect 0 ' recursive_doubling .* 37.000 \*' cost allreduce recursive_doubling $nodes -n 16 $rates
expect 0 ' recursive_doubling .* 19.000 \*' cost allreduce recursive_doubling $nodes -n 16 $rates --links 2
expect 0 ' 0.5 per element sent, 2 links a node' cost allreduce recursive_doubling $nodes -n 16 $rates --links 2
# What docs/hierarchy.md says of nodes of 32 and of 24 ranks.
expect 0 '^128 ranks' cost allreduce -p 128 --nodes 32,32,32,32 -n 1K,1M
python '
best = [line.split()[0] for line in text.splitlines() if line.endswith("*")]
assert best == ["two_level", "three_level", "rabenseifner"], best
' 'cost of 4 nodes of 32'
expect 0 ' lanes .*\*$' cost allreduce -p 96 --nodes 24,24,24,24 -n 1M
for wrong in '--alpha-between -1' '--alpha-between x' '--beta-between -0.1' '--beta-between nan' '--links 0' \
  '--links -2' '--links 1.5'; do
  expect 2 "^.*${wrong%% *}: '${wrong#* }'" cost allreduce $nodes $wrong
done
expect 2 '--links: all ranks are on one node' cost allreduce --links 2
expect 2 '--alpha-between: all ranks are on one node' cost allreduce -p 4 --nodes 4 --alpha-between 2
expect 2 '--root 8 is no rank of 8' cost allreduce --root 8
expect 2 '--root: allreduce has no root' cost allreduce --root 1
exit $((failures > 0))
