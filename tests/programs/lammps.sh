#!/usr/bin/env bash
# LAMMPS: molten salt; temperature, energies, pressure and displacement with the library agree with those without it.
set -eu
source "$(dirname "$0")/common.sh" "$@"
of_open_mpi lmp
export OMP_NUM_THREADS=1

# simulate LIBRARY: the lines of figures go to the file thermo.
simulate() {
  launch "$1" lmp -log none -in "$programs/input/lammps.txt"
  awk '$1 == "Loop" {on = 0} on && NF > 1; $1 == "Step" {on = 1}' output >thermo
  [ "$(wc -l <thermo)" -eq 6 ] || fail "LAMMPS printed no figures"
}

simulate "$preload"
mv thermo served
mv errors served_errors
simulate ''
mv served_errors errors
echo "step temperature potential kinetic total pressure displacement"
cat served
# Twelve digits are printed. Sums in another order differ in the last bits of 53, and 100 steps carry that on.
differ=$(paste served thermo | awk '
  function away(a, b) { return a == b ? 0 : (a > b ? a - b : b - a) / ((a < 0 ? -a : a) + (b < 0 ? -b : b)) * 2 }
  { for (i = 1; i <= NF / 2; i++) { d = away($i, $(i + NF / 2)); if (d > most) most = d } }
  END { printf "%.1e", most }')
awk -v d="$differ" 'BEGIN { exit !(d <= 1e-7) }' || { cat thermo && fail "other figures, by $differ at most"; }
passed "LAMMPS, 100 steps on $ranks ranks: all figures within $differ of those without the library (1e-7 is allowed)"
