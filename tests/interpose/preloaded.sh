#!/usr/bin/env bash
# preloaded.sh MPIRUN RANKS LIBRARY MIN_SERVED_PERCENT PROGRAM ARGS... - runs a program that knows nothing of Tutti with the
# library preloaded. It has to succeed, and of the calls in the report at least so many percent must have been served.
# REPORTED_FORM=nonblocking or persistent counts only those calls. TUTTI_INTERPOSE is all unless it is set.
# PRELOAD_ABOVE and PRELOAD_BENEATH name libraries to preload before and after.
set -u
if [ $# -lt 5 ]; then
  sed -n '2,5s/^# //p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mpirun=$1 ranks=$2 library=$3 least=$4
shift 4
report=$(mktemp)
trap 'rm -f "$report"' EXIT
preloads="${PRELOAD_ABOVE:+$PRELOAD_ABOVE }$library${PRELOAD_BENEATH:+ $PRELOAD_BENEATH}"
export TUTTI_INTERPOSE=${TUTTI_INTERPOSE:-all} TUTTI_LOG=${TUTTI_LOG:-info}
case $("$mpirun" --version 2>&1) in
  *'Open MPI'* | *OpenRTE* | *PRRTE*) options=(-x "LD_PRELOAD=$preloads" -x TUTTI_INTERPOSE -x TUTTI_LOG) ;;
  *) options=(-genv LD_PRELOAD "$preloads") ;;
esac

# What goes to stderr goes to the report, too; a pipeline waits until all of it is there.
{
  "$here/../../scripts/mpirun.sh" "$mpirun" "$ranks" "${options[@]}" "$@" 2>&1 1>&3 3>&- | tee "$report" >&2
  status=${PIPESTATUS[0]}
} 3>&1
if [ $status -ne 0 ]; then
  echo "FAILED: exit status $status" >&2
  exit 1
fi
if ! grep -q '^tutti: calls of all ranks' "$report"; then
  echo "FAILED: there is no report of served calls" >&2
  exit 1
fi
# "tutti: NAME [(FORM)] SERVED PASSED BYTES SECONDS SAVED WHY"
awk -v least="$least" -v form="${REPORTED_FORM:+(}${REPORTED_FORM:-}" '
  /^tutti: (collective|calls of)/ { next }
  form != "" && index($3, form) != 1 { next }
  /^tutti: / {
    at = $3 ~ /^\(/ ? 4 : 3
    if ($at !~ /^[0-9]+$/ || $(at + 1) !~ /^[0-9]+$/) next  # an error, or another line
    served += $at; passed += $(at + 1)
  }
  END {
    percent = served + passed > 0 ? 100 * served / (served + passed) : 0
    printf "%d of %d calls served: %.1f%%\n", served, served + passed, percent
    if (percent >= least) exit 0
    printf "FAILED: at least %s%% were expected\n", least
    exit 1
  }' "$report" >&2
