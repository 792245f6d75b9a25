#!/usr/bin/env bash
# man_test.sh SETTINGS - every program, and every command of the tool, has a manual page, which is shown without a warning and
# has every option.
source "$(dirname "$0")/common.sh" "$1"
[ "$man" = ON ] || skip 'the pages were not built: help2man is missing, or TUTTI_MAN is OFF'
pages=$prefix/share/man/man1
tool=$prefix/bin/tutti

# expect_page PAGE PROGRAM...: it is about what the program says to --help.
expect_page() {
  local file=$pages/$1.1 option
  [ -s "$file" ] || { fail "there is no page $1(1)" && return; }
  grep -q "^$1 \\\\- [a-z]" "$file" || fail "$1(1): no line for whatis"
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'SEE ALSO'; do
    grep -qiE "^\.SH \"?$section\"?$" "$file" || fail "$1(1) has no section $section"
  done
  for option in $("${@:2}" --help | grep -oE '^  (-[a-z] \[ )?--[a-z-]+' | grep -oE -e '--[a-z-]+'); do
    grep -qF -e "\\fB${option//-/\\-}\\fR" "$file" || fail "$1(1) lacks $option"
  done
}
for program in $(ls "$prefix/bin"); do
  expect_page "$program" "$prefix/bin/$program"
done
for command in $("$tool" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  expect_page "tutti-$command" "$tool" "$command"
done

if command -v groff >/dev/null; then
  for file in "$pages"/*.1; do
    groff -man -ww -Tutf8 "$file" 2>"$log" >"$folder/shown"
    [ ! -s "$log" ] || fail "$file: groff warns"
    [ -s "$folder/shown" ] || fail "$file shows nothing"
  done
else
  echo 'groff is missing, which would show the pages'
fi
finish
