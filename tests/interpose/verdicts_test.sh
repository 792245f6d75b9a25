#!/usr/bin/env bash
# verdicts_test.sh MPIRUN RANKS LIBRARY PROGRAM THEME - what the program says over plain MPI (verdicts/) and with the library
# preloaded, TUTTI_INTERPOSE unset and all. Differences fail, but for those that verdicts/differences.txt names.
set -u
if [ $# -ne 5 ]; then
  sed -n '2,3s/^# //p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mpirun=$1 ranks=$2 library=$3 program=$4 theme=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TUTTI_INTERPOSE
version=$("$mpirun" --version 2>&1)
case $version in
  *'Open MPI'* | *OpenRTE* | *PRRTE*) mpi=openmpi preload=(-x "LD_PRELOAD=$library") ;;
  *) mpi=mpich preload=(-genv LD_PRELOAD "$library") ;;
esac
# Open MPI's component tuned hangs where ranks have different datatypes, as each may choose another algorithm.
export OMPI_MCA_coll=^tuned,han,adapt

# verdicts MODE OPTIONS...: a file of lines "CHECK: WORDS". A check that ends the program is one, and the next ones follow.
verdicts() {
  local mode=$1 file=$folder/$1 first=0 last name
  shift
  : >"$file"
  while ! tail -n 1 "$file" | grep -q '^end$'; do
    "$here/../../scripts/mpirun.sh" "$mpirun" "$ranks" "$@" "$program" "$theme" $first "$file" >"$folder/said" 2>&1
    tail -n 1 "$file" | grep -q '^end$' && break
    last=$(grep '^begin ' "$file" | tail -n 1)
    if [ -z "$last" ] || [ "$(cut -d ' ' -f 2 <<<"$last")" -lt "$first" ]; then
      echo "FAILED: no checks in mode $mode" >&2
      cat "$folder/said" >&2
      exit 1
    fi
    name=$(cut -d ' ' -f 3 <<<"$last")
    grep -q "^$name: " "$file" || { # or else it hangs, which the program itself has said
      tail -n 1 "$file" | grep -q '^begin ' || echo >>"$file"
      echo "$name: crashes" >>"$file"
      [ -z "${VERDICTS_SHOW:-}" ] || cat "$folder/said" >&2
    }
    first=$(($(cut -d ' ' -f 2 <<<"$last") + 1))
  done
  grep -v -e '^begin ' -e '^end$' "$file" >"$file.lines"
}

verdicts plain
verdicts auto "${preload[@]}"
TUTTI_INTERPOSE=all verdicts all "${preload[@]}"

# The named differences of this run, as "MODE CHECK WHY".
while read -r its_mpi its_mode its_theme its_check its_ranks its_why; do
  # shellcheck disable=SC2053
  [[ $mpi == $its_mpi && $theme == $its_theme && $ranks == $its_ranks ]] && echo "$its_mode $its_check $its_why"
done < <(grep -v -e '^#' -e '^$' "$here/verdicts/differences.txt") >"$folder/names"

# reason MODE CHECK: why they may differ; false if nothing says so.
reason() {
  local its_mode its_check its_why
  while read -r its_mode its_check its_why; do
    # shellcheck disable=SC2053
    [[ $1 == $its_mode && $2 == $its_check ]] && echo "$its_check $its_why" && return
  done <"$folder/names"
  return 1
}

# said FILE CHECK: its words.
said() { awk -v name="$2: " 'index($0, name) == 1 { print substr($0, length(name) + 1) }' "$1"; }

failures=0
: >"$folder/met"
for mode in auto all; do
  while IFS= read -r line; do
    name=${line%%: *} words=${line#*: }
    case $words in hangs | crashes) # MPI's own fault
      echo "left out, as plain MPI $words: $theme $name"
      continue ;;
    esac
    found=$(said "$folder/$mode.lines" "$name")
    [ "$words" != "$found" ] || continue
    reason "$mode" "$name" >>"$folder/met" && continue
    printf 'FAILED: %s %s, %s ranks, %s\n  plain:     %s\n  preloaded: %s\n' \
      "$theme" "$name" "$ranks" "$mode" "${words:0:900}" "${found:0:900}" >&2
    failures=$((failures + 1))
  done <"$folder/plain.lines"
done
sort "$folder/met" | uniq -c
while read -r _ its_check its_why; do
  grep -qxF -- "$its_check $its_why" "$folder/met" && continue
  echo "FAILED: nothing differs any more by the line of differences.txt '$its_check ... $its_why'" >&2
  failures=$((failures + 1))
done <"$folder/names"
echo "$theme, $ranks ranks: $(wc -l <"$folder/plain.lines") checks, $(wc -l <"$folder/met") named differences, $failures failures"
[ -z "${VERDICTS_KEEP:-}" ] || for mode in plain auto all; do
  mkdir -p "$VERDICTS_KEEP" && cp "$folder/$mode.lines" "$VERDICTS_KEEP/$theme.p$ranks.$mode"
done
exit $((failures > 0))
