#!/usr/bin/env bash
# schedule_cli_test.sh TUTTI SOURCES - files of schedules through the tool: what show writes, verify, show and cost read back.
source "$(dirname "$0")/tool_support.sh" "$@"

# Round trip: proved for several counts, and written again as it was.
for what in 'allreduce swing' 'broadcast knomial' 'alltoall bruck' 'allgather circulant' 'scan recursive_doubling' 'barrier dissemination'; do
  read -r collective algorithm <<<"$what"
  "$tutti" show $collective $algorithm -p 5 -n 10 --format json >file.json || fail "show $what"
  expect 0 "^file.json: proved: $collective, 5 ranks, " verify --file file.json
  "$tutti" show $collective $algorithm -p 5 -n 10 --format json | "$tutti" verify --file - >stdout 2>stderr || fail "show $what | verify --file -"
  "$tutti" show --file file.json --format json >again.json 2>stderr || fail "show --file, $what"
  python3 - file.json again.json <<'PYTHON' || fail "$what: the file changes on its way"
import json, sys
first, second = (json.load(open(name)) for name in sys.argv[1:])
for key in ('collective', 'algorithm', 'size', 'chunks', 'requires', 'ranks', 'cost', 'title', 'source'):
    assert first.get(key) == second.get(key), key
PYTHON
done

"$tutti" show allreduce swing -p 8 -n 8 --format json >swing8.json
expect 0 '^<svg' show --file swing8.json --format svg
expect 0 '^digraph' show --file swing8.json --format dot
expect 0 'allreduce swing, 8 ranks, 12 elements' show --file swing8.json -n 12
expect 0 '^  swing8.json  ' cost allreduce rabenseifner -p 8 -n 1024 --file swing8.json
python3 - <<'PYTHON' || fail 'cost --file: the figures of the algorithm'
rows = {line.split()[0]: line.split()[1:5] for line in open('stdout') if line.startswith('  ')}
assert rows['swing8.json'][:1] == rows['rabenseifner'][:1], rows
PYTHON
expect 2 'swing8.json: it is for allreduce, not scan' cost scan --file swing8.json
expect 2 'swing8.json: it is for 8 ranks: --ranks 8' cost allreduce --ranks 4 --file swing8.json
expect 2 '\-\-file says what is shown: not with --ranks' show --file swing8.json -p 4
expect 2 'COLLECTIVE is missing; or --file FILE' show
expect 2 '\-\-file: not with COLLECTIVE or --all' verify allreduce --file swing8.json
expect 2 'none.json' verify --file none.json
expect 2 'draws all ranks' show --file swing8.json --format svg --rank 1

# A fault: where it is, in the file or in the schedule.
sed 's/"action": "send"/"action": "sent"/' swing8.json >wrong.json
expect 2 "^tutti.*: wrong.json:[0-9]*:[0-9]*: 'action' is 'sent'; allowed: send, recv, reduce, copy (did you mean send" verify --file wrong.json
python3 - <<'PYTHON'
import json
file = json.load(open('swing8.json'))
steps = file['ranks'][3]['steps']
step = next(step for step in steps if step['action'] == 'reduce')
step['after'] = []
json.dump(file, open('wrong.json', 'w'))
PYTHON
expect 1 '^wrong.json: FAILED: 8 elements: rank 3, step ' verify --file swing8.json,wrong.json
grep -q '^swing8.json: proved' stdout || fail 'verify of several files'
expect 2 'wrong.json: not proved: rank 3, step .*--unproved shows the schedule' show --file wrong.json
expect 1 'rank 3' show --file wrong.json --unproved
expect 1 '<svg' show --file wrong.json --unproved --format svg
expect 2 'not proved: rank 3' cost allreduce -p 8 --file wrong.json

# The page's example is right, and the schema takes files that are.
sed -n '/^    {$/,/^    }$/s/^    //p' "$sources/docs/schedule-files.md" >page.json
expect 0 '^page.json: proved: allreduce, 2 ranks, 1 chunks' verify --file page.json
if python3 -c 'import jsonschema' 2>/dev/null; then
  python3 - "$sources/docs/schedule-file.schema.json" swing8.json page.json <<'PYTHON' || fail 'the schema'
import json, jsonschema, sys
schema, *files = (json.load(open(name)) for name in sys.argv[1:])
for file in files:
    jsonschema.validate(file, schema)
PYTHON
fi
[ $failures = 0 ]
