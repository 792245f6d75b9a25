#!/usr/bin/env bash
# kill_test.sh MPIRUN KILLS RANKS COMMAND... - so often, starts stuck_program by the command and has TUTTI_FAULTS kill a rank at a
# random message: all others have to be told which one, and a later call has to fail. Prints the times that they waited, and
# looks for what is left behind. The ranks that are killed, and when, follow from KILL_SEED (1).
set -u
mpirun=$1 kills=$2 ranks=$3
shift 3
"$mpirun" --version 2>&1 | grep -Eq '[(](Open MPI|OpenRTE)[)] 4' || { echo "SKIP: $mpirun ends all ranks when one dies" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0 ended=0
# Open MPI 4 can be told to leave the others alone.
export OMPI_MCA_orte_enable_recovery=1 OMPI_MCA_orte_abort_on_non_zero_status=0 ASAN_OPTIONS=detect_leaks=0
RANDOM=${KILL_SEED:-1}

fail() {
  echo "FAILED: kill $kill, of rank $victim, in calls of $count elements (TUTTI_FAULTS='$TUTTI_FAULTS'): $*" >&2
  grep -v '^\[' "$folder/out" | head -c 6000 >&2
  failures=$((failures + 1))
}
# What each of the others has to have said. Open MPI 4 ends a process whose connection breaks in the middle of a large message,
# or stays inside its own abort for good (MPI_MAY_END_RANKS=1): the process says nothing, and counts as one that has died.
judge() {
  local rank dead=$victim
  for ((rank = 0; rank < ranks; ++rank)); do
    [ $rank != $victim ] && [ -n "${MPI_MAY_END_RANKS:-}" ] && ! grep -q "^rank $rank: told" "$folder/out" || continue
    dead="$dead\\|$rank" ended=$((ended + 1))
  done
  [ $(grep -c '^rank [0-9]*: told in call' "$folder/out") -ge $((ranks / 2)) ] || fail "few survivors were told"
  for ((rank = 0; rank < ranks; ++rank)); do
    [[ "\\|$dead\\|" != *"\\|$rank\\|"* ]] || continue
    grep -q "^rank $rank: told in call .*rank \\($dead\\) (process [0-9]* on .*) has ended" "$folder/out" ||
      fail "rank $rank was not told who has died"
    grep -q "^rank $rank, later: .*unusable" "$folder/out" || fail "rank $rank: a later call did not fail"
  done
}

before=$(ls /dev/shm | grep -c tutti)
for ((kill = 0; kill < kills; ++kill)); do
  victim=$((RANDOM % ranks)) count=$((kill % 3 == 0 ? 10 : kill % 3 == 1 ? 3000 : 100000))
  export TUTTI_FAULTS="seed=$RANDOM;kill:rank=$victim,message=1-$((count < 100000 ? 2000 : 300))"
  "$@" endure 1000000 $count >"$folder/out" 2>&1 &
  launcher=$!
  until pgrep -x stuck_program >/dev/null || ! kill -0 $launcher 2>/dev/null; do sleep 0.1; done
  for ((looks = 0; looks < 300; ++looks)); do # launchers may well stay when all ranks have ended
    pgrep -x stuck_program >/dev/null || break
    sleep 0.1
  done
  if pgrep -x stuck_program >/dev/null; then
    [ -n "${MPI_MAY_END_RANKS:-}" ] || fail "survivors are left"
    pkill -KILL -x stuck_program
  fi
  kill $launcher 2>/dev/null
  wait $launcher 2>/dev/null
  judge
  sed -n 's/^rank [0-9]*: told in call [0-9]* after \([0-9]*\) ms.*/\1/p' "$folder/out" >>"$folder/times"
done
[ "$(ls /dev/shm | grep -c tutti)" = "$before" ] || fail "/dev/shm has new files"
sort -n "$folder/times" | awk -v kills="$kills" -v failures="$failures" -v ended="$ended" '{ ms[NR] = $1 }
  END { print kills " kills, " failures " failures; " NR " survivors waited for " ms[int((NR + 1) / 2)] " ms in the median, " \
        ms[NR] " ms at most; the MPI ended " ended }'
exit $((failures > 0))
