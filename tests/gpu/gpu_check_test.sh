#!/usr/bin/env bash
# gpu_check_test.sh SOURCE BUILD MPIRUN FAKE_CUDA - the kit for a machine with a GPU, packed and run over the fake driver, which
# is in the folder FAKE_CUDA: its last line, its results, a step that fails; and what it says without a driver.
set -u
source=$1 build=$2 fake=$4
export MPIRUN=$3
[ -x "$build/tests/gpu_probe" ] || { echo "SKIP: the target gpu_kit is not built" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
cd "$folder" || exit 1
libraries=${LD_LIBRARY_PATH:-}

fail() {
  echo "FAILED: $*" >&2
  tail -n 60 "$folder/stdout" "$folder/stderr" >&2
  failures=$((failures + 1))
}
# expect CODE PATTERN COMMAND...: ends with CODE, and a line of what it writes matches PATTERN.
expect() {
  local code=$1 pattern=$2 got=0
  shift 2
  "$@" >"$folder/stdout" 2>"$folder/stderr" || got=$?
  [ $got = "$code" ] || fail "$* (exit code $code expected, not $got)"
  grep -qE -e "$pattern" "$folder/stdout" "$folder/stderr" || fail "$* ('$pattern' expected)"
}
line() { grep -qE -e "$1" "$folder/stdout" || fail "$2 ('$1' expected)"; }
last_line() { tail -n 1 "$folder/stdout" | grep -qE "$1" || fail "the last line is not '$1'"; }

expect 0 'M' "$source/scripts/gpu_pack.sh" "$build" "$folder/pack"
check=$folder/pack/scripts/gpu_check.sh

# Two devices, so that there is a rank on each as well.
export LD_LIBRARY_PATH=$fake:$libraries FAKE_CUDA_DEVICES=2 FAKE_CUDA_ABORT=1
expect 0 '^passed  device_buffers_test.p2 ' "$check" --quick --out "$folder/out"
last_line '^[0-9]+ passed, 0 failed, [0-9]+ skipped$'
line '^passed  probe.ipc_peer ' 'two devices'
line '^passed  conformance.Identity.ContextsHaveIds ' 'conformance'
line '^passed  bench.staged.spread.p2.others ' 'a device each'
python3 - "$folder/out" <<'PYTHON' || fail 'results.json'
import json
import sys

results = json.load(open(sys.argv[1] + "/results.json"))
assert set(results) == {"facts", "steps", "probe", "collectives"}, results.keys()
assert "fake" in results["facts"]["driver"] and results["facts"]["command"].endswith(sys.argv[1]), results["facts"]
assert all(step["state"] in ("passed", "skipped") for step in results["steps"])
assert all(step["why"] for step in results["steps"] if step["state"] == "skipped"), results["steps"]
rates = {figure["name"]: figure["value"] for question in results["probe"] for figure in question["figures"]
         if "value" in figure}  # the last is that of most bytes
cases = {(case["collective"], case["place"]): case for case in results["collectives"] if case["ranks"] == 2}
factors = {"allreduce": (4, 1), "broadcast": (2, 1), "allgather": (4, 0.5), "alltoall": (4, 0.5),
           "reduce_scatter": (3, 0.5)}
assert set(cases) == {(name, place) for name in factors for place in ("shared", "spread")}, cases.keys()
for (name, place), case in cases.items():
    factor, rate = factors[name][place == "spread"], rates["copy_on_device" if place == "shared" else "ipc_peer_copy"]
    [each] = case["results"]
    assert each["bytes"] == 4096 and set(each["time_us"]) >= {"direct", "staged"}, case
    assert abs(each["limit_us"] - factor * 4096 / rate / 1e3) < 1e-6, (case, rates)
    assert abs(each["share"] - each["limit_us"] / each["time_us"]["direct"]) < 1e-9, case
assert rates["reduction"] > 0 and "share_of_copy" in str(results["probe"])
text = open(sys.argv[1] + "/results.md").read()
assert "\n### allreduce on 2 ranks, one device\n" in text and "\n| 4 KiB |" in text, text
PYTHON

# A step that fails is named, and the others go on. With a driver that has no functions for tests, as NVIDIA's: what needs
# them is skipped.
mkdir real
sed 's/fake_cuda_\(calls\|counters\|fail\|faults\|timeline\)/none_cuda_\1/g' "$fake/libcuda.so.1" >real/libcuda.so.1
export FAKE_CUDA_DEVICES=1 LD_LIBRARY_PATH=$folder/real:$libraries
expect 1 '^failed  probe.ipc .*cuIpcOpenMemHandle: CUDA_ERROR_OUT_OF_MEMORY' \
  env FAKE_CUDA_FAIL=cuIpcOpenMemHandle:1+:2 "$check" --quick --out "$folder/out"
last_line '^[0-9]+ passed, 1 failed, [0-9]+ skipped$'
line '^skipped probe.ipc_peer .*there is only one device$' 'one device'
line '^skipped device_counts_test.p1 .*only the fake driver counts$' 'no functions for tests'
line '^passed  bench.direct.shared.p2.allreduce ' 'the steps behind it'

# Nothing can be done without a device.
expect 1 '^failed  probe .*CUDA_ERROR_NO_DEVICE$' env FAKE_CUDA_DEVICES=0 "$check" --quick --out "$folder/out"
last_line ' 1 failed, '

# NCCL may be there, but not on this driver.
expect 77 '^SKIP: no NCCL: ' "$build/tests/nccl_bench"
expect 2 "^gpu_check: unknown option --quik" "$check" --quik
expect 2 '^gpu_check: no gpu_tests.txt in ' "$check" --build "$folder"
expect 2 '^gpu_check: no env.sh in ' "$check" --stack "$folder"
expect 2 '^gpu_check: .* is not empty, and has no results' "$check" --out "$folder/pack"
expect 2 '^gpu_pack: .* is there already' "$source/scripts/gpu_pack.sh" "$build" "$folder/pack"
expect 2 '^build_gpu_stack: missing: .*--cuda DIR' "$source/scripts/build_gpu_stack.sh" --cuda "$folder" "$folder/stack"
expect 2 "^build_gpu_stack: --jobs '0'; allowed" "$source/scripts/build_gpu_stack.sh" --jobs 0 "$folder/stack"

export LD_LIBRARY_PATH=$libraries
if ! /sbin/ldconfig -p | grep -q libcuda.so.1; then
  expect 1 '^gpu_check: there is no CUDA driver: libcuda.so.1 was not found$' "$check" --quick --out "$folder/out"
  last_line '^0 passed, 1 failed, 0 skipped$'
  expect 2 '^gpu_probe: libcuda.so.1 was not found$' "$folder/pack/build/tests/gpu_probe"
fi
[ $failures -eq 0 ] && echo passed
exit $((failures > 0))
