#!/usr/bin/env bash
# enter.sh NODE COMMAND... - runs a command on a node; called on the login node. It ends when its caller does.
set -eu
source "$(dirname "$0")/common.sh"
node=$1
shift
[ -e "$folder/$node/cores" ] || die "there is no node '$node'; allowed: login $(node_names | paste -sd ' ')"
export CLUSTER_FOLDER=$folder TMPDIR=$folder/$node/tmp
[ ! -e "$folder/slurm.conf" ] || export SLURM_CONF=$folder/slurm.conf
as=(taskset -c "$(cat "$folder/$node/cores")" env --default-signal=INT,QUIT)
[ "$node" != login ] || exec "${as[@]}" "$@"
exec nsenter -t "$(cat "$folder/$node/pid")" --net --uts --ipc --pid --mount --wd="$PWD" -- \
  setpriv --pdeathsig TERM "${as[@]}" "$@"
