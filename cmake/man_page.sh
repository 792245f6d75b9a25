#!/usr/bin/env bash
# man_page.sh HELP2MAN FILE VERSION PROGRAM SUMMARY [COMMAND] - writes the manual page of a program, or of one of its commands,
# to FILE. Without a summary: what the program says of the command.
set -eu
help2man=$1 file=$2 version=$3 program=$4 summary=$5 command=${6:-}
page=$(basename "$file" .1)
mkdir -p "$(dirname "$file")"
rm -f "$file"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # a program may initialise MPI first

[ -n "$summary" ] || summary=$("$program" --help | sed -n "s/^  $command  *//p")
[ -n "$summary" ] || { echo "man_page.sh: $program --help has no command $command" >&2 && exit 1; }
related=$(printf '.BR %s (1),\n' tutti tutti-bench tutti-sgd tutti-soak | grep -v " $page " | sed '$s/,$//')
cat >"$file.sections" <<SECTIONS
[name]
$page \\- ${summary//-/\\-}

[see also]
$related
SECTIONS
# Tools of MPI and of tests may be in the way of a program as it is.
env -u LD_PRELOAD "$help2man" --no-info --include="$file.sections" --version-string="$version" --source="Tutti $version" \
  --output="$file" "$program${command:+ $command}" ||
  { echo "man_page.sh: $program does not run here; -DTUTTI_MAN=OFF leaves its page out" >&2 && exit 1; }
rm "$file.sections"
