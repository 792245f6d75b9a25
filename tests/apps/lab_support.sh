# Sourced by the tests of slurm/cluster.sh: a cluster with a folder of its own, and what must not be left of it.
scratch=$(mktemp -d)
lab=$scratch/lab
script=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../slurm" && pwd)/cluster.sh
# Not exported: what has it in its environment belongs to the cluster.
cluster() { CLUSTER_FOLDER=$lab TMPDIR=$scratch "$script" "$@"; }
trap 'cluster down || :; rm -rf "$scratch"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# until_within SECONDS COMMAND...: repeats it until it succeeds.
until_within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.05
  done
}

devices() { ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/\1/' | grep -E '^(bridge0|to[0-9]+)$' || :; }
mounts() { grep -E "$scratch|nsfs" /proc/mounts || :; }
in_memory() { find /dev/shm -iname '*tutti*' | sort; }
processes() {
  local file
  for file in $(grep -lzsxF "CLUSTER_FOLDER=$lab" /proc/[0-9]*/environ); do
    echo "process ${file//[^0-9]/}: $(tr '\0' ' ' 2>/dev/null <"${file%environ}cmdline")" 2>/dev/null
  done
}

# The namespaces of a cluster that is up, for `namespaces_left`.
note_namespaces() {
  {
    readlink "/proc/$(cat "$lab/login.pid")"/ns/{net,uts,ipc,mnt,pid}
    for node in $(cluster sh login cat /etc/hosts | grep -o 'node[0-9]*$'); do
      cluster sh "$node" readlink /proc/self/ns/{net,uts,ipc,mnt,pid}
    done
  } | sort -u >"$scratch/namespaces"
}
namespaces_left() { # a namespace lives as long as a process is in it, or a mount of it
  [ -s "$scratch/namespaces" ] || return 0
  ls -l /proc/[0-9]*/ns 2>/dev/null | grep -oE '[a-z]+:\[[0-9]+\]' | sort -u | comm -12 - "$scratch/namespaces"
}

left() {
  find "$scratch" -mindepth 1 ! -name 'before.*' ! -name namespaces ! -name output
  processes
  namespaces_left
  devices | comm -13 "$scratch/before.devices" -
  mounts | comm -13 "$scratch/before.mounts" -
  in_memory | comm -13 "$scratch/before.memory" -
}
nothing_left() { [ -z "$(left)" ]; }
expect_nothing_left() { until_within 5 nothing_left || fail "$*: left behind: $(left)"; }

devices | sort >"$scratch/before.devices"
mounts | sort >"$scratch/before.mounts"
in_memory >"$scratch/before.memory"
