"""Calls every collective by mpi4py, of buffers and of Python's objects, on many communicators, and checks all results."""
import sys

from mpi4py import MPI

from buffers import buffers
from checks import expect, ints, verdict
from derived import derived


def objects(comm):
    """Lowercase calls, which send pickles."""
    p, me = comm.size, comm.rank
    everyone = [{"rank": r, "text": "x" * r} for r in range(p)]
    mine = everyone[me]
    comm.barrier()
    expect(comm, "allgather", comm.allgather(mine), everyone)
    expect(comm, "alltoall", comm.alltoall([(me, r) for r in range(p)]), [(r, me) for r in range(p)])
    expect(comm, "allreduce", comm.allreduce([me]), [x for r in range(p) for x in [r]])
    expect(comm, "allreduce, maxloc", comm.allreduce((-me, me), op=MPI.MAXLOC), (0, 0))
    expect(comm, "scan", comm.scan(str(me)), "".join(str(r) for r in range(me + 1)))
    before = comm.exscan(str(me))
    expect(comm, "exscan", before, "".join(str(r) for r in range(me)) if me else None)
    for root in range(p):
        expect(comm, "bcast", comm.bcast(mine if me == root else None, root=root), everyone[root])
        expect(comm, "gather", comm.gather(mine, root=root), everyone if me == root else None)
        expect(comm, "scatter", comm.scatter(everyone if me == root else None, root=root), mine)
        expect(comm, "reduce", comm.reduce(me, root=root), p * (p - 1) // 2 if me == root else None)


def between_groups():
    """The ranks below half of the world, and the others."""
    world = MPI.COMM_WORLD
    half, low = world.size // 2, world.rank < world.size // 2
    local = world.Split(0 if low else half, world.rank)
    comm = local.Create_intercomm(0, world, half if low else 0)
    comm.name = "an inter-communicator"
    others = list(range(half, world.size)) if low else list(range(half))
    comm.Barrier()
    expect(comm, "allgather", comm.allgather(world.rank), others)
    out = ints([-1])
    comm.Allreduce(ints([world.rank]), out)
    expect(comm, "Allreduce", out[0], sum(others))
    out = ints([-1] * len(others))
    comm.Alltoall(ints([world.rank] * len(others)), out)
    expect(comm, "Alltoall", out, ints(others))
    root = (MPI.ROOT if comm.rank == 0 else MPI.PROC_NULL) if low else 0
    news = comm.bcast("news" if low else None, root=root)
    expect(comm, "bcast", news, None if low else "news")
    comm.Free()
    local.Free()


def made_and_freed():
    world = MPI.COMM_WORLD
    for turn in range(100):
        comm = world.Dup() if turn % 2 else world.Split(world.rank % 2, -world.rank)
        expect(world, "a communicator made and freed", comm.allreduce(1), comm.size)
        out = ints([-1])
        comm.Allreduce(ints([turn]), out)
        expect(world, "Allreduce on it", out[0], turn * comm.size)
        comm.Free()


def errors_come_back():
    comm = MPI.COMM_WORLD.Dup()  # mpi4py has errors returned, and raises them
    for what, call, right in (
            ("Bcast with a root that is no rank", lambda: comm.Bcast(ints([1]), root=comm.size), MPI.ERR_ROOT),
            ("Allreduce with an operation for other types",
             lambda: comm.Allreduce([bytearray(8), 1, MPI.DOUBLE], [bytearray(8), 1, MPI.DOUBLE], op=MPI.BAND),
             MPI.ERR_OP)):
        try:
            call()
            found = MPI.SUCCESS
        except MPI.Exception as error:
            found = error.Get_error_class()
        expect(comm, what, found, right)
    expect(comm, "allreduce after errors", comm.allreduce(1), comm.size)
    comm.Free()


def main():
    world = MPI.COMM_WORLD
    world.name = "the world"
    twin, part = world.Dup(), world.Split(int(world.rank == 1), -world.rank)
    twin.name, part.name, MPI.COMM_SELF.name = "a duplicate", "a part", "self"
    for comm in (world, twin, part, MPI.COMM_SELF):
        buffers(comm)
        derived(comm)
        objects(comm)
    twin.Free()
    part.Free()
    if world.size > 1:
        between_groups()
    made_and_freed()
    errors_come_back()
    sys.exit(1 if verdict() else 0)


main()
