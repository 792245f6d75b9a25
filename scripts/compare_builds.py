#!/usr/bin/env python3
"""Compares two builds, or two settings, of tutti-bench: interleaved in one run, by the ratio of medians.

Each side is a command in quotes: the benchmark, with variables before it if need be.

    scripts/compare_builds.py --before old/tutti-bench --after new/tutti-bench --ranks 2,4,8
    scripts/compare_builds.py --before "TUTTI_ALGORITHM=ring bench" --after bench --sizes 64K:4M

Every round runs one side after the other, in turn first, for each number of ranks, plain and with --touch (inputs are
rewritten between calls). A ratio compares the two sides' median times of a round, and is the median over rounds. On a machine that changes its
pace within a round, --statistic fastest compares the fastest rounds of each side instead. Below 1 the second side is
faster. The exit status is 1 if a geometric mean or a size is above its limit.
"""
import argparse
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COLLECTIVES = "allreduce,broadcast,reduce,allgather,alltoall,reduce_scatter,gather"


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="the command to compare with")
    parser.add_argument("--after", required=True, help="the command that is judged")
    parser.add_argument("--mpirun", default="mpirun.openmpi", help="the MPI's launcher")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, separated by commas")
    parser.add_argument("--collectives", default=COLLECTIVES, help="separated by commas")
    parser.add_argument("--sizes", default="8:4M", help="smallest and largest size in bytes")
    parser.add_argument("--factor", type=int, default=8, help="each size is this many times the one before")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side")
    parser.add_argument("--inner", type=int, default=9, help="the benchmark's own rounds")
    parser.add_argument("--inputs", default="plain,touch", help="plain, touch or both")
    parser.add_argument("--statistic", default="median", choices=["median", "fastest"], help="how rounds are compared")
    parser.add_argument("--extra", default="", help="more options for the benchmark, in one string")
    parser.add_argument("--mean-limit", type=float, default=1.03, help="for the geometric mean of a collective")
    parser.add_argument("--size-limit", type=float, default=1.15, help="for a size")
    parser.add_argument("--json", help="write all ratios there")
    return parser.parse_args()


def run(side, ranks, inputs, args):
    """Median time by (collective, bytes, in place)."""
    words = shlex.split(side)
    variables = dict(word.split("=", 1) for word in words[:-1])
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "results.json"
        smallest, largest = args.sizes.split(":")
        command = [str(HERE / "mpirun.sh"), args.mpirun, str(ranks), words[-1], "--collective", args.collectives,
                   "--min", smallest, "--max", largest, "--factor", str(args.factor), "--rounds", str(args.inner),
                   "--json", str(file), *shlex.split(args.extra)]
        if inputs == "touch":
            command.append("--touch")
        done = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command)}: exit status {done.returncode}\n{done.stderr}")
        results = json.loads(file.read_text())["results"]
    return {(r["collective"], r["bytes"], r.get("in_place", False)): r["time_us"]["median"] for r in results}


def measured(args):
    """Times of both sides by (inputs, ranks, point): two lists."""
    times = {}
    for number in range(args.rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        for ranks in map(int, args.ranks.split(",")):
            for inputs in args.inputs.split(","):
                for side in order:
                    found = run((args.before, args.after)[side], ranks, inputs, args)
                    for point, time in found.items():
                        times.setdefault((inputs, ranks, *point), ([], []))[side].append(time)
    return times


def main():
    args = parsed()
    ratios, times = {}, measured(args)
    for key, (before, after) in times.items():
        if before and after and min(before) > 0:
            ratios[key] = (min(after) / min(before) if args.statistic == "fastest"
                           else statistics.median(second / first for first, second in zip(before, after)))
    too_slow = []
    print("inputs  ranks  collective        mean   best (bytes)         worst (bytes)")
    for group in dict.fromkeys((key[0], key[1], key[2]) for key in ratios):
        points = {key[3:]: ratio for key, ratio in ratios.items() if key[:3] == group}
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in points.values()))
        best, worst = min(points, key=points.get), max(points, key=points.get)
        print(f"{group[0]:6}  {group[1]:5}  {group[2]:16}  {mean:.3f}  {points[best]:.3f} ({best[0]})".ljust(60)
              + f"{points[worst]:.3f} ({worst[0]})", flush=True)
        if mean > args.mean_limit:
            too_slow.append(f"{group[0]}, {group[1]} ranks, {group[2]}: geometric mean {mean:.3f}")
        too_slow += [f"{group[0]}, {group[1]} ranks, {group[2]}, {size} bytes{' in place' * in_place}: {ratio:.3f}"
                     for (size, in_place), ratio in points.items() if ratio > args.size_limit]
    if args.json:
        keys = ("inputs", "ranks", "collective", "bytes", "in_place")
        pathlib.Path(args.json).write_text(json.dumps(
            [{**dict(zip(keys, key)), "ratio": round(ratio, 4), "before_us": times[key][0],
              "after_us": times[key][1]} for key, ratio in ratios.items()], indent=1) + "\n")
    for line in too_slow:
        print("above the limit:", line)
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
