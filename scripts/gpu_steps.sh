# Sourced by gpu_check.sh: parts and steps with time limits, their results and their logs. It sets: `out`, the folder of
# results; `root`, the tree; `build`; `mpirun`; `effort`, `part` and `most`, of the part that runs. `until` is when its time
# is over, in seconds of this shell.
# shellcheck shell=bash disable=SC2154,SC2034

passed=0 failed=0 skipped=0 until=0

milliseconds() {
  local time=${EPOCHREALTIME/[.,]/}
  echo $((time / 1000))
}
in_seconds() { echo $(($1 / 1000)).$((($1 % 1000) / 100)); }

# begin_part EFFORT PART SECONDS
begin_part() {
  part_name="$1: $2" part_seconds=$3 steps_before=$((passed + failed + skipped))
  until=$((until + part_seconds))
  part_begin=$(milliseconds)
}
end_part() {
  [ $((passed + failed + skipped)) -gt $steps_before ] || record "${part_name#*: }" failed 0 "nothing was run"
  printf '%s\t%s\t%s\n' "$part_name" "$(in_seconds $(($(milliseconds) - part_begin)))" "$part_seconds" >>"$out/parts.txt"
  local why
  why=$("$build/tests/gpu_report" "$out" "$root" 2>&1) || record report failed 0 "$why" # what is there, if the call is stopped
}

# record NAME STATE MILLISECONDS WHY: the result of a step.
record() {
  local why=${4//[$'\t\n|']/ } seconds
  seconds=$(in_seconds "$3")
  case $2 in
    passed) passed=$((passed + 1)) ;;
    failed) failed=$((failed + 1)) ;;
    *) skipped=$((skipped + 1)) ;;
  esac
  printf '%s\t%s\t%s\t%s\t%s\n' "$part_name" "$1" "$2" "$seconds" "${why:0:200}" >>"$out/steps.txt"
  printf '%-8s%-48s %6s s%s\n' "$2" "$1" "$seconds" "${why:+  ${why:0:200}}"
}
fact() { printf '%s\t%s\n' "$1" "${2//[$'\t\n|']/ }" >>"$out/facts.txt"; }

finish() {
  echo "results: $out/gpu-machine.md"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed -eq 0 ]
  exit
}

# time_left: how many seconds the step that begins now may take; 0: none.
time_left() {
  local left=$((until - SECONDS))
  [ $left -gt 0 ] || left=0
  echo $((left < most ? left : most))
}
# why_late SECONDS: of a step that was stopped after them.
why_late() { [ "$1" -lt "$most" ] && echo "no time was left" || echo "no end within $most s"; }

# why_of LOG CODE SECONDS: of a failure, from the log.
why_of() {
  local said
  case $2 in
    124 | 137) why_late "$3" && return ;;
  esac
  said=$(grep -aE -m 1 'error while loading|symbol lookup|Failure$|what\(\)|WRONG|rror|not found' "$1")
  echo "exit code $2: ${said:-$(tail -n 1 "$1")}"
}

# step NAME COMMAND...: for `most` seconds, or as many as the part has left. Exit code 77, or tests that were all skipped:
# skipped, as something is missing.
step() {
  local name=$1 log=$out/logs/$1.log code=0 begin spent seconds why
  shift
  seconds=$(time_left)
  [ "$seconds" -gt 0 ] || { record "$name" failed 0 "no time was left" && return 0; }
  begin=$(milliseconds)
  { timeout -k 5 "$seconds" "$@" >"$log" 2>&1 </dev/null; } 2>/dev/null || code=$?
  spent=$(($(milliseconds) - begin))
  if [ $code -eq 77 ]; then
    record "$name" skipped $spent "$(grep -a -m 1 -o 'SKIP: .*' "$log" | cut -c 7-)"
  elif [ $code -ne 0 ]; then
    record "$name" failed $spent "$(why_of "$log" $code "$seconds")"
  elif grep -aq '^\[  PASSED  \] 0 tests' "$log"; then
    why=$(grep -a -A 1 -m 1 'Skipped$' "$log" | tail -n 1)
    if [ -n "$why" ]; then record "$name" skipped $spent "$why"; else record "$name" failed $spent "no test was run"; fi
  else
    record "$name" passed $spent ''
  fi
}

# on_ranks NAME RANKS COMMAND...: a step under mpirun. Ranks are not bound: the library's thread and the driver's need
# cores, too.
on_ranks() {
  if [ -n "$mpirun" ]; then
    step "$1" "$root/scripts/mpirun.sh" --unbound "$mpirun" "${@:2}"
  else
    record "$1" failed 0 "there is no mpirun: name an MPI by --stack DIR"
  fi
}
