#!/usr/bin/env bash
# info_cli_test.sh TUTTI [MPIRUN REFUSE_MPI_INIT MOST_RANKS REFUSE_READING] - tutti info, of this process alone and of a job: what it
# writes, what it refuses, and its exit codes; and that no command initialises MPI unless it has to.
set -u
tutti=$1 mpirun=${2:-} refuse=${3:-} most_ranks=${4:-1}
mpirun_sh=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 # MPI leaves memory behind; what is preloaded has no ASan
for variable in $(env | grep -oE '^(PMI|PMIX|OMPI_COMM|SLURM|MPI_LOCAL)[A-Za-z_]*'); do unset "$variable"; done

fail() {
  echo "FAILED: $*" >&2
  head -c 3000 "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

# expect CODE PATTERN COMMAND...: ends with CODE, and a line of what it writes matches PATTERN.
expect() {
  local code=$1 pattern=$2
  shift 2
  "$@" >"$folder/stdout" 2>"$folder/stderr"
  local got=$?
  [ $got = "$code" ] || fail "$* (exit code $code expected, not $got)"
  grep -q -e "$pattern" "$folder/stdout" "$folder/stderr" || fail "$* ('$pattern' expected)"
}

# times COUNT PATTERN FILE WHAT: so many lines match.
times() { [ "$(grep -c -e "$2" "$folder/$3")" = "$1" ] || fail "$4: not $1 lines of '$2'"; }

# python PROGRAM WHAT: about the JSON that the last command wrote, which is `info`.
python() {
  python3 -c "import json
info = json.load(open('$folder/stdout'))
$1" || fail "$2 (python: see above)"
}

expect 0 '^1 rank on 1 node$' "$tutti" info
times 1 '^Tutti  *[0-9]' stdout 'tutti info'
times 1 '^note: this process only' stdout 'tutti info'
times 1 '^rank  node  host ' stdout 'tutti info'
times 1 '^0     0     ' stdout 'tutti info'
expect 0 '"tutti"' "$tutti" info --json
python 'assert len(info["nodes"]) == 1 and info["nodes"][0]["ranks"] == [0] and info["nodes"][0]["host"]
assert info["nodes"][0]["processors"] >= len(info["ranks"][0]["processors"]) >= 1
assert info["nodes"][0]["distances"] == [["X"]]
assert set(info["components"]) >= {"Tutti", "MPI", "UCX", "CUDA", "hwloc"}
assert any("GPU" in why for why in info["nodes"][0]["missing"]) != bool(info["nodes"][0]["gpus"])' 'info --json'
if grep -q '"hwloc": "on' "$folder/stdout"; then
  python 'assert info["nodes"][0]["parts"]["cores"] >= 1 and info["ranks"][0]["parts"]["cores"]' 'info of real parts'
  expect 0 '2 sockets, 4 NUMA nodes, 4 L3 caches, 256 cores' \
    env HWLOC_SYNTHETIC='package:2 numa:2 l3:1 core:64 pu:2' "$tutti" info
else
  expect 0 'not known: sockets, NUMA nodes, caches and cores: built without hwloc' "$tutti" info
fi

expect 0 '^Usage: tutti info' "$tutti" info --help
expect 0 '^tutti info (Tutti' "$tutti" info --version
expect 2 "^tutti info: unrecognised option '--jsn' (did you mean --json?) (see --help)" "$tutti" info --jsn
expect 2 "^tutti info: unexpected argument 'all': options start with --" "$tutti" info all
expect 2 "^tutti info: --matrix: --json has all pairs anyway" "$tutti" info --json --matrix
expect 2 "^tutti info: --counters: not with --json" "$tutti" info --json --counters

expect 0 '^CUDA devices, as the process that prints sees them$' "$tutti" info
times 1 '^  CUDA  *\(built in\|not built in\)' stdout 'info of devices'
if ! ldconfig -p | grep -q libcuda.so.1; then
  times 1 '^  buffers  *on devices \(cannot be: libcuda.so.1 was not found\|are refused: .*built without\)' stdout 'info of devices'
  expect 0 '"tutti"' "$tutti" info --json
  python 'assert info["cuda"]["devices"] == [] and info["cuda"]["why_not"] and info["cuda"]["buffers"]["way"] == "none"
assert info["cuda"]["is_built"] == info["components"]["CUDA"].startswith("on")' 'info --json of devices'
fi

if [ -z "$mpirun" ]; then
  expect 2 '^tutti info: --job, --counters: built without MPI' "$tutti" info --job
  expect 2 '^tutti info: --job, --counters: built without MPI' "$tutti" info --counters
  expect 2 '^tutti info: --settings: built without MPI' "$tutti" info --settings
  expect 2 '^tutti info: --algorithms: built without MPI' "$tutti" info --algorithms
  for part in UCX CUDA; do # not in such a build, whether they are on the machine or not
    expect 0 "^$part  *off" "$tutti" info
    times 0 "^$part  *on" stdout 'tutti info'
  done
else
  for arguments in 'list' 'show allreduce ring' 'cost allreduce' 'info' 'info --json' 'info --settings' 'info --algorithms' 'info --help' '--help'; do
    # shellcheck disable=SC2086
    expect 0 . env LD_PRELOAD="$refuse" "$tutti" $arguments
    times 0 'MPI was initialised' stderr "tutti $arguments"
  done
  expect 3 'MPI was initialised' env LD_PRELOAD="$refuse" "$tutti" info --job
  for ranks in 1 2 4; do
    [ $ranks -le "$most_ranks" ] || continue
    expect 0 "^$ranks ranks* on 1 node$" "$mpirun_sh" "$mpirun" $ranks "$tutti" info
    times 0 '^note' stdout "info, $ranks ranks"
    times "$ranks" '^[0-9]  *0  ' stdout "info, $ranks ranks"
    expect 0 '"tutti"' "$mpirun_sh" "$mpirun" $ranks "$tutti" info --json
    python "assert [r['rank'] for r in info['ranks']] == list(range($ranks))
assert info['nodes'][0]['shares_memory'] and info['nodes'][0]['ranks'] == list(range($ranks))
assert all(row[i] == 'X' for i, row in enumerate(info['nodes'][0]['distances']))" "info --json, $ranks ranks"
  done
  if [ "$most_ranks" -ge 2 ]; then
    expect 0 '^  1 .* X$' "$mpirun_sh" "$mpirun" 2 "$tutti" info --matrix
    expect 0 '^shm.tutti_memory.get  *[1-9][0-9]*  *pieces read in Tutti memory' \
      "$mpirun_sh" "$mpirun" 2 "$tutti" info --counters
    times 1 '^shm.sent_bytes  *[1-9]' stdout 'info --counters'
    times 1 '^calls.fast_path  *[1-9]' stdout 'info --counters'
    times 1 '^mpi.sent  *0 ' stdout 'info --counters'
    expect 2 "^tutti info: unrecognised option '--jsn'" "$mpirun_sh" "$mpirun" 2 "$tutti" info --jsn
    times 1 '^tutti info: ' stderr 'info --jsn, 2 ranks'
  fi
fi

# Settings and choices.
unset ${!TUTTI_@}
expect 2 '^tutti info: --ranks, --nodes and --processors: only with --algorithms' "$tutti" info --ranks 4
expect 2 '^tutti info: --settings, --algorithms: not with --matrix and --counters' "$tutti" info --settings --matrix
expect 2 '^tutti info: --nodes has 4 ranks in all, --ranks 5' "$tutti" info --algorithms --ranks 5 --nodes 2,2
if [ -n "$mpirun" ]; then
  variables=$(grep -oE '"TUTTI_[A-Z_]+"' "$(dirname "$0")/../../lib/core/communicator/variables.hpp" | grep -vE '_(BUILD|BUILD_DIR|CHECKPOINT|DIR|FIXED_ADDRESSES|HOME|LAUNCH|MPI|PEERS|PYTHON|ROOT|TOOL|TORCH_VENV|VERSION|WHEEL|TEST_)"' | tr -d '"')
  expect 0 '^setting  *value  *from  *allowed$' "$tutti" info --settings
  for variable in $variables; do
    times 1 "^$variable " stdout 'info --settings'
  done
  times 0 'wrong\|unknown\|environment' stdout 'info --settings of an empty environment'
  times 1 '^TUTTI_PLAN_CACHE  *64  *default  *1 to 65536$' stdout 'info --settings'
  times 1 '^TUTTI_NODES  *by host  *derived  *N,N' stdout 'info --settings'
  expect 0 '^TUTTI_PLAN_CACHE  *7  *environment  *1 to 65536$' env TUTTI_PLAN_CACHE=7 "$tutti" info --settings
  expect 0 '^unknown, without effect: TUTTI_NODE (did you mean TUTTI_NODES?)$' env TUTTI_NODE=0 "$tutti" info --settings
  for setting in TUTTI_ALGORITHM=rign TUTTI_BITS=differ TUTTI_BUFFERS=paper TUTTI_CHECK=2 TUTTI_DEVICE_PATH=x TUTTI_FAULTS=kill \
    TUTTI_HANG_ACTION=go TUTTI_HANG_SECONDS=-1 TUTTI_INTERPOSE=brodcast TUTTI_LOG=loud TUTTI_LOG_FILE=/none/x \
    TUTTI_LOG_FILE=%x TUTTI_MEASURE=2 TUTTI_MESSAGE_LIMIT=1G TUTTI_NODES=0,b TUTTI_NVTX=yes TUTTI_PLAN_CACHE=0 \
    TUTTI_PROGRESS_THREAD=2 TUTTI_SOCKETS=a TUTTI_STAGING=x TUTTI_STREAM_MEMORY=x \
    TUTTI_TRACE_LIMIT=1M TUTTI_TRANSPORT=pigeon TUTTI_UCX_WATCH=x; do
    expect 0 "^${setting%%=*}  *${setting#*=}  *environment, wrong  " env "$setting" "$tutti" info --settings
    times 1 "^wrong: environment variable ${setting%%=*}" stdout "info --settings, $setting"
  done
  expect 0 '"settings"' env TUTTI_CHECK=2 TUTTI_LOG=info TUTTI_X=1 "$tutti" info --settings --json
  python 'rows = {row["name"]: row for row in info["settings"]}
assert rows["TUTTI_CHECK"]["wrong"] == "environment variable TUTTI_CHECK is \x272\x27; allowed: 0 to 1"
assert rows["TUTTI_LOG"] == {"name": "TUTTI_LOG", "value": "info", "from": "environment", "allowed": "warn, info, debug, 0, 1", "wrong": None}
assert rows["TUTTI_NODES"]["from"] == "derived" and info["unknown"] == ["TUTTI_X"]' 'info --settings --json'

  expect 0 '^algorithms of 8 ranks on 1 node, all share memory; ' "$tutti" info --algorithms -p 8 --processors 8
  times 1 '^allreduce  *0 to 4096  *one_shot  *as few ranks that share memory want one round$' stdout 'info --algorithms'
  times 1 '^  *4097 to 8192  *recursive_doubling  *as few bytes want few rounds$' stdout 'info --algorithms'
  # As in the manual.
  sed -n '/^    \$ tutti info --algorithms/,/^    \.\.\.$/s/^    //p' "$(dirname "$0")/../../docs/tool.md" | sed '1d;$d' >"$folder/page"
  expect 0 '^exscan' "$tutti" info --algorithms -p 4 --processors 4
  [ -s "$folder/page" ] && head -n "$(wc -l <"$folder/page")" "$folder/stdout" | cmp -s - "$folder/page" ||
    fail 'info --algorithms differs from docs/tool.md'
  expect 0 'all share memory, two or more for each processor;' "$tutti" info --algorithms -p 8 --processors 4
  expect 0 '^algorithms of 8 ranks on 2 nodes; ' "$tutti" info --algorithms --nodes 4,4
  times 1 '^barrier  *-  *two_level  ' stdout 'info --algorithms --nodes 4,4'
  expect 0 '^algorithms of 4 ranks on 1 node; ' env TUTTI_TRANSPORT=mpi "$tutti" info --algorithms -p 4
  expect 0 '; buffers on devices that all ranks can map; ' env TUTTI_BUFFERS=device "$tutti" info --algorithms -p 4
  expect 0 '^allreduce  *0 and more  *ring  *as set by TUTTI_ALGORITHM$' \
    env TUTTI_ALGORITHM=allreduce=ring "$tutti" info --algorithms -p 4
  expect 0 '^note: environment variable TUTTI_ALGORITHM: .*; shown without it$' \
    env TUTTI_ALGORITHM=rign "$tutti" info --algorithms -p 4
  expect 0 '"settings"' "$tutti" info --algorithms --settings --json --nodes 4,4
  python 'assert info["ranks"] == 8 and info["nodes"] == 2 and not info["shares_memory"] and info["settings"]
rows = [row for row in info["algorithms"] if row["collective"] == "allreduce"]
assert rows[0]["from"] == 0 and rows[-1]["to"] is None and all(a["to"] + 1 == b["from"] for a, b in zip(rows, rows[1:]))
assert all(row["algorithm"] and row["why"] for row in info["algorithms"])' 'info --algorithms --json'
  if [ "$most_ranks" -ge 2 ]; then
    expect 0 '^algorithms of 2 ranks on 2 nodes; ' "$mpirun_sh" "$mpirun" 2 env TUTTI_NODES=0,1 "$tutti" info --algorithms
    expect 0 "^wrong: .* TUTTI_NODES is '0,1,2'; allowed: 2 numbers" \
      "$mpirun_sh" "$mpirun" 2 env TUTTI_NODES=0,1,2 TUTTI_TEST_TAG_UB=1 "$tutti" info --settings
    times 1 '^setting ' stdout 'info --settings, 2 ranks'
  fi
fi

[ $failures -eq 0 ] && echo passed
exit $((failures > 0))
