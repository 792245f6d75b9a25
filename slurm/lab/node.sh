#!/usr/bin/env bash
# node.sh [--here] NAME - makes the namespaces that it runs in a node: host name, names of the others, own /sys, /dev/shm.
# Then stays as the node's first process, unless --here.
set -eu
source "$(dirname "$0")/common.sh"
stays=1
[ "$1" != --here ] || { stays= && shift; }
node=$1

hostname "$node"
mount -t sysfs sysfs /sys # of this network: programs list its interfaces from there
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount --bind "$folder/hosts" /etc/hosts
ip link set lo up
: >"$folder/$node/ready"
[ -n "$stays" ] || exit 0
exec >/dev/null 2>&1
while :; do sleep 3600; done
