"""Operations on several tensors at once give what they give on each."""
import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.distributed import ReduceOp

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # new names are not in old versions of PyTorch
COUNTS = [3, 0, 20000, 17, 1, 4096, 4097]  # both sides of 16 KiB, up to which they share messages
MIXED = [torch.float32, torch.float32, torch.int64, torch.bfloat16, torch.bfloat16, torch.float32, torch.int32]

NAMES = {ReduceOp.SUM: "sum", ReduceOp.MAX: "max"}


def tensors(rank, dtypes, each=1):
    """Small whole numbers, whose sums are exact; some are not contiguous, some a view of a larger tensor."""
    made = []
    for place, (count, dtype) in enumerate(zip(COUNTS, dtypes)):
        data = (torch.arange(count * each) % 5 + rank + place).to(dtype)
        if place % 3 == 1:
            data = torch.stack([data, data])[1]
        elif place % 3 == 2:
            data = torch.stack([data, data], 1)[:, 1]
        made.append(data)
    assert any(not tensor.is_contiguous() for tensor in made)
    return made


def same(ours, wanted):
    assert len(ours) == len(wanted)
    for place, (a, b) in enumerate(zip(ours, wanted)):
        assert a.dtype == b.dtype and torch.equal(a, b), (place, a, b)


@pytest.fixture(params=["one type", "mixed types"])
def dtypes(request):
    return MIXED if request.param == "mixed types" else [torch.float32] * len(COUNTS)


@pytest.fixture(params=[False, True], ids=["waiting", "async"])
def is_async(request):
    return request.param


def summed(gloo, given, op):
    """Gloo works on contiguous tensors alone."""
    results = [data.clone(memory_format=torch.contiguous_format) for data in given]
    for data in results:
        dist.all_reduce(data, op, group=gloo)
    return results


def coalesced(calls, is_async):
    with dist._coalescing_manager(async_ops=is_async) as works:
        for call, *given in calls:
            call(*given)
    if is_async:
        works.wait()


@pytest.mark.parametrize("op", [ReduceOp.SUM, ReduceOp.MAX])
def test_all_reduce(gloo, rank, dtypes, is_async, op):
    wanted, ours = summed(gloo, tensors(rank, dtypes), op), tensors(rank, dtypes)
    coalesced([(dist.all_reduce, data, op) for data in ours], is_async)
    same(ours, wanted)
    same(functional.all_reduce_coalesced(tensors(rank, dtypes), NAMES[op], dist.group.WORLD), wanted)


@pytest.mark.parametrize("factor", [2.0, torch.tensor([2.0])], ids=["number", "tensor"])
def test_scaled_sum(rank, size, factor):
    ours = [torch.full((count,), float(rank + 1)) for count in COUNTS]
    coalesced([(dist.all_reduce, data, dist._make_nccl_premul_sum(factor)) for data in ours], False)
    same(ours, [torch.full((count,), float(size * (size + 1))) for count in COUNTS])


def test_broadcast(world, rank, size, dtypes):
    options = dist.BroadcastOptions()
    options.rootRank = size - 1
    ours = tensors(rank, dtypes)
    world.broadcast(ours, options).wait()
    same(ours, tensors(size - 1, dtypes))


def test_all_gather(rank, size, dtypes, is_async):
    own, everyone = tensors(rank, dtypes), [tensors(other, dtypes) for other in range(size)]
    wanted = [torch.cat(parts) for parts in zip(*everyone)]
    ours = [torch.full_like(data, 77) for data in wanted]
    coalesced([(dist.all_gather_into_tensor, *pair) for pair in zip(ours, own)], is_async)
    same(ours, wanted)
    inside = [torch.full_like(data, 77) for data in wanted]  # each input is a part of its output, as in FSDP
    parts = [whole.view(size, -1)[rank] for whole in inside]
    for part, data in zip(parts, own):
        part.copy_(data)
    coalesced([(dist.all_gather_into_tensor, *pair) for pair in zip(inside, parts)], is_async)
    same(inside, wanted)
    same(functional.all_gather_into_tensor_coalesced(own, dist.group.WORLD), wanted)


def test_old_names(rank, size, is_async):
    """They take tensors of one type alone."""
    everyone = [tensors(other, [torch.float32] * len(COUNTS)) for other in range(size)]
    ours = tensors(rank, [torch.float32] * len(COUNTS))
    outputs = [[torch.full_like(data, 77) for data in ours] for _ in range(size)]
    works = [dist.all_gather_coalesced(outputs, ours, async_op=is_async)]
    works.append(dist.all_reduce_coalesced(ours, async_op=is_async))
    for work in works if is_async else []:
        work.wait()
    same(ours, [sum(each) for each in zip(*everyone)])
    for output, theirs in zip(outputs, everyone):
        same(output, theirs)


def test_all_gather_of_lists_even_and_uneven(world, rank, size):
    """Those of one length join; others are calls of their own, between them."""
    counts = [[4] * size, [2] * size, [other + 1 for other in range(size)], [3] * size, [5] * size]
    inputs = [torch.full((each[rank],), float(rank)) for each in counts]
    outputs = [[torch.full((count,), 77.0) for count in each] for each in counts]
    world.allgather(outputs, inputs).wait()
    for output, each in zip(outputs, counts):
        same(output, [torch.full((count,), float(other)) for other, count in enumerate(each)])


@pytest.mark.parametrize("op", [ReduceOp.SUM, ReduceOp.MAX])
def test_reduce_scatter(gloo, rank, size, dtypes, is_async, op):
    given = tensors(rank, dtypes, size)
    wanted = [data.view(size, -1)[rank] for data in summed(gloo, given, op)]
    ours = [torch.full_like(data, 77) for data in wanted]
    coalesced([(dist.reduce_scatter_tensor, *pair, op) for pair in zip(ours, given)], is_async)
    same(ours, wanted)
    same(functional.reduce_scatter_tensor_coalesced(given, NAMES[op], [0] * len(given), dist.group.WORLD),
         wanted)


def test_outputs_that_share_memory_are_refused(size):
    data = torch.ones(8)
    with pytest.raises(ValueError, match="outputs of buffers 0 and 1 share memory"):
        coalesced([(dist.all_reduce, data), (dist.all_reduce, data[4:])], False)
    dist.all_reduce(data)
    assert data.tolist() == [float(size)] * 8
