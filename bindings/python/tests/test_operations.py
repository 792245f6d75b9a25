"""Operations of one's own."""
import numpy as np
import pytest
import tutti


def test_functions(comm):
    def largest(lhs, rhs, into):
        np.maximum(abs(lhs), abs(rhs), out=into)

    x = np.array([comm.rank, -comm.rank - 1.0])
    for op in (tutti.Op(largest), tutti.Op(largest, commutative=False)):
        np.testing.assert_array_equal(abs(comm.allreduce(x, op)), [comm.size - 1, comm.size])
        plan = comm.plan_allreduce(x, op)
        np.testing.assert_array_equal(abs(plan()), [comm.size - 1, comm.size])
    assert comm.allreduce_async(x.astype("f4"), tutti.Op(np.fmax)).wait().dtype == "f4"


def test_views(comm):
    seen = set()

    def add(lhs, rhs, into):
        seen.add((lhs.dtype.name, lhs.flags.writeable, rhs.flags.writeable, into.flags.writeable))
        into[:] = lhs + rhs

    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    y = comm.allreduce(np.ones(10, ml_dtypes.bfloat16), tutti.Op(add))
    assert (y == comm.size).all()
    assert seen == ({("bfloat16", False, False, True)} if comm.size > 1 else set())


def test_order(comm):
    """2x2 matrices, whose product is not commutative."""

    def multiply(lhs, rhs, into):
        a, b = lhs.reshape(-1, 2, 2), rhs.reshape(-1, 2, 2)
        into[:] = (a @ b).reshape(-1)

    def matrix(rank):
        return np.array([[1, rank + 1], [1, 0]])

    expected = np.eye(2, dtype=int)
    for rank in range(comm.size):
        expected = expected @ matrix(rank)
    y = comm.allreduce(matrix(comm.rank), tutti.Op(multiply, commutative=False), algorithm="recursive_doubling")
    np.testing.assert_array_equal(y, expected)


def test_an_exception_reaches_all_ranks(world):
    """The rank whose function raises has it as the cause."""
    if world.size == 1:
        pytest.skip("one rank alone combines nothing")
    comm = tutti.Communicator(world)
    own = comm.rank == 0

    def fails(lhs, rhs, into):
        if own:
            raise KeyError("no such thing")
        into[:] = lhs + rhs

    with pytest.raises(tutti.FailedError, match="KeyError: 'no such thing'" if own else "allreduce") as caught:
        while True:  # the others may notice in the next call
            comm.allreduce(np.ones(12), tutti.Op(fails), algorithm="ring")  # in which every rank combines
            assert not own
    assert isinstance(caught.value.__cause__, KeyError) == own
    assert "allreduce" in comm.status
    world.Barrier()
    comm.close()


def test_wrong_operations(comm):
    with pytest.raises(tutti.TypeArgumentError, match="tutti: Op: function is 3, which cannot be called"):
        tutti.Op(3)
    with pytest.raises(tutti.ArgumentError, match="scaled_sum"):
        comm.allreduce(np.ones(2, int), tutti.Op.scaled_sum(0.5))
    assert repr(tutti.Op.scaled_sum(0.5)) == "tutti.Op.scaled_sum(0.5)"
    assert repr(tutti.Op(max, commutative=False)) == "tutti.Op(<built-in function max>, commutative=False)"
