#!/usr/bin/env bash
# launch.sh MPIRUN HOST,HOST,... PROGRAM... - mpirun on the nodes, a rank on each host named; called on the login node.
set -eu
mpirun=$1 hosts=$2
shift 2
file=$(mktemp) # in the run folder
tr , '\n' <<<"$hosts" >"$file"
here=$(cd "$(dirname "$0")" && pwd)
options=()

case $("$mpirun" --version 2>&1) in
  *'Open MPI'* | *OpenRTE*)
    # Nodes share the machine's cores: ranks wait for processors, not only for messages.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$here/remote_shell.sh
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_hwloc_default_binding_policy=none
    export PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_agent=$here/remote_shell.sh
    # Nodes cannot enter each other: all are reached from here.
    export OMPI_MCA_plm_rsh_no_tree_spawn=1 PRTE_MCA_plm_ssh_no_tree_spawn=1
    options=(--hostfile "$file" --map-by seq -n "$(wc -l <"$file")")
    ;;
  *HYDRA* | *Intel*)
    [ "$(uniq "$file" | wc -l)" = "$(sort -u "$file" | wc -l)" ] ||
      { echo "cluster: $mpirun takes a node that is named again for another one; allowed: --by slot" >&2 && exit 2; }
    options=(-f "$file" -launcher rsh -launcher-exec "$here/remote_shell.sh" -n "$(wc -l <"$file")")
    ;;
  *) echo "cluster: $mpirun is neither Open MPI's nor MPICH's" >&2 && exit 2 ;;
esac
exec "$mpirun" "${options[@]}" "$@"
