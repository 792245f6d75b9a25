"""mpi4py's names over Tutti: every call gives what mpi4py's own gives."""
import numpy as np
import pytest

MPI = pytest.importorskip("mpi4py.MPI", reason="mpi4py is not installed")


@pytest.fixture(scope="module")
def both():
    import tutti.mpi4py

    with tutti.mpi4py.Comm(MPI.COMM_WORLD) as made:
        yield made, MPI.COMM_WORLD


def same(both, name, make, *rest, **named):
    """Calls both with buffers that make() gives, and compares the last of them."""
    results = []
    for comm in both:
        buffers = make()
        assert getattr(comm, name)(*buffers, *rest, **named) is None
        last = [b for b in buffers if isinstance(b, (list, np.ndarray))][-1]
        while isinstance(last, list):
            last = last[0]
        results.append(last)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("op", [MPI.SUM, MPI.MAX, MPI.PROD, MPI.LOR, MPI.BXOR])
def test_reductions(both, op):
    p, rank = both[1].size, both[1].rank

    def x():
        return np.arange(2 * p) + rank

    for name in ("Allreduce", "Scan", "Exscan"):
        same(both, name, lambda: (x(), np.zeros(2 * p, int)), op)
    same(both, "Allreduce", lambda: (MPI.IN_PLACE, x()), op)
    same(both, "Allreduce", lambda: ([x(), MPI.LONG], [np.zeros(2 * p, int), 2 * p, MPI.LONG]), op)
    same(both, "Allreduce", lambda: ([x(), p], [np.zeros(2 * p, int), p]), op)
    same(both, "Reduce_scatter_block", lambda: (x(), np.zeros(2, int)), op)
    same(both, "Reduce_scatter", lambda: (x(), np.zeros(2, int)), None, op)
    for root in {0, p - 1}:
        same(both, "Reduce", lambda: (x(), np.zeros(2 * p, int)), op, root)


def test_movements(both):
    p, rank = both[1].size, both[1].rank
    same(both, "Bcast", lambda: (np.arange(5) + rank,), root=p - 1)
    same(both, "Allgather", lambda: (np.full(2, rank), np.zeros(2 * p, int)))
    same(both, "Alltoall", lambda: (np.arange(p) + 10 * rank, np.zeros(p, int)))
    counts = [r + 1 for r in range(p)]
    offsets = np.cumsum([0, *counts[:-1]])
    whole = sum(counts)
    same(both, "Allgatherv", lambda: (np.full(rank + 1, rank), [np.zeros(whole, int), counts]))
    same(both, "Allgatherv", lambda: (np.full(rank + 1, rank), [np.zeros(whole, int), (counts, offsets), MPI.LONG]))
    same(both, "Gather", lambda: (np.full(2, rank), np.zeros(2 * p, int)))
    same(both, "Gatherv", lambda: (np.full(rank + 1, rank), [np.zeros(whole, int), (counts, None)]), root=p - 1)
    same(both, "Scatter", lambda: (np.arange(2 * p), np.zeros(2, int)))
    same(both, "Scatterv", lambda: ([np.arange(whole), (counts, offsets)], np.zeros(rank + 1, int)), root=0)
    same(both, "Alltoallv", lambda: ([np.arange(whole), (counts, offsets)], [np.zeros(p * (rank + 1), int), [rank + 1] * p]))
    both[0].Barrier()


def test_what_is_mpi4pys(both):
    comm, world = both
    assert comm.rank == world.rank and comm.Get_size() == world.size
    assert comm.bcast({"a": 1}) == {"a": 1}
    pairs = MPI.DOUBLE_INT
    x = np.zeros(1, [("value", "f8"), ("index", "i4")])
    x["value"], x["index"] = comm.rank, comm.rank
    out = np.zeros_like(x)
    comm.Allreduce([x, 1, pairs], [out, 1, pairs], MPI.MAXLOC)
    assert out["index"][0] == comm.size - 1
    before = comm.tutti.counters
    comm.Allreduce(np.ones(2), np.zeros(2))
    assert comm.tutti.counters != before, "Tutti has run it"
    assert "tutti.mpi4py.Comm over" in repr(comm)
