#!/usr/bin/env bash
# bench_cli_test.sh MPIRUN TUTTI_BENCH - input that cannot be used: every rank exits with 2 and rank 0 alone says why.
set -u
mpirun=$1 bench=$2
ranks=2
launch=$(dirname "$0")/../../scripts/mpirun.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: tutti-bench $*" >&2
  cat "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}

# expect CODE PATTERN OPTIONS...: all ranks exit with CODE; a line that matches PATTERN comes once.
expect() {
  local code=$1 pattern=$2
  shift 2
  "$launch" "$mpirun" $ranks sh -c '"$@"; echo "exit code $?"' sh "$bench" "$@" >"$folder/stdout" 2>"$folder/stderr"
  [ "$(grep -c "^exit code $code" "$folder/stdout")" = $ranks ] || fail "$* (exit code $code expected)"
  [ "$(cat "$folder/stdout" "$folder/stderr" | grep -c -e "$pattern")" = 1 ] || fail "$* ('$pattern' expected once)"
}

expect 0 '^Usage: tutti-bench' --help
expect 0 '^tutti-bench (Tutti' --version
expect 2 "unrecognised option '--no-such-option'" --no-such-option
expect 2 "'bring' is none of: auto, each, .*ring" --algorithm bring
expect 2 "for barrier, 'ring' is none of" --algorithm ring --collective allreduce,barrier
expect 2 "sendrecv has none: 'ring'" --algorithm ring --collective sendrecv
expect 2 "'x' is no segment size" --algorithm ring/x
expect 2 "'bring' is none of: auto, each, .*ring" --algorithm auto,ring,bring
expect 2 '--algorithm' --algorithm auto,,ring
expect 2 '--sizes: not with --min, --max or --factor' --sizes 8,64K --max 1M
expect 2 '--sizes: not with --min, --max or --factor' --sizes 8,64K --factor 4
expect 2 '--sizes: 2 is smaller than one fp32 of 4 bytes' --sizes 2,8
expect 2 "--sizes.*'12Q' is not a size" --sizes 8,12Q
expect 2 '--sizes.*at least 1' --sizes 0
expect 2 '--ranks 3: the job has 2 ranks; allowed: 1 to 2' --ranks 2,3
expect 2 "--ranks.*'0'" --ranks 0
expect 2 '--ranks: 2 comes twice' --ranks 2,1,2
expect 2 '--root 1 is not a rank: there are 1' --ranks 1,2 --root 1
expect 2 "$folder/none.json: No such file" --rules "$folder/none.json"
expect 2 'rules: not with\|--calls mpi measures' --calls mpi --compare default
expect 2 '--overlap measures calls beside computation: not with --touch' --overlap --touch
expect 2 '--overlap measures calls beside computation: not with --mode stream' --overlap --mode stream --memory device
expect 2 '--list: scan takes no list; allowed: broadcast, allreduce, reduce_scatter, allgather' --list 3 --collective scan
expect 2 '--list: allgatherv takes no list' --list 3 --collective allgather,allgatherv
expect 2 '--list measures calls of lists: not with --calls mpi' --list 3 --calls mpi
expect 2 '--compare calls: only with --list' --compare calls
expect 2 '--pairs measures messages between two ranks: not with --list' --pairs --list 3
expect 2 '--pairs measures messages between two ranks: not with --collective' --pairs --collective scan
expect 2 '--fit measures messages between two ranks: not with --collective' --fit "$folder/rates" --collective scan
expect 2 '--pairs measures messages between two ranks: not with --csv' --pairs --csv "$folder/csv"
expect 2 'do not fit into the host memory' --min 1024T --max 1024T --ranks 1
expect 2 'band is not defined for --type fp32, only for: int8' --op band --type fp32
expect 2 '--type.*none of.*bf16' --type float
expect 2 '--op.*none of.*scaled_sum' --op plus
expect 2 '--min 2048 is larger than --max 1024' --min 2K --max 1K
expect 2 '--factor' --factor 1
expect 2 '--root 2 is not a rank' --root 2
expect 2 '--root' --root -1
expect 2 "'12Q' is not a size" --max 12Q
expect 2 "'x' is not a size" --min x
expect 2 "'-8' is not a size" --min -8
expect 2 'at least 1' --min 0
expect 2 '--max 8 is smaller than one complex_fp64' --max 8 --type complex_fp64
expect 2 '--iters' --iters 0
expect 2 '--rounds' --rounds 1.5
expect 2 '--mode' --mode eager
expect 2 '--transport' --transport pigeon
expect 2 "--memory: 'stone' is none of: host, tutti, pinned, managed, device" --memory stone



expect 2 "--mode stream puts calls into a stream of the device: --memory is 'host', allowed: device" --mode stream
expect 2 "--mode stream .*: --memory is 'pinned', allowed: device" --mode stream --memory pinned
expect 2 '--mode stream: sendrecv takes no stream' --mode stream --memory device --collective barrier,sendrecv
if ! ldconfig -p | grep -q libcuda.so.1; then # in builds with CUDA and without
  expect 2 '^tutti-bench: --memory managed: .*\(libcuda.so.1 was not found\|built without CUDA\)' --memory managed
fi
expect 2 "--collective.*'all_reduce' is none of: all, barrier, .*sendrecv" --collective scan,all_reduce
expect 2 'avg is not defined for exscan' --collective exscan --op avg
expect 2 'MPI has no sum of bf16' --compare mpi --type bf16
expect 2 'MPI has no max of fp8_e4m3' --compare mpi --op max --type fp8_e4m3
expect 2 'MPI has no avg of fp32' --compare mpi --op avg
expect 2 'do not fit into the host memory' --min 1024T --max 1024T
expect 2 "cannot write '$folder/no/such/file'" --json "$folder/no/such/file"
expect 2 "cannot write '$folder'" --csv "$folder"
expect 2 "'allredcue' is none of: .*(did you mean allreduce?)" --collective allredcue
expect 2 "'rign' is none of: .*(did you mean ring?)" --algorithm rign
expect 2 "'nonblokcing' is none of: .*(did you mean nonblocking" --mode nonblokcing

# one SHELL_COMMAND OPTIONS...: a rank alone runs the command, in which "$@" is the program with its options.
short=(--min 8 --max 8 --rounds 1 --warmup 0 --iters 1)
one() {
  local command=$1
  shift
  "$launch" "$mpirun" 1 sh -c "$command" sh "$bench" "$@" >"$folder/stdout" 2>"$folder/stderr"
}

# Output that does not arrive is an error, but measured results are kept.
for arguments in --help --version; do
  one '"$@" >/dev/full' $arguments && fail "$arguments >/dev/full: exit code 0"
  grep -q '^tutti-bench: cannot write to standard output: No space left' "$folder/stderr" || fail "$arguments >/dev/full"
  one '"$@" >&-' $arguments && fail "$arguments >&-: exit code 0"
  grep -q '^tutti-bench: cannot write to standard output: Bad file desc' "$folder/stderr" || fail "$arguments >&-"
done
one '"$@" >/dev/full' "${short[@]}" --json "$folder/full.json" && fail '>/dev/full: exit code 0'
grep -q '"median"' "$folder/full.json" || fail '--json with >/dev/full: the results are lost'
one '"$@" >&-' "${short[@]}" --csv "$folder/closed.csv" && fail '>&-: exit code 0'
head -n 1 "$folder/closed.csv" | grep -q '^collective,' || fail '--csv with >&-: the file got what is for stdout'

# Names of files need not be UTF-8, JSON has to be.
bytes=$(printf 'caf\351.json')
one '"$@"' "${short[@]}" --json "$folder/$bytes" || fail '--json with a name in Latin 1'
python3 -c "import json; json.load(open(b'$folder/caf\xe9.json', encoding='utf-8'))" || fail '--json with a name in Latin 1'
rm -f "$folder/$bytes"
# One file that cannot be written does not cost the other.
one '"$@"' "${short[@]}" --json /dev/full --csv "$folder/kept.csv" && fail '--json /dev/full: exit code 0'
grep -q '^allreduce,' "$folder/kept.csv" || fail '--json /dev/full: --csv is lost'

# An interrupted measurement leaves no files.
mkdir "$folder/interrupted"
"$launch" "$mpirun" $ranks "$bench" --min 8 --max 8K --rounds 100000 --json "$folder/interrupted/a" \
  --csv "$folder/interrupted/b" >"$folder/stdout" 2>"$folder/stderr" &
for _ in $(seq 600); do
  grep -q '^# allreduce' "$folder/stdout" && break
  sleep 0.1
done
grep -q '^# allreduce' "$folder/stdout" || fail 'to be interrupted: it does not begin'
kill -TERM $!
wait $!
[ -z "$(ls "$folder/interrupted")" ] || fail "interrupted: it leaves $(ls "$folder/interrupted")"
exit $((failures > 0))
