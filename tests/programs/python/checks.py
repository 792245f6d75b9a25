"""Counts what was checked and says what was wrong, on which rank."""
import array

from mpi4py import MPI

done = 0
wrong = 0


def expect(comm, what, got, right):
    global done, wrong
    done += 1
    if got != right:
        wrong += 1
        print(f"WRONG: {what} on {comm.name}, rank {comm.rank} of {comm.size}: {got} for {right}", flush=True)


def ints(values):
    return array.array("i", values)


def doubles(values):
    return array.array("d", values)


def value(rank, i):
    """Element i of what a rank contributes."""
    return 1000 * rank + i


def total(ranks, i):
    """The sum of element i over the first ranks."""
    return 1000 * (ranks * (ranks - 1) // 2) + ranks * i


def pair(source, target, i):
    """Element i of what one rank has for another."""
    return 10000 * source + 100 * target + i


def counts_of(ranks):
    """How many elements each rank has in calls with counts: 1, 2, 0, 1, ..., and where they begin."""
    counts = [(r + 1) % 3 for r in range(ranks)]
    return counts, [sum(counts[:r]) for r in range(ranks)]


def verdict():
    """Prints the counts of all ranks, which come by messages; the number of wrong results of this rank."""
    world = MPI.COMM_WORLD
    if world.rank:
        world.Send(ints([done, wrong]), 0)
        return wrong
    sums = [done, wrong]
    for rank in range(1, world.size):
        theirs = ints([0, 0])
        world.Recv(theirs, rank)
        sums = [a + b for a, b in zip(sums, theirs)]
    print(f"mpi4py: {sums[0]} checks on {world.size} ranks, {sums[1]} wrong")
    return wrong
