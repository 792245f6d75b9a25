#!/usr/bin/env bash
# test.sh [--full | --quick | STAGE...] [--no-install] - installs what is missing, builds in every way, runs all tests.
#   --full        also the slow tests, the fuzzers, more ranks, every test with every MPI and compiler, and clang-tidy over the tests
#   --quick       only the release build and its tests, the same as: release
#   STAGE         only these: release mpich abi lab address threads clang fuzz schedule_only lint (which needs clang's)
#   --no-install  uses what is there
# The last line is "N passed, N failed, N skipped"; exit code 1 if anything failed. Logs and JUnit files: build/test/results
set -eu
cd "$(dirname "$0")/.."
source scripts/common.sh

full= only= install=1
for option in "$@"; do
  case $option in
    --full) full=1 ;;
    --quick) only=" release " ;;
    release | mpich | abi | lab | address | threads | clang | fuzz | schedule_only | lint) only="$only $option " ;;
    --no-install) install= ;;
    --help | -h) sed -n '2,7s/^# \?//p' "$0" && exit 0 ;;
    *) echo "test.sh: unknown option $option" >&2 && sed -n '2,7s/^# \?//p' "$0" >&2 && exit 2 ;;
  esac
done

mkdir -p "${TUTTI_BUILD:-build}/test"
out=$(realpath "${TUTTI_BUILD:-build}")/test
results=$out/results
rm -rf "$results"
mkdir "$results"

# Tests run side by side: ranks bound to cores would share the first ones.
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=suppressions=$PWD/scripts/tsan.supp:ignore_noninstrumented_modules=1
export GTEST_COLOR=no
export CCACHE_BASEDIR=$PWD CCACHE_DEPEND=1 # the latter: a miss costs nothing

say() { printf '%s\n' "$*"; }
xml_text() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g' | tr -cd '\t\n\r -~'; }

# record RESULT TEST [WHY]: a JUnit file for a check that CTest does not run. RESULT: passed, failed or skipped.
record() {
  local element=
  case $1 in
    failed) element="<failure message=\"see $log\"/>" ;;
    skipped) element="<skipped message=\"$(xml_text <<<"$3")\"/>" ;;
  esac
  cat >"$results/$stage.$2.xml" <<XML
<testsuite name="$stage" tests="1"><testcase name="$2" status="run">$element<system-out>$(
    [ "$1" != failed ] || tail -n 60 "$log" | xml_text
  )</system-out></testcase></testsuite>
XML
  say "   $2: $1${3:+ ($3)}, $((SECONDS - since)) s"
  since=$SECONDS
}

# step NAME COMMAND...: one check, whose output goes to the log; counted as a test. Exit code 77: skipped, it says why.
step() {
  local name=$1 code=0
  shift
  "$@" >>"$log" 2>&1 || code=$?
  case $code in
    0) record passed "$name" ;;
    77) record skipped "$name" "$(sed -n 's/^SKIP: //p' "$log" | tail -n 1)" ;;
    *) record failed "$name" && return 1 ;;
  esac
}

# tests FOLDER OPTIONS...: CTest, several tests at once.
tests() {
  local folder=$1 code=0
  shift
  [ -n "$full" ] || set -- -LE full "$@"
  ctest --test-dir "$folder" -j "$cores" --no-tests=error --output-on-failure --output-junit "$results/$stage.xml" "$@" \
    >>"$log" 2>&1 || code=$?
  if [ -e "$results/$stage.xml" ]; then
    sed -i "0,/name=\"[^\"]*\"/s//name=\"$stage\"/" "$results/$stage.xml"
    say "   tests: $(python3 scripts/junit_totals.py --one-line "$results/$stage.xml"), $((SECONDS - since)) s" || :
  elif [ "$code" -ne 0 ]; then
    record failed tests
  fi
}

# own_tests FOLDER OPTIONS...: the tests that a stage is for, as CTest selects them; with --full all.
own_tests() {
  [ -z "$full" ] || set -- "$1"
  tests "$@"
}

# build FOLDER TARGETS OPTIONS...: a build without warnings is a test of its own.
build() { step build configure_and_build "$@"; }
configure_and_build() {
  local folder=$1 targets=$2
  shift 2
  # Much is compiled alike in several stages.
  ! command -v ccache >/dev/null || set -- "$@" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  configure "$folder" -DTUTTI_WERROR=ON "$@" && cmake --build "$folder" --target $targets
}

# ---- the stages -------------------------------------------------------------------------------------------------

build_release() {
  local ucx=
  [ ! -d "$out/ucx/libucx" ] || ucx=-DTUTTI_CUDA_UCX_DIR=$out/ucx/libucx
  build "$out/release" "$*" -DCMAKE_BUILD_TYPE=Release $(mpi_options openmpi) $ucx
}

release() { # everything with Open MPI, as demo.sh builds it
  build_release all && tests "$out/release"
}

# What uses MPI, on the shared library, and what is installed. MPICH's ranks do not yield: no more of them than a small
# machine has cores.
mpich() {
  build "$out/mpich" "${full:+all} mpi_tests tutti_product" -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release $(mpi_options mpich) \
    -DTUTTI_TEST_MAX_RANKS=$((full ? 4 : 2)) -DTUTTI_HWLOC=OFF || return
  step is_mpich sh -c "readlink -f '$(cached "$out/mpich" MPI_CXX_COMPILER)' | grep mpich" || return
  own_tests "$out/mpich" -L 'mpi|product'
}

abi() { # one build against the standard ABI of MPI, and its tests on two MPIs. MPICH's ranks do not yield
  local peer suites=(communicator_test collectives_test requests_test c_collectives_test c_errors_test)
  export TUTTI_PEERS=$out/peers
  PEERS="mpich intel" scripts/peers.sh setup >>"$log" 2>&1 ||
    { record skipped abi "there is no MPICH 5 and Intel MPI: scripts/peers.sh setup" && return; }
  build "$out/abi" "${suites[*]} tutti_mpi interpose_tests" -DCMAKE_BUILD_TYPE=Release -DTUTTI_UCX=OFF -DTUTTI_CUDA=OFF \
    -DTUTTI_FORTRAN=OFF -DTUTTI_TEST_MAX_RANKS=2 "-DMPI_CXX_COMPILER=$TUTTI_PEERS/mpich/bin/mpicxx_abi" \
    "-DMPIEXEC_EXECUTABLE=$PWD/scripts/peer_mpirun.sh" || return
  # MPICH's package checks few arguments. In Intel MPI, errors of programs of the ABI end the program, though its handler
  # returns.
  local but_mpich='^interpose_errors' but_intel='^interpose_(errors|truncation|reductions|requests_errors)'
  for peer in mpich intel; do
    local but=but_$peer
    stage=abi_on_$peer
    PEER=$peer tests "$out/abi" -R "^interpose_|^($(IFS='|' && echo "${suites[*]}"))\\." -E "${!but}"
  done
}

lab() { # what happens between nodes, and Slurm's jobs
  local why slurm=slurm transport job
  why=$(slurm/cluster.sh check 2>&1) || { record skipped lab "$why" && return; }
  why=$(slurm/cluster.sh check --slurm 2>&1) || { slurm= && record skipped slurm "$why"; }
  build_release tutti-bench tutti-sgd tutti_tool nodes_test communicator_test collectives_test allreduce_test batch_test \
    launch_check_test readme_program stuck_program || return
  export CLUSTER_FOLDER=${TMPDIR:-/tmp}/tutti-test-$$ MPIRUN=$(cached "$out/release" MPIEXEC_EXECUTABLE)
  trap 'slurm/cluster.sh down' EXIT
  step up slurm/cluster.sh up 4 --cores 2 ${slurm:+--slurm} || return
  for transport in auto ${full:+mpi}; do
    on_nodes "$transport" 2x2 2 --map 2,2
    on_nodes "$transport" uneven 3 --map 1,2,3
    on_nodes "$transport" in_turns 3 --map 1,2,3 --by node
  done
  MPI_MAY_END_RANKS=1 kills_on_nodes mpi 2,2,2,2
  case $(cached "$out/release" ucx_DIR) in
    '' | *-NOTFOUND) record skipped nodes_over_ucx "UCX was not found" ;;
    *)
      export UCX_TLS=tcp,self # to UCX the nodes are one, as they share the boot's identifier
      on_nodes shm+ucx 2x2 2 --map 2,2
      on_nodes ucx in_turns 3 --map 1,2,3 --by node
      TUTTI_TRANSPORT=shm+ucx kills_on_nodes ucx 1,1,1,1
      unset UCX_TLS
      devices_on_nodes
      ;;
  esac
  step info tests/apps/lab_info_test.sh "$out/release/apps/tutti/tutti" || :
  [ -z "$slurm" ] || for job in $(tests/apps/slurm_test.sh --list); do
    step "slurm_test.$job" timeout 600 tests/apps/slurm_test.sh "$job" "$out/release" || :
  done
  step down slurm/cluster.sh down
  trap - EXIT
  unset CLUSTER_FOLDER MPIRUN
  step lab_cli_test timeout 600 tests/apps/lab_cli_test.sh || :
  step lab_interrupt_test timeout 600 tests/apps/lab_interrupt_test.sh || :
  step lab_cycles_test timeout 1800 tests/apps/lab_cycles_test.sh $((full ? 30 : 3)) "$out/release/tests/readme_program" $slurm
}

# on_nodes TRANSPORT NAME NODES OPTIONS...: the suites that several nodes concern, with the ranks placed so.
on_nodes() {
  local transport=$1 name=$2 nodes=$3 suite suites=(nodes_test communicator_test collectives_test)
  shift 3
  [ -z "$full" ] && [ "$name" != uneven ] || suites+=(allreduce_test batch_test)
  for suite in "${suites[@]}"; do
    TUTTI_TRANSPORT=$transport TUTTI_TEST_NODES=$nodes step "$suite.$transport.$name" \
      timeout 600 slurm/cluster.sh run "$@" "$out/release/tests/$suite" || :
  done
}

# kills_on_nodes NAME MAP: ranks die, and the others are told.
kills_on_nodes() {
  local ranks=$((${2//,/+}))
  step "kill_test.$1" timeout 600 tests/diagnosis/kill_test.sh "$MPIRUN" $((full ? 50 : 4)) "$ranks" \
    slurm/cluster.sh run -np "$ranks" --map "$2" "$out/release/tests/stuck_program" || :
}

# devices_on_nodes: data on devices of the fake driver, 2 nodes of 2 ranks. Inside a node ranks map each other's memory;
# between nodes Debian's UCX has them staged, and one with CUDA takes them where they are.
devices_on_nodes() {
  local suites=(device_nodes_test device_collectives_test) suite fake=$out/release/tests/fake_cuda ucx=$out/ucx/libucx
  case $(cached "$out/release" TUTTI_NVCC) in
    '' | *-NOTFOUND) record skipped devices "nvcc was not found" && return ;;
  esac
  step build_devices cmake --build "$out/release" --target "${suites[@]}" fake_cuda_nvml || return
  for suite in "${suites[@]}"; do
    devices_over "$suite" staged tcp,self "$fake"
    [ ! -d "$ucx/lib" ] || devices_over "$suite" by_ucx tcp,self,cuda_copy "$fake:$ucx/lib"
  done
  [ -d "$ucx/lib" ] || record skipped devices_by_ucx "there is no UCX with CUDA in $ucx: scripts/setup.sh ucx ${ucx%/*}"
}

# devices_over SUITE NAME UCX_TLS LIBRARIES
devices_over() {
  step "$1.$2.2x2" env TUTTI_TRANSPORT=shm+ucx TUTTI_TEST_NODES=2 FAKE_CUDA_ABORT=1 UCX_TLS="$3" \
    LD_LIBRARY_PATH="$4${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    timeout 600 slurm/cluster.sh run --map 2,2 "$out/release/tests/$1" || :
}

# Optimised a little: half the time to build, nearly the speed.
checked=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")

address() { # AddressSanitizer, UndefinedBehaviorSanitizer, checked iterators: for what handles users' memory
  local suites=(engine_test path_rules_test passes_test reduce_test arena_test shm_protocol_test single_copy_test
    interpreter_test fuzz_corpus_test)
  build "$out/asan" "${full:+all} mpi_tests ${suites[*]}" "${checked[@]}" -DTUTTI_SANITIZE=address,undefined \
    -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS -DTUTTI_TEST_MAX_RANKS=$((full ? 8 : 3)) $(mpi_options openmpi) || return
  own_tests "$out/asan" -E 'NOT_BUILT|shm_kill'
}

threads() { # ThreadSanitizer for the suites in which threads meet
  build "$out/tsan" "thread_test funneled_test shm_protocol_test records_test" "${checked[@]}" -DTUTTI_SANITIZE=thread \
    -DTUTTI_TEST_MAX_RANKS=4 $(mpi_options openmpi) || return
  # UCX, which Open MPI loads, hooks memory calls that ThreadSanitizer does not survive at the end of a thread.
  UCX_MEM_EVENTS=n tests "$out/tsan" -L threads
}

clang() { # clang, without the optional parts; optimised, and the tests, only with --full
  local type=Debug
  [ -z "$full" ] || type=Release
  build "$out/clang" "${full:+all} tutti-bench tutti-sgd tutti-soak tutti_tool" -DCMAKE_BUILD_TYPE=$type \
    -DCMAKE_CXX_COMPILER=clang++ -DTUTTI_UCX=OFF -DTUTTI_CUDA=OFF $(mpi_options openmpi) || return
  [ -z "$full" ] || tests "$out/clang"
}

fuzz() { # libFuzzer, AddressSanitizer and UBSan on all parsers, and on shared memory whose peers write what they like
  local main='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
  clang++ -fsanitize=fuzzer -x c++ - -o "$out/has_fuzzer" <<<"$main" >>"$log" 2>&1 ||
    { record skipped fuzz "there is no clang with libFuzzer" && return; }
  build "$out/fuzz" fuzzers "${checked[@]}" -DTUTTI_FUZZERS=ON -DTUTTI_SANITIZE=address,undefined -DTUTTI_MPI=OFF \
    -DTUTTI_HWLOC=OFF -DCMAKE_CXX_COMPILER=clang++ || return
  step fuzzers scripts/fuzz.sh "$out/fuzz" $((full ? 1000000 : 1000))
}

schedule_only() { # no MPI at all: everything builds, and the tool, the one program that differs, works
  build "$out/schedule" all -DCMAKE_BUILD_TYPE=Release -DTUTTI_MPI=OFF || return
  own_tests "$out/schedule" -R '^(tool|info|catalogue|schedule_test|package|symbols)'
}

sources() { find include lib algorithms ucx interpose tests apps -name '*.[ch]pp' | sort; }

is_version_14() { "$1" --version 2>/dev/null | grep -q 'version 14\.'; }

lint() { # versions differ in what they say: only that of Debian 12 counts
  local tool
  for tool in clang-format clang-tidy; do
    is_version_14 "$tool" || record skipped "$tool" "$tool 14 is not installed, whose rules these are"
  done
  if is_version_14 clang-format; then
    step clang-format clang-format --dry-run -Werror $(sources) || :
  fi
  if is_version_14 clang-tidy; then
    step clang-tidy tidy
  fi
}

# changed_sources: what the last commits and the working tree changed, and for each header that they changed a file that
# includes it, through which it is looked at.
changed_sources() {
  local folders=(lib algorithms ucx interpose apps) file
  { git diff --name-only HEAD~10 -- "${folders[@]}" && git ls-files -o --exclude-standard -- "${folders[@]}"; } |
    while read -r file; do
      case $file in
        *.cpp) echo "$file" ;;
        *.hpp) git grep -l --untracked "[\"/]${file##*/}\"" -- "${folders[@]}" | grep -m 1 '\.cpp$' || : ;;
      esac
    done | sort -u
}

# Ten seconds a file: without --full only what changed lately (everything where there is no history), without tests and
# the analyzer.
tidy() {
  local files='(lib|algorithms|ucx|interpose|apps|tests)/.*\.cpp' but= changed
  if [ -z "$full" ]; then
    files='(lib|algorithms|ucx|interpose|apps)/.*\.cpp' but='-clang-analyzer-*'
    if git rev-parse -q --verify HEAD~10 >/dev/null; then
      changed=$(changed_sources)
      [ -n "$changed" ] || { echo "SKIP: no source has changed lately" && return 77; }
      files="($(paste -sd '|' <<<"$changed"))"
    fi
  fi
  run-clang-tidy -quiet -j "$cores" -p "$out/clang" -checks="$but" "/$files\$" 2>&1 |
    sed 's/\x1b\[[0-9;]*m//g' | grep -vE '^clang-tidy|^[0-9]+ warnings? generated'
  return "${PIPESTATUS[0]}"
}

# -----------------------------------------------------------------------------------------------------------------

# run STAGE "HEADLINE": if it is wanted; never stops the others.
run() {
  stage=$1 log=$results/$1.log
  [ -z "$only" ] || [[ $only == *" $1 "* ]] || return 0
  local start=$SECONDS
  since=$start
  say "== $1: $2"
  "$1" || :
  say "   $((SECONDS - start)) s in all"
}

# ThreadSanitizer of gcc 12 fails where addresses are more random than it knows.
if [ -z "${TUTTI_FIXED_ADDRESSES:-}" ] && setarch --addr-no-randomize true 2>/dev/null; then
  export TUTTI_FIXED_ADDRESSES=1
  exec setarch --addr-no-randomize "$PWD/scripts/test.sh" "$@"
fi

if [ -n "$install" ]; then
  ./scripts/setup.sh test
  for kind in cuda ucx mpi4py; do ./scripts/setup.sh $kind "$out/$kind"; done
fi
export MPI4PY_TESTS=$out/mpi4py
[ ! -x "$out/cuda/nvidia/cu13/bin/nvcc" ] || export CUDAToolkit_ROOT=$out/cuda/nvidia/cu13
run release "release build, all tests, Open MPI"
run mpich "what runs under mpirun, with MPICH and the shared library, few ranks, without hwloc"
run abi "one build on MPICH 5 and on Intel MPI, by the standard ABI of MPI"
run lab "several nodes, in namespaces, and Slurm"
run address "AddressSanitizer and UBSan"
run threads "ThreadSanitizer"
run clang "clang, without UCX and CUDA"
[ -z "$full$only" ] || run fuzz "fuzzers of all parsers, and of shared memory"
run schedule_only "schedules only, without MPI"
run lint "clang-format and clang-tidy"
say
say "== $((SECONDS / 60)) min $((SECONDS % 60)) s in all; logs in $results/"
python3 scripts/junit_totals.py --details "$results"/*.xml
