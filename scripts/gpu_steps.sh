# Sourced by gpu_check.sh: steps with a time limit, their results and their logs. It sets: `out`, the folder of results;
# `root`, the tree; `mpirun`; `all_seconds`, after which no step begins. `until` takes the place of the last for some steps.
# shellcheck shell=bash disable=SC2154,SC2034

passed=0 failed=0 skipped=0

milliseconds() {
  local time=${EPOCHREALTIME/[.,]/}
  echo $((time / 1000))
}

# record NAME STATE MILLISECONDS WHY: the result of a step.
record() {
  local why=${4//[$'\t\n|']/ } seconds
  seconds=$(($3 / 1000)).$((($3 % 1000) / 100))
  case $2 in
    passed) passed=$((passed + 1)) ;;
    failed) failed=$((failed + 1)) ;;
    *) skipped=$((skipped + 1)) ;;
  esac
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$seconds" "${why:0:200}" >>"$out/steps.txt"
  printf '%-8s%-48s %6s s%s\n' "$2" "$1" "$seconds" "${why:+  ${why:0:200}}"
}
fact() { printf '%s\t%s\n' "$1" "${2//[$'\t\n|']/ }" >>"$out/facts.txt"; }

# why_of LOG CODE LIMIT: of a failure, from the log.
why_of() {
  local said
  case $2 in
    124 | 137) echo "no end within $3 s" && return ;;
  esac
  said=$(grep -aE -m 1 'error while loading|symbol lookup|Failure$|what\(\)|WRONG|rror|not found' "$1")
  echo "exit code $2: ${said:-$(tail -n 1 "$1")}"
}

# step NAME LIMIT COMMAND...: for LIMIT seconds at most. Exit code 77, or tests that were all skipped: skipped.
step() {
  local name=$1 limit=$2 log=$out/logs/$1.log code=0 begin spent left=$((${until:-$all_seconds} - SECONDS))
  shift 2
  [ $left -gt 0 ] || { record "$name" skipped 0 "no time is left" && return 0; }
  begin=$(milliseconds)
  { timeout -k 5 $((left < limit ? left : limit)) "$@" >"$log" 2>&1 </dev/null; } 2>/dev/null || code=$?
  spent=$(($(milliseconds) - begin))
  if [ $code -eq 77 ]; then
    record "$name" skipped $spent "$(grep -a -m 1 -o 'SKIP: .*' "$log" | cut -c 7-)"
  elif [[ $code =~ ^(124|137)$ && $left -lt $limit ]]; then
    record "$name" skipped $spent "no time is left, it was stopped"
  elif [ $code -ne 0 ]; then
    record "$name" failed $spent "$(why_of "$log" $code "$limit")"
  elif grep -aq '^\[  PASSED  \] 0 tests' "$log"; then
    record "$name" skipped $spent "$(grep -a -A 1 -m 1 'Skipped$' "$log" | tail -n 1)"
  else
    record "$name" passed $spent ''
  fi
}

# on_ranks NAME LIMIT RANKS COMMAND...: a step under mpirun.
on_ranks() {
  if [ -n "$mpirun" ]; then
    step "$1" "$2" "$root/scripts/mpirun.sh" "$mpirun" "${@:3}"
  else
    record "$1" failed 0 "there is no mpirun: name an MPI by --stack DIR"
  fi
}
