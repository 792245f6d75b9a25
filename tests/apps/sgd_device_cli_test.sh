#!/usr/bin/env bash
# sgd_device_cli_test.sh MPIRUN_SH MPIRUN TUTTI_SGD DIGITS FAKE_CUDA_FOLDER FAKE_CUBLAS_FOLDER MOST_RANKS - runs
# tutti-sgd --device as users do, over the fake driver: checkpoints with the bytes of the host's, products by a stand-in
# for cuBLAS, errors.
set -u
mpirun_sh=$1 mpirun=$2 program=$3 digits=$4 fake=$5 cublas=$6 most_ranks=$7
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
cd "$folder" || exit 1 # libraries may be found in the folder where a program runs: not where the fake driver lies

fail() {
  echo "FAILED: $*" >&2
  sed 's/^/  | /' "$folder/out" "$folder/err" >&2
  failures=$((failures + 1))
}

# sgd RANKS OPTIONS...: on a few images, with a small model.
sgd() {
  local ranks=$1
  shift
  "$mpirun_sh" "$mpirun" "$ranks" "$program" --data "$folder/digits" --hidden 6,5 --products "${products:-in-order}" --seed 3 "$@" \
    >"$folder/out" 2>"$folder/err"
}

# device RANKS OPTIONS...: sgd --device over the fake driver, late and with races looked for.
device() {
  LD_LIBRARY_PATH=$fake:${LD_LIBRARY_PATH:-} FAKE_CUDA_RACE=1 FAKE_CUDA_DELAY_US=50 FAKE_CUDA_ABORT=1 \
    FAKE_CUDA_DEVICES=2 sgd "$@" --device
}

# losses FILE: those of a report, and the accuracies.
losses() { grep -E '"(loss|train_accuracy|test_accuracy)"' "$1"; }

head -n 50 "$digits" >"$folder/digits"
export TUTTI_BITS=fixed # of sums, which makes their bits independent of buckets
ways=('' '--bucket 300 --overlap' '--bucket 300 --overlap --zero 1' '--zero 1 --optimizer adam --rate 0.01')
for precision in fp32 fp64; do
  for ((ranks = 1; ranks <= 3 && ranks <= most_ranks; ++ranks)); do
    for way in "${ways[@]}"; do
      read -ra more <<<"$way"
      common=("$ranks" --batch 14 --precision "$precision" --epochs 2 "${more[@]}")
      rm -f "$folder"/*.saved
      sgd "${common[@]}" --checkpoint "$folder/host.saved" --json "$folder/host.json" || fail "host: ${common[*]}"
      device "${common[@]}" --checkpoint "$folder/device.saved" --json "$folder/device.json" ||
        fail "device: ${common[*]}"
      grep -q 'ranks\? on GPUs' "$folder/out" || fail "no word of GPUs: ${common[*]}"
      if [[ $way == *--overlap* ]]; then
        grep -q 'overlaps$' "$folder/out" && grep -q '"comm_share": null' "$folder/device.json" ||
          fail "no overlap: ${common[*]}"
      fi
      cmp "$folder/host.saved" "$folder/device.saved" || fail "other weights: ${common[*]}"
      diff <(losses "$folder/host.json") <(losses "$folder/device.json") || fail "other losses: ${common[*]}"
      [ "$(losses "$folder/host.json" | wc -l)" -eq 6 ] || fail "not 2 epochs: ${common[*]}"
    done
  done
done
grep -q '"device": true' "$folder/device.json" || fail 'the report does not say that it was a device'

# Gradients that are compressed on the device.
for compress in int8 top_k; do
  common=(2 --batch 14 --precision fp32 --epochs 2 --bucket 300 --compress "$compress" --keep 0.2)
  [ $compress = top_k ] || common=("${common[@]:0:9}")
  rm -f "$folder"/*.saved
  sgd "${common[@]}" --checkpoint "$folder/host.saved" || fail "host: ${common[*]}"
  device "${common[@]}" --checkpoint "$folder/device.saved" || fail "device: ${common[*]}"
  cmp "$folder/host.saved" "$folder/device.saved" || fail "other weights: ${common[*]}"
done

# Products by a library have other bits, but not other losses.
# alike FILE FILE: losses that differ by less than 1e-9 of themselves.
alike() {
  paste <(losses "$1" | tr -cd '0-9.eE\n+-') <(losses "$2" | tr -cd '0-9.eE\n+-') |
    awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-9 * $1) bad = 1 } END { exit bad || NR != 6 }'
}
sgd 2 --batch 14 --precision fp64 --epochs 2 --json "$folder/host.json" || fail 'host, for the library'
for way in '' '--bucket 300 --overlap --zero 1'; do
  read -ra more <<<"$way"
  LD_LIBRARY_PATH=$cublas:${LD_LIBRARY_PATH:-} FAKE_CUBLAS_LOG=1 products=library device 2 --batch 14 --precision fp64 --epochs 2 \
    "${more[@]}" --json "$folder/device.json" || fail "products by the library $way"
  grep -q '^Products  by cuBLAS$' "$folder/out" || fail "no word of cuBLAS $way"
  [ "$(grep -cE '^fake cuBLAS: [0-9]{2,} products$' "$folder/err")" -eq 2 ] || fail "no products of the library $way"
  alike "$folder/host.json" "$folder/device.json" || fail "other losses by the library $way"
done
LD_LIBRARY_PATH=$cublas:${LD_LIBRARY_PATH:-} products=auto device 2 --batch 14 --epochs 1 --model cnn --channels 2,3 ||
  fail 'a network of convolutions by the library'
grep -q '^Products  by cuBLAS$' "$folder/out" || fail 'auto did not find the library'
LD_LIBRARY_PATH=$cublas:${LD_LIBRARY_PATH:-} FAKE_CUBLAS_STATUS=1 products=auto device 2 --batch 14 --epochs 1 ||
  fail 'a library that does not work, auto'
grep -q '^Products  in order$' "$folder/out" || fail 'no word of products in order'

# A training goes from the one to the other.
rm -f "$folder"/*.saved
sgd 2 --epochs 1 --checkpoint "$folder/both.saved" || fail 'host, epoch 1'
device 2 --epochs 2 --checkpoint "$folder/both.saved" || fail 'device, epoch 2'
grep -q 'after 1 epochs' "$folder/out" || fail 'the device did not resume'
sgd 2 --epochs 3 --checkpoint "$folder/both.saved" || fail 'host, epoch 3'
sgd 2 --epochs 3 --checkpoint "$folder/host.saved" || fail 'host, all epochs'
cmp "$folder/host.saved" "$folder/both.saved" || fail 'resumed training differs from uninterrupted training'

# refused TEXT OPTIONS...: with exit code 2, told once.
refused() {
  local text=$1
  shift
  sgd "$@" --device
  local code=$?
  [ $code -eq 2 ] || fail "exit code $code instead of 2: $text"
  grep -qF -- "tutti-sgd: $text" "$folder/err" || fail "no '$text'"
  [ "$(grep -c '^tutti-sgd: ' "$folder/err")" -eq 1 ] || fail 'not 1 line of error'
}
# The machine may have a driver.
ldconfig -p | grep -q libcuda.so.1 || refused '--device: libcuda.so.1 was not found' 2
export LD_LIBRARY_PATH=$fake:${LD_LIBRARY_PATH:-}
FAKE_CUDA_DEVICES=0 refused '--device: the CUDA driver ' 2
FAKE_CUDA_MISSING=cuLaunchKernel refused '--device: libcuda.so.1 has no cuLaunchKernel' 2
refused '--batch: 41 images' 2 --batch 41
refused '--compress and --overlap exclude each other with --device' 2 --precision fp32 --compress bf16 --overlap
LD_LIBRARY_PATH=$cublas:$LD_LIBRARY_PATH FAKE_CUBLAS_STATUS=1 products=library \
  refused '--products library: cuBLAS cannot be used: status 1; allowed: auto, in-order' 2
ldconfig -p | grep -q libcublas.so || products=library refused '--products library: libcublas was not found' 2
# One rank's own failure ends all of them.
FAKE_CUDA_FAIL=cuMemAlloc:3:2 sgd 2 --device && fail 'no memory is no error'
grep -q 'tutti-sgd: rank .: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY' "$folder/err" || fail 'no word of memory'
[ $failures -eq 0 ] || exit 1
