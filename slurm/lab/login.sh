#!/usr/bin/env bash
# login.sh NODES CORES RATE SLURM - the first process of the cluster, in its login node: starts the nodes, joins them by a
# bridge, and stays. CORES: of each node; RATE: of each node's link, or none; SLURM: slurm or none.
set -eu
source "$(dirname "$0")/common.sh"
nodes=$1 cores=$2 rate=$3 slurm=$4
all_cores=($(taskset -cp $$ | sed 's/.*: //; s/,/\n/g' | while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done))

# cores_of NODE: its share of the machine, in turns if there are not enough.
cores_of() {
  local i first=$((($1 - 1) * cores))
  for ((i = first; i < first + cores; ++i)); do
    echo "${all_cores[$((i % ${#all_cores[@]}))]}"
  done | sort -nu | paste -sd ,
}

start_node() {
  local node=node$1
  cores_of "$1" >"$folder/$node/cores"
  unshare --net --uts --ipc --mount --pid --fork --kill-child=KILL --mount-proc -- \
    "$lab/node.sh" "$node" </dev/null &
  echo $! >"$folder/$node/outer"
}

is_ready() { [ -e "$folder/$1/ready" ]; }

# The node's end of the link is its eth0, the other end hangs on the bridge.
connect_node() {
  local node=node$1 pid
  within 10 is_ready "$node" || die "$node did not start"
  pid=$(child_of "$(cat "$folder/$node/outer")")
  echo "$pid" >"$folder/$node/pid"
  ip link add "to$1" type veth peer name eth0 netns "$pid"
  ip link set "to$1" master bridge0 up
  nsenter -t "$pid" -n ip addr add "$subnet.$1/24" dev eth0
  nsenter -t "$pid" -n ip link set eth0 up
  [ "$rate" != none ] || return 0
  local limit=(root tbf rate "$rate" burst 256k latency 20ms)
  tc qdisc add dev "to$1" "${limit[@]}" && nsenter -t "$pid" -n tc qdisc add dev eth0 "${limit[@]}" ||
    die "the kernel does not limit rates (tc ... tbf): leave out --rate"
}

"$lab/node.sh" --here login
: >"$folder/started"
within 20 [ -e "$folder/known" ] # by its number outside
ip link add bridge0 type bridge
ip addr add "$subnet.254/24" dev bridge0
ip link set bridge0 up
for ((i = 1; i <= nodes; ++i)); do start_node "$i"; done
for ((i = 1; i <= nodes; ++i)); do connect_node "$i"; done
[ "$slurm" = none ] || "$lab/slurm.sh" "$nodes" "$cores" </dev/null
: >"$folder/ready"
echo ready

# cluster.sh says that it has seen it. If it was interrupted, there is nobody to run the cluster for.
read -r word && [ "$word" = keep ]
exec </dev/null >/dev/null 2>&1
while :; do sleep 3600; done # bash also reaps the orphans that come to the first process
