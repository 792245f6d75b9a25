#!/usr/bin/env bash
# cluster.sh COMMAND - several nodes on one Linux machine, to test what happens between nodes. A node is a set of namespaces
# with a host name, a network, processes, /dev/shm and /sys of its own; a bridge joins them. See docs/cluster.md.
#   up N [--cores C] [--rate 2gbit] [--slurm]   starts login, node1 ... nodeN; C cores each (or its share of the machine)
#   run -np P [--map 1,2,3] [--by node] [--mpirun MPIRUN] PROGRAM...   mpirun: P ranks spread evenly, or as mapped
#   sh NODE COMMAND...                          runs a command on a node; login: where sbatch, srun and mpirun are run
#   status                                      what is up
#   down                                        ends everything in it; nothing stays
#   check [--slurm]                             whether this machine permits it; if not, says why and ends with 3
# CLUSTER_FOLDER names another folder to run in, hence another cluster; default ${TMPDIR:-/tmp}/tutti-cluster-UID.
set -eu
source "$(dirname "$0")/lab/common.sh"
usage() { sed -n '2,10s/^# \?//p' "$0"; }
refuse() {
  echo "cluster: $*" >&2
  exit 2
}
is_number() { [[ $1 =~ ^[1-9][0-9]{0,2}$ ]]; }

is_up() { [ -e "$folder/ready" ] && grep -qs lab/login.sh "/proc/$(cat "$folder/login.pid")/cmdline"; }
require_up() { is_up || die "no cluster is up in $folder; start one with: $0 up 4"; }

# ---- check ------------------------------------------------------------------------------------------------------

missing_commands() {
  local command
  for command in unshare nsenter setpriv taskset ip "$@"; do
    command -v "$command" >/dev/null || printf ' %s' "$command"
  done
}

# Tried, since what a container forbids is written nowhere.
try_namespaces() {
  local user=()
  [ "$(id -u)" = 0 ] || user=(--user --map-root-user)
  unshare "${user[@]}" --net --uts --ipc --mount --pid --fork --kill-child=KILL --mount-proc -- sh -ec '
    hostname node1
    mount -t sysfs sysfs /sys
    mount -t tmpfs tmpfs /dev/shm
    ip link add to1 type veth peer name eth0
    ip link add bridge0 type bridge' 2>&1 </dev/null
}

# why_not [--slurm]: what stands against a cluster here; nothing if it can be had.
why_not() {
  local wanted=() missing said
  [ "${1:-}" != --slurm ] || wanted=(slurmctld slurmd munged sbatch srun)
  [ "$(uname)" = Linux ] || { echo "this is not Linux" && return; }
  missing=$(missing_commands "${wanted[@]}")
  [ -z "$missing" ] || { echo "not installed:$missing; on Debian: scripts/setup.sh lab" && return; }
  said=$(try_namespaces) || { echo "namespaces are not permitted here (${said##*$'\n'})" && return; }
  [ "${1:-}" = --slurm ] || return 0
  [ "$(id -u)" = 0 ] || { echo "Slurm's daemons run as root only" && return; }
  ls /usr/lib/*/slurm*/mpi_pmix*.so /usr/{,local/}lib*/slurm*/mpi_pmix*.so 2>/dev/null | grep -q . ||
    echo "this Slurm has no PMIx: there is no mpi_pmix*.so"
}

check() {
  local why
  why=$(why_not "$@")
  [ -z "$why" ] || { echo "cluster: $why" >&2 && exit 3; }
}

# ---- up, down ---------------------------------------------------------------------------------------------------

up() {
  local nodes=${1:-} cores= rate=none slurm=none
  is_number "$nodes" && [ "$nodes" -le 64 ] || refuse "up: '$nodes' is no number of nodes; allowed: 1 to 64"
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      --cores) is_number "${2:-}" || refuse "up: --cores '${2:-}'; allowed: 1 to 999" && cores=$2 && shift 2 ;;
      --rate)
        [[ ${2:-} =~ ^[1-9][0-9]*[kmg]bit$ ]] || refuse "up: --rate '${2:-}'; allowed: like 500mbit, 2gbit"
        rate=$2 && shift 2
        ;;
      --slurm) slurm=slurm && shift ;;
      *) refuse "up: unknown option '$1'; allowed: --cores, --rate, --slurm" ;;
    esac
  done
  [ ${#folder} -le 60 ] || refuse "the folder's name is too long for sockets in it, set CLUSTER_FOLDER: $folder"
  ! is_up || die "a cluster is up already in $folder; end it with: $0 down"
  check ${slurm/#slurm/--slurm}
  down # what a crash of the machine may have left
  [ -n "$cores" ] || cores=$(($(nproc) / nodes > 0 ? $(nproc) / nodes : 1))
  start "$nodes" "$cores" "$rate" "$slurm"
}

# Everything that lasts, the folder too, is the keeper's. It hears from the end of a pipe if this script is interrupted.
start() {
  local line= from to
  export CLUSTER_FOLDER=$folder
  coproc keeper { exec setsid "$lab/keeper.sh" "$@" 2>&1; }
  exec {from}<&"${keeper[0]}" {to}>&"${keeper[1]}" {keeper[0]}<&- {keeper[1]}>&-
  trap 'exec {to}>&-; down; exit 130' INT TERM HUP
  while read -r line <&"$from" && [ "$line" != ready ]; do echo "$line" >&2; done
  [ "$line" = ready ] || die "the cluster did not start"
  echo keep >&"$to"
  trap - INT TERM HUP
}

# The keeper ends all and removes the folder. Without it, all ends with the cluster's first process.
down() {
  local keeper login
  [ -e "$folder" ] || return 0
  rmdir "$folder" 2>/dev/null && return
  [ -e "$folder/hosts" ] || die "$folder is no cluster's folder"
  if keeper=$(cat "$folder/keeper.pid" 2>/dev/null) && grep -qs lab/keeper.sh "/proc/$keeper/cmdline"; then
    kill -TERM "$keeper" 2>/dev/null || :
    within 30 [ ! -e "$folder" ] || die "the cluster does not end; see $folder/log"
  elif login=$(cat "$folder/login.pid" 2>/dev/null) && grep -qs lab/login.sh "/proc/$login/cmdline"; then
    kill -KILL "$login" 2>/dev/null || :
    within 30 [ ! -e "/proc/$login" ] || die "the cluster does not end"
  fi
  within 5 rm -rf "$folder"
}

status() {
  is_up || { echo "no cluster is up in $folder" && return 3; }
  echo "$(node_names | wc -l) nodes in $folder: $(cat "$folder/facts")"
  local node
  for node in $(node_names); do
    echo "  $node  $(sed -n "s/ $node\$//p" "$folder/hosts")  cores $(cat "$folder/$node/cores")"
  done
  [ ! -e "$folder/slurm.conf" ] || inside login sinfo -N
}

# ---- commands on nodes ------------------------------------------------------------------------------------------

# inside NODE COMMAND...: ends only when the command has, also when interrupted; the command ends when this is killed.
inside() {
  local login child code=0
  login=$(cat "$folder/login.pid")
  export CLUSTER_FOLDER=$folder
  # An interrupt reaches the command from the terminal; here and in nsenter it would only hide when the command ends.
  (
    trap '' INT
    user=()
    [ "$(id -u)" = 0 ] || user=(--user --preserve-credentials)
    exec setpriv --pdeathsig TERM nsenter -t "$login" "${user[@]}" --net --uts --ipc --pid --mount --wd="$PWD" -- \
      setpriv --pdeathsig TERM "$lab/enter.sh" "$@"
  ) <&0 &
  child=$!
  trap : INT
  trap 'kill -TERM $(child_of "$child") 2>/dev/null || :' TERM HUP
  while :; do
    code=0
    wait "$child" || code=$?
    [ -e "/proc/$child" ] || break
  done
  trap - INT TERM HUP
  return "$code"
}

# placement RANKS MAP BY: the node of every rank, a line each.
placement() {
  local nodes=($(node_names)) ranks=$1 by=$3 counts=() i round
  IFS=, read -ra counts <<<"$2"
  if [ -z "$2" ]; then # evenly, the first nodes take the rest
    for i in "${!nodes[@]}"; do counts+=($((ranks / ${#nodes[@]} + (i < ranks % ${#nodes[@]} ? 1 : 0)))); done
  fi
  if [ "$by" = slot ]; then
    for i in "${!counts[@]}"; do for ((round = 0; round < counts[i]; ++round)); do echo "${nodes[i]}"; done; done
  else
    for ((round = 0; round < ranks; ++round)); do
      for i in "${!counts[@]}"; do [ "$round" -ge "${counts[i]}" ] || echo "${nodes[i]}"; done
    done
  fi
}

require_map() {
  [[ $2 =~ ^[0-9]+(,[0-9]+)*$ ]] || refuse "run: --map '$2'; allowed: the ranks of each node, like 1,2,3"
  local nodes
  nodes=$(node_names | wc -l)
  [ "$(tr -cd , <<<"$2" | wc -c)" -lt "$nodes" ] || refuse "run: --map $2 is for more than the $nodes nodes that are up"
  [ "$((${2//,/+}))" = "$1" ] || refuse "run: --map $2 places $((${2//,/+})) ranks, -np says $1"
}

run() {
  local ranks= map= by=slot mpirun=${MPIRUN:-mpirun}
  while [[ ${1:-} == -* ]]; do
    [ $# -ge 2 ] || refuse "run: $1 wants a value, and PROGRAM is missing"
    case $1 in
      -np | -n) is_number "${2:-}" || refuse "run: $1 '${2:-}'; allowed: 1 to 999" && ranks=$2 ;;
      --map) map=${2:-} ;;
      --by)
        [[ ${2:-} =~ ^(node|slot)$ ]] || refuse "run: --by '${2:-}'; allowed: slot (fill nodes), node (in turns)"
        by=$2
        ;;
      --mpirun) mpirun=${2:-} ;;
      *) refuse "run: unknown option '$1'; allowed: -np, --map, --by, --mpirun" ;;
    esac
    shift 2
  done
  [ -n "$map" ] && [ -z "$ranks" ] && ranks=$((${map//,/+}))
  [ -n "$ranks" ] || refuse "run: -np is missing: how many ranks"
  [ -z "$map" ] || require_map "$ranks" "$map"
  [ $# -gt 0 ] || refuse "run: PROGRAM is missing"
  local hosts
  hosts=$(placement "$ranks" "$map" "$by")
  inside login "$lab/launch.sh" "$mpirun" "$(paste -sd , <<<"$hosts")" "$@"
}

main() {
  local command=${1:-}
  [ $# -eq 0 ] || shift
  case $command in
    up | down | status | check) "$command" "$@" ;;
    run) require_up && run "$@" ;;
    sh)
      require_up
      [ $# -ge 2 ] || refuse "sh: give NODE and COMMAND"
      inside "$@"
      ;;
    --help | -h) usage ;;
    *) usage >&2 && exit 2 ;;
  esac
  exit # a shell reads on from where it was, in a file that may have been edited meanwhile
}
main "$@"
