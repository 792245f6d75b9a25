# tool_support.sh TUTTI SOURCES - sourced by tests of the tool's commands, which run in a folder of their own.
set -u
tutti=$1 sources=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
cd "$folder" || exit 1

fail() {
  echo "FAILED: tutti $*" >&2
  head -c 2000 stdout stderr >&2
  failures=$((failures + 1))
}
# expect CODE PATTERN ARGUMENTS...: ends with CODE, and a line of what it writes matches PATTERN.
expect() {
  local code=$1 pattern=$2
  shift 2
  "$tutti" "$@" >stdout 2>stderr
  local got=$?
  [ $got = "$code" ] || fail "$* (exit code $code expected, not $got)"
  cat stdout stderr | grep -q -e "$pattern" || fail "$* ('$pattern' expected)"
}
