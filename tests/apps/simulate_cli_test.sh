#!/usr/bin/env bash
# simulate_cli_test.sh TUTTI SOURCES - tutti simulate: what it prints, writes, draws and refuses.
source "$(dirname "$0")/tool_support.sh" "$@"
alone=overhead=0,handshake=0,eager=0,reduced=0,copied=0

# On a crossbar without any costs but alpha and beta, times are those of the formula: 2 (p-1) (alpha + n / p / bandwidth).
expect 0 '^262144,ring,63.321600,40.121600,' simulate allreduce ring -p 16 -n 256K --set $alone,link.latency=0.4 --format csv
expect 0 'lower bound 40.122 us, of the ports of ranks' simulate allreduce ring -p 16 -n 256K --set $alone,link.latency=0.4
expect 0 'dragonfly:4,1;2,1;4,1;2, placement block' simulate allreduce ring auto circulant -n 1M --topology 'dragonfly:4,1;2,1;4,1;2'
expect 0 '^  auto: ' simulate allreduce auto -n 1M
expect 0 'critical path' simulate broadcast knomial -p 10 -n 4K --root 3
expect 0 '^    blue ' simulate allreduce ring --details -n 1M --topology 'dragonfly:4,1;2,1;4,1;2'
expect 0 'placement random:7' simulate alltoall each -p 24 -n 96K --ppn 3 --placement random:7 --topology torus:4,4
expect 0 'not simulated: up to' simulate allreduce ring one_shot -p 65536 -n 1M
# A row that takes too long hides no other one.
slow=(allreduce ring recursive_doubling -p 1024 -n 1M --limit 0.5)
expect 0 '^  ring  *-  .*not simulated: longer than 0.5 s (--limit)' simulate "${slow[@]}"
grep -q '^  recursive_doubling  *[0-9.]* \*' stdout || fail 'a row behind one that takes too long'
expect 0 '^1048576,ring,,[0-9.]*,,,.*,"longer than 0.5 s (--limit)"$' simulate "${slow[@]}" --format csv
[ "$(awk -F, '{ print NF }' stdout | sort -u | wc -l)" = 1 ] || fail 'columns of --format csv'
expect 0 '"not_simulated": "longer than 0.5 s (--limit)"' simulate "${slow[@]}" --format json
expect 0 'How busy links are' simulate "${slow[@]}" --format svg --picture links
expect 2 'picture time: not simulated: longer than 1e-09 s' simulate allreduce ring -p 128 -n 1M --limit 1e-9 --format svg --picture time
expect 0 '^4096 bytes' simulate allreduce ring -p 4 -n 1K-5K,64K
[ "$(grep -c ' bytes; ' stdout)" = 4 ] || fail '-n 1K-5K,64K'
expect 2 "'5K-1K': a range begins with its least size" simulate allreduce ring -n 5K-1K
expect 0 'late 3:10' simulate allreduce ring -p 8 -n 1K --late 3:10,5-6:2
expect 0 '^    0.000  *50.000  *start  *rank 2  *waiting for its start$' simulate allreduce ring -p 8 -n 1K --late 2:50
expect 0 '"step": "start"' simulate allreduce ring -p 8 -n 1K --late 2:50 --format json
expect 0 '<title>rank 2 starts at 50.000 us</title>' simulate allreduce ring -p 8 -n 1K --late 2:50 --format svg
expect 0 '1 message$' simulate broadcast knomial -p 2 -n 1K
expect 0 'then allgather ring, then barrier auto, 2 times' simulate allreduce ring -p 8 -n 64K --calls 2 --then 'allgather ring 8K,barrier'
expect 0 '; lower bound of the longest call ' simulate allreduce ring -p 8 -n 64K --calls 2
expect 0 '^0 bytes' simulate barrier -p 9
expect 0 ' 10 ranks, 1 to 3 a host' simulate allreduce ring -p 10 --ppn 3
expect 0 '^  ring/4096' simulate allreduce ring/4096 -p 4 -n 64K
expect 0 'noise 0.2 with seed 5' simulate allreduce ring -p 8 -n 64K --noise 0.2 --seed 5
"$tutti" simulate allreduce each -p 8 -n 64K --noise 0.2 --seed 5 --format json >one
"$tutti" simulate allreduce each -p 8 -n 64K --noise 0.2 --seed 5 --format json >other
cmp -s one other || fail 'the same seed gives other times'
python3 - one "$sources/docs/simulation.md" <<'PYTHON' || fail '--format json'
import json, sys
report = json.load(open(sys.argv[1]))
assert report['ranks'] == 8 and report['rates']['overhead'] == 0.3, report['rates']
assert report['rates_of'] == 'the defaults' and report['ranks_on_hosts'] == {'least': 1, 'most': 1}, report
page = open(sys.argv[2]).read()
for name in [*report, *report['results'][0], *report['results'][0]['links'][0], *report['results'][0]['critical_path']['steps'][0]]:
    assert f'`{name}`' in page, f'{name}: not in docs/simulation.md'
for result in report['results']:
    assert result['us'] >= result['bound']['us'], result
    assert abs(sum(result['critical_path']['parts'].values()) - result['us']) < 1e-3, result
    assert result['links'][0]['kind'] == 'host up' and result['links'][0]['bytes'] > 0
PYTHON

# Files: schedules, rates, topologies and places.
"$tutti" show allreduce swing -p 8 -n 8 --format json >swing8.json
expect 0 '^65536,swing8.json,' simulate allreduce swing -p 8 -n 64K --file swing8.json --format csv
[ "$(cut -d, -f3 stdout | tail -1)" = "$(cut -d, -f3 stdout | tail -2 | head -1)" ] || fail 'a file is as fast as its algorithm'
expect 0 'swing8.json' simulate --file swing8.json -n 64K
expect 2 'it is for allreduce, not scan' simulate scan --file swing8.json
echo '{"tutti_rates": 1, "made": {"by": "hand"}, "overhead": 0, "link": {"bandwidth": 25}}' >rates.json
expect 0 'rates of rates.json: overhead 0 us' simulate allreduce ring -p 8 -n 64K --rates rates.json
echo '{"tutti_rates": 1, "overhed": 0}' >wrong.json
expect 2 "wrong.json:1:20: 'overhed' is no key of a file of rates; allowed: .*did you mean overhead" simulate allreduce --rates wrong.json
echo '{"tutti_topology": 1, "hosts": 4, "switches": 1, "links": [{"from": "host 0", "to": "switch 0"},
 {"from": "host 1", "to": "switch 0"}, {"from": "host 2", "to": "switch 0"}, {"from": "host 3", "to": "switch 0", "bandwidth": 1, "kind": "slow"}]}' >net.json
expect 0 '^    slow  *switch 0 > host 3\|^    slow  *host 3 > switch 0' simulate allreduce ring -p 4 -n 1M --topology net.json
expect 2 'net.json: it has 4 hosts, and 8 ranks of 1 a node need 8' simulate allreduce ring -p 8 --topology net.json
expect 0 'each link without rates of its own 0.25 us and 20 GB/s' simulate allreduce ring -p 4 -n 1M --topology net.json \
  --set link.latency=0.25,link.bandwidth=20 --format text
echo '3 2 1 0' >places.txt
expect 0 'placement places.txt' simulate allreduce ring -p 4 -n 1M --topology net.json --placement places.txt
expect 2 'it has 4 hosts; needed: one for each of 5 ranks' simulate allreduce ring -p 5 --placement ./places.txt --topology crossbar:8
# Hosts by name, comments, a name a line as of scontrol show hostnames; paths without a point or a slash.
echo '{"tutti_topology": 1, "hosts": ["node1", "node2", "node3"], "switches": ["s"], "links": [{"from": "node1", "to": "s"},
 {"from": "node2", "to": "s"}, {"from": "node3", "to": "s"}]}' >net
printf 'node3 # the first\n\n# none\nnode1\n' >hosts
printf '0,node2 node2\n  node2,node2\r\nnode2 2\n' >ranks
expect 0 ' 6 ranks, 3 a host, net, placement hosts' simulate allreduce ring -p 6 --ppn 3 -n 1M --topology net --placement hosts
expect 0 ' node1 > s ' simulate allreduce ring -p 2 -n 1M --topology net --placement hosts
expect 0 ' 7 ranks, 1 to 5 a host, net, placement ranks' simulate allreduce ring -p 7 -n 1M --topology net --placement ranks
expect 0 '^  critical path' simulate allreduce ring -p 7 -n 1M --topology net --placement ranks
echo 'host 3' >one_host
expect 0 ' 2 ranks, 2 a host, crossbar:4, placement one_host' simulate allreduce ring -p 2 --ppn 2 -n 1M --topology crossbar:4 --placement one_host
printf 'node1\n#\nnode9\n' >wrong
expect 2 "placement wrong:3: 'node9' is no host of the topology; allowed: a number from 0 to 2, or a name, as 'node1' (did you mean node" \
  simulate allreduce ring -p 2 --topology net --placement wrong

# The forms of the files: those of the page and these keep to the schemas.
sed -n 's/^    {"tutti_rates"/{"tutti_rates"/p' "$sources/docs/simulation.md" >page_rates.json
sed -n '/^    {"tutti_topology"/,/^$/p' "$sources/docs/simulation.md" >page_topology.json
expect 0 'rates of page_rates.json' simulate allreduce ring -p 4 -n 1K --rates page_rates.json
expect 0 '^    trunk ' simulate allreduce ring -p 3 -n 1K --topology page_topology.json
printf '{"tutti_topology": 1, "hosts": ["a\\u001b", "b"], "links": []}' >control.json
expect 2 "control.json:1:.*'hosts' is .*; allowed: a text without control characters" simulate allreduce --topology control.json
echo '{"tutti_rates": 1, "overhead": 1e9}' >long.json
expect 2 "long.json:1:.*'overhead' is 1000000000; allowed: a number from 0 to 1e+08" simulate allreduce --rates long.json
if python3 -c 'import jsonschema' 2>/dev/null; then
  python3 - "$sources/docs" <<'PYTHON' || fail 'the schemas'
import json, jsonschema, sys
for form, files in {'rates': ['rates.json', 'page_rates.json'], 'topology': ['net.json', 'page_topology.json']}.items():
    schema = json.load(open(f'{sys.argv[1]}/{form}-file.schema.json'))
    for file in files:
        jsonschema.validate(json.load(open(file)), schema)
PYTHON
fi

# Exports and pictures.
expect 0 '^num_ranks 4' simulate allreduce ring -p 4 -n 1K --export goal
expect 0 '<route src="h0" dst="h3"' simulate allreduce ring -p 4 -n 1K --topology torus:2,2 --export platform
for picture in time links sizes; do
  expect 0 '^<svg' simulate allreduce ring -p 8 -n 64K --topology torus:2,2,2 --format svg --picture $picture
  python3 -c 'import sys, xml.etree.ElementTree as xml; xml.parse("stdout")' || fail "--picture $picture"
done
expect 0 'lower bound</text>' simulate allreduce ring swing -n 1K,64K --format svg
expect 0 'bound of longest call</text>' simulate allreduce ring swing -n 1K,64K --calls 2 --format svg
expect 0 'class="series limit"' simulate allreduce each -p 8 -n 1K,64K --format svg
expect 0 'How busy links are' simulate allreduce ring -p 512 -n 1M --format svg
expect 0 '<title>host 3 &gt; switch: ' simulate allreduce ring -p 8 -n 1M --format svg --picture links
expect 0 'schedules alone; --late and --noise are left out' simulate allreduce ring -p 4 -n 1K --export goal --late 1:2

# What is at an end of what can be: one rank, many calls, sockets, odd names, ways that are too long.
expect 0 '<svg' simulate allreduce ring -p 1 --format svg
expect 0 '1000 times' simulate allreduce ring -p 16 -n 1K --calls 1000
for sockets in 2 1048576; do
  "$tutti" simulate allreduce three_level -p 4200 --ppn 2 --sockets $sockets -n 1K --format csv | cut -d, -f3 >sockets.$sockets
done
cmp -s sockets.2 sockets.1048576 || fail 'more sockets than ranks change the time'
printf '{"tutti_topology": 1, "hosts": ["a\\"q", "b"], "links": [{"from": "a\\"q", "to": "b", "kind": "k,\\"\357\277\277<"}]}' >names.json
"$tutti" simulate allreduce ring -p 2 -n 1K --topology names.json --format csv >names.csv
python3 -c 'import csv; rows = list(csv.DictReader(open("names.csv"), strict=True)); assert rows[0]["busiest_link"] in ("a\"q > b", "b > a\"q"), rows' ||
  fail 'names in CSV'
expect 0 '<svg' simulate allreduce ring -p 2 -n 1K --topology names.json --format svg --picture links
python3 -c 'import xml.etree.ElementTree as xml; xml.parse("stdout")' || fail 'names in a picture'
echo '0 100000' >far.txt
expect 2 'a message takes longer than can be counted' simulate broadcast knomial -p 2 -n 64 --topology torus:200000 --placement far.txt --set link.latency=1e8
expect 2 'links; allowed: up to' simulate broadcast knomial -p 2 -n 64 --topology 'dragonfly:65536,1;1,1;1,1;1'
expect 2 'links; allowed: up to' simulate broadcast knomial -p 2 -n 64 --topology 'fat-tree:2;2,65536;65536,1;1,1'
echo '{"tutti_topology": 1, "hosts": 3, "links": [{"from": "host 0", "to": "host 1"}]}' >apart.json
expect 2 'topology apart.json: topology: no links lead from host 0 to host 2' simulate allreduce ring -p 2 -n 1K --topology apart.json --export platform
[ ! -s stdout ] || fail 'half of a platform was written'
expect 2 'topology apart.json: topology: no links lead' simulate allreduce ring -p 3 -n 1K --topology apart.json
expect 2 "then 'allgather ring 0': 0 bytes" simulate allreduce ring --then 'allgather ring 0'
expect 2 'export goal: not with --format json' simulate allreduce ring -p 4 -n 1K --export goal --format json
expect 2 "cannot read '/dev/zero': it has more than" simulate allreduce ring --rates /dev/zero

# Input that cannot be used.
expect 2 "'crosbar'.*allowed: crossbar, fat-tree, torus, dragonfly.*did you mean crossbar" simulate allreduce --topology crosbar
expect 2 'the form is fat-tree:LEVELS;CHILDREN' simulate allreduce --topology 'fat-tree:2;8,8'
expect 2 'it has 16 hosts, and 64 ranks of 1 a node need 64' simulate allreduce --topology torus:4,4
expect 2 "placement 'blok': allowed: block, cyclic, random:SEED, or the path of a file (did you mean block" simulate allreduce --placement blok
expect 2 "'overheat' is no rate; allowed: eager, overhead.*did you mean overhead" simulate allreduce --set overheat=1
expect 2 "late: '3' is not RANK:MICROSECONDS" simulate allreduce --late 3
expect 2 "late '64:100': '64' is not an integer from 0 to 63" simulate allreduce --late 1:2,64:100
expect 2 "placement random:x: 'x' is not an integer" simulate allreduce --placement random:x
expect 2 "set 'overhead=x': 'x' is not a number" simulate allreduce --set overhead=x
expect 2 'ring, 1073741824 bytes: simulation: a message takes longer than can be counted' simulate allreduce ring -p 8 --set link.bandwidth=1e-9 -n 1G
expect 2 'COLLECTIVE is missing; or --file FILE' simulate
expect 2 "'rings'.*did you mean .*ring" simulate allreduce rings
expect 2 'have less than an element of 4 bytes each' simulate allgather ring -p 64 -n 64
expect 2 'needed are one ALGORITHM and one size; given: 2' simulate allreduce ring swing -n 1K --export goal
expect 2 'allowed with --format svg' simulate allreduce ring --picture time
expect 2 '\-\-root 9 is no rank of 8' simulate broadcast knomial -p 8 --root 9
expect 2 '\-\-root: allreduce has no root' simulate allreduce ring -p 8 --root 1
expect 2 "then 'allgather ring 64K 3': the form is COLLECTIVE" simulate allreduce ring --then 'allgather ring 64K 3'
[ $failures = 0 ]
