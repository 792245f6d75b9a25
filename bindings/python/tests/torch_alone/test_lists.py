"""Coalesced operations are one call of Tutti for all tensors in a row of one type: with the compiled backend, with the one
in Python, and with both in one job. The records of a run count them."""
import collections
import json
import os
import pathlib
import subprocess

import pytest
from test_programs import run

PROGRAM = """
import os, sys
rank = int(next(os.environ[name] for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK") if name in os.environ))
uncompiled = sys.argv[3].split(",")
if str(rank) in uncompiled:
    os.environ.update(MPICXX="no_compiler", XDG_CACHE_HOME=sys.argv[2])
import warnings
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import tutti.torch

warnings.simplefilter("ignore")
dist.init_process_group("tutti", "mpi://")
assert (tutti.torch._native() is None) == (str(rank) in uncompiled)
os.environ["TUTTI_TRACE"] = sys.argv[1]
group = dist.new_group(backend="tutti")
del os.environ["TUTTI_TRACE"]

def ones(*counts, dtype=torch.float32):
    return [torch.ones(count, dtype=dtype) for count in counts]

def coalesced(call, *lists):
    with dist._coalescing_manager(group):
        for given in zip(*lists):
            call(*given, group=group)

def check(tensors, value):
    assert all(torch.equal(tensor, torch.full_like(tensor, value)) for tensor in tensors)

# allreduce: 1 + 1 + 3
data = ones(*range(100))
coalesced(dist.all_reduce, data)
check(data, 2)
check(functional.all_reduce_coalesced(ones(5, 6, 7), "sum", group), 2)
data = ones(5, 6) + ones(5, 6, dtype=torch.int32) + ones(5, 6)
coalesced(dist.all_reduce, data)
check(data, 2)
# allgather: 1 + 1 + 1
outputs = [data.repeat(2) * 0 for data in ones(*range(100))]
coalesced(dist.all_gather_into_tensor, outputs, ones(*range(100)))
check(outputs, 1)
check(functional.all_gather_into_tensor_coalesced(ones(5, 6, 7), group), 1)
outputs = [ones(5, 6), ones(5, 6)]
dist.all_gather_coalesced(outputs, [data + rank for data in ones(5, 6)], group)
check(outputs[0], 1)
check(outputs[1], 2)
# reduce_scatter: 1 + 1
outputs = ones(*range(100))
coalesced(dist.reduce_scatter_tensor, outputs, ones(*range(0, 200, 2)))
check(outputs, 2)
check(functional.reduce_scatter_tensor_coalesced(ones(4, 6), "sum", [0, 0], group), 2)
# broadcast: 1, as bytes of numbers of one size
data = [tensor * (1 + rank) for tensor in ones(5, 6) + ones(5, 6, dtype=torch.int32)]
group.broadcast(data, dist.BroadcastOptions()).wait()
check(data, 1)
# reduce: 2, as there are no lists of it
group.reduce(ones(5, 6), dist.ReduceOptions()).wait()
dist.destroy_process_group()
"""


@pytest.mark.parametrize("uncompiled", ["", "0,1", "1"], ids=["compiled", "in_python", "both"])
def test_calls(tmp_path, uncompiled):
    program, traces = tmp_path / "program.py", tmp_path / "traces"
    program.write_text(PROGRAM)
    run(2, program, traces, tmp_path, uncompiled)
    tool = pathlib.Path(os.environ["Tutti_ROOT"]) / "bin/tutti"
    told = subprocess.run([tool, "trace", traces, "--json"], capture_output=True, check=True, text=True)
    calls = collections.Counter()
    for line in json.loads(told.stdout)["calls"]:
        calls[line["collective"]] += line["calls"]
    assert calls == {"allreduce": 5, "allgather": 3, "reduce_scatter": 2, "broadcast": 1, "reduce": 2}
