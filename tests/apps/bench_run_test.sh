#!/usr/bin/env bash
# bench_run_test.sh MPIRUN RANKS TUTTI_BENCH BENCH_SCHEMA MODE - a short run with all that it can write, then a look at the files.
set -eu
mpirun=$1 ranks=$2 bench=$3 schema=$4 mode=$5
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Up to 1 KiB: above 2 KiB MPICH 4.0 crashes in its own MPI_Reduce in place where the root is not rank 0.
"$launch" "$mpirun" "$ranks" "$bench" --collective all --min 64 --max 1K --factor 4 --check --iters 3 --rounds 3 --mode "$mode" \
  --compare mpi --root $((ranks - 1)) --json "$folder/results.json" --csv "$folder/results.csv" >"$folder/stdout" 2>"$folder/stderr" ||
  { echo "tutti-bench ended with $?" >&2 && cat "$folder/stdout" "$folder/stderr" >&2 && exit 1; }
cat "$folder/stdout" "$folder/stderr"
"$schema" "$folder/results.json" "$folder/results.csv" "$ranks" "$mode"
grep -q "^# MPI: .*[0-9]" "$folder/stdout"
grep -q "^# MPI's settings: ." "$folder/stdout"
if grep -q $'\033' "$folder/stderr"; then
  echo "progress was written into a pipe" >&2
  exit 1
fi
[ "$(find "$folder" -name '*.partial' | wc -l)" = 0 ]
grep -q '^# wrong elements in all: 0$' "$folder/stdout"
# Every algorithm of every collective, on sizes that no number of ranks divides.
"$launch" "$mpirun" "$ranks" "$bench" --collective all --algorithm each --min 1000 --max 1000 --check --iters 1 --rounds 1 \
  --warmup 0 --type int16 --op max --mode "$mode" | grep '^# wrong elements in all: 0$'
# Inputs that are rewritten, calls whose number adapts.
"$launch" "$mpirun" "$ranks" "$bench" --collective allreduce,gather --min 64K --max 64K --touch --rounds 2 --warmup 1 --check \
  --transport mpi --mode "$mode"
# Several algorithms: the best of each size. What Tutti chooses is one of "each", with its parameter and segment.
"$launch" "$mpirun" "$ranks" "$bench" --algorithm each --sizes 8,256K --iters 1 --rounds 1 --warmup 0 --placement out --mode "$mode" \
  --json "$folder/each.json" >"$folder/stdout"
grep -q '^# The best at each size' "$folder/stdout"
python3 - "$folder/each.json" "$ranks" <<'PYTHON'
import json
import sys

file, ranks = json.load(open(sys.argv[1])), int(sys.argv[2])
for size in (8, 262144):
    results = [r for r in file["results"] if r["bytes"] == size]
    assert sum(r["chosen"] for r in results) == 1, [r["algorithm"] for r in results]
    assert len({r["algorithm"] for r in results}) == len(results) > 10
    best = [b for b in file["best"] if b["bytes"] == size]
    assert len(best) == 1 and best[0]["chosen"]["algorithm"] == next(r["algorithm"] for r in results if r["chosen"])
    assert best[0]["lead"]["resolved"] is False and "few_rounds" in best[0]["lead"]["doubts"], best
PYTHON
# Lists of buffers, some of them packed, beside the ordinary calls on each buffer.
"$launch" "$mpirun" "$ranks" "$bench" --collective broadcast,allreduce,reduce_scatter,allgather --list 99 --sizes 64,40K --check \
  --iters 2 --rounds 5 --warmup 0 --mode "$mode" --compare calls --json "$folder/lists.json" >"$folder/stdout"
grep -q '^# allreduce of lists of 99 buffers of the size, of fp32, sum$' "$folder/stdout"
grep -q '^# wrong elements in all: 0$' "$folder/stdout"
python3 - "$folder/lists.json" <<'PYTHON'
import json
import sys

results = json.load(open(sys.argv[1]))["results"]
assert len(results) == 2 * 7 and {r["list"] for r in results} == {99}
for r in results:
    assert r["peer"]["name"] == "Tutti's ordinary calls" and r["peer"]["mode"] == r["mode"], r["peer"]
    assert abs(r["algbw_GBps"] - 99e-3 * r["bytes"] / r["time_us"]["median"]) < 1e-9 * r["algbw_GBps"] + 1e-12
PYTHON
"$launch" "$mpirun" "$ranks" "$bench" --collective allreduce,allgather --list 99 --sizes 64 --placement in --check \
  --iters 1 --rounds 1 --mode "$mode" | grep '^# wrong elements in all: 0$'
# Fewer ranks than there are, and all: in one table. The others sleep.
list=$(seq -s, 1 "$ranks")
"$launch" "$mpirun" "$ranks" "$bench" --ranks "$list" --collective allreduce,gather,sendrecv --sizes 64 --iters 2 --rounds 5 \
  --warmup 0 --check --compare mpi --mode "$mode" --json "$folder/ranks.json" >"$folder/stdout"
grep -q ", on $ranks ranks\$" "$folder/stdout"
python3 -c "import json
results = json.load(open('$folder/ranks.json'))['results']
assert [r['ranks'] for r in results if r['collective'] == 'sendrecv'] == [$list], results
assert all(r['wrong'] == 0 and r['peer']['ratio'] > 0 for r in results)"
# Overlap with computation, of Tutti's calls and the MPI's.
[ "$mode" = blocking ] || "$launch" "$mpirun" "$ranks" "$bench" --overlap --collective allreduce,barrier,gather,sendrecv --sizes 4K \
  --iters 2 --rounds 5 --warmup 0 --compare mpi --mode "$mode" --json "$folder/overlap.json" | grep -q '^# overlap: 100 \* (1 - '
[ "$mode" = blocking ] || python3 -c "import json
for r in json.load(open('$folder/overlap.json'))['results']:
    for side in (r, r['peer']):
        its = side['overlap']
        assert 0 <= its['percent'] <= 100 and its['resolved'] == (not its['doubts']), its
        assert its['pure_us'] == side['time_us'] and its['total_us']['median'] > 0, its"
# Every pair of ranks.
"$launch" "$mpirun" "$ranks" "$bench" --pairs --rounds 2 --warmup 0 --min 8 --max 8K --json "$folder/pairs.json"
python3 -c "import json
pairs = json.load(open('$folder/pairs.json'))['pairs']
for figure in pairs['figures'].values():
    for a, row in enumerate(figure['median']):
        assert len(row) == $ranks and all((value is None) == (a == b) and (a == b or value > 0) for b, value in enumerate(row)), row"
# Rates for tutti simulate.
code=0
"$launch" "$mpirun" "$ranks" "$bench" --fit "$folder/rates.json" --rounds 2 --warmup 0 --min 8 --max 8K 2>"$folder/stderr" || code=$?
[ "$ranks" = 1 ] || grep -q 'not resolved: 2 rounds; needed: 5' "$folder/stderr"
[ "$ranks" != 1 ] || { [ $code != 0 ] && [ ! -e "$folder/rates.json" ] && grep -q 'one rank has no messages' "$folder/stderr"; }
[ "$ranks" = 1 ] || python3 -c "import json
rates = json.load(open('$folder/rates.json'))
assert rates['tutti_rates'] == 1 and rates['made']['hosts'] and rates['made']['resolved'] is False, rates
assert all(rates[name]['latency'] > 0 for name in ('socket', 'node', 'link') if name in rates), rates
assert all(rates[name] > 0 for name in ('overhead', 'reduced', 'copied')), rates
assert any(name in rates and rates[name]['bandwidth'] > 0 for name in ('socket', 'link')), rates"
