#!/usr/bin/env bash
# lifetimes_test.sh MPIRUN PROGRAM KIND [LIBRARY] - a program begins and ends MPI, communicators and calls in many orders.
# KIND: objects (tests/mpi/lifetimes.cpp), native or preloaded (tests/c/lifetimes.c), the last with LIBRARY.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mpirun=$1 program=$2 kind=$3 library=${4:-}
text=$(mktemp)
trap 'rm -f "$text"' EXIT
failures=0

# orders RANKS SETTING...: those of stdin, one a line. "VARIABLE=VALUE": in the environment; "-": nothing.
orders() {
  local ranks=$1 setting=$2 order options=()
  if [ "$setting" != - ]; then export "${setting?}"; fi
  if [ -n "$library" ]; then
    case $("$mpirun" --version 2>&1) in
      *'Open MPI'* | *OpenRTE* | *PRRTE*) options=(-x "LD_PRELOAD=$library") ;;
      *) options=(-genv LD_PRELOAD "$library") ;;
    esac
  fi
  while read -r order; do
    # shellcheck disable=SC2086
    timeout 60 "$here/../../scripts/mpirun.sh" "$mpirun" "$ranks" "${options[@]}" "$program" $order >"$text" 2>&1 </dev/null
    local status=$?
    [ $status -eq 0 ] && [ "$(grep -o done "$text" | wc -l)" = "$ranks" ] && continue
    echo "FAILED: $ranks ranks, $setting: $order (exit status $status)" >&2
    head -c 3000 "$text" >&2
    failures=$((failures + 1))
  done
  if [ "$setting" != - ]; then unset "${setting%%=*}"; fi
}

if [ "$kind" = objects ]; then
  some='env comm plan request buffer batch caller
comm env plan request buffer batch
comm plan request buffer env batch caller
caller env comm request plan
caller comm buffer plan request batch env
env caller callback comm plan
comm callback request env caller'
  orders 2 - <<<"$some"
  orders 1 - <<<"env caller"
  orders 3 - <<<"comm request env caller"
  orders 2 TUTTI_TRANSPORT=mpi <<<"$some"
else
  some='init comm call finalize
exit-finalize init comm call exit-call
exit-finalize exit-call init comm call
exit-finalize exit-end exit-begin init comm call
init exit-finalize comm exit-call call
exit-call init comm exit-finalize begin exit-end
init comm begin exit-finalize exit-end exit-call
init exit-finalize comm exit-close exit-call
init comm attribute-call finalize
init comm attribute-close attribute-call begin end exit-call finalize
init comm begin attribute-end finalize
init comm exit-finalize attribute-call
threads exit-finalize comm begin exit-end exit-call'
  [ "$kind" = native ] || some="$some
init comm gapped attribute-end finalize
init comm gapped exit-finalize exit-end"
  settings=(-)
  [ "$kind" = native ] || settings=(TUTTI_INTERPOSE=all TUTTI_INTERPOSE=auto)
  for setting in "${settings[@]}"; do orders 2 "$setting" <<<"$some"; done
  orders 1 "${settings[0]}" <<<"$some"
  for setting in TUTTI_INTERPOSE=auto TUTTI_INTERPOSE=allreduce; do
    [ "$kind" = native ] || orders 2 "$setting" <<<'init ahead finalize'
  done
fi
exit $((failures > 0))
