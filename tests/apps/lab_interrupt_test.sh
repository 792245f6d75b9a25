#!/usr/bin/env bash
# lab_interrupt_test.sh - the several-node lab is interrupted or killed at several moments: nothing of it is left, and what
# ran in it has ended.
set -eu
source "$(dirname "$0")/lab_support.sh"
child= # of this test

# start COMMAND...: of cluster.sh, in the background, as a terminal would start it: a process group that takes interrupts.
start() {
  CLUSTER_FOLDER=$lab TMPDIR=$scratch setsid env --default-signal=INT "$script" "$@" >"$scratch/output" 2>&1 &
  child=$!
}
ended() { ! kill -0 "$child" 2>/dev/null; }

# give SIGNAL: to the command that was started; an interrupt as a terminal does, to all of its processes. Its exit code is
# left in `code`.
give() {
  local to=$child
  [ "$1" != INT ] || to=-$child
  kill "-$1" -- "$to" 2>/dev/null || :
  until_within 30 ended || fail "does not end after $1: $(cat "$scratch/output")"
  code=0
  wait "$child" 2>/dev/null || code=$?
}

# up is interrupted, or killed, at different moments
caught=0
for signal in INT TERM KILL; do
  for moment in 0.03 0.06 0.12 0.2; do
    start up 3 --cores 1
    sleep "$moment"
    give "$signal"
    if [ "$code" = 0 ]; then
      cluster down # it had done its work
    else
      caught=$((caught + 1))
    fi
    expect_nothing_left "$signal after $moment s of up"
  done
done
[ "$caught" -ge 3 ] || fail "up was always over before it was interrupted"

# the cluster's first process, or what holds it, dies
for victim in login.pid keeper.pid; do
  cluster up 3
  note_namespaces
  kill -KILL "$(cat "$lab/$victim")"
  [ "$victim" = login.pid ] || cluster down # the folder alone is left
  expect_nothing_left "kill -9 of $victim"
done

# a command in the cluster: what it started ends, the cluster stays
cluster up 2
long=$((900000 + $$)) # told from others' by it
runs() { [ "$(pgrep -xf "sleep $long" | wc -l)" = "$1" ]; }
for signal in INT TERM KILL; do
  for command in "run -np 2" "sh node2" "sh login"; do
    start $command sleep $long
    wanted=1
    [ "$command" != "run -np 2" ] || wanted=2
    until_within 20 runs "$wanted" || fail "$command: does not run: $(cat "$scratch/output")"
    give "$signal"
    [ "$code" != 0 ] || fail "$command ends with 0 after $signal"
    until_within 20 runs 0 || fail "$command: still runs after $signal"
  done
done
cluster run -np 2 true || fail "the cluster is broken"
note_namespaces
cluster down
expect_nothing_left "interrupted commands"
echo "nothing left"
