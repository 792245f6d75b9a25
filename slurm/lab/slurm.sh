#!/usr/bin/env bash
# slurm.sh NODES CORES - starts munge and slurmctld on the login node, slurmd on the others, and waits until they are idle.
set -eu
source "$(dirname "$0")/common.sh"
nodes=$1 cores=$2
run=$folder/slurm
mkdir -p "$run/munge" "$run/state"

cat >"$folder/slurm.conf" <<CONF
ClusterName=lab
SlurmctldHost=login
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$run/munge/socket
StateSaveLocation=$run/state
SlurmdSpoolDir=$run/spool.%n
TmpFS=$folder/%n/tmp
SlurmctldPidFile=$run/slurmctld.pid
SlurmdPidFile=$run/slurmd.%n.pid
SlurmctldLogFile=$run/slurmctld.log
SlurmdLogFile=$run/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
KillWait=5
GresTypes=gpu
NodeName=node[1-$nodes] CPUs=$cores Gres=gpu:2 State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
# Slurm 22.05: the default fence (tree) lets ranks through early now and then; MPI_Init crashes.
echo PMIxCollFence=ring >"$folder/mpi.conf"
# Not there, but jobs that ask for GPUs start, and can say so.
echo "NodeName=node[1-$nodes] Name=gpu File=/dev/null,/dev/zero" >"$folder/gres.conf"
# Not used, but slurmd insists on loading one.
echo CgroupPlugin=cgroup/v1 >"$folder/cgroup.conf"

head -c 1024 /dev/urandom >"$run/munge/key"
chmod 400 "$run/munge/key"
munged --force --num-threads=2 --key-file="$run/munge/key" --socket="$run/munge/socket" --pid-file="$run/munge/pid" \
  --log-file="$run/munge/log" --seed-file="$run/munge/seed"
"$lab/enter.sh" login slurmctld
for ((i = 1; i <= nodes; ++i)); do
  mkdir -p "$run/spool.node$i"
  "$lab/enter.sh" "node$i" slurmd -N "node$i"
done

all_idle() { [ "$("$lab/enter.sh" login sinfo -h -t idle -o %D 2>/dev/null)" = "$nodes" ]; }
within 30 all_idle || {
  "$lab/enter.sh" login sinfo -N -l || :
  tail -n 5 "$run"/*.log
  die "the nodes did not become idle"
}
