#!/usr/bin/env bash
# exchange_cli_test.sh TUTTI SOURCES - tutti import and tutti export: what goes out comes back, and what they refuse.
source "$(dirname "$0")/tool_support.sh" "$@"

# export: the picture is that of show; the text for the simulator; the XML is as it was.
expect 0 '^<svg' export svg allreduce ring -p 4 -n 8
"$tutti" show allreduce ring -p 4 -n 8 --format svg | cmp -s - stdout || fail 'export svg: another picture than that of show'
expect 0 '^l0: send 48b to 1 tag 0$' export goal allreduce ring -p 2 -n 24 --in-place
expect 0 '^l2: calc 96$' export goal allreduce ring -p 2 -n 24 --element 8 --reduced 1
expect 0 '<algo name="allreduce_ring"' export msccl allreduce ring -p 3 -n 6 --in-place
"$tutti" export msccl allreduce ring -p 3 -n 6 --in-place --write ring.xml || fail 'export --write'
cmp -s ring.xml "$sources/tests/apps/msccl/allreduce_ring_p3.xml" || fail 'export msccl: another XML than the sample'
expect 2 'FORMAT is missing; allowed: goal, msccl, svg' export
expect 2 "'gaol' is no format; allowed: goal, msccl, svg (did you mean goal" export gaol
expect 2 'COLLECTIVE is missing; or --file FILE' export goal
expect 2 '\-\-element: only with goal' export svg allreduce ring --element 8
expect 2 'MSCCL has no scan' export msccl scan linear
expect 2 'no word for a root' export msccl broadcast chain --root 1
expect 2 'has no word for a message without data' export msccl gather segmented
expect 2 'lies elsewhere' export msccl reduce_scatter ring --in-place

# import
expect 0 'tutti import' import --help
expect 2 'FORMAT is missing; allowed: msccl' import
expect 2 "'mscl' is no format; allowed: msccl (did you mean msccl" import mscl ring.xml
expect 2 'FILE is missing' import msccl
sample=$sources/tests/apps/msccl/allreduce_ring_p3.xml
if ! "$tutti" import msccl "$sample" >ring.json 2>stderr && grep -q 'built without pugixml' stderr; then
  expect 2 'built without pugixml' import msccl "$sample"
  [ $failures = 0 ]
  exit
fi
expect 0 '^ring.json: proved: allreduce, 3 ranks, 3 chunks' verify --file ring.json
grep -q '"in_place": true' ring.json || fail 'import: in_place is lost'
"$tutti" import msccl - --write from_input.json <"$sample" || fail 'import -'
cmp -s ring.json from_input.json || fail 'import of standard input'
expect 0 'num_ranks 3' export goal --file ring.json
expect 2 'none.xml' import msccl none.xml
sed 's/type="rrc"/type="rrr"/' "$sample" >wrong.xml
expect 2 "wrong.xml:[0-9]*: gpu 0, tb 1, step 0: type is 'rrr'; allowed: nop, s, r" import msccl wrong.xml
sed '0,/type="rrc"/s//type="r"/' "$sample" >wrong.xml
expect 2 'wrong.xml: not proved: rank 0: output' import msccl wrong.xml
expect 1 '"fault": {' import msccl wrong.xml --unproved
# Two GPUs put their own operand first, one after the other: in bits they differ, but only where there are three operands.
cat >bits.py <<'PYTHON'
step = '<step s="{}" type="{}" srcbuf="{}" srcoff="{}" dstbuf="{}" dstoff="0" cnt="1" depid="{}" deps="{}" hasdep="0"/>'
print('<algo name="one_step" nchannels="1" nchunksperloop="1" ngpus="3" coll="allreduce" inplace="1" minBytes="8" maxBytes="64">')
for me in range(3):
    others = [other for other in range(3) if other != me]
    print(f'<gpu id="{me}" i_chunks="1" o_chunks="0" s_chunks="2">')
    for i, other in enumerate(others):
        print(f'<tb id="{i}" send="{other}" recv="{other}" chan="0">')
        print(step.format(0, "s", "i", 0, "s", -1, -1))
        print(step.format(1, "r", "i", 0, "s", -1, -1).replace('dstoff="0"', f'dstoff="{i}"'))
        print('</tb>')
    print('<tb id="2" send="-1" recv="-1" chan="0">')
    print(step.format(0, "nop", "i", -1, "i", 0, 1))
    print(step.format(1, "re", "s", 0, "i", 1, 1))
    print(step.format(2, "re", "s", 1, "i", -1, -1))
    print('</tb></gpu>')
print('</algo>')
PYTHON
if python3 bits.py >bits.xml 2>stderr; then
  expect 0 'bits.xml: note: ranks combine operands in different orders' import msccl bits.xml --write bits.json
  expect 0 '^bits.json: proved' verify --file bits.json
  grep -q '"bits": "differ"' bits.json || fail 'import: bits'
  tr -d ' \n' <bits.json | grep -q '"bytes":\[8,64\]' || fail 'import: bytes'
fi
[ $failures = 0 ]
