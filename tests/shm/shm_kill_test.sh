#!/usr/bin/env bash
# shm_kill_test.sh MPIRUN RANKS PROGRAM TIMES - kills a rank of a running PROGRAM (shm_kill_program) at random moments,
# TIMES times: no process is left, and nothing of Tutti's in /dev/shm.
set -eu
mpirun=$1 ranks=$2 program=$3 times=$4
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
name=tkill$$ job= # at most 15 letters, as the kernel keeps of a process's name
trap 'kill -9 $job $(pgrep -x "$name") 2>/dev/null || :; rm -rf "$folder"' EXIT
cp "$program" "$folder/$name"

ours_in_memory() { find /dev/shm -iname '*tutti*' 2>/dev/null | sort; }

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.05
  done
}
all_run() { [ "$(find "$folder/running" -type f ! -name '*.partial' | wc -l)" = "$ranks" ]; }
none_runs() { ! pgrep -x "$name" >/dev/null; }
is_over() { ! kill -0 "$job" 2>/dev/null; }

ours_in_memory >"$folder/memory"
for ((i = 1; i <= times; ++i)); do
  rm -rf "$folder/running" && mkdir "$folder/running"
  "$launch" "$mpirun" "$ranks" "$folder/$name" "$folder/running" 100 >"$folder/output" 2>&1 &
  job=$!
  wait_for 60 all_run || { echo "cycle $i: the ranks do not run" >&2 && cat "$folder/output" >&2 && exit 1; }
  sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
  victim=$((RANDOM % ranks))
  kill -9 "$(cat "$folder/running/$victim")"
  wait_for 30 is_over || { echo "cycle $i: mpirun has not noticed" >&2 && exit 1; }
  code=0
  wait "$job" || code=$?
  job=
  if [ "$code" -eq 0 ] || [ "$code" -eq 3 ]; then
    echo "cycle $i: rank $victim was killed, mpirun ends with $code" >&2
    exit 1
  fi
  wait_for 10 none_runs || { echo "cycle $i: left running:" >&2 && pgrep -ax "$name" >&2 && exit 1; }
  ours_in_memory | comm -13 "$folder/memory" - >"$folder/left"
  [ ! -s "$folder/left" ] || { echo "cycle $i: left in /dev/shm:" >&2 && cat "$folder/left" >&2 && exit 1; }
done
echo "$times of $times: nothing left"
