"""Every operation gives what gloo gives."""
import datetime

import pytest
import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

REDUCED = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int32, torch.int64, torch.uint8]
MOVED = [*REDUCED, torch.bool, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2]
COUNTS = [0, 1, 5, 1000, 70000]


def numbers(count, dtype, seed):
    """Small whole numbers: sums of few of them are exact in every type."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 3, (count,), generator=generator).to(dtype)


def same(ours, theirs):
    return torch.equal(ours.view(torch.uint8), theirs.view(torch.uint8)) if ours.numel() else ours.shape == theirs.shape


def both(operation, gloo):
    """Runs it over Tutti, then gloo; its results, a list of tensors, are the same."""
    ours, theirs = operation(None), operation(gloo)
    assert len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs)), (ours, theirs)


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("op", [ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX])
@pytest.mark.parametrize("is_async", [False, True])
def test_all_reduce(gloo, rank, dtype, op, is_async):
    def operation(group):
        results = []
        for count in COUNTS:
            data = numbers(count, dtype, rank)
            work = dist.all_reduce(data, op, group=group, async_op=is_async)
            if is_async:
                work.wait()
            results.append(data)
        return results

    both(operation, gloo)


@pytest.mark.parametrize("op", [ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR])
def test_bitwise(gloo, rank, op):
    def operation(group):
        data = torch.arange(10) + rank
        dist.all_reduce(data, op, group=group)
        return [data]

    both(operation, gloo)


def test_average(rank, size):
    data = torch.full((5,), float(rank))
    dist.all_reduce(data, ReduceOp.AVG)
    assert torch.equal(data, torch.full((5,), (size - 1) / 2))


def test_scaled_sum(rank, size):
    data = torch.full((5,), float(rank))
    dist.all_reduce(data, dist._make_nccl_premul_sum(0.5))
    assert torch.equal(data, torch.full((5,), size * (size - 1) / 4))
    data = torch.full((5,), float(rank))
    dist.all_reduce(data, dist._make_nccl_premul_sum(torch.tensor([2.0])))
    assert torch.equal(data, torch.full((5,), float(size * (size - 1))))


def test_bool_complex_and_fp8(rank, size):
    data = torch.tensor([True, False, rank == 0])
    dist.all_reduce(data)
    assert data.tolist() == [True, False, True]
    data = torch.tensor([True, False, rank == 0])
    dist.all_reduce(data, ReduceOp.MIN)
    assert data.tolist() == [True, False, size == 1]
    data = torch.full((3,), 1 + 2j, dtype=torch.complex64)
    dist.all_reduce(data)
    assert torch.equal(data, torch.full((3,), size * (1 + 2j), dtype=torch.complex64))
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        data = torch.ones(7).to(dtype)
        dist.all_reduce(data)
        assert torch.equal(data.float(), torch.full((7,), float(size)))


def test_an_error_of_one_call_is_not_that_of_the_next(rank, size):
    with pytest.raises(RuntimeError, match="more than one element"):
        dist.all_reduce(torch.ones(1).expand(4))
    data = torch.ones(2)
    dist.all_reduce(data)
    assert data[0].item() == size


def test_sparse(compiled, gloo, rank):
    def operation(group):
        rows = torch.zeros(6, 3)
        rows[rank:rank + 2] = rank + 1.0
        data = rows.to_sparse(1)  # whole rows, as of an embedding
        empty = torch.zeros(4).to_sparse() if rank == 0 else torch.arange(4.0).to_sparse()
        for tensor in (data, empty):
            dist.all_reduce(tensor, group=group)
        return [data.to_dense(), empty.to_dense()]

    both(operation, gloo)


@pytest.mark.parametrize("dtype", MOVED)
def test_broadcast(gloo, rank, size, dtype):
    for root in range(size):
        data = numbers(100, dtype, rank)
        dist.broadcast(data, root)
        assert same(data, numbers(100, dtype, root))


def test_reduce(gloo, rank, size):
    for root in range(size):
        data = numbers(100, torch.float32, rank)
        dist.reduce(data, root)
        expected = sum(numbers(100, torch.float32, other) for other in range(size))
        assert same(data, expected if rank == root else numbers(100, torch.float32, rank))


@pytest.mark.parametrize("dtype", MOVED)
def test_all_gather(rank, size, dtype):
    expected = [numbers(6, dtype, other).view(2, 3) for other in range(size)]
    outputs = [torch.zeros(2, 3, dtype=dtype) for _ in range(size)]
    dist.all_gather(outputs, expected[rank])
    assert all(same(a, b) for a, b in zip(outputs, expected))
    output = torch.zeros(size * 2, 3, dtype=dtype)
    dist.all_gather_into_tensor(output, expected[rank])
    assert same(output, torch.cat(expected))
    inside = torch.zeros(size, 6, dtype=dtype)  # the input is a part of the output, as in FSDP
    inside[rank] = expected[rank].view(-1)
    dist.all_gather_into_tensor(inside, inside[rank])
    assert same(inside.view(-1), torch.cat(expected).view(-1))


def test_all_gather_of_uneven_tensors(rank, size):
    outputs = [torch.zeros(other + 1) for other in range(size)]
    dist.all_gather(outputs, torch.full((rank + 1,), float(rank)))
    assert all(torch.equal(output, torch.full((other + 1,), float(other))) for other, output in enumerate(outputs))


def test_reduce_scatter(gloo, rank, size):
    def operation(group):
        data = [numbers(4, torch.float32, rank * size + other) for other in range(size)]
        listed, single = torch.zeros(4), torch.zeros(4)
        dist.reduce_scatter(listed, data, group=group)
        dist.reduce_scatter_tensor(single, torch.cat(data), group=group)
        return [listed, single]

    both(operation, gloo)
    inside = torch.arange(4.0 * size)  # the output is a part of the input
    dist.reduce_scatter_tensor(inside[4 * rank:4 * rank + 4], inside)
    assert torch.equal(inside[4 * rank:4 * rank + 4], size * torch.arange(4.0 * rank, 4.0 * rank + 4))


def test_reduce_scatter_of_uneven_tensors(rank, size):
    output = torch.zeros(rank + 1)
    dist.reduce_scatter(output, [torch.full((other + 1,), float(other)) for other in range(size)])
    assert torch.equal(output, torch.full((rank + 1,), float(rank * size)))


def test_gather_and_scatter(gloo, rank, size):
    for root in range(size):
        outputs = [torch.zeros(3) for _ in range(size)] if rank == root else None
        dist.gather(torch.full((3,), float(rank)), outputs, root)
        assert rank != root or all(torch.equal(out, torch.full((3,), float(i))) for i, out in enumerate(outputs))
        output = torch.zeros(3)
        dist.scatter(output, [torch.full((3,), float(i)) for i in range(size)] if rank == root else None, root)
        assert torch.equal(output, torch.full((3,), float(rank)))


def test_all_to_all(gloo, rank, size):
    def operation(group):
        even = torch.zeros(2 * size)
        dist.all_to_all_single(even, torch.arange(2.0 * size) + 100 * rank, group=group)
        sent, received = [other + 1 for other in range(size)], [rank + 1] * size
        uneven = torch.zeros(sum(received), 2)
        dist.all_to_all_single(uneven, torch.arange(2.0 * sum(sent)).view(-1, 2) + 100 * rank, received, sent, group=group)
        return [even, uneven]

    both(operation, gloo)
    outputs = [torch.zeros(rank + 1) for _ in range(size)]
    dist.all_to_all(outputs, [torch.full((other + 1,), float(rank)) for other in range(size)])
    assert all(torch.equal(output, torch.full((rank + 1,), float(other))) for other, output in enumerate(outputs))


def test_tensors_that_are_not_contiguous(rank, size):
    data = torch.zeros(4, 6).t()
    data.fill_(float(rank))
    dist.all_reduce(data)
    assert torch.equal(data, torch.full((6, 4), size * (size - 1) / 2))
    wide = torch.zeros(size * 2, 2)[:, :1]
    dist.all_gather_into_tensor(wide, torch.full((2, 1), float(rank)))
    assert wide[2 * rank].item() == rank and wide[0].item() == 0


def test_coalesced(rank, size):
    with dist._coalescing_manager():
        data = [torch.full((count,), float(rank)) for count in (1, 100)]
        for tensor in data:
            dist.all_reduce(tensor)
    assert all(torch.equal(tensor, torch.full_like(tensor, size * (size - 1) / 2)) for tensor in data)
    outputs = [torch.zeros(size * count) for count in (1, 100)]
    with dist._coalescing_manager(async_ops=True) as works:
        for output, count in zip(outputs, (1, 100)):
            dist.all_gather_into_tensor(output, torch.full((count,), float(rank)))
    works.wait()
    assert outputs[1][100 * rank].item() == rank
    outputs = [torch.zeros(count) for count in (1, 100)]
    with dist._coalescing_manager():
        for output in outputs:
            dist.reduce_scatter_tensor(output, torch.ones(size * output.numel()))
    assert all(torch.equal(output, torch.full_like(output, float(size))) for output in outputs)


def test_objects(rank, size):
    everyone = [None] * size
    dist.all_gather_object(everyone, {"rank": rank})
    assert everyone == [{"rank": other} for other in range(size)]
    told = [("text", rank)]
    dist.broadcast_object_list(told, 0)
    assert told == [("text", 0)]


def test_calls_of_one_group_run_in_order(rank, size):
    data = torch.ones(50000)
    works = [dist.all_reduce(data, ReduceOp.AVG, async_op=True)]
    for _ in range(5):
        works.append(dist.all_reduce(data, async_op=True))
    for work in reversed(works):
        work.wait()
    assert torch.equal(data, torch.full_like(data, float(size**5)))


def test_async_may_differ_between_ranks(rank, size):
    data = torch.ones(3)
    work = dist.all_reduce(data, async_op=rank % 2 == 0)
    if rank % 2 == 0:
        work.wait()
    assert data[0].item() == size


def test_groups_do_not_block_each_other(rank, size):
    first, second = dist.new_group(backend="tutti"), dist.new_group(backend="tutti")
    data = {group: torch.ones(3) for group in (first, second)}
    order = (first, second) if rank % 2 == 0 else (second, first)
    works = [dist.all_reduce(data[group], group=group, async_op=True) for group in order]
    for work in works:
        work.wait()
    assert all(tensor[0].item() == size for tensor in data.values())
    for group in (first, second):
        dist.destroy_process_group(group)


def test_future_completes_by_itself(rank, size):
    data = torch.ones(1000)
    future = dist.all_reduce(data, async_op=True).get_future()
    doubled = future.then(lambda done: done.value()[0] * 2)
    assert torch.equal(doubled.wait(), torch.full((1000,), 2.0 * size))


def test_collective_in_a_callback(rank, size):
    data, more = torch.ones(4), torch.ones(4)

    def again(_):
        dist.all_reduce(more)
        return more

    assert dist.all_reduce(data, async_op=True).get_future().then(again).wait()[0].item() == size


def test_subgroups_are_made_by_their_members_alone(rank, size):
    members = [other for other in range(size) if other % 2 == rank % 2]
    group = dist.new_group(members, backend="tutti", use_local_synchronization=True)
    data = torch.full((2,), float(rank))
    dist.all_reduce(data, group=group)
    assert data[0].item() == sum(members)
    dist.destroy_process_group(group)


def test_sequence_numbers(group, compiled):
    first = dist.all_reduce(torch.ones(1), group=group, async_op=True)
    dist.barrier(group)
    third = dist.all_reduce(torch.ones(1), group=group, async_op=True)
    assert (first._get_sequence_number(), third._get_sequence_number()) == (1, 3)
    third.wait()


def test_options_and_device_id_are_accepted(rank, size):
    import tutti.torch

    options = tutti.torch.Options(algorithms="allreduce=ring", timeout=datetime.timedelta(seconds=60))
    group = dist.new_group(backend="tutti", pg_options=options)
    data = torch.ones(100)
    dist.all_reduce(data, group=group)
    assert data[0].item() == size
    dist.destroy_process_group(group)


def test_messages(rank, size):
    if size == 1:
        pytest.skip("messages need two ranks")
    right, left = (rank + 1) % size, (rank - 1) % size
    for count in (0, 1, 200000):
        got = torch.zeros(count)
        works = dist.batch_isend_irecv([dist.P2POp(dist.isend, torch.full((count,), float(rank)), right),
                                        dist.P2POp(dist.irecv, got, left)])
        for work in works:
            work.wait()
        assert torch.equal(got, torch.full((count,), float(left)))


def test_tags(rank, size):
    if size == 1:
        pytest.skip("messages need two ranks")
    if rank == 0:
        for other in range(1, size):
            second, first = torch.zeros(2), torch.zeros(2)
            dist.recv(second, other, tag=2)
            dist.recv(first, other, tag=1)
            assert (first[0].item(), second[0].item()) == (other, 10 * other)
    else:
        works = [dist.isend(torch.full((2,), float(rank)), 0, tag=1), dist.isend(torch.full((2,), 10.0 * rank), 0, tag=2)]
        for work in works:
            work.wait()
    dist.barrier()


def test_any_source(compiled, rank, size):
    if size == 1:
        pytest.skip("messages need two ranks")
    if rank == 0:
        sources = set()
        for _ in range(1, size):
            data = torch.zeros(2)
            source = dist.recv(data, tag=7)
            assert data[0].item() == source
            sources.add(source)
        assert sources == set(range(1, size))
    else:
        dist.send(torch.full((2,), float(rank)), 0, tag=7)
    dist.barrier()


def test_messages_start_before_collectives_are_over(rank, size):
    if size == 1:
        pytest.skip("messages need two ranks")
    if rank == 0:
        work = dist.all_reduce(torch.ones(2), async_op=True)  # rank 1 calls after the message
        dist.send(torch.ones(1), 1)
        work.wait()
    elif rank == 1:
        dist.recv(torch.zeros(1), 0)
        dist.all_reduce(torch.ones(2))
    else:
        dist.all_reduce(torch.ones(2))
