"""Times collectives of torch.distributed over Tutti and gloo, interleaved in one run.

    mpirun -n 4 python bench_torch.py [--backends gloo,tutti] [--blocks 9] [--sizes 8,65536,4194304] [--list 100]

Each line is one collective and size: microseconds a call of each backend (the median over blocks of the slowest rank), and
the first backend's time divided by the last one's. The last line is the geometric mean of these. Sizes are the bytes of
the whole vector.

With --list N a call is one on each of N tensors, by the last backend alone: one after the other beside all of them coalesced.
"""
import argparse
import contextlib
import math
import statistics
import sys
import time

sys.path.pop(0)  # this folder, whose tutti is not the installed one
import torch
import torch.distributed as dist

import tutti.torch  # noqa: F401  (mpi://)


def cases(size):
    """name -> function(elements) -> function(group) that calls once."""

    def all_reduce(count):
        data = torch.zeros(count)
        return lambda group: dist.all_reduce(data, group=group)

    def all_gather_into_tensor(count):
        out, own = torch.zeros(count), torch.zeros(max(1, count // size))
        out = out if out.numel() == own.numel() * size else torch.zeros(own.numel() * size)
        return lambda group: dist.all_gather_into_tensor(out, own, group=group)

    def reduce_scatter_tensor(count):
        own = torch.zeros(max(1, count // size))
        data = torch.zeros(own.numel() * size)
        return lambda group: dist.reduce_scatter_tensor(own, data, group=group)

    def broadcast(count):
        data = torch.zeros(count)
        return lambda group: dist.broadcast(data, 0, group=group)

    def all_to_all_single(count):
        count = max(1, count // size) * size
        out, data = torch.zeros(count), torch.zeros(count)
        return lambda group: dist.all_to_all_single(out, data, group=group)

    return {f.__name__: f for f in (all_reduce, all_gather_into_tensor, reduce_scatter_tensor, broadcast,
                                    all_to_all_single)}


def cases_of_lists(size, length):
    """The same for those that can be coalesced, of so many tensors: function(elements, is_coalesced) -> ..."""

    def listed(make):
        def calls(count, is_coalesced):
            each = [make(count) for _ in range(length)]

            def call(group):
                with dist._coalescing_manager(group) if is_coalesced else contextlib.nullcontext():
                    for one in each:
                        one(group)

            return call

        return calls

    made = cases(size)
    return {name: listed(made[name]) for name in ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor")}


def timed(call, group, repeats, world):
    """Microseconds a call on the slowest rank."""
    dist.barrier(world)
    start = time.perf_counter()
    for _ in range(repeats):
        call(group)
    mine = torch.tensor([(time.perf_counter() - start) / repeats * 1e6])
    dist.all_reduce(mine, dist.ReduceOp.MAX, group=world)
    return mine.item()


def main():
    parser = argparse.ArgumentParser(description="collectives of torch.distributed, backends interleaved")
    parser.add_argument("--backends", default="gloo,tutti")
    parser.add_argument("--sizes", help="default: 8,65536,4194304, and 1024 of lists")
    parser.add_argument("--list", type=int, metavar="N", help="N tensors at once, beside one after the other")
    parser.add_argument("--blocks", type=int, default=9)
    given = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", "mpi://")
    rank, size = dist.get_rank(), dist.get_world_size()
    names = given.backends.split(",")
    groups = {name: dist.new_group(backend=name) for name in names}
    world = dist.group.WORLD
    if given.list:
        ways = {way: (groups[names[-1]], way == "coalesced") for way in ("each", "coalesced")}
    else:
        ways = {name: (group,) for name, group in groups.items()}
    ratios = []
    if rank == 0:
        print(f"{size} ranks; us a call\n{'collective':24}{'bytes':>9}" + "".join(f"{way:>11}" for way in ways) + "   ratio")
    for name, make in (cases_of_lists(size, given.list) if given.list else cases(size)).items():
        for bytes_ in map(int, (given.sizes or ("1024" if given.list else "8,65536,4194304")).split(",")):
            calls = {way: (make(max(1, bytes_ // 4), *how), group) for way, (group, *how) in ways.items()}
            repeats = 100 if bytes_ < 4096 else 20 if bytes_ < 1 << 20 else 5
            times = {way: [] for way in ways}
            for block in range(given.blocks + 1):
                for way, call in calls.items():
                    took = timed(*call, repeats, world)
                    if block > 0:  # the first one warms up
                        times[way].append(took)
            medians = [statistics.median(times[way]) for way in ways]
            ratios.append(medians[0] / medians[-1])
            if rank == 0:
                print(f"{name:24}{bytes_:9}" + "".join(f"{median:11.1f}" for median in medians) + f"{ratios[-1]:8.2f}",
                      flush=True)
    if rank == 0:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"geometric mean of {[*ways][0]} / {[*ways][-1]}: {mean:.2f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
