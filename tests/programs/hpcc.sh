#!/usr/bin/env bash
# HPC Challenge: all of its tests, small. With the library it runs twice, and what concerns communication is set side by
# side. The figures are those of one run each: they show that it works, not how fast it is.
set -eu
source "$(dirname "$0")/common.sh" "$@"
of_open_mpi hpcc
export OMP_NUM_THREADS=1

example=/usr/share/doc/hpcc/examples/_hpccinf.txt
[ -e "$example" ] || skip "hpcc's example of an input file is not installed: $example"
rows=1
[ $((ranks % 2)) -ne 0 ] || [ "$ranks" -lt 4 ] || rows=2
sed "s/^1000 .*Ns$/400 Ns/; s/^2 .*Ps$/$rows Ps/; s/^2 .*Qs$/$((ranks / rows)) Qs/" "$example" >hpccinf.txt

# challenge LIBRARY: the summary goes to the file summary.
challenge() {
  rm -f hpccoutf.txt
  launch "$1" hpcc
  sed -n '/^Begin of Summary/,/^End of Summary/p' hpccoutf.txt >summary
  cat hpccoutf.txt >>output
  check
}

# check: the verdict of each test; none may be missing.
check() {
  ! grep -E 'FAILED|[1-9][0-9]* errors in .* locations|Node\(s\) with error [1-9]|[1-9][0-9]* tests completed and failed' \
    hpccoutf.txt || fail "a test of hpcc"
  grep -q '^||Ax-b||.* PASSED$' hpccoutf.txt || fail "HPL gave no residual"
  grep -q '^ *5 tests completed and passed residual checks.$' hpccoutf.txt || fail "PTRANS was not checked"
  grep -q '^Solution Validates' hpccoutf.txt || fail "STREAM did not validate"
  [ "$(grep -c '^Found 0 errors in .* locations (passed).$' hpccoutf.txt)" -eq 4 ] || fail "RandomAccess was not checked"
  [ "$(awk -F= '/^(MPIRandomAccess|MPIRandomAccess_LCG)_Errors=/ { sum += 1 + $2 } END { print sum }' summary)" = 2 ] ||
    fail "MPIRandomAccess had errors"
  awk -F= '/^HPL_Tflops=/ { h = $2 } /^MPIFFT_maxErr=/ { f = $2 } /^Success=/ { s = $2 }
    END { exit !(h > 0 && f != "" && f < 1e-12 && s == 1) }' summary || fail "the summary says so"
}

verdict() {
  grep '^||Ax-b||.* PASSED$' hpccoutf.txt
  grep -E '^ +[0-9]+ tests completed and' hpccoutf.txt | sed 's/^ */PTRANS and HPL: /'
  grep -E '^Found 0 errors' hpccoutf.txt | sort | uniq -c
  grep -E '^(MPIFFT_maxErr|PTRANS_residual|MPIRandomAccess.*_Errors|Success)=' summary
}

concerns='^(HPL_Tflops|PTRANS_GBs|MPIRandomAccess_LCG_GUPs|MPIRandomAccess_GUPs|MPIFFT_Gflops|.*Latency_usec|.*Bandwidth_GBytes)='
challenge "$preload"
verdict
grep -E "$concerns" summary >figures
if [ -n "$preload" ]; then
  mv figures served
  mv errors served_errors
  challenge ''
  mv served_errors errors
  grep -E "$concerns" summary >figures
  printf '%-36s %14s %14s\n' 'one run' 'MPI alone' 'preloaded'
  paste -d= figures served | awk -F= '{ printf "%-36s %14s %14s\n", $1, $2, $4 }'
else
  cat figures
fi
passed "hpcc: HPL, PTRANS, RandomAccess, STREAM, FFT, latency and bandwidth on $ranks ranks"
