#!/usr/bin/env bash
# gpu_check_test.sh SOURCE BUILD MPIRUN FAKE_CUDA - the kit for a machine with a GPU, packed, unpacked and run over the fake
# driver, which is in the folder FAKE_CUDA: its last line, its page, steps that fail, hang or find no time; and what it says
# without a driver.
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

# ---- packed, unpacked and run by the command that is printed ----------------------------------------------------

XZ_OPT=-0 expect 0 '^kit\.tar\.xz: [0-9.]+M, ' "$source/scripts/gpu_pack.sh" "$build" kit.tar.xz
command=$(tail -n 1 "$folder/stdout")
[ ${#command} -le 2000 ] || fail "the command has ${#command} characters"
grep -qF "    ${command//kit.tar.xz/gpu-kit.tar.xz}" "$source/docs/gpu.md" || fail "docs/gpu.md has another command than: $command"

# Two devices, so that there is a rank on each as well; in its shortest form.
export LD_LIBRARY_PATH=$fake:$libraries FAKE_CUDA_DEVICES=2 FAKE_CUDA_ABORT=1
expect 0 '^passed  device_buffers_test.p2 ' env OUT="$folder/results" bash -c "${command/--out/--quick --out}"
last_line '^[0-9]+ passed, 0 failed, [0-9]+ skipped$'
line '^passed  probe.ipc_peer ' 'two devices'
line '^passed  probe.waiting_streams ' 'streams that wait'
line '^passed  conformance.Shareable.' 'conformance, with another process'
line '^passed  bench.staged.spread.p2.allreduce ' 'a device each'
[ "$(ls results)" = "$(printf '%s\n' gpu-check.txt gpu-machine.md logs.tar.gz results.json)" ] || fail "files in \$OUT: $(ls results)"
tar tzf results/logs.tar.gz >files.txt
grep -q 'logs/info.log$' files.txt || fail "no logs in logs.tar.gz"
kit=$folder/kit/gpu-kit check=$folder/kit/gpu-kit/scripts/gpu_check.sh
for library in libudev.so.1 libz.so.1; do
  ! ldd "$build/tests/device_suites" | grep -q "$library" || [ -e "$kit/build/lib/$library" ] || fail "$library is not packed"
done
python3 - "$folder/results" "$source" <<'PYTHON' || fail 'results.json or gpu-machine.md'
import json
import re
import sys

results = json.load(open(sys.argv[1] + "/results.json"))
assert set(results) == {"facts", "parts", "steps", "probe", "collectives", "tuned", "decisions"}, results.keys()
assert "fake" in results["facts"]["driver"] and results["facts"]["command"].endswith("kit/out"), results["facts"]
assert all(step["state"] in ("passed", "skipped") for step in results["steps"])
assert all(step["why"] for step in results["steps"] if step["state"] == "skipped"), results["steps"]
assert {step["part"] for step in results["steps"]} == {part["name"] for part in results["parts"]}, results["parts"]
rates = {figure["name"]: figure["value"] for question in results["probe"] for figure in question["figures"]
         if "value" in figure}  # the last is that of most bytes
cases = {(case["collective"], case["place"]): case for case in results["collectives"] if case["ranks"] == 2}
factors = {"allreduce": (4, 1), "broadcast": (2, 1), "allgather": (4, 0.5), "alltoall": (4, 0.5),
           "reduce_scatter": (3, 0.5)}
assert set(cases) == {(name, place) for name in factors for place in ("shared", "spread")}, cases.keys()
for (name, place), case in cases.items():
    factor, rate = factors[name][place == "spread"], rates["copy_on_device" if place == "shared" else "ipc_peer_copy"]
    [each] = case["results"]
    assert each["bytes"] == 4096 and set(each["time_us"]) >= {"direct"}, case
    assert abs(each["limit_us"] - factor * 4096 / rate / 1e3) < 1e-6, (case, rates)
    assert abs(each["share"] - each["limit_us"] / each["time_us"]["direct"]) < 1e-9, case
    ways = {"direct", "staged", "staged_host", "staged_device", "stream"}
    assert name != "allreduce" or set(each["time_us"]) >= ways, case
assert rates["reduction"] > 0 and "share_of_copy" in str(results["probe"])
hops = [figure["processes"] for question in results["probe"] for figure in question["figures"]
        if figure["name"] == "flag_hop_between_streams"]
assert hops == [2, 4, 8], hops

# Each constant stands where the page says, and has a figure beside it.
text = open(sys.argv[1] + "/gpu-machine.md").read()
rows = re.findall(r"^\| (\w+) \| `(.*)` \| ([\w./]+):(\d+) \| (.+) \|$", text, re.MULTILINE)
assert len(rows) == len(results["decisions"]) >= 10, rows
for constant, in_force, file, number, measured in rows:
    there = open(f"{sys.argv[2]}/{file}").read().splitlines()[int(number) - 1]
    assert re.search(rf"\b{constant}\b", there) and there.strip() == in_force, (constant, file, number, there)
    # Some take more ranks than the shortest form has.
    needs_more = constant in ("one_kernel", "copied_in_place")
    assert measured != "not measured" or needs_more, (constant, measured)
assert "\n### allreduce on 2 ranks, one device\n" in text and "\n| 4 KiB |" in text, text
PYTHON

# ---- steps that fail, hang, or find no time ---------------------------------------------------------------------

# With a driver that has no functions for tests, as NVIDIA's: what needs them is skipped. A step that fails is named, and
# the others go on.
mkdir real
sed 's/fake_cuda_\(calls\|counters\|fail\|faults\|timeline\)/none_cuda_\1/g' "$fake/libcuda.so.1" >real/libcuda.so.1
export FAKE_CUDA_DEVICES=1 LD_LIBRARY_PATH=$folder/real:$libraries
export GPU_CHECK_PARTS=$'quick probe 200 120\nquick tests 200 60'
expect 1 '^failed  probe.ipc .*cuIpcOpenMemHandle: CUDA_ERROR_OUT_OF_MEMORY' \
  env FAKE_CUDA_FAIL=cuIpcOpenMemHandle:1+:2 "$check" --quick --out "$folder/out"
last_line '^[0-9]+ passed, 2 failed, [0-9]+ skipped$'
line '^failed  probe.small_buffers ' 'the other question that opens memory'
line '^skipped probe.ipc_peer .*there is only one device$' 'one device'
line '^skipped device_counts_test.p1 .*only the fake driver counts$' 'no functions for tests'
line '^passed  device_buffers_test.p1 ' 'the steps behind it'

# Tests that hang are named, and those for which no time is left have failed, too. So have the parts behind them.
export LD_LIBRARY_PATH=$fake:$libraries
cp -r "$kit/build/gpu_tests.txt" all_tests.txt
printf '#!/bin/sh\nexec sleep 1000\n' >"$kit/build/hang" && chmod +x "$kit/build/hang"
printf '%s|hang|0||\n' cuda_driver_test device_buffers_test.p1 device_counts_test.p1 >"$kit/build/gpu_tests.txt"
export GPU_CHECK_PARTS=$'quick tests 5 3\nquick conformance 0 3\nquick probe 0 3\nquick speed 0 3'
expect 1 '^failed  cuda_driver_test .*no end within 3 s$' "$check" --quick --out "$folder/out"
line '^failed  device_buffers_test.p1 .*no time was left$' 'stopped, as no time is left'
line '^failed  device_counts_test.p1 .*no time was left$' 'not begun, as no time is left'
line '^failed  conformance.Identity.ContextsHaveIds .*no time was left$' 'conformance without time'
line '^failed  probe .*no time was left$' 'the probe without time'
line '^failed  bench.direct.shared.p2.allreduce .*no time was left$' 'a benchmark without time'
last_line '^1 passed, [0-9]+ failed, 0 skipped$'
grep -q '^| quick: tests | 0 | 3 | 0 |' out/gpu-machine.md || fail "no failed tests in gpu-machine.md"

# Nor does the kit pass if there is nothing to run, or a program that runs no test.
printf '#!/bin/sh\necho "[  PASSED  ] 0 tests."\n' >"$kit/build/none" && chmod +x "$kit/build/none"
echo 'cuda_driver_test|none|0||' >"$kit/build/gpu_tests.txt"
GPU_CHECK_PARTS='quick tests 30 20' expect 1 '^failed  cuda_driver_test .*no test was run$' "$check" --quick --out "$folder/out"
: >"$kit/build/gpu_tests.txt"
GPU_CHECK_PARTS='quick tests 5 3' expect 1 '^failed  tests .*nothing was run$' "$check" --quick --out "$folder/out"

# A process of conformance tests that ends or hangs in a test costs this test alone.
mv "$kit/build/tests/fake_cuda_conformance_test" real
cat >"$kit/build/tests/fake_cuda_conformance_test" <<'PROGRAM'
#!/bin/bash
tests=(Identity.Passes Identity.Ends Identity.Hangs Identity.Fails Identity.IsSkipped Identity.ComesLast)
[ "$1" != --gtest_list_tests ] || { echo "Running main() from main.cpp" && echo Identity. && printf '  %s\n' "${tests[@]#*.}" && exit; }
IFS=: read -ra tests <<<"${1#--gtest_filter=}"
for test in "${tests[@]}"; do
  echo "[ RUN      ] $test"
  case $test in
    *Ends) echo "out of memory" && exit 3 ;;
    *Hangs) exec sleep 1000 ;;
    *Fails) printf 'file.cpp:1: Failure\nExpected: 1\n\n[  FAILED  ] %s (1 ms)\n' "$test" ;;
    *Skipped) printf 'file.cpp:1: Skipped\nthere is one device\n\n[  SKIPPED ] %s (0 ms)\n' "$test" ;;
    *) echo "[       OK ] $test (12 ms)" ;;
  esac
done
printf '[  FAILED  ] Identity.Fails\n'
PROGRAM
chmod +x "$kit/build/tests/fake_cuda_conformance_test"
GPU_CHECK_PARTS='quick conformance 120 8' expect 1 '^failed  conformance.Identity.Ends .*exit code 3: out of memory$' \
  "$check" --quick --out "$folder/out"
line '^passed  conformance.Identity.Passes ' 'a test that passes'
line '^failed  conformance.Identity.Hangs .*no end within 8 s$' 'a test that hangs'
line '^failed  conformance.Identity.Fails .*file.cpp:1: Failure Expected: 1' 'a test that fails'
line '^skipped conformance.Identity.IsSkipped .*  there is one device' 'a test that is skipped'
line '^passed  conformance.Identity.ComesLast ' 'a test behind those'
last_line '^3 passed, 3 failed, 1 skipped$'
mv real/fake_cuda_conformance_test "$kit/build/tests"

# ---- the steps that matter most ---------------------------------------------------------------------------------

# With two tests, and a driver that starts late.
grep -E '^(cuda_driver_test|device_counts_test.p1)\|' all_tests.txt >"$kit/build/gpu_tests.txt"
export GPU_CHECK_PARTS=$'first tests 120 60\nfirst probe 120 90\nfirst speed 300 60\nrest tests 120 60'
expect 0 '^passed  cuda_driver_test ' env FAKE_CUDA_START_MS=300 "$check" --first --out "$folder/out"
last_line '^[0-9]+ passed, 0 failed, [0-9]+ skipped$'
line '^passed  probe.small_buffers ' 'what --first asks'
line '^passed  bench.stream.shared.p4.allreduce ' 'what --first measures'
! grep -qE 'device_counts_test|probe.graphs' stdout || fail "--first runs the rest, too"
expect 0 '^first: .*' env GPU_CHECK_PARTS=$'first tests 120 60\nrest tests 120 60' bash -c "'$check' --out out && cut -f 1,2 out/steps.txt"
line '^rest: tests.device_counts_test.p1$' 'the rest'

# ---- refusals ---------------------------------------------------------------------------------------------------

unset GPU_CHECK_PARTS
expect 1 '^failed  driver .*CUDA_ERROR_NO_DEVICE$' env FAKE_CUDA_DEVICES=0 "$check" --quick --out "$folder/out"
last_line '^0 passed, 1 failed, 0 skipped$'
export -n LD_LIBRARY_PATH

# Ranks may run wherever this process may.
cores=$(grep Cpus_allowed_list /proc/self/status)
expect 0 '' "$source/scripts/mpirun.sh" --unbound "$MPIRUN" 2 grep Cpus_allowed_list /proc/self/status
[ "$(grep -cF "$cores" stdout)" = 2 ] || fail 'mpirun.sh --unbound'

# NCCL may be there, but not on this driver.
expect 77 '^SKIP: no NCCL: ' env LD_LIBRARY_PATH="$fake:$libraries" "$build/tests/nccl_bench"
expect 2 "^gpu_check: unknown option --quik" "$check" --quik
expect 2 '^gpu_check: no gpu_tests.txt in ' "$check" --build "$folder"
expect 2 '^gpu_check: no env.sh in ' "$check" --stack "$folder"
expect 2 '^gpu_check: .* is not empty, and has no results' "$check" --out "$kit"
expect 2 '^gpu_pack: .* is there already' "$source/scripts/gpu_pack.sh" "$build" kit.tar.xz
expect 2 '^gpu_pack: .*: name a .tar.xz' "$source/scripts/gpu_pack.sh" "$build" kit.zip
expect 2 '^build_gpu_stack: missing: .*--cuda DIR' "$source/scripts/build_gpu_stack.sh" --cuda "$folder" "$folder/stack"
expect 2 "^build_gpu_stack: --jobs '0'; allowed" "$source/scripts/build_gpu_stack.sh" --jobs 0 "$folder/stack"

export LD_LIBRARY_PATH=$libraries
if ! /sbin/ldconfig -p | grep -q libcuda.so.1; then
  expect 1 '^failed  driver .*libcuda.so.1 was not found$' "$check" --quick --out "$folder/out"
  last_line '^0 passed, 1 failed, 0 skipped$'
  expect 2 '^gpu_probe: libcuda.so.1 was not found$' "$kit/build/tests/gpu_probe"
fi
[ $failures -eq 0 ] && echo passed
exit $((failures > 0))
