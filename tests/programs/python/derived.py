"""Derived datatypes, and operations written in Python."""
import array

from mpi4py import MPI

from checks import expect, ints, total, value

MODULUS = 10007


def rows(comm):
    """Every fourth element on one side, elements in a row on the other."""
    p, me = comm.size, comm.rank
    row = MPI.INT.Create_vector(3, 1, 4).Commit()
    matrix, out = ints([-1] * 12), ints([-1] * (3 * p))
    matrix[1::4] = ints(value(me, i) for i in range(3))
    comm.Allgather([memoryview(matrix)[1:], 1, row], [out, 3, MPI.INT])
    expect(comm, "Allgather of a vector", out, ints(value(r, i) for r in range(p) for i in range(3)))
    matrix = ints([-1] * 12)
    if me == p - 1:
        comm.Bcast([ints([7, 8, 9]), 3, MPI.INT], root=p - 1)
    else:
        comm.Bcast([matrix, 1, row], root=p - 1)
        expect(comm, "Bcast into a vector", matrix, ints([7, -1, -1, -1, 8, -1, -1, -1, 9, -1, -1, -1]))
    request = comm.Iallgather([ints([me] * 12), 1, row], [out, 3, MPI.INT])
    row.Free()  # while in use
    request.Wait()
    expect(comm, "Iallgather of a vector that is freed", out, ints(r for r in range(p) for _ in range(3)))


def contiguous_and_structures(comm):
    p, me = comm.size, comm.rank
    three = MPI.INT.Create_contiguous(3).Commit()
    out = ints([-1] * (3 * p))
    comm.Allgather([ints([me, me, 5]), 1, three], [out, 1, three])
    expect(comm, "Allgather of contiguous elements", out, ints(x for r in range(p) for x in (r, r, 5)))
    three.Free()
    fields = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.DOUBLE, MPI.INT])
    record = fields.Create_resized(0, 16).Commit()
    fields.Free()
    mine, all_of_them = bytearray(16), bytearray(b"\xff" * (16 * p))
    memoryview(mine)[:8] = array.array("d", [me + 0.5]).tobytes()
    memoryview(mine)[8:12] = ints([me]).tobytes()
    comm.Gather([mine, 1, record], [all_of_them, 1, record] if me == 0 else None)
    if me == 0:
        right = b"".join(array.array("d", [r + 0.5]).tobytes() + ints([r]).tobytes() + b"\xff" * 4 for r in range(p))
        expect(comm, "Gather of structures", bytes(all_of_them), right)
    record.Free()


def as_ints(memory):
    return memoryview(memory).cast("B").cast("i")


def compose(first, second, _):
    """Maps x -> a x + b as pairs: associative, not commutative."""
    f, s = as_ints(first), as_ints(second)
    for i in range(0, len(s), 2):
        a = s[i]
        s[i], s[i + 1] = f[i] * a % MODULUS, (f[i + 1] * a + s[i + 1]) % MODULUS


def add(first, second, _):
    f, s = as_ints(first), as_ints(second)
    for i, x in enumerate(f):
        s[i] += x


def maps_of(rank):
    return ints([rank + 2, 1, 3, rank, 2 * rank + 1, 5])


def composed(ranks):
    maps = maps_of(ranks[-1])
    for rank in reversed(ranks[:-1]):
        compose(maps_of(rank), maps, None)
    return maps


def own_operations(comm):
    p, me = comm.size, comm.rank
    ordered, any_order = MPI.Op.Create(compose, commute=False), MPI.Op.Create(add, commute=True)
    two = MPI.INT.Create_contiguous(2).Commit()
    out = ints([-1] * 6)
    comm.Allreduce([maps_of(me), 3, two], [out, 3, two], op=ordered)
    expect(comm, "Allreduce by an operation that does not commute", out, composed(range(p)))
    comm.Scan([maps_of(me), 3, two], [out, 3, two], op=ordered)
    expect(comm, "Scan by an operation that does not commute", out, composed(range(me + 1)))
    sums = ints([-1] * 100)
    comm.Allreduce(ints(value(me, i) for i in range(100)), sums, op=any_order)
    expect(comm, "Allreduce by an own sum", sums, ints(total(p, i) for i in range(100)))
    for thing in (ordered, any_order, two):
        thing.Free()


def derived(comm):
    rows(comm)
    contiguous_and_structures(comm)
    own_operations(comm)
