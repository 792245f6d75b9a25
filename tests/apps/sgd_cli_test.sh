#!/usr/bin/env bash
# sgd_cli_test.sh MPIRUN_SH MPIRUN TUTTI_SGD RANKS - runs tutti-sgd as users do: exit codes, messages, files, resuming.
set -u
mpirun_sh=$1 mpirun=$2 program=$3 ranks=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  sed 's/^/  | /' "$folder/out" "$folder/err" >&2
  failures=$((failures + 1))
}

sgd() { "$mpirun_sh" "$mpirun" "$ranks" "$program" "$@" >"$folder/out" 2>"$folder/err"; }

# expect CODE TEXT OPTIONS...: the exit code, and a text in stdout or stderr.
expect() {
  local code=$1 text=$2
  shift 2
  sgd "$@"
  local found=$?
  [ $found -eq "$code" ] || fail "exit code $found instead of $code: $*"
  grep -qF -- "$text" "$folder/out" "$folder/err" || fail "no '$text': $*"
}

# once: the last error was told by one rank only.
once() {
  local lines
  lines=$(grep -c '^tutti-sgd: ' "$folder/err")
  [ "$lines" -eq 1 ] || fail "$lines lines of error instead of 1"
}

expect 0 'Usage: tutti-sgd' --help
[ "$(grep -c Usage "$folder/out")" -eq 1 ] || fail 'help came more than once'
expect 0 'tutti-sgd (Tutti ' --version

expect 2 "--epochs: '0' is not an integer from 1" --epochs 0
once
expect 2 "unrecognised option '--speed'" --speed
expect 2 'is none of: ' --algorithm magic
expect 2 'No such file' --data "$folder/none"
once
expect 2 'there is no folder' --checkpoint "$folder/none/checkpoint"
expect 2 'there are only' --batch 5000
once
# Built without CUDA, or on a machine without a driver: where there is one, tests/fake_cuda tests --device.
if ! ldconfig -p | grep -q libcuda.so.1; then
  expect 2 'tutti-sgd: --device: ' --device
  once
fi
printf '1,2,3\n' >"$folder/short.csv"
expect 2 'line 1: expected 65 values' --data "$folder/short.csv"
once
expect 2 'expected the magic number 0x00000803 of images' --images "$folder/short.csv" --labels "$folder/short.csv"
once

# MNIST's format: 20 images of one pixel in 2 classes, then one image of two pixels.
printf '\0\0\10\3\0\0\0\24\0\0\0\1\0\0\0\1aAaAaAaAaAaAaAaAaAaA' >"$folder/images"
printf '\0\0\10\1\0\0\0\24%s' "$(printf '\1\2%.0s' {1..10})" >"$folder/labels"
expect 0 '16 training and 4 test images of 1 pixel' --images "$folder/images" --labels "$folder/labels" --batch 3 --epochs 2
printf '\0\0\10\3\0\0\0\1\0\0\0\1\0\0\0\2aA' >"$folder/test_images"
printf '\0\0\10\1\0\0\0\1\1' >"$folder/test_labels"
expect 2 'has images of 1 pixels' --images "$folder/images" --labels "$folder/labels" \
  --test-images "$folder/test_images" --test-labels "$folder/test_labels"
once

expect 2 '(did you mean ring?)' --algorithm rign
once
expect 2 'allowed: 1 and more' --bucket 0
once
expect 2 '--zero 1 makes none' --zero 1 --algorithm ring
once
expect 2 'allowed: 4 x 4 and more' --model cnn --batch 3 --images "$folder/images" --labels "$folder/labels"
once
for arguments in --help --version '--epochs 1 --json -' '--epochs 1'; do
  # shellcheck disable=SC2016,SC2086
  "$mpirun_sh" "$mpirun" 1 sh -c '"$@" >/dev/full' sh "$program" $arguments >"$folder/out" 2>"$folder/err" &&
    fail "exit code 0: $arguments >/dev/full"
  grep -q '^tutti-sgd: cannot write to standard output: No space left' "$folder/err" || fail "$arguments >/dev/full"
  # shellcheck disable=SC2016,SC2086
  "$mpirun_sh" "$mpirun" 1 sh -c '"$@" >&-' sh "$program" $arguments >"$folder/out" 2>"$folder/err" &&
    fail "exit code 0: $arguments >&-"
  grep -q '^tutti-sgd: cannot write to standard output: Bad file descriptor' "$folder/err" || fail "$arguments >&-"
done

# What is made up; all ways to share the work.
expect 0 '800 training and 200 test images of 784 pixels' --synthetic 1000 --epochs 1 --precision fp32
expect 0 '28x28x1 conv 4 conv 8-16-10' --synthetic 200 --model cnn --channels 4,8 --hidden 16 --epochs 1 --precision fp32
expect 0 'ZeRO-1 in 2 buckets, beside the backward pass' --epochs 1 --bucket 8K --overlap --zero 1 --optimizer adam
expect 0 'exposed communication' --epochs 1 --precision bf16 --accumulate 2 --schedule cosine --warm-up 3 --clip 1

# The report.
expect 0 'communication' --epochs 2 --json "$folder/report.json"
grep -q '"comm_share"' "$folder/report.json" || fail 'no comm_share in the report'
[ "$(grep -c '"loss"' "$folder/report.json")" -eq 2 ] || fail 'not 2 epochs in the report'
grep -q '"hidden_communication"' "$folder/report.json" || fail 'no times of a step in the report'
expect 0 '"test_accuracy"' --epochs 1 --json -
[ "$(head -c 1 "$folder/out")" = '{' ] || fail 'more than JSON on stdout'

expect 0 'test accuracy' --epochs 2 --bucket 8K --overlap --report "$folder/report.html" --compare "$folder/report.json"
grep -q '</html>' "$folder/report.html" && grep -q 'Beside other runs' "$folder/report.html" || fail 'no page'
expect 2 'is no report of tutti-sgd' --epochs 1 --report "$folder/page.html" --compare "$folder/images"
once
expect 2 '--compare needs --report' --compare "$folder/report.json"
once
expect 0 'ZeRO-1, buckets, overlap' --study --epochs 2
[ "$(grep -cE '^(one allreduce|buckets|ZeRO-1|bf16)' "$folder/out")" -eq 6 ] || fail 'not 6 ways'

# 2 epochs, then 2 more, against 4 at once.
saved=(--batch 400 --checkpoint "$folder/saved")
expect 0 'rank' --epochs 4 --batch 400 --checkpoint "$folder/at_once"
expect 0 'rank' --epochs 2 "${saved[@]}"
expect 0 'after 2 epochs' --epochs 4 "${saved[@]}"
cmp -s "$folder/at_once" "$folder/saved" || fail 'resumed training differs from uninterrupted training'
expect 0 'All epochs are done already' --epochs 4 "${saved[@]}" --json "$folder/report.json"
[ "$(grep -c '"loss"' "$folder/report.json")" -eq 2 ] || fail 'the report of another run was replaced by none'
cmp -s "$folder/at_once" "$folder/saved" || fail 'the checkpoint was touched'

# A training goes on with another number of ranks, and with ZeRO.
expect 0 'after 4 epochs' --epochs 5 --zero 1 --bucket 8K --overlap "${saved[@]}"
"$mpirun_sh" "$mpirun" 1 "$program" --epochs 6 "${saved[@]}" >"$folder/out" 2>"$folder/err" || fail 'alone'
grep -q 'after 5 epochs' "$folder/out" || fail 'the rank alone did not resume'
cp "$folder/at_once" "$folder/saved"

# A rank that is killed while it trains: an error, and a checkpoint to go on from.
rm -f "$folder/killed"
killed=(--synthetic 2000 --hidden 64 --precision fp32 --checkpoint "$folder/killed")
"$mpirun_sh" "$mpirun" "$ranks" "$program" --epochs 100000 "${killed[@]}" --json "$folder/killed.json" \
  --report "$folder/killed.html" >"$folder/out" 2>"$folder/err" &
training=$!
for ((i = 0; i < 300; ++i)); do
  [ -s "$folder/killed.html" ] && break
  sleep 0.1
done
pkill -KILL -n -f -- "--checkpoint $folder/killed" || fail 'no rank was killed'
wait $training && fail 'a killed rank is no error'
grep -q '"train_accuracy"' "$folder/killed.json" || fail 'a killed training has no report'
expect 0 'Resumed' --epochs 1 "${killed[@]}"

# A limit for the size of files: an error that names the file, which stays as it was, and no other file.
limited=(--synthetic 100 --hidden 1024,1024 --batch 50 --checkpoint "$folder/limited")
"$mpirun_sh" "$mpirun" 1 "$program" --epochs 1 "${limited[@]}" >"$folder/out" 2>"$folder/err" || fail 'without a limit'
cp "$folder/limited" "$folder/before"
"$mpirun_sh" "$mpirun" 1 bash -c 'ulimit -f 20000; exec "$@"' limited "$program" --epochs 2 "${limited[@]}" >"$folder/out" \
  2>"$folder/err" && fail 'beyond the limit, without an error'
grep -q "cannot write '$folder/limited.*File too large" "$folder/err" || fail 'no word of the limit'
cmp -s "$folder/before" "$folder/limited" || fail 'the checkpoint of before the limit is gone'
[ "$(find "$folder" -name 'limited*' | wc -l)" -eq 1 ] || fail 'a part of a checkpoint was left'

# Checkpoints that cannot be used are refused and kept.
refuse() {
  cp "$folder/saved" "$folder/before"
  expect 2 "$@" "${saved[@]}"
  once
  cmp -s "$folder/before" "$folder/saved" || fail 'the checkpoint was touched'
}
refuse 'model 64-16-10 expected, 64-64-10 found' --hidden 16
refuse '--precision fp32 expected, fp64 found' --precision fp32
refuse '--optimizer adam expected, sgd found' --optimizer adam
refuse '--accumulate 2 expected, 1 found' --accumulate 2
refuse '--seed 2 expected, 1 found' --seed 2
refuse 'other images, or another --test-fraction' --test-fraction 0.3
head -c 1000 "$folder/at_once" >"$folder/saved"
refuse 'is cut short or damaged' --epochs 5
echo '{"epochs": []}' >"$folder/saved"
refuse 'is no checkpoint of tutti-sgd' --epochs 5
# A failure at run time: there is no room in a file's name for the temporary file's.
expect 1 'File name too long' --epochs 1 --checkpoint "$folder/$(printf 'x%.0s' {1..250})"
once
[ $failures -eq 0 ] || exit 1
