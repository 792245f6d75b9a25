"""The collectives of buffers: separate, in place, with counts, and nonblocking."""
from mpi4py import MPI

from checks import counts_of, doubles, expect, ints, pair, total, value


def reductions(comm):
    p, me, n = comm.size, comm.rank, 700
    mine, out = ints(value(me, i) for i in range(n)), ints([-1] * n)
    all_sums = ints(total(p, i) for i in range(n))
    comm.Allreduce(mine, out)
    expect(comm, "Allreduce", out, all_sums)
    out = mine[:]
    comm.Allreduce(MPI.IN_PLACE, out)
    expect(comm, "Allreduce in place", out, all_sums)
    for root in range(p):
        out = ints([-1] * n)
        comm.Reduce(mine, out if me == root else None, root=root)
        expect(comm, "Reduce", out, all_sums if me == root else ints([-1] * n))
        out = mine[:]
        comm.Reduce(MPI.IN_PLACE if me == root else out, out if me == root else None, root=root)
        expect(comm, "Reduce in place", out, all_sums if me == root else mine)
    for name, call, ranks in (("Scan", comm.Scan, me + 1), ("Exscan", comm.Exscan, me)):
        for how in ("", " in place"):
            out = mine[:]
            call(MPI.IN_PLACE if how else mine, out)
            if ranks:
                expect(comm, name + how, out, ints(total(ranks, i) for i in range(n)))


def operations(comm):
    p, me = comm.size, comm.rank
    for name, mine, right in (
            ("MAX", [me, -me], [p - 1, 0]), ("MIN", [me, -me], [0, 1 - p]), ("PROD", [2, -1], [2 ** p, (-1) ** p]),
            ("LAND", [1, me], [1, 0]), ("LOR", [0, me], [0, int(p > 1)]), ("LXOR", [1, 0], [p % 2, 0]),
            ("BAND", [7, 1 << me], [7, int(p == 1)]), ("BOR", [1 << me, 0], [2 ** p - 1, 0]),
            ("BXOR", [1 << me, 5], [2 ** p - 1, 5 * (p % 2)])):
        out = ints([-1, -1])
        comm.Allreduce(ints(mine), out, op=getattr(MPI, name))
        expect(comm, f"Allreduce {name}", out, ints(right))
    pairs, out = ints([me, me, -me, me, 3, me]), ints([-1] * 6)
    comm.Allreduce([pairs, 3, MPI.INT_INT], [out, 3, MPI.INT_INT], op=MPI.MAXLOC)
    expect(comm, "Allreduce MAXLOC", out, ints([p - 1, p - 1, 0, 0, 3, 0]))
    comm.Allreduce([pairs, 3, MPI.INT_INT], [out, 3, MPI.INT_INT], op=MPI.MINLOC)
    expect(comm, "Allreduce MINLOC", out, ints([0, 0, 1 - p, p - 1, 3, 0]))
    x = doubles([0.0])
    comm.Allreduce(doubles([me + 0.5]), x)
    expect(comm, "Allreduce of doubles", x[0], p * p / 2)


def scattered_reductions(comm):
    p, me = comm.size, comm.rank
    counts, starts = counts_of(p)
    mine = ints(value(me, i) for i in range(sum(counts)))
    right = ints(total(p, starts[me] + i) for i in range(counts[me]))
    out = ints([-1] * 2)
    comm.Reduce_scatter(mine, [out, counts[me], MPI.INT], counts)
    expect(comm, "Reduce_scatter", out[:counts[me]], right)
    comm.Reduce_scatter(MPI.IN_PLACE, mine, counts)
    expect(comm, "Reduce_scatter in place", mine[:counts[me]], right)
    blocks, right = ints(value(me, i) for i in range(2 * p)), ints(total(p, 2 * me + i) for i in range(2))
    comm.Reduce_scatter_block(blocks, out)
    expect(comm, "Reduce_scatter_block", out, right)
    comm.Reduce_scatter_block(MPI.IN_PLACE, blocks)
    expect(comm, "Reduce_scatter_block in place", blocks[:2], right)


def gathers(comm):
    p, me = comm.size, comm.rank
    counts, starts = counts_of(p)
    mine = ints([value(me, 0), value(me, 1)])
    right = ints(value(r, i) for r in range(p) for i in range(2))
    right_ragged = ints(value(r, i) for r in range(p) for i in range(counts[r]))
    unset = ints([-1] * len(right))
    ragged = ints([-1] * len(right_ragged))
    out = unset[:]
    comm.Allgather(mine, out)
    expect(comm, "Allgather", out, right)
    out = unset[:]
    out[2 * me:2 * me + 2] = mine
    comm.Allgather(MPI.IN_PLACE, out)
    expect(comm, "Allgather in place", out, right)
    out = ragged[:]
    comm.Allgatherv([mine, counts[me], MPI.INT], [out, counts, starts, MPI.INT])
    expect(comm, "Allgatherv", out, right_ragged)
    for root in range(p):
        out = unset[:]
        comm.Gather(mine, out if me == root else None, root=root)
        expect(comm, "Gather", out, right if me == root else unset)
        out = ragged[:]
        comm.Gatherv([mine, counts[me], MPI.INT], [out, counts, starts, MPI.INT] if me == root else None, root=root)
        expect(comm, "Gatherv", out, right_ragged if me == root else ragged)
        out = ints([-1, -1])
        comm.Scatter(right if me == root else None, out, root=root)
        expect(comm, "Scatter", out, mine)
        out = ints([-1, -1])
        comm.Scatterv([right_ragged, counts, starts, MPI.INT] if me == root else None, [out, counts[me], MPI.INT], root=root)
        expect(comm, "Scatterv", out[:counts[me]], mine[:counts[me]])
        data = mine[:] if me == root else ints([-1, -1])
        comm.Bcast(data, root=root)
        expect(comm, "Bcast", data, ints([value(root, 0), value(root, 1)]))


def exchanges(comm):
    p, me = comm.size, comm.rank
    mine = ints(pair(me, r, i) for r in range(p) for i in range(2))
    right = ints(pair(r, me, i) for r in range(p) for i in range(2))
    out = ints([-1] * len(mine))
    comm.Alltoall(mine, out)
    expect(comm, "Alltoall", out, right)
    out = mine[:]
    comm.Alltoall(MPI.IN_PLACE, out)
    expect(comm, "Alltoall in place", out, right)
    to, fro = [(me + 2 * r) % 3 for r in range(p)], [(r + 2 * me) % 3 for r in range(p)]
    places = [2 * r for r in range(p)]
    expected = ints(right[2 * r + i] if i < fro[r] else -1 for r in range(p) for i in range(2))
    out = ints([-1] * len(mine))
    comm.Alltoallv([mine, to, places, MPI.INT], [out, fro, places, MPI.INT])
    expect(comm, "Alltoallv", out, expected)
    out = ints([-1] * len(mine))
    in_bytes, types = [4 * place for place in places], [MPI.INT] * p
    comm.Alltoallw([mine, to, in_bytes, types], [out, fro, in_bytes, types])
    expect(comm, "Alltoallw", out, expected)


def nonblocking(comm):
    p, me, n = comm.size, comm.rank, 300
    mine = ints(value(me, i) for i in range(n))
    sums, so_far, news = ints([-1] * n), ints([-1] * n), mine[:] if me == 0 else ints([-1] * n)
    gathered, exchanged, heard = ints([-1] * p), ints([-1] * p), ints([-1])
    requests = [comm.Iallreduce(mine, sums), comm.Irecv(heard, (me - 1) % p), comm.Ibcast(news), MPI.REQUEST_NULL,
                comm.Iscan(mine, so_far), comm.Isend(ints([me]), (me + 1) % p), comm.Iallgather(ints([me]), gathered),
                comm.Ialltoall(ints(pair(me, r, 0) for r in range(p)), exchanged), comm.Ibarrier()]
    left = set(range(len(requests))) - {3}
    while len(left) > 4:
        left.discard(MPI.Request.Waitany(requests))
    while len(left) > 2:
        left -= set(MPI.Request.Waitsome(requests))
    while not MPI.Request.Testall(requests):
        pass
    expect(comm, "requests left", [r == MPI.REQUEST_NULL for r in requests], [True] * len(requests))
    expect(comm, "Iallreduce", sums, ints(total(p, i) for i in range(n)))
    expect(comm, "Ibcast", news, ints(value(0, i) for i in range(n)))
    expect(comm, "Iscan", so_far, ints(total(me + 1, i) for i in range(n)))
    expect(comm, "Iallgather", gathered, ints(range(p)))
    expect(comm, "Ialltoall", exchanged, ints(pair(r, me, 0) for r in range(p)))
    expect(comm, "Irecv beside collectives", heard[0], (me - 1) % p)


def buffers(comm):
    comm.Barrier()
    for part in (reductions, operations, scattered_reductions, gathers, exchanges, nonblocking):
        part(comm)
