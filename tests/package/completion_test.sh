#!/usr/bin/env bash
# completion_test.sh SETTINGS - what bash offers behind the installed programs is what they take: every option of --help, and the
# names that an option, a collective or a command may have.
source "$(dirname "$0")/common.sh" "$1"
export PATH=$prefix/bin:$PATH
source "$prefix/share/bash-completion/completions/tutti" || fail 'bash does not read the completions'

# complete_line WORD...: what bash offers for the last word, in COMPREPLY.
complete_line() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _tutti "$1" "${*: -1}" ''
}
# expect "WORDS" WORD...: exactly these.
expect() {
  local wanted=$1
  shift
  complete_line "$@"
  [ "${COMPREPLY[*]}" = "$wanted" ] || fail "after '$*': '${COMPREPLY[*]}' is offered, not '$wanted'"
}
# expect_every_option PROGRAM [COMMAND]
expect_every_option() {
  local option
  complete_line "$@" --
  for option in $("$@" --help | grep -oE '^  (-[a-z] \[ )?--[a-z-]+' | grep -oE -e '--[a-z-]+'); do
    [[ " ${COMPREPLY[*]} " == *" $option "* ]] || fail "$* does not offer $option"
  done
}
# expect_all WORD...: the lines of stdin are offered, and nothing else.
expect_all() { expect "$(tr '\n' ' ' | sed 's/ $//')" "$@"; }

for command in tutti $(ls "$prefix/bin"); do
  [ -e "$prefix/share/bash-completion/completions/$command" ] || fail "bash finds no completions of $command"
  complete -p "$command" >"$log" 2>&1 || fail "nothing completes $command"
done
commands=$(tutti --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
expect "${commands//$'\n'/ }" tutti ''
expect show tutti sho
expect '--help --version' tutti --
for command in $commands; do
  expect_every_option tutti "$command"
done
expect_all tutti show '' < <(tutti list | awk 'NR > 1 && /^[a-z]/ { print $1 }' | sort -u)
expect_all tutti show allgather '' < <(tutti list allgather | awk 'NR > 1 && /^[a-z]/ { print $2 }' | sort -u)
expect_all tutti show allgather --ranks 8 '' < <(tutti list allgather | awk 'NR > 1 && /^[a-z]/ { print $2 }' | sort -u)
expect_all tutti cost allgather ring b < <(tutti list allgather | awk '/^[a-z]/ && $2 ~ /^b/ { print $2 }' | sort -u)
expect 'text dot svg json' tutti show --format ''
expect svg tutti show allreduce ring --format s
expect '' tutti show --ranks ''
expect '' tutti nonsense ''
expect 'check show diff merge plot import' tutti rules ''
expect 'ompi ompi-json' tutti rules import --from om
expect '--model' tutti rules import --mod
touch "$folder/some_file"
if [ -n "$mpirun" ]; then
  printf '#!/bin/sh\n' >"$folder/a_launcher_of_some"
  chmod +x "$folder/a_launcher_of_some"
  PATH=$folder:$PATH expect a_launcher_of_some tutti run a_launcher_of
  PATH=$folder:$PATH expect a_launcher_of_some tutti run --serve all a_launcher_of
  expect "$folder/some_file" tutti run mpirun -n 4 "$folder/some_f"
  expect '' tutti run mpirun --
fi
expect "$folder/some_file" tutti list --write "$folder/some"
expect "$folder/some_file" tutti rules check "$folder/some"
expect "$folder/some_file" tutti rules diff builtin "$folder/some"

if [ -x "$prefix/bin/tutti-bench" ]; then
  expect_every_option tutti-bench
  expect_every_option tutti-sgd
  expect_every_option tutti-soak
  expect --collective tutti-bench --coll
  expect allreduce tutti-bench --collective allred
  expect 'barrier,allgather barrier,allgatherv' tutti-bench --collective barrier,allg
  expect_all tutti-bench --collective allgather --algorithm '' < <(
    { echo auto && echo each && tutti list allgather | awk 'NR > 1 && /^[a-z]/ { print $2 }' | sort -u; })
  expect 'auto,ring' tutti-bench --collective allgather --algorithm auto,rin
  expect "$folder/some_file" tutti plot results.json --output "$folder/some"
  expect 'fp8_e4m3 fp8_e5m2 fp16 fp32 fp64' tutti-bench --type f
  expect 'auto shm mpi ucx shm+ucx' tutti-bench --transport ''
  expect '' tutti-bench --min ''
  expect 'ring' tutti-sgd --epochs 3 --algorithm rin
  expect 'fp64 fp32 bf16 fp16' tutti-sgd --precision ''
  expect "$folder/some_file" tutti-sgd --checkpoint "$folder/some"
  expect 'scan,sendrecv scan,send' tutti-soak --collectives scan,sen
  expect 'blocking' tutti-soak --modes b
  expect 'random' tutti-soak --transport r
fi
finish
