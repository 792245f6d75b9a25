# Sourced by cluster.sh and the scripts of this folder. Of a cluster that is up, its run folder holds all there is:
#   login.pid  cores  rate  slurm.conf    node1/pid  node1/cores  node1/tmp/ ...
# The folder is the value of CLUSTER_FOLDER: another value, another cluster.

lab=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${CLUSTER_FOLDER:-${TMPDIR:-/tmp}/tutti-cluster-$(id -u)}
subnet=10.77.0 # in network namespaces of its own: nothing outside sees it

# Debian keeps ip, tc and the daemons of Slurm where only root looks.
export PATH=$PATH:/usr/sbin:/sbin

die() {
  echo "cluster: $*" >&2
  exit 1
}

node_names() { sed -n 's/.* \(node[0-9]*\)$/\1/p' "$folder/hosts"; }

# child_of PID: its only child. Prints nothing if there is none (any more).
child_of() { cat "/proc/$1/task/$1/children" 2>/dev/null | cut -d ' ' -f 1; }

# within SECONDS COMMAND...: repeats it until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -le "$end" ] || return 1
    sleep 0.02
  done
}
