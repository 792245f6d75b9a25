#!/usr/bin/env bash
# bits_page_test.sh PAGE TUTTI MPIRUN PROGRAM - what docs/bits-record.md shows is what its program and the tool print.
set -u
page=$1 tutti=$2 mpirun=$3 program=$4
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

two() { timeout 120 "$launch" "$mpirun" 2 env TUTTI_ALGORITHM=allreduce=recursive_doubling "$@"; }
# shown COMMAND: the lines below it on the page.
shown() { awk -v command="    $ $1" '$0 == command { inside = 1; next } inside && !/^    / { exit } inside { print substr($0, 5) }' "$page"; }
same() {
  shown "$1" >expected
  sed -i "s|$folder|/home/me|" "$2"
  [ -s expected ] && diff expected "$2" >difference || {
    echo "FAILED: the page shows something else below '$1':"
    cat difference
    failures=1
  } >&2
}

two TUTTI_BITS=record:a:deep "$program" >said 2>&1 || failures=1
! grep -q 'built without xxHash' said || { echo 'SKIP: built without xxHash' && exit 0; }
two TUTTI_BITS=record:b:deep "$program" x || failures=1
"$tutti" bits a b >said
[ $? = 1 ] || failures=1
same 'tutti bits a b' said
two TUTTI_BITS=compare:a "$program" x 2>&1 | sort >said || failures=1
same 'TUTTI_BITS=compare:a mpirun -n 2 ./program x' said
exit $failures
