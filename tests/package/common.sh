# Sourced by the tests of what is installed: `folder` to write in, `log` for what a command says, `fail` and `finish`.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/log
touch "$log"
failures=0

fail() {
  echo "FAILED: $*" >&2
  tail -n 30 "$log" >&2
  failures=$((failures + 1))
}

# skip WHY: ends the test, which CTest counts as skipped.
skip() {
  echo "SKIP: $*"
  exit 77
}

finish() { exit $((failures > 0)); }
