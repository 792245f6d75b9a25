"""Time of an allreduce in Python: tutti, tutti's plan and mpi4py, in turns in one run. Prints ratios.

    mpirun -n 2 python bench.py [--seconds 6] [--list 100]

The floor is what the library itself takes: a plan of the library called through ctypes would be slower than the module, so
it is a plan that is called with an array in place. Read the ratios: times depend on what else runs.
"""
import argparse
import math
import sys
import time

sys.path.pop(0)  # this folder, whose tutti is not the installed one
import numpy as np
import tutti
from mpi4py import MPI


def ways(comm, world, count):
    a, b = np.ones(count), np.empty(count)
    plan = comm.plan_allreduce(a, out=b)
    allreduce, Allreduce = comm.allreduce, world.Allreduce
    return {
        "tutti": lambda: allreduce(a, out=b),
        "plan": lambda: plan(),
        "new array": lambda: allreduce(a),
        "mpi4py": lambda: Allreduce(a, b),
    }


def ways_of_lists(comm, world, count, length):
    """One call of a list of arrays, beside calls on each."""
    a, b = ([fill(count) for _ in range(length)] for fill in (np.ones, np.empty))
    plan = comm.plan_allreduce_list(a, out=b)
    allreduce, allreduce_list, Allreduce = comm.allreduce, comm.allreduce_list, world.Allreduce
    return {
        "tutti": lambda: allreduce_list(a, out=b),
        "plan": lambda: plan(),
        "each": lambda: [allreduce(x, out=y) for x, y in zip(a, b)],
        "mpi4py": lambda: [Allreduce(x, y) for x, y in zip(a, b)],
    }


def measure(call, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6, help="in all, about")
    parser.add_argument("--list", type=int, metavar="N", help="lists of N arrays of each size, beside calls on each")
    seconds, length = vars(parser.parse_args()).values()
    world = MPI.COMM_WORLD
    comm = tutti.Communicator(world)
    sizes = [8, 1 << 10, 8 << 10] if length else [8, 8 << 10, 1 << 20]
    if comm.rank == 0:
        print(f"{comm.size} ranks, {tutti.mpi_library()}; us a call: smallest and median of the turns")
    ratios = []
    for size in sizes:
        functions = ways_of_lists(comm, world, size // 8, length) if length else ways(comm, world, size // 8)
        once = world.bcast(max(measure(call, 20) for call in functions.values()))
        turns = 15
        calls = max(5, int(seconds / len(sizes) / turns / len(functions) / once))
        calls = world.bcast(min(calls, 5000))
        times = {name: [] for name in functions}
        for _ in range(turns):
            for name, call in functions.items():
                world.Barrier()
                times[name].append(measure(call, calls) * 1e6)
        if comm.rank == 0:
            for values in times.values():
                values.sort()
            best = {name: values[0] for name, values in times.items()}
            text = ", ".join(f"{name} {values[0]:.2f} / {values[turns // 2]:.2f}" for name, values in times.items())
            beside = f", tutti / each = {best['tutti'] / best['each']:.2f}" if length else ""
            print(f"{size:8} bytes: {text}; tutti / mpi4py = {best['tutti'] / best['mpi4py']:.2f}{beside}", flush=True)
            ratios.append(best["tutti"] / best["mpi4py"])
    if comm.rank == 0:
        print(f"geometric mean of tutti / mpi4py: {math.prod(ratios) ** (1 / len(ratios)):.2f}")
    comm.close()


main()
