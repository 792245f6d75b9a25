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
is_up() { [ -e "$lab/ready" ]; }
is_down() { [ ! -e "$lab" ]; }

# up is interrupted, or killed, at different moments
for signal in INT TERM KILL; do
  for moment in 0.05 0.3; do
    start up 3 --cores 1
    sleep "$moment"
    if [ "$signal" = INT ]; then kill -INT -- "-$child"; else kill "-$signal" "$child"; fi
    until_within 20 ended || fail "up does not end after $signal"
    wait "$child" 2>/dev/null || :
    # Killed too late, it had done its work.
    if [ "$signal" = KILL ] || [ -e "$lab/ready" ]; then until_within 3 is_down || cluster down; fi
    expect_nothing_left "$signal after $moment s of up"
  done
done

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
sleeps() { pgrep -xf 'sleep 987654' | wc -l; }
runs() { [ "$(sleeps)" = "$1" ]; }
for signal in INT TERM KILL; do
  for command in "run -np 2" "sh node2" "sh login"; do
    start $command sleep 987654
    wanted=1
    [ "$command" != "run -np 2" ] || wanted=2
    until_within 20 runs "$wanted" || fail "$command: does not run: $(cat "$scratch/output")"
    if [ "$signal" = INT ]; then kill -INT -- "-$child"; else kill "-$signal" "$child"; fi
    until_within 20 ended || fail "$command does not end after $signal"
    code=0
    wait "$child" 2>/dev/null || code=$?
    [ "$code" != 0 ] || fail "$command ends with 0 after $signal"
    until_within 20 runs 0 || fail "$command: still runs after $signal"
  done
done
cluster run -np 2 true || fail "the cluster is broken"
note_namespaces
cluster down
expect_nothing_left "interrupted commands"
echo "nothing left"
