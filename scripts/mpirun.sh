#!/usr/bin/env bash
# mpirun.sh [--unbound] MPIRUN RANKS PROGRAM... - a program under any MPI's mpirun, as root or not, with more ranks than cores or not.
# Knows Open MPI 4 and 5, Intel MPI and MPICH (whose ranks do not yield: keep to as many as there are cores).
# --unbound: ranks may run on all cores, as threads beside them need some, too.
set -eu
unbound=
[ "${1:-}" != --unbound ] || { unbound=1 && shift; }
if [ $# -lt 3 ] || [ "$1" = --help ]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
mpirun=$1 ranks=$2
shift 2
options=()
cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

# Containers may forbid a process to read another's memory. Open MPI then warns on every message; it need not try.
reading_peers_is_forbidden() {
  grep -qs '^Seccomp:[[:space:]]*[12]' /proc/self/status && command -v perl >/dev/null || return 1
  perl -e '
    my %number = ("x86_64" => 310, "aarch64" => 270);            # process_vm_readv
    my $call = $number{(split " ", `uname -m`)[0]} or exit 1;
    my ($there, $here) = ("x" x 8, "-" x 8);
    my @iov = map { pack("QQ", unpack("Q", pack("p", $_)), 8) } $here, $there;
    my $child = fork;
    if (!$child) { sleep 5; exit }
    my $read = syscall($call, $child, $iov[0], 1, $iov[1], 1, 0);
    kill "KILL", $child;
    exit($read == 8 ? 1 : 0)'
}

case $("$mpirun" --version 2>&1) in
  *'Open MPI'* | *OpenRTE* | *PRRTE*)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    options+=(--oversubscribe) # it counts cores, not hardware threads
    [ "$ranks" -le "$cores" ] || options+=(--mca mpi_yield_when_idle 1)
    [ "$ranks" -le "$cores" ] && [ -z "$unbound" ] || options+=(--bind-to none)
    if reading_peers_is_forbidden; then
      export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_smsc=^cma
    fi
    ;;
  *Intel*)
    [ "$ranks" -le "$cores" ] || export I_MPI_WAIT_MODE=1
    [ -z "$unbound" ] || export I_MPI_PIN=off
    ;;
esac
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0} # MPI libraries leave memory behind, from parts unloaded by then
exec "$mpirun" -n "$ranks" "${options[@]}" "$@"
