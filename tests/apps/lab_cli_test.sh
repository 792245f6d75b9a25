#!/usr/bin/env bash
# lab_cli_test.sh - slurm/cluster.sh: what it refuses and says, and where it puts ranks.
set -eu
source "$(dirname "$0")/lab_support.sh"

# expect CODE PATTERN ARGUMENTS...: ends with CODE and writes a line that matches PATTERN.
expect() {
  local code=0
  cluster "${@:3}" >"$scratch/output" 2>&1 </dev/null || code=$?
  [ "$code" = "$1" ] || fail "cluster.sh ${*:3}: exit code $code, $1 expected: $(cat "$scratch/output")"
  grep -qE -e "$2" "$scratch/output" || fail "cluster.sh ${*:3}: '$2' expected: $(cat "$scratch/output")"
}

expect 0 '^cluster.sh COMMAND - several nodes' --help
expect 2 '^cluster.sh COMMAND - several nodes'
expect 2 '^cluster.sh COMMAND - several nodes' start
expect 3 'no cluster is up in .*/lab' status
expect 1 'no cluster is up in .*; start one with: .*cluster.sh up 4' run -np 2 true
expect 1 'no cluster is up' sh node1 true
expect 2 "up: '' is no number of nodes; allowed: 1 to 64" up
expect 2 "up: '65' is no number of nodes" up 65
expect 2 "up: --cores 'x'; allowed" up 2 --cores x
expect 2 "up: --rate '2'; allowed: like 500mbit, 2gbit" up 2 --rate 2
expect 2 "up: unknown option '--slum'; allowed: --cores, --rate, --slurm" up 2 --slum
mkdir "$lab" && touch "$lab/mine"
expect 1 'is no cluster.s folder' up 2
expect 1 'is no cluster.s folder' down
[ -e "$lab/mine" ] || fail "down removed a folder that is not its own"
rm -r "$lab"

cluster up 3 --cores 1 --rate 500mbit
expect 1 'a cluster is up already in .*; end it with: .*cluster.sh down' up 2
expect 0 '^3 nodes in .*: 1 cores each, 500mbit links' status
expect 0 'rate 500Mbit' sh node3 tc qdisc show dev eth0
expect 2 'sh: give NODE and COMMAND' sh node1
expect 1 "there is no node 'node4'; allowed: login node1 node2 node3" sh node4 true
expect 7 '^node2$' sh node2 sh -c 'hostname; exit 7'
expect 0 '^alpha  beta$' sh node1 echo 'alpha  beta'
expect 2 'run: -np is missing' run true
expect 2 "run: -np '0'; allowed: 1 to 999" run -np 0 true
expect 2 'run: PROGRAM is missing' run -np 2
expect 2 'run: -np wants a value' run -np
expect 2 "run: --map '1,x'; allowed: the ranks of each node, like 1,2,3" run -np 2 --map 1,x true
expect 2 'run: --map 1,2 places 3 ranks, -np says 4' run -np 4 --map 1,2 true
expect 2 'run: --map 1,1,1,1 is for more than the 3 nodes that are up' run --map 1,1,1,1 true
expect 2 "run: --by 'core'; allowed: slot .*, node" run -np 2 --by core true
expect 2 "run: unknown option '--host'" run --host a true
expect 2 'neither Open MPI.s nor MPICH.s' run -np 2 --mpirun echo true
expect 5 . run -np 2 sh -c 'exit 5'

# placed OPTIONS = NODES: of the ranks in order.
placed() {
  local wanted=${*: -1}
  set -- "${@:1:$#-2}"
  expect 0 . run "$@" sh -c 'echo "rank ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} $(hostname)"'
  local got
  got=$(sed -n 's/^rank \([0-9]* node[0-9]\)$/\1/p' "$scratch/output" | sort -n | grep -o '[0-9]$' | paste -sd ' ')
  [ "$got" = "$wanted" ] || fail "run $*: ranks on nodes $got, $wanted expected"
}
placed -np 6 = '1 1 2 2 3 3'
placed -np 7 = '1 1 1 2 2 3 3'
placed -np 2 = '1 2'
placed -np 4 --by node = '1 2 3 1'
placed --map 1,2,3 = '1 2 2 3 3 3'
placed --map 1,2,3 --by node = '1 2 3 2 3 3'
placed --map 0,2 = '2 2'
cluster down
expect_nothing_left "all this"
echo "all as expected"
