"""The fixed order of reductions, and sums of distributed arrays, whose bits do not depend on the number of ranks."""
import math

import numpy as np
import pytest
import tutti


def numbers(rank, count):
    random = np.random.default_rng([7, rank])
    return random.uniform(-1, 1, count) * 2.0 ** random.integers(-20, 20, count)


def folded(rows):
    """The first ones pair up until a power of two is left, then all do."""
    rows = list(rows)
    place = 0
    while len(rows) & (len(rows) - 1):
        rows[place : place + 2] = [rows[place] + rows[place + 1]]
        place += 1
    while len(rows) > 1:
        rows = [left + right for left, right in zip(rows[::2], rows[1::2])]
    return rows[0]


def tree(x):
    """The left part is the largest power of two that leaves a right part."""
    if len(x) == 1:
        return x[0]
    left = 1 << (len(x) - 1).bit_length() - 1
    return tree(x[:left]) + tree(x[left:])


@pytest.mark.parametrize("count", [1, 1000, 70_001])
def test_fixed_order(comm, count):
    wanted = folded(numbers(rank, count) for rank in range(comm.size))
    x = numbers(comm.rank, count)
    assert comm.allreduce(x, bits="fixed").tobytes() == wanted.tobytes()
    assert comm.allreduce_async(x, bits="fixed").wait().tobytes() == wanted.tobytes()
    plan = comm.plan_allreduce(x, bits="fixed")
    assert plan().tobytes() == wanted.tobytes()
    assert "in fixed order" in plan.explain()
    reduced = comm.reduce(x, root=comm.size - 1, bits="fixed")
    assert comm.rank != comm.size - 1 or reduced.tobytes() == wanted.tobytes()
    blocks = [numbers(rank, comm.size * count) for rank in range(comm.size)]
    share = comm.reduce_scatter(blocks[comm.rank], bits="fixed")
    assert share.tobytes() == folded(blocks)[comm.rank * count : (comm.rank + 1) * count].tobytes()
    in_turn = numbers(0, count)
    for rank in range(1, comm.rank + 1):
        in_turn = in_turn + numbers(rank, count)
    assert comm.scan(x, bits="fixed").tobytes() == in_turn.tobytes()


def test_fixed_order_of_a_communicator(comm):
    wanted = folded(numbers(rank, 999) for rank in range(comm.size))
    with tutti.Communicator(bits="fixed") as fixed:
        assert fixed.allreduce(numbers(comm.rank, 999)).tobytes() == wanted.tobytes()
        with pytest.raises(tutti.ArgumentError, match="'ring', which keeps no fixed order"):
            fixed.allreduce(numbers(comm.rank, 999), algorithm="ring")
        fixed.allreduce(numbers(comm.rank, 999), algorithm="ring", bits="same")


def test_bits_that_there_are_not(comm):
    refused = rf"on rank {comm.rank}.*'bits' is 'exact'; allowed: same, fixed"
    with pytest.raises(tutti.ArgumentError, match=refused):
        comm.allreduce(np.ones(3), bits="exact")
    with pytest.raises(tutti.ArgumentError, match=refused):
        tutti.Communicator(bits="exact")
    with pytest.raises(tutti.TypeArgumentError, match="bits"):
        comm.allreduce(np.ones(3), bits=1)


@pytest.mark.parametrize("count", [1, 7, 1000, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributed_arrays(comm, count, dtype):
    x, y = numbers(100, count).astype(dtype), numbers(101, count).astype(dtype)
    cuts = [0, *sorted(np.random.default_rng(count).integers(0, count + 1, comm.size - 1)), count]
    begin, end = int(cuts[comm.rank]), int(cuts[comm.rank + 1])
    total = tutti.sum(x[begin:end], comm)
    assert type(total) is np.dtype(dtype).type
    assert total.tobytes() == tree(x).tobytes()
    assert tutti.sum(x[begin:end], comm, offset=begin) == total
    assert tutti.dot(x[begin:end], y[begin:end], comm).tobytes() == tree(x * y).tobytes()
    assert tutti.norm2(x[begin:end], comm).tobytes() == np.sqrt(tree(x * x)).tobytes()
    assert tutti.reduce_array(x[begin:end], "max", comm) == x.max()

    def first(lhs, rhs, into):
        into[:] = lhs

    assert tutti.reduce_array(x[begin:end], tutti.Op(first, commutative=False), comm) == x[0]


def test_distributed_arrays_that_are_none(comm):
    x = np.ones(10)
    assert tutti.sum(x[:0], comm) == 0
    with pytest.raises(tutti.ArgumentError, match="'offset' is 1 on rank 0, where the elements before end at 0"):
        tutti.sum(x, comm, offset=10 * comm.rank + 1)
    with pytest.raises(tutti.ArgumentError, match="'x' is no element on any rank"):
        tutti.reduce_array(x[:0], "max", comm)
    with pytest.raises(tutti.ArgumentError, match="y has 9 elements of float64, and x 10 of float64"):
        tutti.dot(x, x[:9], comm)
    with pytest.raises(tutti.ArgumentError, match="'type' is int64; allowed: fp32, fp64"):
        tutti.norm2(np.ones(3, dtype=int), comm)


def test_exact_sum(comm):
    rows = [numbers(rank, 501) for rank in range(comm.size)]
    rows[-1] = rows[-1] - rows[0]
    wanted = np.array([math.fsum(column) for column in zip(*rows)])
    mine = rows[comm.rank]
    assert comm.allreduce(mine, "exact_sum").tobytes() == wanted.tobytes()
    scanned = np.array([math.fsum(column) for column in zip(*rows[: comm.rank + 1])])
    assert comm.scan(mine, "exact_sum").tobytes() == scanned.tobytes()
    with pytest.raises(tutti.ArgumentError, match="exact_sum with type int64; allowed: exact_sum with one of fp16, "):
        comm.allreduce(np.ones(2, int), "exact_sum")


def test_exact_sum_of_an_array(comm):
    mine = numbers(comm.rank, 1000 + comm.rank)
    everything = [x for rank in range(comm.size) for x in numbers(rank, 1000 + rank)]
    assert tutti.reduce_array(mine, "exact_sum", comm) == math.fsum(everything)
