#!/usr/bin/env bash
# run_cli_test.sh TUTTI LIBRARY MPIRUN PROGRAM - `tutti run` gives the library to the ranks in the way of each launcher, and
# refuses what cannot work. PROGRAM: any MPI program that calls collectives.
set -u
tutti=$1 library=$2 mpirun=$3 program=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
unset LD_PRELOAD TUTTI_INTERPOSE TUTTI_LOG
library=$(realpath "$library")

# expect WHAT PATTERN ARGUMENTS...: the output of `tutti run`, errors included, has a line that matches all of it.
expect() {
  local what=$1 pattern=$2
  shift 2
  "$tutti" run "$@" >"$folder/output" 2>&1
  grep -qxE -e "$pattern" "$folder/output" && return
  echo "FAILED: $what: no line '$pattern' in:" >&2
  cat "$folder/output" >&2
  failures=$((failures + 1))
}

# Launchers that say what they are, and do nothing else.
mkdir "$folder/bin"
for name in mpirun:'mpirun (Open MPI) 4.1.4' mpiexec:'HYDRA build details:' srun:'slurm 22.05'; do
  printf '#!/bin/sh\necho "%s"\n' "${name#*:}" >"$folder/bin/${name%%:*}"
done
chmod +x "$folder"/bin/*
of_open_mpi=yes
case $("$tutti" info) in *'Open MPI'*) ;; *) of_open_mpi= ;; esac

if [ -n "$of_open_mpi" ]; then
  expect 'Open MPI' "$folder/bin/mpirun -x LD_PRELOAD=$library -x TUTTI_INTERPOSE=all -n 2 ./a --print" \
    --print --serve all "$folder/bin/mpirun" -n 2 ./a --print
  expect 'several programs' "$folder/bin/mpirun -x LD_PRELOAD=$library -n 1 ./a : -x LD_PRELOAD=$library -n 1 ./b" \
    --print "$folder/bin/mpirun" -n 1 ./a : -n 1 ./b
  expect 'another MPI' "tutti run: '$folder/bin/mpiexec' starts programs of MPICH or Intel MPI, but .*" "$folder/bin/mpiexec" ./a
else
  expect 'MPICH' "$folder/bin/mpiexec -genv LD_PRELOAD $library -genv TUTTI_LOG info -n 2 ./a" \
    --print --report "$folder/bin/mpiexec" -n 2 ./a
  expect 'another MPI' "tutti run: '$folder/bin/mpirun' starts programs of Open MPI, but .*" "$folder/bin/mpirun" ./a
fi
expect 'Slurm' "$folder/bin/srun --export=ALL,LD_PRELOAD=$library -n 2 ./a" --print "$folder/bin/srun" -n 2 ./a
expect 'Slurm with a list' "tutti run: TUTTI_INTERPOSE is 'bcast,scan': srun .*" --serve bcast,scan "$folder/bin/srun" ./a
expect 'Slurm with --export' "tutti run: srun has '--export=NONE' already; .*" "$folder/bin/srun" --export=NONE ./a
expect 'a program alone' "env LD_PRELOAD=$library ./a b" --print ./a b
TUTTI_PLAN_CACHE=7 expect 'variables' "env LD_PRELOAD=$library TUTTI_PLAN_CACHE=7 ./a" --print ./a
LD_PRELOAD=libm.so.6 expect 'another preloaded library' "env LD_PRELOAD=$library:libm.so.6 ./a" --print ./a
expect 'to measure' "env LD_PRELOAD=$library TUTTI_MEASURE=1 ./a" --print --measure ./a
expect 'no command' 'tutti run: no command; allowed: .*' --serve all
expect 'no library' "tutti run: there is no library /nowhere/lib.so; .*" --library /nowhere/lib.so ./a
expect 'an unknown option' "tutti run: .*'--serves'.*" --serves all ./a

# For real. A wrapper adds what root and small machines need, and passes the rest on.
cat >"$folder/mpirun" <<SH
#!/usr/bin/env bash
[ "\$1" != --version ] || exec "$mpirun" --version
exec "$(dirname "$0")/../../scripts/mpirun.sh" "$mpirun" 2 "\$@"
SH
chmod +x "$folder/mpirun"
expect 'a job' 'tutti: calls of all ranks' --serve all --report "$folder/mpirun" "$program"
expect 'a wrong list' "tutti: no call is served: environment variable TUTTI_INTERPOSE is 'alreduce'; .*did you mean allreduce.*" \
  --serve alreduce "$folder/mpirun" "$program"
exit $((failures > 0))
