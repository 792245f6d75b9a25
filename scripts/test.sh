#!/usr/bin/env bash
# test.sh [--ci | --full | STAGE...] [--resume] [--no-install] - installs what is missing, builds, tests.
#   (no option)   the release build and its tests, several nodes, lint of what changed: some twenty minutes on two cores
#   --ci          the same, and a smaller form of: MPICH, the standard ABI, sanitizers, clang, no MPI. Before a merge
#   --full        everything: all numbers of ranks, placements and seeds with every MPI and compiler, the slow tests,
#                 10^6 inputs for each fuzzer, clang-tidy over all sources. Hours
#   STAGE         only these: release lab lint mpich abi address threads clang schedule_only fuzz torch; --full may stand before
#   --resume      keeps earlier results, and leaves out stages that ended in this form, with these sources, without a failure
#   --no-install  uses what is there
# The last line is "N passed, N failed, N skipped"; exit code 1 if anything failed. Logs and JUnit files: build/test/results
set -eu
cd "$(dirname "$0")/.."
source scripts/common.sh

usage() { sed -n '2,11s/^# \?//p' scripts/test.sh; }

ci= full= only= install=1 resume=
for option in "$@"; do
  case $option in
    --ci) ci=1 ;;
    --full) full=1 ;;
    --resume) resume=1 ;;
    release | lab | lint | mpich | abi | address | threads | clang | schedule_only | fuzz | torch) only="$only $option " ;;
    --no-install) install= ;;
    --help | -h)
      usage || :
      exit 0
      ;;
    *)
      { echo "test.sh: unknown option $option" && usage; } >&2 || :
      exit 2
      ;;
  esac
done
[ -z "$ci" ] || [ -z "$full" ] || { echo "test.sh: --ci or --full, not both" >&2; exit 2; }

mkdir -p "${TUTTI_BUILD:-build}/test"
out=$(realpath "${TUTTI_BUILD:-build}")/test
results=$out/results
[ -n "$resume$only" ] || rm -rf "$results" # a stage by itself replaces its own results only
mkdir -p "$results"

# Tests run side by side: ranks bound to cores would share the first ones.
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=suppressions=$PWD/scripts/tsan.supp:ignore_noninstrumented_modules=1
export GTEST_COLOR=no

say() { printf '%s\n' "$*"; }
xml_text() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g' | tr -cd '\t\n\r -~'; }

# record RESULT TEST [WHY]: a JUnit file for a check that CTest does not run. RESULT: passed, failed or skipped.
record() {
  local element=
  case $1 in
    failed) element="<failure message=\"see $(xml_text <<<"$log")\"/>" ;;
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

is_without_failures() { python3 scripts/junit_totals.py --one-line "$@" >/dev/null; }

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
  if [ -z "$full" ]; then
    ctest --test-dir "$folder" -N -L full "$@" | sed -n 's/^  Test *#[0-9]*: //p' >>"$results/$stage.left_out"
    set -- -LE full "$@"
  fi
  ctest --test-dir "$folder" -j "$cores" --no-tests=error --output-on-failure --output-junit "$results/$stage.xml" \
    --test-output-size-passed 1000000 "$@" >>"$log" 2>&1 || code=$?
  if [ -e "$results/$stage.xml" ]; then
    sed -i "0,/name=\"[^\"]*\"/s//name=\"$stage\"/" "$results/$stage.xml"
    say "   tests: $(python3 scripts/junit_totals.py --one-line "$results/$stage.xml"), $((SECONDS - since)) s" || :
  fi
  # Also where it has found no test, or ended before its tests.
  if [ "$code" -ne 0 ] && { [ ! -e "$results/$stage.xml" ] || is_without_failures "$results/$stage.xml"; }; then
    record failed ctest
  fi
}

# tests_of FOLDER PART...: the tests that are declared in these folders of tests/; with --full all.
tests_of() {
  local folder=$1 name=$stage part
  shift
  [ -z "$full" ] || { tests "$folder" && return; }
  for part in "$@"; do
    stage=$name.$part
    tests "$folder/tests/$part"
  done
  stage=$name
}

# all_of PART...: what has to be built for them.
all_of() { [ -n "$full" ] && echo all gpu_kit || printf 'tests/%s/all ' "$@"; }

# build FOLDER TARGETS OPTIONS...: a build without warnings is a test of its own.
build() { step build configure_and_build "$@"; }
configure_and_build() {
  local folder=$1 targets=$2
  shift 2
  configure "$folder" -DTUTTI_WERROR=ON -DTUTTI_TESTS=ON "$@" && cmake --build "$folder" --target $targets
}

# ---- the stages -------------------------------------------------------------------------------------------------

build_release() {
  local ucx=()
  [ ! -d "$out/ucx/libucx" ] || ucx=("-DTUTTI_CUDA_UCX_DIR=$out/ucx/libucx")
  build "$out/release" "$*" -DCMAKE_BUILD_TYPE=Release $(mpi_options openmpi) "${ucx[@]}"
}

release() { # everything with Open MPI
  build_release all ${full:+gpu_kit} && tests "$out/release"
}

# without PARTS...: optional parts that only a full run builds in stages other than release.
without() { [ -n "$full" ] || printf -- '-DTUTTI_%s=OFF ' "$@"; }

# MPICH's ranks do not yield: no more of them than a small machine has cores.
mpich() {
  local parts=(mpi c fortran examples)
  build "$out/mpich" "$(all_of "${parts[@]}")" -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Release $(mpi_options mpich) \
    -DTUTTI_TEST_MAX_RANKS=$((full ? 4 : 2)) -DTUTTI_HWLOC=OFF $(without UCX CUDA) || return
  step is_mpich sh -c "readlink -f '$(cached "$out/mpich" MPI_CXX_COMPILER)' | grep mpich" || return
  tests_of "$out/mpich" "${parts[@]}"
}

abi() { # one build against the standard ABI of MPI, and its tests on two MPIs. MPICH's ranks do not yield
  local peer suites='communicator_test|collectives_test|requests_test|c_collectives_test|c_errors_test'
  local programs=(mpi_suites mpi_internal_suites c_collectives_test c_errors_test tutti_mpi) preloaded='movement|reductions|communicators'
  [ -z "$full" ] || preloaded='.*'
  export TUTTI_PEERS=$out/peers
  PEERS="mpich intel" scripts/peers.sh setup >>"$log" 2>&1 ||
    { record skipped abi "there is no MPICH 5 and Intel MPI: scripts/peers.sh setup" && return; }
  if [ -n "$full" ]; then programs+=(interpose_tests); else programs+=(interpose_{movement,reductions,communicators}); fi
  build "$out/abi" "${programs[*]}" -DCMAKE_BUILD_TYPE=Release -DTUTTI_UCX=OFF -DTUTTI_CUDA=OFF \
    -DTUTTI_FORTRAN=OFF -DTUTTI_TEST_MAX_RANKS=2 "-DMPI_CXX_COMPILER=$TUTTI_PEERS/mpich/bin/mpicxx_abi" \
    "-DMPIEXEC_EXECUTABLE=$PWD/scripts/peer_mpirun.sh" || return
  # MPICH's package checks few arguments. In Intel MPI, errors of programs of the ABI end the program, though its handler
  # returns.
  local but_mpich='^interpose_errors' but_intel='^interpose_(errors|truncation|reductions|requests_errors)'
  for peer in mpich intel; do
    local but=but_$peer
    stage=abi_on_$peer
    PEER=$peer tests "$out/abi" -R "^interpose_($preloaded)\\.|^($suites)\\." -E "${!but}"
  done
}

lab() { # what happens between nodes, and Slurm's jobs
  local why slurm=slurm transport job
  why=$(slurm/cluster.sh check 2>&1) || { record skipped lab "$why" && return; }
  why=$(slurm/cluster.sh check --slurm 2>&1) || { slurm= && record skipped slurm "$why"; }
  build_release tutti-bench tutti-sgd tutti_tool mpi_suites mpi_internal_suites readme_program stuck_program || return
  export CLUSTER_FOLDER=${TMPDIR:-/tmp}/tutti-test-$$ MPIRUN=$(cached "$out/release" MPIEXEC_EXECUTABLE)
  trap 'slurm/cluster.sh down' EXIT
  step up slurm/cluster.sh up 4 --cores 2 ${slurm:+--slurm} || return
  for transport in auto ${full:+mpi}; do
    [ -z "$full" ] || on_nodes "$transport" 2x2 2 --map 2,2
    on_nodes "$transport" uneven 3 --map 1,2,3
    [ -z "$full" ] || on_nodes "$transport" in_turns 3 --map 1,2,3 --by node
  done
  MPI_MAY_END_RANKS=1 kills_on_nodes mpi 2,2,2,2
  case $(cached "$out/release" ucx_DIR) in
    '' | *-NOTFOUND) record skipped nodes_over_ucx "UCX was not found" ;;
    *)
      export UCX_TLS=tcp,self # to UCX the nodes are one, as they share the boot's identifier
      on_nodes shm+ucx 2x2 2 --map 2,2
      [ -z "$full" ] || on_nodes ucx in_turns 3 --map 1,2,3 --by node
      TUTTI_TRANSPORT=shm+ucx kills_on_nodes ucx 1,1,1,1
      unset UCX_TLS
      devices_on_nodes
      ;;
  esac
  step info tests/apps/lab_info_test.sh "$out/release/apps/tutti/tutti" || :
  [ -z "$slurm" ] || for job in $([ -n "$full" ] && tests/apps/slurm_test.sh --list || echo bench train alone); do
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
  local transport=$1 name=$2 nodes=$3 suite suites=(nodes_test collectives_test)
  shift 3
  [ -z "$full" ] || suites+=(communicator_test allreduce_test batch_test)
  for suite in "${suites[@]}"; do
    command_of "$suite"
    TUTTI_TRANSPORT=$transport TUTTI_TEST_NODES=$nodes step "$suite.$transport.$name" \
      timeout 600 slurm/cluster.sh run "$@" "${command[@]}" || :
  done
}

# command_of SUITE: a program and its arguments, as CMake noted them, in the array `command`.
command_of() {
  mapfile -t command < <(sed -n "s|^$1:INTERNAL=.*TARGET_FILE:\\(.*\\)>;\\(.*\\)|\\1\\n\\2|p" "$out/release/CMakeCache.txt")
  command[0]=$out/release/tests/${command[0]}
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
  step build_devices cmake --build "$out/release" --target device_suites fake_cuda_nvml || return
  for suite in "${suites[@]}"; do
    [ -z "$full" ] && [ "$suite" != device_nodes_test ] || devices_over "$suite" staged tcp,self "$fake"
    [ ! -d "$ucx/lib" ] || devices_over "$suite" by_ucx tcp,self,cuda_copy "$fake:$ucx/lib"
  done
  [ -d "$ucx/lib" ] || record skipped devices_by_ucx "there is no UCX with CUDA in $ucx: scripts/setup.sh ucx ${ucx%/*}"
}

# devices_over SUITE NAME UCX_TLS LIBRARIES
devices_over() {
  command_of "$1"
  step "$1.$2.2x2" env TUTTI_TRANSPORT=shm+ucx TUTTI_TEST_NODES=2 FAKE_CUDA_ABORT=1 UCX_TLS="$3" \
    LD_LIBRARY_PATH="$4${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    timeout 600 slurm/cluster.sh run --map 2,2 "${command[@]}" || :
}

# Optimised a little: half the time to build, nearly the speed.
checked=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")

address() { # AddressSanitizer, UndefinedBehaviorSanitizer, checked iterators: for what handles users' memory
  local parts=(engine shm fuzz mpi)
  [ -z "$full" ] || parts+=(schedule)
  build "$out/asan" "$(all_of "${parts[@]}")" "${checked[@]}" -DTUTTI_SANITIZE=address,undefined \
    -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS -DTUTTI_TEST_MAX_RANKS=$((full ? 8 : 3)) $(without CUDA) \
    $(mpi_options openmpi) || return
  tests_of "$out/asan" "${parts[@]}"
}

threads() { # ThreadSanitizer for the suites in which threads meet
  build "$out/tsan" "thread_test funneled_test shm_units records_units" "${checked[@]}" -DTUTTI_SANITIZE=thread \
    -DTUTTI_TEST_MAX_RANKS=4 $(without UCX CUDA) $(mpi_options openmpi) || return
  # UCX, which Open MPI loads, hooks memory calls that ThreadSanitizer does not survive at the end of a thread.
  UCX_MEM_EVENTS=n tests "$out/tsan" -L threads
}

by_clang=(-DCMAKE_CXX_COMPILER=clang++ -DTUTTI_UCX=OFF -DTUTTI_CUDA=OFF)

# Each source alone, with the headers that it includes itself.
configure_alone() {
  configure "$out/alone" -DTUTTI_WERROR=ON -DCMAKE_BUILD_TYPE=Release "${by_clang[@]}" -DTUTTI_UNITY_BUILD=OFF \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON $(mpi_options openmpi)
}

clang() { # the libraries and two apps; with --full each source alone, and the tests
  if [ -z "$full" ]; then
    build "$out/clang" "tutti-bench tutti_tool tutti_mpi" -DCMAKE_BUILD_TYPE=Debug "${by_clang[@]}" \
      $(mpi_options openmpi)
    return
  fi
  step configure configure_alone && step build cmake --build "$out/alone" && tests "$out/alone"
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
  build "$out/schedule" "${full:+all} tutti_product apps_units" -DCMAKE_BUILD_TYPE=Release -DTUTTI_MPI=OFF || return
  [ -z "$full" ] || { tests "$out/schedule" && return; }
  tests "$out/schedule" -R '^(tool|info|catalogue|package|symbols)'
}

torch() { # torch.distributed over Tutti: PyTorch is large, and kept outside the tree
  local venv=${TUTTI_TORCH_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/tutti/torch_venv}
  build_release tutti_product || return
  export TUTTI_PYTHON=$venv/bin/python
  step install tests/python/torch.sh install "$out/release" || return 0
  step programs timeout 1200 tests/python/torch.sh alone "$out/release" "$MPIRUN" || :
  for ranks in 1 2 3 4; do
    step "ranks.p$ranks" timeout 1200 tests/python/torch.sh ranks "$out/release" "$MPIRUN" "$ranks" || :
  done
  step fallback timeout 1200 tests/python/torch.sh fallback "$out/release" "$MPIRUN" 2 || :
  step pytorch timeout 7200 tests/python/torch.sh pytorch "$out/release" "$MPIRUN" || :
}

# Whether git knows these sources, and not a tree around them.
has_history() { [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; }

sources() { find include lib algorithms ucx tests apps bindings -name '*.[ch]pp' | sort; }

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
    step configure configure_alone && step clang-tidy tidy
  fi
  [ -z "$full" ] || step parsed_lines parsed_lines || :
}

# Small sources take few headers beside the precompiled ones.
parsed_lines() {
  configure "$out/lines" -DCMAKE_BUILD_TYPE=Release -DTUTTI_UNITY_BUILD=OFF $(mpi_options openmpi) &&
    cmake --build "$out/lines" --target tutti_schedule tutti_core && scripts/parsed_lines.py "$out/lines"
}

# changed_sources SINCE: what the commits since then and the working tree changed, and for each header that they changed a file that
# includes it, through which it is looked at.
changed_sources() {
  local folders=(include lib algorithms ucx bindings apps) file
  { git diff --name-only "$1" -- "${folders[@]}" && git ls-files -o --exclude-standard -- "${folders[@]}"; } |
    while read -r file; do
      case $file in
        *.cpp) echo "$file" ;;
        *.hpp) git grep -l --untracked "[\"/]${file##*/}\"" -- "${folders[@]}" | grep -m 1 '\.cpp$' || : ;;
      esac
    done | sort -u
}

# Ten seconds a file: without --full only the last commit and the working tree, with --ci the last ten (everything where
# there is no history), without tests and the analyzer; of more than eighty files, every second or third one and so on.
tidy() {
  local most=80 count
  local files='(lib|algorithms|ucx|bindings|apps|tests)/.*\.cpp' but= changed since=HEAD~${ci:+10}
  if [ -z "$full" ]; then
    files='(lib|algorithms|ucx|bindings|apps)/.*\.cpp' but='-clang-analyzer-*'
    if has_history && git rev-parse -q --verify "$since" >/dev/null; then
      changed=$(changed_sources "$since")
      [ -n "$changed" ] || { echo "SKIP: no source has changed lately" && return 77; }
      count=$(wc -l <<<"$changed")
      echo "clang-tidy: $count sources have changed, at most $most are looked at; --full looks at all"
      changed=$(awk -v each=$(((count + most - 1) / most)) 'NR % each == 0' <<<"$changed")
      files="($(paste -sd '|' <<<"$changed"))"
    fi
  fi
  run-clang-tidy -quiet -j "$cores" -p "$out/alone" -checks="$but" "/$files\$" 2>&1 |
    sed 's/\x1b\[[0-9;]*m//g' | grep -vE '^clang-tidy|^[0-9]+ warnings? generated'
  return "${PIPESTATUS[0]}"
}

# -----------------------------------------------------------------------------------------------------------------

# The sources and the form of a run: a stage that has ended with them and without a failure is not run again by --resume.
# Empty where git does not know the sources.
case $out in "$PWD"/*) outputs=":(exclude)${out#"$PWD/"}" ;; *) outputs= ;; esac
state=$(
  has_history && git rev-parse HEAD 2>/dev/null && {
    echo "$ci|$full"
    git diff HEAD
    git ls-files -z -o --exclude-standard -- . ${outputs:+"$outputs"} |
      xargs -0 -r sha1sum
  } | sha1sum || :
)
[ -z "$resume" ] || [ -n "$state" ] || say "test.sh: without git's history of these sources, --resume runs all stages again"

results_of() {
  compgen -G "$results/$1.*xml" || :
  compgen -G "$results/$1_on_*.xml" || :
}

# run STAGE WHEN "HEADLINE": if it is wanted; never stops the others. WHEN: always, ci (also with --full) or full.
files=() left_out=0 stages_left_out=
run() {
  local when=$2 start=$SECONDS
  stage=$1 log=$results/$1.log since=$SECONDS
  if [ -n "$only" ]; then
    [[ $only == *" $1 "* ]] || return 0
  elif { [ "$when" = full ] && [ -z "$full" ]; } || { [ "$when" = ci ] && [ -z "$ci$full" ]; }; then
    stages_left_out="$stages_left_out $1"
    return 0
  fi
  say "== $1: $3"
  local name=$1
  if [ -n "$resume" ] && [ -n "$state" ] && [ "$(cat "$results/$name.ended" 2>/dev/null)" = "$state" ]; then
    say "   has ended before"
  else
    rm -f "$results/$name".* "$results/$name"_on_*
    "$name" || :
    say "   $((SECONDS - start)) s in all"
  fi
  local its
  mapfile -t its < <(results_of "$name")
  if [ ${#its[@]} -eq 0 ]; then
    stage=$name record failed "$name"
    mapfile -t its < <(results_of "$name")
  fi
  files+=("${its[@]}")
  left_out=$((left_out + $(cat "$results/$name"*left_out 2>/dev/null | sort -u | wc -l)))
  [ -z "$state" ] || ! is_without_failures "${its[@]}" || echo "$state" >"$results/$name.ended"
}

# What this run had not, and how to have it.
say_left_out() {
  [ "$left_out" -eq 0 ] || say "== left out: $left_out tests of these stages, which --full runs ($results/STAGE.left_out)"
  [ -z "$stages_left_out" ] || say "== left out: the stages$stages_left_out, which run by name, or with --ci or --full"
}

# ThreadSanitizer of gcc 12 fails where addresses are more random than it knows.
if [ -z "${TUTTI_FIXED_ADDRESSES:-}" ] && setarch --addr-no-randomize true 2>/dev/null; then
  export TUTTI_FIXED_ADDRESSES=1
  exec setarch --addr-no-randomize "$PWD/scripts/test.sh" "$@"
fi

if [ -n "$install" ]; then
  ./scripts/setup.sh test
  for kind in cuda ucx mpi4py python; do ./scripts/setup.sh $kind "$out/$kind"; done
fi
export MPI4PY_TESTS=$out/mpi4py TUTTI_PYTHON=$out/python/bin/python
[ ! -x "$out/cuda/nvidia/cu13/bin/nvcc" ] || export CUDAToolkit_ROOT=$out/cuda/nvidia/cu13
run release always "release build and its tests, Open MPI"
run mpich ci "what runs under mpirun, with MPICH and the shared library, few ranks, without hwloc"
run lab always "several nodes, in namespaces, and Slurm"
run lint always "clang-format, and clang-tidy over what changed"
run abi ci "one build on MPICH 5 and on Intel MPI, by the standard ABI of MPI"
run address ci "AddressSanitizer and UBSan"
run threads ci "ThreadSanitizer"
run clang ci "clang, without UCX and CUDA"
run schedule_only ci "schedules only, without MPI"
run fuzz full "fuzzers of all parsers, and of shared memory"
run torch full "torch.distributed over Tutti, and PyTorch's own tests of it"
say
say "== $((SECONDS / 60)) min $((SECONDS % 60)) s in all; logs in $results/"
say_left_out
python3 scripts/junit_totals.py --details "${files[@]}"
