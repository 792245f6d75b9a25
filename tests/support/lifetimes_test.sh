#!/usr/bin/env bash
# lifetimes_test.sh MPIRUN KIND [LIBRARY --] PROGRAM... - begins and ends MPI, communicators and calls in many orders: those
# of the tables in docs/lifetimes.md, each with what the column KIND says of it, as "native: C". LIBRARY is preloaded.
set -u
here=$(cd "$(dirname "$0")" && pwd)
page=$here/../../docs/lifetimes.md
mpirun=$1 kind=$2 library=
shift 2
if [ "${2:-}" = -- ]; then
  library=$1
  shift 2
fi
program=("$@")
text=$(mktemp)
trap 'rm -f "$text"' EXIT
failures=0 made=0

# rows: "RESULT ORDER" of the column, one a line.
rows() {
  awk -F ' *[|] *' -v kind="$kind" '
    /^\|/ && $2 == "order" { column = 0; for (i = 3; i < NF; ++i) if ($i == kind) column = i; next }
    /^\| `/ && column && $column != "" { gsub("`", "", $2); gsub(" ", "_", $column); print $column, $2 }' "$page"
}

# outcome RANKS SETTING LIBRARY ORDER: "STATUS of N", where N ranks came to their end. SETTING: "VARIABLE=VALUE", or "-".
outcome() {
  local ranks=$1 setting=$2 preload=$3 order=$4 options=()
  if [ -n "$preload" ]; then
    case $("$mpirun" --version 2>&1) in
      *'Open MPI'* | *OpenRTE* | *PRRTE*) options=(-x "LD_PRELOAD=$preload") ;;
      *) options=(-genv LD_PRELOAD "$preload") ;;
    esac
  fi
  [ "$setting" = - ] || local -x "${setting?}"
  # shellcheck disable=SC2086
  timeout 60 "$here/../../scripts/mpirun.sh" "$mpirun" "$ranks" "${options[@]}" "${program[@]}" $order >"$text" 2>&1 </dev/null
  echo "status $? of $(grep -o "done" "$text" | wc -l) ranks"
}

# orders RANKS SETTING: those of stdin.
orders() {
  local ranks=$1 setting=$2 result order expected found
  while read -r result order; do
    case $result in
      right) expected="status 0 of $ranks ranks" ;;
      as_MPI_alone) expected=$(outcome "$ranks" - '' "$order") ;;
      *) echo "$page: there is no result '$result'" >&2 && exit 1 ;;
    esac
    found=$(outcome "$ranks" "$setting" "$library" "$order")
    made=$((made + 1))
    [ "$found" != "$expected" ] || continue
    echo "FAILED: $ranks ranks, $setting: $order ($found, not $expected)" >&2
    head -c 3000 "$text" >&2
    failures=$((failures + 1))
  done
}

settings=(-)
case $kind in
  preloaded*) settings=(TUTTI_INTERPOSE=all TUTTI_INTERPOSE=auto) ;;
  *messages*) settings=(TUTTI_TRANSPORT=mpi) ;;
esac
for setting in "${settings[@]}"; do orders 2 "$setting" < <(rows); done
orders 1 "${settings[0]}" < <(rows)
# A root that waits for nobody.
case $kind in preloaded*C | preloaded*Fortran)
  for setting in TUTTI_INTERPOSE=auto TUTTI_INTERPOSE=allreduce; do orders 2 "$setting" <<<'right init ahead finalize'; done ;;
esac
echo "$kind: $made orders, $failures wrong"
exit $((failures > 0 || made == 0))
