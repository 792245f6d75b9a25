#!/usr/bin/env bash
# mpirun.sh MPIRUN RANKS PROGRAM... - runs a program under any MPI's mpirun, as root or not, with more ranks than cores or not.
set -eu
if [ $# -lt 3 ] || [ "$1" = --help ]; then
  sed -n 2p "$0" >&2
  exit 2
fi
mpirun=$1 ranks=$2
shift 2
options=()
if "$mpirun" --version 2>&1 | grep -qE 'Open MPI|OpenRTE|PRRTE'; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  if [ "$ranks" -gt "$(nproc)" ]; then
    options+=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
  fi
fi
if "$mpirun" --version 2>&1 | grep -q 'Intel'; then
  [ "$ranks" -le "$(nproc)" ] || export I_MPI_WAIT_MODE=1
fi
exec "$mpirun" -n "$ranks" "${options[@]}" "$@"
