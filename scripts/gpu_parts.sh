# Sourced by gpu_check.sh: the parts that it runs, check_NAME each. Beside what gpu_steps.sh names, it sets `quick`, `stack`,
# `first_tests` and `quick_tests`.
# shellcheck shell=bash disable=SC2154,SC2034,SC2317 # some functions are called by others that get their names

# A process that keeps a context on each device, so that the driver does not start them again for each step.
start_driver() {
  local log=$out/logs/driver.log begin driver fake=''
  begin=$(milliseconds)
  [ -e "$out/driver/libcuda.so.1" ] || no_driver "libcuda.so.1 was not found"
  driver=$(readlink -f "$out/driver/libcuda.so.1")
  ! grep -q fake_cuda_counters "$driver" || fake=1
  fact driver "${driver##*/}${fake:+, the fake one of the tests: no figure means anything}"
  # Over the fake driver, whose kernels are interpreted, little is measured.
  little=${quick:-$fake}
  : >"$log"
  "$build/tests/gpu_probe" --hold >>"$log" 2>&1 </dev/null &
  holder=$!
  trap 'kill "$holder" 2>/dev/null' EXIT
  until grep -q '^holding' "$log"; do
    kill -0 "$holder" 2>/dev/null || no_driver "$(tail -n 1 "$log")"
    [ "$SECONDS" -lt "$until" ] || no_driver "no start within $part_seconds s"
    sleep 0.1
  done
  devices=$(sed -n 's/^holding \([0-9]*\) .*/\1/p' "$log")
  record driver passed $(($(milliseconds) - begin)) ''
}
no_driver() {
  record driver failed 0 "$1"
  end_part
  finish
}

check_machine() {
  {
    uname -srm
    lscpu
    free -g
    df -h /dev/shm
    echo "locked memory: $(ulimit -l) KiB; ptrace: $(cat /proc/sys/kernel/yama/ptrace_scope)"
  } >"$out/logs/machine.log" 2>&1
  if command -v nvidia-smi >/dev/null; then
    step nvidia-smi nvidia-smi -q
    step topology nvidia-smi topo -m
    fact 'devices, driver, MIG, compute mode' "$(timeout 20 nvidia-smi \
      --query-gpu=name,driver_version,mig.mode.current,compute_mode --format=csv,noheader 2>&1 | paste -sd ';')"
  else
    record nvidia-smi skipped 0 "nvidia-smi is missing"
  fi
  [ -z "$stack" ] || choose_ucx
  on_ranks info 2 "$build/apps/tutti/tutti" info
}

# Open MPI moves memory of devices through UCX, if UCX can. If it cannot, it would take it for memory of the host and crash.
choose_ucx() {
  timeout 15 ucx_info -d >"$out/logs/ucx.log" 2>&1
  if grep -q 'Transport: cuda_copy' "$out/logs/ucx.log"; then
    mpi_settings=("OMPI_MCA_pml=${OMPI_MCA_pml:-ucx}" OMPI_MCA_opal_common_ucx_tls=any
      OMPI_MCA_opal_common_ucx_devices=any "UCX_MEMTYPE_CACHE=${UCX_MEMTYPE_CACHE:-n}")
    record ucx passed 0 ''
  else
    mpi_settings=("OMPI_MCA_pml=${OMPI_MCA_pml:-ob1}")
    record ucx skipped 0 "ucx_info lists no cuda_copy: Open MPI is measured without UCX"
  fi
}

# run_test NAME PROGRAM RANKS ENVIRONMENT ARGUMENTS: a line of gpu_tests.txt.
run_test() {
  local environment arguments
  read -ra environment <<<"$4"
  read -ra arguments <<<"$5"
  if [[ "$4 $5" == *ucx* ]] && ! library libucp.so.0 >/dev/null; then
    record "$1" skipped 0 "libucp.so.0 was not found"
  elif [ "$3" = 0 ]; then
    step "$1" env "${environment[@]}" "$build/$2" "${arguments[@]}"
  else
    on_ranks "$1" "$3" env "${environment[@]}" "$build/$2" "${arguments[@]}"
  fi
}

# is_wanted TEST: in this effort.
is_wanted() {
  case $effort in
    first) [[ $1 =~ $first_tests ]] ;;
    quick) [[ $1 =~ $quick_tests ]] ;;
    *) ! [[ $1 =~ $first_tests ]] ;;
  esac
}

# Those of few ranks come first.
check_tests() {
  local wanted name program ranks environment arguments
  for wanted in 0 1 2 4 8 3 ''; do
    while IFS='|' read -r name program ranks environment arguments <&3; do
      [[ $wanted = "$ranks" || ($wanted = '' && ! " 0 1 2 3 4 8 " == *" $ranks "*) ]] || continue
      ! is_wanted "$name" || run_test "$name" "$program" "$ranks" "$environment" "$arguments"
    done 3<"$build/gpu_tests.txt"
  done
}

# The questions of the probe are steps of their own.
check_probe() {
  local question state why code=0 seconds log=$out/logs/probe.$effort.log options=()
  seconds=$(time_left)
  [ -n "$quick" ] || options+=("--$effort")
  [ -z "$little" ] || options+=(--quick)
  [ "$seconds" -gt 0 ] || { record probe failed 0 "no time was left" && return; }
  timeout -k 5 "$seconds" "$build/tests/gpu_probe" "${options[@]}" --json "$out/probe.${effort/quick/first}.json" \
    >"$log" 2>&1 || code=$?
  while IFS=: read -r question state why; do
    state=${state# }
    record "probe.${question#question }" "${state/answered/passed}" 0 "${why# }"
  done < <(grep -a '^question ' "$log")
  [ $code -le 1 ] || record probe failed 0 "$(why_of "$log" $code "$seconds")"
  [ "$effort" = rest ] || fact devices "$(sed -n 's/^  device [0-9]*  *//p' "$log" | sort | uniq -c | sed 's/^ *//' | paste -sd ';')"
}

check_sanitizer() {
  local sanitizer
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) ||
    { record sanitizer skipped 0 "compute-sanitizer is missing" && return; }
  set -- "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode 1
  step sanitizer.kernels "$@" "$build/tests/device_units" --suite=kernels_test --gtest_filter='*InPlace*:*CopyOneInput*'
  on_ranks sanitizer.allreduce 2 "$@" "$build/tests/device_suites" --suite=device_collectives_test \
    --gtest_filter='All/DeviceCollectives.GiveTheBitsOfTheHost/allreduce'
}

# ---- conformance ------------------------------------------------------------------------------------------------

# Each program in one process. That of one hardware queue has a setting that must stand before the driver starts.
check_conformance() {
  local conformance test tests wanted=${quick:+'^(Identity|Shareable)\.'}
  for conformance in conformance one_queue; do
    conformance=$build/tests/fake_cuda_${conformance}_test tests=()
    while read -r test; do
      [[ ! $test =~ $wanted ]] || tests+=("$test")
    done < <(conformance_tests)
    conformance_of "${tests[@]}"
  done
  grep -q '^\[' "$out/logs/conformance.log" ||
    record conformance failed 0 "no list of tests: $(tail -n 1 "$out/logs/conformance.log")"
  fact 'what nobody knew of drivers' "$(sed -n 's/^model: //p' "$out/logs/conformance.log" | paste -sd ';')"
}
conformance_tests() {
  local suite='' line
  while read -r line; do
    case $line in
      *.) suite=$line ;;
      ?*) [ -z "$suite" ] || echo "$suite${line%% *}" ;;
    esac
  done < <("$conformance" --gtest_list_tests 2>>"$out/logs/conformance.log")
}

# conformance_of TEST...: in one process. If it ends in the middle of a test, that one has failed, and those that
# are left run in another process.
conformance_of() {
  local test left
  local -A is_over=()
  while [ $# -gt 0 ]; do
    [ "$(time_left)" -gt 0 ] || {
      for test; do record "conformance.$test" failed 0 "no time was left"; done
      return
    }
    conformance_process "$@"
    left=()
    for test; do [ -n "${is_over[$test]:-}" ] || left+=("$test"); done
    set -- "${left[@]}"
  done
}

# over TEST STATE MILLISECONDS WHY
over() {
  is_over[$1]=1
  record "conformance.$1" "$2" "$3" "$4"
}

# conformance_process TEST...: at least one of them is over then. A test has `most` seconds from its line to its result's.
conformance_process() {
  local filter line='' test='' said='' process code=0 is_late='' before=${#is_over[@]} seconds
  filter=$(IFS=: && echo "$*")
  exec 5< <(exec "$conformance" --gtest_filter="$filter" 2>&1 </dev/null)
  process=$!
  while seconds=$(time_left) && { [ "$seconds" -gt 0 ] || { is_late=$seconds && break; }; }; do
    read -r -t "$seconds" -u 5 line || { [ $? -le 128 ] || is_late=$seconds; break; }
    echo "$line" >>"$out/logs/conformance.log"
    case $line in
      '[ RUN      ] '*) test=${line#*] } said='' ;;
      '[       OK ] '*) [ -z "$test" ] || over "$test" passed "$(test_time "$line")" '' ;;
      '[  FAILED  ] '*) [ -z "$test" ] || over "$test" failed "$(test_time "$line")" "$said" ;;
      '[  SKIPPED ] '*) [ -z "$test" ] || over "$test" skipped "$(test_time "$line")" "${said#*Skipped }" ;;
      *) said="$said${said:+ }$line" && continue ;;
    esac
    [[ $line == '[ RUN '* ]] || test=''
  done
  exec 5<&-
  kill -KILL "$process" 2>/dev/null
  wait "$process" 2>/dev/null || code=$?
  [ -n "$test" ] || [ ${#is_over[@]} -gt "$before" ] || test=$1
  [ -n "$test" ] || return 0
  [ -n "$is_late" ] && said=$(why_late "$is_late") || said="the program ended in it, exit code $code: $said"
  over "$test" failed $((1000 * ${is_late:-0})) "$said"
}
test_time() { [[ $1 =~ \(([0-9]+)\ ms\)$ ]] && echo "${BASH_REMATCH[1]}" || echo 0; }

# ---- speed ------------------------------------------------------------------------------------------------------

# devices_of PLACE: one device that all ranks share, or one for each.
devices_of() {
  local all=${CUDA_VISIBLE_DEVICES:-$(seq -s , 0 $((devices - 1)))}
  [ "$1" = spread ] || all=${all%%,*}
  echo "$all"
}

# bench WAY COLLECTIVES PLACE RANKS: with its results checked; the direct way beside the MPI's own calls.
bench() {
  local options=(--min 1K --max 64M --factor 4 --rounds 3 --warmup 1) name=bench.$1.$3.p$4.${2/*,*/others}
  local environment=("CUDA_VISIBLE_DEVICES=$(devices_of "$3")" "${mpi_settings[@]}")
  [ -z "$little" ] || options=(--min 4K --max 4K --rounds 1 --warmup 0 --iters 2)
  case $1 in
    direct) options+=(--compare mpi) ;;
    stream) options+=(--mode stream) ;;
    staged) environment+=(TUTTI_DEVICE_PATH=staging) ;;
    staged_*) environment+=(TUTTI_DEVICE_PATH=staging "TUTTI_STAGING=${1#staged_}") ;;
  esac
  on_ranks "$name" "$4" env "${environment[@]}" "$build/apps/bench/tutti-bench" --memory device --placement out \
    --check --collective "$2" "${options[@]}" --json "$out/$name.json"
}

# nccl PLACE RANKS
nccl() {
  on_ranks "nccl.$1.p$2" "$2" env "CUDA_VISIBLE_DEVICES=$(devices_of "$1")" "$build/tests/nccl_bench" \
    ${little:+--quick} --json "$out/nccl.$1.p$2.json"
}

# tuned WAY PLACE RANKS: the algorithms and the constants that `tutti tune` would have the library take.
tuned() {
  local options=(--min 1K --max 4M --budget 0.1) environment=("CUDA_VISIBLE_DEVICES=$(devices_of "$2")" "${mpi_settings[@]}")
  [ -z "$little" ] || options=(--min 4K --max 16K --budget 0.1)
  [ "$1" = direct ] || environment+=(TUTTI_DEVICE_PATH=staging)
  on_ranks "tuned.$1.$2.p$3" "$3" env "${environment[@]}" "$build/apps/tutti/tutti" tune --memory device --transport \
    --collective allreduce,reduce --communicator world "${options[@]}" --write "$out/tuned.$1.$2.p$3.json"
}

# on RANKS COMMAND...: with each place, for each of the numbers of ranks.
on() {
  local ranks
  for ranks in $1; do
    "${@:2}" shared "$ranks"
    [ "$ranks" -gt "$devices" ] || "${@:2}" spread "$ranks"
  done
}

# What matters most comes first. A run of its own for each collective: one that is stopped leaves no results.
check_speed() {
  local collective others=broadcast,allgather,alltoall,reduce_scatter
  case $effort in
    first) speed_of_allreduce '2 4' ;;
    quick)
      speed_of_allreduce 2
      on 2 bench direct $others
      speed_of_choices 2
      ;;
    rest)
      speed_of_choices '2 4 8'
      speed_of_allreduce 8
      for collective in ${others//,/ }; do on '2 4 8' bench direct "$collective"; done
      on '2 4 8' bench staged $others
      ;;
  esac
}
speed_of_allreduce() {
  on "$1" bench direct allreduce
  on "$1" bench staged allreduce
  on "$1" bench stream allreduce
  on "$1" nccl
}
# What the library chooses between.
speed_of_choices() {
  on "$1" tuned direct
  on 2 tuned staged
  on "$1" bench staged_host allreduce
  on "$1" bench staged_device allreduce
}
