#!/usr/bin/env bash
# keeper.sh NODES CORES RATE SLURM - outlives "cluster.sh up", holds the cluster (login.sh says what the arguments are), and
# removes its folder, whatever ends it. Standard input: from cluster.sh, its end tells that cluster.sh is gone; standard
# output: to it, errors or "ready".
set -eu
source "$(dirname "$0")/common.sh"
child=
user=()
[ "$(id -u)" = 0 ] || user=(--user --map-root-user)

# Whoever inherits a lock or a pipe of the caller would hold it as long as the cluster is up.
for number in /proc/self/fd/*; do
  number=${number##*/}
  [ "$number" -le 2 ] || eval "exec $number>&-"
done
cd /

make_folder() {
  mkdir "$folder" || die "cannot make the folder $folder"
  trap 'rm -rf "$folder"' EXIT
  local node i
  {
    echo "127.0.0.1 localhost"
    echo "$subnet.254 login"
    for ((i = 1; i <= $1; ++i)); do echo "$subnet.$i node$i"; done
  } >"$folder/hosts"
  echo $$ >"$folder/keeper.pid"
  echo "$2 cores each, ${3/#none/unlimited} links" >"$folder/facts"
  for node in login $(node_names); do mkdir -p "$folder/$node/tmp"; done
  taskset -cp $$ | sed 's/.*: //' >"$folder/login/cores"
}

# The first process of a PID namespace takes all others with it, hence the namespaces, mounts and network devices.
end_all() {
  local first
  if [ -n "$child" ]; then
    first=$(child_of "$child")
    kill -KILL "${first:-$child}" 2>/dev/null || :
    wait "$child" || :
  fi
  exit 143
}

trap '' INT HUP
trap end_all TERM
make_folder "$@"
setpriv --pdeathsig KILL unshare "${user[@]}" --net --uts --ipc --mount --pid --fork --kill-child=KILL --mount-proc -- \
  "$lab/login.sh" "$@" <&0 &
child=$!
exec </dev/null >/dev/null 2>&1
is_started() { [ -e "$folder/started" ] || [ ! -e "/proc/$child" ]; }
within 20 is_started && child_of "$child" >"$folder/login.pid" || end_all
: >"$folder/known"
wait "$child" || :
