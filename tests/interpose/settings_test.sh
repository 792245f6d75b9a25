#!/usr/bin/env bash
# settings_test.sh MPIRUN LIBRARY CALLS_PROGRAM COUNTING_TOOL WRAPPING_LAYER WAITING_LAYER - what TUTTI_INTERPOSE, TUTTI_LOG
# and TUTTI_MEASURE do, and other tools above and beneath the library. The program makes 30 blocking calls a rank that can be
# served, 5 that cannot, and 5 nonblocking ones.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mpirun=$1 library=$2 program=$3 tool=$4 layer=$5 waiting_layer=$6
text=$(mktemp)
trap 'rm -f "$text" "$text.one_rank" "$text.rules"' EXIT
failures=0

# run PRELOADS SETTINGS...: the program on two ranks; its output is in $text, its exit status in $status.
run() {
  local preloads=$1 options=()
  shift
  case $("$mpirun" --version 2>&1) in
    *'Open MPI'* | *OpenRTE* | *PRRTE*)
      options=(-x "LD_PRELOAD=$preloads")
      for setting in "$@"; do options+=(-x "$setting"); done
      ;;
    *)
      options=(-genv LD_PRELOAD "$preloads")
      for setting in "$@"; do options+=(-genv "${setting%%=*}" "${setting#*=}"); done
      ;;
  esac
  timeout 60 "$here/../../scripts/mpirun.sh" "$mpirun" 2 "${options[@]}" "$program" ${argument:-} >"$text" 2>&1
  status=$?
}
fail() {
  echo "FAILED: $1 (exit status $status)" >&2
  cat "$text" >&2
  failures=$((failures + 1))
}
is_right() { [ $status -eq 0 ] && grep -q 'all results are right' "$text"; }
# row NAME: "SERVED PASSED" of a collective in the report.
row() { awk -v name="$1" '$1 == "tutti:" && $2 == name && $3 ~ /^[0-9]/ { print $3, $4 }' "$text"; }
nonblocking_row() { awk -v name="$1" '$1 == "tutti:" && $2 == name && $3 == "(nonblocking)" { print $4, $5 }' "$text"; }
tool_says() { grep -q "^tool: $1 barriers, $2 broadcasts, $3 allreduces" "$text"; }

run "$library" TUTTI_INTERPOSE=all TUTTI_LOG=debug
is_right && [ "$(row barrier)" = '20 0' ] && [ "$(row bcast)" = '20 0' ] && [ "$(row allreduce)" = '20 10' ] &&
  [ "$(nonblocking_row allreduce)" = '10 0' ] || fail 'all serves all that it can'

run "$library" TUTTI_INTERPOSE=none TUTTI_LOG=info
is_right && ! grep -q '^tutti:' "$text" || fail 'none serves nothing, and says nothing'

run "$library" TUTTI_INTERPOSE=bcast,barrier TUTTI_LOG=info
is_right && [ "$(row barrier)" = '20 0' ] && [ "$(row bcast)" = '20 0' ] && [ "$(row allreduce)" = '0 30' ] ||
  fail 'a list serves what it names'

run "$library" TUTTI_INTERPOSE=auto TUTTI_LOG=info
is_right && [ -n "$(row barrier)" ] || fail 'auto'

# What MPI combines is not in the fixed order, and is named at the end; nothing else is passed.
run "$library" TUTTI_BITS=fixed TUTTI_INTERPOSE=auto
is_right && grep -q '^tutti: TUTTI_BITS=fixed: 10 calls of reductions were passed to MPI' "$text" &&
  grep -q '  allreduce: 10, as: an operation or type that only MPI can combine' "$text" && ! grep -q 'nonblocking' "$text" ||
  fail 'reductions that are not in the fixed order are named'
run "$library" TUTTI_BITS=fixed TUTTI_INTERPOSE=bcast
is_right && grep -q '  allreduce: 30, as: TUTTI_INTERPOSE does not name it' "$text" &&
  grep -q '  allreduce (nonblocking): 10, as: TUTTI_INTERPOSE does not name it' "$text" ||
  fail 'reductions that a list leaves to MPI are named'
run "$library" TUTTI_BITS=same TUTTI_INTERPOSE=bcast
is_right && ! grep -q '^tutti:' "$text" || fail 'without a fixed order nothing is named'
run "$library" TUTTI_BITS=exact TUTTI_INTERPOSE=all
is_right && grep -q "no call is served: .*TUTTI_BITS is 'exact': 'exact' is unknown; allowed: same, fixed" "$text" || fail 'no such bits'

# Rules whose times say that the MPI's allreduce is faster, and its broadcast is not.
cat >"$text.rules" <<'RULES'
{"tutti_rules": 1, "rules": [
  {"collective": "allreduce", "use": "ring", "mpi": {"us": 1}, "measured": {"us": 2}},
  {"collective": "broadcast", "use": "chain", "mpi": {"us": 2}, "measured": {"us": 1}}]}
RULES
run "$library" TUTTI_INTERPOSE=auto TUTTI_LOG=info "TUTTI_RULES=$text.rules"
is_right && [ "$(row bcast)" = '20 0' ] && [ "$(row allreduce)" = '0 30' ] && grep -q "rules for algorithms: $text.rules" "$text" ||
  fail 'rules with times say what is served'
run "$library" TUTTI_INTERPOSE=all TUTTI_LOG=info "TUTTI_RULES=$text.rules"
is_right && [ "$(row allreduce)" = '20 10' ] || fail 'all serves what rules would leave to the MPI'
echo '{"tutti_rules": 1, "rules": [{"collective": "allreduce", "use": "rung"}]}' >"$text.rules"
run "$library" TUTTI_INTERPOSE=all TUTTI_LOG=info "TUTTI_RULES=$text.rules"
is_right && [ -z "$(row barrier | grep -v '^0 ')" ] && grep -q "$text.rules:1:.*'use' is 'rung'" "$text" ||
  fail 'with wrong rules nothing is served, and rank 0 says why'

# On a communicator that is not known: 16 calls in which all ranks wait for each other are MPI's, and the broadcasts among them.
argument=duplicate run "$library" TUTTI_INTERPOSE=auto TUTTI_LOG=info
is_right && grep -q '^tutti: barrier .* 16 communicator' "$text" && grep -q '^tutti: allreduce .* 14 communicator' "$text" &&
  grep -q '^tutti: bcast .* 16 communicator' "$text" || fail 'by default sixteen calls precede the first that is served'
argument=duplicate run "$library" TUTTI_INTERPOSE=all TUTTI_LOG=info
is_right && [ "$(row barrier)" = '20 0' ] && [ "$(row bcast)" = '20 0' ] || fail 'all serves the first call, too'

run "$library" TUTTI_INTERPOSE=all
is_right && ! grep -q '^tutti:' "$text" || fail 'no report without TUTTI_LOG'

run "$library" TUTTI_INTERPOSE=all TUTTI_MEASURE=1
is_right && [ "$(row barrier)" = '10 10' ] && [ "$(row bcast)" = '10 10' ] && [ "$(row allreduce)" = '10 20' ] &&
  grep -q '^tutti: barrier .* 10 to measure' "$text" || fail 'every second call is measured in MPI'
run "$library" TUTTI_INTERPOSE=all TUTTI_MEASURE=2
is_right && [ "$(grep -c '^tutti:' "$text")" = 1 ] && grep -q "no call is served: .*TUTTI_MEASURE.*'2'" "$text" ||
  fail 'TUTTI_MEASURE=2 is refused'

for wrong in allreduse ALL all,bcast bcast, ,; do
  run "$library" "TUTTI_INTERPOSE=$wrong"
  is_right && [ "$(grep -c '^tutti: no call is served' "$text")" = 1 ] &&
    grep -qF "TUTTI_INTERPOSE is '$wrong'; allowed: all, auto, none, or a list of barrier" "$text" ||
    fail "the value '$wrong' is refused in one line"
done
run "$library" TUTTI_INTERPOSE=all TUTTI_ALGORITHM=allreduce=rung
is_right && grep -q "^tutti: no call is served: .*TUTTI_ALGORITHM.*'rung'" "$text" || fail 'a wrong TUTTI_ALGORITHM is treated alike'

run "$library $tool" TUTTI_INTERPOSE=all
is_right && tool_says 0 0 5 || fail 'a tool beneath sees the calls that are passed on'

run "$library $tool" TUTTI_INTERPOSE=none
is_right && tool_says 10 10 15 || fail 'a tool beneath sees all calls if none is served'

run "$tool $library" TUTTI_INTERPOSE=all
is_right && tool_says 10 10 15 || fail 'a tool above sees all calls'

run "$waiting_layer $library" TUTTI_INTERPOSE=all TUTTI_LOG=info
is_right && [ "$(row allreduce)" = '20 10' ] && [ "$(nonblocking_row allreduce)" = '0 10' ] &&
  grep -q '^tutti: allreduce (nonblocking) .* 10 progress' "$text" ||
  fail 'no nonblocking call is served if a layer above waits in MPI'

# A layer above that begins MPI by PMPI_Init.
run "$layer $library" TUTTI_INTERPOSE=all
is_right && [ "$(grep -c '^tutti:' "$text")" = 1 ] && grep -q '^tutti: no call was served: MPI_Init did not come' "$text" ||
  fail 'a layer above begins MPI'

# What one rank alone finds wrong keeps all from serving, and none waits for the others.
the_program=$program program=$text.one_rank
# on_rank RANK COMMAND: the program after a command on one rank.
on_rank() {
  cat >"$program" <<SH
#!/bin/sh
[ "\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}}" != $1 ] || $2
exec "$the_program"
SH
  chmod +x "$program"
}
on_rank 1 'export TUTTI_PROGRESS_THREAD=1'
run "$library" TUTTI_INTERPOSE=all TUTTI_LOG=info
is_right && [ "$(grep -c '^tutti:' "$text")" = 1 ] && grep -q '^tutti: no call is served: .*TUTTI_PROGRESS_THREAD=1' "$text" ||
  fail 'one rank cannot run it'

# One rank has no library, as if its node lacked the file.
for rank in 1 0; do
  on_rank $rank 'unset LD_PRELOAD'
  run "$library" TUTTI_INTERPOSE=all TUTTI_LOG=info
  case $rank in
    0) said='rank 0 does not answer: does it run without the preloaded library' ;;
    1) said='1 of 2 ranks run without the preloaded library: 1; is its file on every node' ;;
  esac
  is_right && [ "$(grep -c '^tutti:' "$text")" = 1 ] && grep -q "^tutti: no call is served: $said" "$text" ||
    fail "rank $rank has no library"
done

exit $((failures > 0))
