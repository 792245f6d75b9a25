"""Results of all collectives, compared with NumPy's and mpi4py's."""
import functools

import numpy as np
import pytest
import tutti

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed, which has bfloat16 and float8")
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SMALL = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
FLOATS = ["float16", "float32", "float64", *SMALL]
COMPLEX = ["complex64", "complex128"]
REDUCTIONS = {
    "sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
    "land": lambda a, b: ((a != 0) & (b != 0)).astype(a.dtype), "lor": lambda a, b: ((a != 0) | (b != 0)).astype(a.dtype),
    "lxor": lambda a, b: ((a != 0) ^ (b != 0)).astype(a.dtype), "band": np.bitwise_and, "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
}


def data(rank, dtype, count=24):
    """Small numbers, whose sums and products every type holds without rounding."""
    values = (np.arange(count) * 7 + rank * 3) % 3 - (0 if np.dtype(dtype).kind == "u" else 1)
    return values.astype(dtype)


def all_data(comm, dtype, count=24):
    return [data(rank, dtype, count) for rank in range(comm.size)]


def ops_of(dtype):
    names = ["sum", "prod"]
    if dtype not in COMPLEX:
        names += ["min", "max"]
    if dtype in INTEGERS:
        names += ["land", "lor", "lxor", "band", "bor", "bxor"]
    return names


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX], ids=lambda dtype: np.dtype(dtype).name)
def test_every_type_and_operation(comm, dtype):
    for op in ops_of(dtype):
        expected = functools.reduce(REDUCTIONS[op], all_data(comm, dtype)).astype(dtype)
        if comm.size == 1 and op.startswith("l"):
            continue  # one rank alone combines nothing
        y = comm.allreduce(data(comm.rank, dtype), op=op)
        assert y.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(y.astype(complex), expected.astype(complex), err_msg=op)


def test_bool(comm):
    x = np.arange(4) % (comm.rank + 2) == 0
    y = comm.allreduce(x)
    assert y.dtype == bool
    np.testing.assert_array_equal(y, [any(i % (r + 2) == 0 for r in range(comm.size)) for i in range(4)])


def test_average_and_scaled_sum(comm):
    x = np.full(3, comm.rank + 1.0)
    np.testing.assert_allclose(comm.allreduce(x, op="avg"), (comm.size + 1) / 2)
    half = tutti.Op.scaled_sum(0.5)
    np.testing.assert_allclose(comm.allreduce(x, op=half), comm.size * (comm.size + 1) / 4)


@pytest.mark.parametrize("count", [0, 1, 5, 1000, 200_000])
def test_sizes(comm, count):
    x = np.arange(count, dtype="f8") + comm.rank
    expected = comm.size * np.arange(count) + comm.size * (comm.size - 1) / 2
    np.testing.assert_array_equal(comm.allreduce(x), expected)


def test_as_mpi4py(comm, world):
    x = np.random.default_rng(world.rank).random(1000)
    theirs = np.empty_like(x)
    world.Allreduce(x, theirs)
    np.testing.assert_allclose(comm.allreduce(x), theirs, rtol=1e-14)
    world.Scan(x, theirs)
    np.testing.assert_allclose(comm.scan(x), theirs, rtol=1e-14)


def test_shapes(comm):
    p, rank = comm.size, comm.rank
    x = np.arange(p * 6.0).reshape(p * 2, 3) + rank
    assert comm.allreduce(x).shape == (p * 2, 3)
    assert comm.allreduce(np.float32(1)).shape == ()
    assert comm.reduce_scatter(x).shape == (2, 3)
    assert comm.allgather(x).shape == (p * p * 2, 3)
    assert comm.allgather(rank).tolist() == list(range(p))
    assert comm.alltoall(x).shape == x.shape
    assert comm.scan(x).shape == x.shape
    gathered = comm.gather(x)
    assert gathered.shape == (p * p * 2, 3) if rank == 0 else gathered is None
    scattered = comm.scatter(x if rank == 0 else None, out=None if rank == 0 else np.empty((2, 3)))
    assert scattered.shape == (2, 3)


def test_reductions_of_parts(comm):
    p, rank = comm.size, comm.rank
    whole = sum(np.arange(p * 4.0) * (r + 1) for r in range(p))
    x = np.arange(p * 4.0) * (rank + 1)
    np.testing.assert_array_equal(comm.reduce_scatter(x), whole[rank * 4 : rank * 4 + 4])
    counts = [r + 1 for r in range(p)]
    offsets = np.cumsum([0, *counts])
    y = comm.reduce_scatterv(x[: offsets[-1]], counts)
    np.testing.assert_array_equal(y, whole[offsets[rank] : offsets[rank + 1]])
    for root in {0, p - 1}:
        reduced = comm.reduce(x, root=root)
        if rank == root:
            np.testing.assert_array_equal(reduced, whole)
        else:
            assert reduced is None


def test_scans(comm):
    x = np.full(3, comm.rank + 1)
    assert comm.scan(x).tolist() == [sum(range(1, comm.rank + 2))] * 3
    assert comm.exscan(x).tolist() == [sum(range(1, comm.rank + 1))] * 3
    untouched = np.full(3, -1)
    assert comm.exscan(x, out=untouched) is untouched
    assert comm.rank != 0 or untouched.tolist() == [-1] * 3


def test_movements(comm):
    p, rank = comm.size, comm.rank
    for root in {0, p - 1}:
        x = np.arange(5) + (10 if rank == root else 0)
        assert comm.broadcast(x, root) is x
        assert x.tolist() == [10, 11, 12, 13, 14]
        y = np.zeros(5, int)
        assert comm.broadcast(np.arange(5) if rank == root else None, root, out=y) is y
        assert y.tolist() == list(range(5))
    np.testing.assert_array_equal(comm.allgather(np.array([rank, -rank])), [s * r for r in range(p) for s in (1, -1)])
    np.testing.assert_array_equal(comm.alltoall(np.arange(p) + 10 * rank), 10 * np.arange(p) + rank)
    x = np.arange(3 * p) if rank == 0 else None
    out = np.empty(3, int)
    assert comm.scatter(x, out=out) is out
    assert out.tolist() == [3 * rank, 3 * rank + 1, 3 * rank + 2]


def test_blocks_of_their_own_sizes(comm):
    p, rank = comm.size, comm.rank
    counts = [r + 1 for r in range(p)]
    mine = np.full(rank + 1, rank)
    everything = np.repeat(np.arange(p), counts)
    np.testing.assert_array_equal(comm.allgatherv(mine, counts), everything)
    offsets = [2 * r * r for r in range(p)]
    spread = np.full(offsets[-1] + p, -1)
    comm.allgatherv(mine, counts, offsets, out=spread)
    assert all((spread[o : o + c] == r).all() for r, (o, c) in enumerate(zip(offsets, counts)))
    gathered = comm.gatherv(mine, counts if rank == 0 else None)
    assert (gathered == everything).all() if rank == 0 else gathered is None
    part = comm.scatterv(everything if rank == 0 else None, counts if rank == 0 else None, out=np.empty(rank + 1, int))
    np.testing.assert_array_equal(part, mine)
    # r + 1 elements to rank r, so rank + 1 from each
    y = comm.alltoallv(np.repeat(np.arange(p) + 100 * rank, counts), counts, [rank + 1] * p)
    np.testing.assert_array_equal(y, np.repeat(100 * np.arange(p) + rank, rank + 1))


def test_in_place(comm):
    p, rank = comm.size, comm.rank
    x = np.full(4, rank + 1.0)
    assert comm.allreduce(x, out=x) is x
    assert x.tolist() == [p * (p + 1) / 2] * 4
    y = np.full(p, -1)
    y[rank] = rank
    assert comm.allgather(tutti.IN_PLACE, out=y) is y
    assert y.tolist() == list(range(p))
    z = np.arange(p) + 10 * rank
    comm.alltoall(tutti.IN_PLACE, out=z)
    np.testing.assert_array_equal(z, 10 * np.arange(p) + rank)
    if rank == 0:
        whole = np.arange(2 * p)
        assert comm.scatter(whole, out=tutti.IN_PLACE) is None
    else:
        assert comm.scatter(out=np.empty(2, int)).tolist() == [2 * rank, 2 * rank + 1]


def test_algorithms_by_name(comm):
    x = np.full(100, 1.0)
    assert comm.plan_allreduce(x, algorithm="ring").algorithm == "ring"
    assert comm.allreduce(x, algorithm="ring").tolist() == [comm.size] * 100
    with pytest.raises(tutti.ArgumentError, match="'nonsense' does not serve allreduce"):
        comm.allreduce(x, algorithm="nonsense")
    with pytest.raises(tutti.TypeArgumentError, match="tutti: allreduce: algorithm is 3, and no text"):
        comm.allreduce(x, algorithm=3)


def test_paths_are_taken(comm):
    """Large arrays in Tutti memory are read where they are."""
    if comm.size == 1:
        pytest.skip("one rank alone sends nothing")
    before = comm.counters
    comm.allreduce(np.ones(1))
    small = comm.counters
    assert small["shm.sent"] + small["mpi.sent"] > before["shm.sent"] + before["mpi.sent"]
    x = tutti.empty(1 << 18)
    x[:] = 1
    y = tutti.empty(1 << 18)
    comm.allreduce(x, out=y)
    assert (y == comm.size).all()


def test_facts(comm, world):
    assert (comm.rank, comm.size) == (world.rank, world.size)
    assert comm.node[comm.node.index(comm.rank)] == comm.rank
    assert comm.leaders[comm.node_of(comm.rank)] == comm.node[0]
    assert len(comm.leaders) == comm.nodes
    assert comm.status == "" and comm.is_open
    assert repr(comm) == f"<tutti.Communicator, rank {comm.rank} of {comm.size}>"
    assert tutti.mpi_library().startswith(("Open MPI", "MPICH", "Intel", "MPI"))
    assert tutti.components()["tutti"].startswith(tutti.version()) if "tutti" in tutti.components() else tutti.components()


def test_other_communicators(world):
    part = world.Split(world.rank % 2, world.rank)
    with tutti.Communicator(part) as comm:
        assert comm.size == part.size
        assert comm.allreduce(1) == part.size
    with tutti.Communicator(world.py2f(), algorithms="allreduce=ring", transport="mpi") as comm:
        assert comm.plan_allreduce(np.ones(1)).algorithm == "ring"
        comm.allreduce(np.ones(8))
        assert comm.counters["shm.sent"] == 0
    assert not comm.is_open and "closed" in repr(comm)
    comm.close()
    with pytest.raises(tutti.StateError, match="tutti: allreduce: the communicator is closed"):
        comm.allreduce(1)
    with pytest.raises(tutti.TypeArgumentError, match="tutti: Communicator: comm is a str|comm is 'no'"):
        tutti.Communicator("no")
    with pytest.raises(tutti.ArgumentError, match="transport"):
        tutti.Communicator(world, transport="pigeons")
    with pytest.raises(tutti.TypeArgumentError, match="tutti: Communicator: transport is 3, and no text"):
        tutti.Communicator(world, transport=3)
    part.Free()


def test_wrong_arguments(comm):
    x = np.ones(comm.size * 2)
    cases = [
        (lambda: comm.allreduce(x, op="summ"), "tutti: allreduce: op is 'summ'; allowed are sum, prod"),
        (lambda: comm.allreduce(x, out=np.ones(1)), "tutti: allreduce: out has 1 elements, and must have"),
        (lambda: comm.allreduce(x, out=x.astype("f4")), "tutti: allreduce: out has elements of float32, and x of float64"),
        (lambda: comm.allreduce(tutti.IN_PLACE), "tutti: allreduce: without an input of this rank, out must be given"),
        (lambda: comm.allgather(x, out=x[:1]), "tutti: allgather: out has 1 elements, and must have"),
        (lambda: comm.allgatherv(x, [1, 2, 3, 4, 5]), "tutti: allgatherv: counts has 5 numbers, for . ranks"),
        (lambda: comm.allgatherv(x, [7] * comm.size), "tutti: allgatherv: x has . elements, and counts say 7"),
        (lambda: comm.allgatherv(x, None), "tutti: allgatherv: counts is None; it has one number for each rank"),
        (lambda: comm.reduce_scatter(np.float64(1), out=None if comm.size > 1 else None), "reduce_scatter: "),
        (lambda: comm.broadcast(x, root=99), "root"),
        (lambda: comm.allreduce_async(x, stream=1), "tutti: allreduce: nonblocking calls take no stream"),
        (lambda: comm.allreduce(x, op="band"), "band"),
    ]
    for call, text in cases:
        with pytest.raises(tutti.ArgumentError, match=text) as caught:
            call()
        assert isinstance(caught.value, ValueError) and caught.value.status == 1 and caught.value.code == 0
    with pytest.raises(tutti.TypeArgumentError, match="tutti: allgatherv: counts is 'a', and no list") as caught:
        comm.allgatherv(x, "a")
    assert isinstance(caught.value, TypeError)
    with pytest.raises(tutti.TypeArgumentError, match="tutti: allreduce: op is 3; allowed are"):
        comm.allreduce(x, op=3)
    with pytest.raises(tutti.TypeArgumentError, match="tutti: allreduce: stream is 'a'; give an int"):
        comm.allreduce(x, stream="a")
    if comm.size > 1:
        with pytest.raises(tutti.ArgumentError, match="the number of elements of x is 1, which . ranks do not divide"):
            comm.reduce_scatter(np.ones(1))
        if comm.rank != 0:
            with pytest.raises(tutti.ArgumentError, match="tutti: scatter: this rank is not the root, and needs out="):
                comm.scatter(None)
    assert comm.allreduce(1) == comm.size, "arguments that are refused change nothing"


def test_blocks_with_types_of_their_own(comm):
    """Even ranks get int32, odd ones float64, each beginning at a multiple of 16 bytes."""
    p, rank = comm.size, comm.rank
    types = [np.dtype("int32" if r % 2 == 0 else np.float64) for r in range(p)]
    x, out, offsets = np.zeros(16 * p, "u1"), np.zeros(2 * p), [16 * r for r in range(p)]
    for r, dtype in enumerate(types):
        x[16 * r:][:2 * dtype.itemsize] = np.array([rank, r], dtype).view("u1")
    lists = [2] * p, [2] * p, offsets, offsets, types, [types[rank]] * p
    for call in (comm.alltoallw, lambda *given: comm.alltoallw_async(*given).wait(), lambda *given: comm.plan_alltoallw(*given)()):
        out[:] = 0
        assert call(x, *lists, out) is out
        blocks = [out.view("u1")[offset:][:2 * types[rank].itemsize].view(types[rank]) for offset in offsets]
        assert [block.tolist() for block in blocks] == [[r, rank] for r in range(p)]
    out[:] = 100 * rank + np.arange(2 * p)
    comm.alltoallw(tutti.IN_PLACE, None, [2] * p, None, offsets, None, ["float64"] * p, out)
    assert out.tolist() == [100 * (i // 2) + 2 * rank + i % 2 for i in range(2 * p)]


@pytest.mark.parametrize("change, text", [
    ({"out": None}, "out must be given"), ({"out_offsets": None}, "out_offsets is None"),
    ({"x": np.zeros(1, "u1")}, "x has 1 bytes, and the blocks reach to"),
    ({"out": np.zeros(0)}, "out has 0 bytes, and the blocks reach to"),
    ({"in_types": []}, "in_types has 0 types"), ({"out_types": None}, "out_types is a NoneType, and no list of one type"),
    ({"out_types": "list"}, "out_types is 'list'"), ({"in_types": ["U3"]}, "in_types has elements of dtype str"),
    ({"in_counts": [1 << 61]}, "a block reaches beyond 2\\^63 bytes"), ({"in_counts": [-1]}, "argument 'count' is -1"),
])
def test_blocks_with_types_of_their_own_refusals(comm, change, text):
    p = comm.size
    change = {name: value * p if isinstance(value, list) else value for name, value in change.items()}
    offsets = [8 * r for r in range(p)]
    given = {"x": np.zeros(p), "in_counts": [1] * p, "out_counts": [1] * p, "in_offsets": offsets, "out_offsets": offsets,
             "in_types": ["float64"] * p, "out_types": ["float64"] * p, "out": np.zeros(p)}
    with pytest.raises(tutti.ArgumentError, match=text):
        comm.alltoallw(**given | change)
