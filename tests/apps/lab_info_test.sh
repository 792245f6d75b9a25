#!/usr/bin/env bash
# lab_info_test.sh TUTTI - what "tutti info" says of six ranks on three nodes of the cluster that is up (slurm/cluster.sh).
set -eu
tutti=$(realpath "$1")
cluster=$(cd "$(dirname "$0")/../../slurm" && pwd)/cluster.sh
"$cluster" run --map 1,2,3 --by node "$tutti" info --json | python3 -c '
import json, sys
said = json.load(sys.stdin)
nodes = [(node["host"], node["ranks"]) for node in said["nodes"]]
assert nodes == [("node1", [0]), ("node2", [1, 3]), ("node3", [2, 4, 5])], nodes
'
said=$("$cluster" run --map 1,2,3 "$tutti" info)
echo "$said"
grep -q 'node 2, ranks 3-5: all pairs .*; share memory' <<<"$said"
