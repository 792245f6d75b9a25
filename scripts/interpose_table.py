#!/usr/bin/env python3
"""Writes interpose/ratios.hpp: how many times as long MPI takes, by collective and size, for the preloaded library's table.

    scripts/interpose_table.py one_node=a.json,b.json crowded=c.json several_nodes=d.json >interpose/ratios.hpp

Each file is the --json of `tutti-bench --collective all --compare mpi --touch --min 8 --max 8M --factor 16`: on one node with
a core for each rank; with more ranks than cores; on several nodes. Of several files for a column, and of calls in place and
out of place, the least ratio counts, of the fastest rounds: a call is served where Tutti is faster in all that was measured.
"""
import collections
import json
import sys

SIZES = [8, 128, 2048, 32768, 524288, 8388608]
# The functions in the order of interpose/functions.hpp, and the benchmark's collective that stands for each.
FUNCTIONS = [("barrier", "barrier"), ("bcast", "broadcast"), ("reduce", "reduce"), ("allreduce", "allreduce"),
             ("reduce_scatter", "reduce_scatter"), ("reduce_scatter_block", "reduce_scatter"), ("allgather", "allgather"),
             ("allgatherv", "allgatherv"), ("gather", "gather"), ("gatherv", "gatherv"), ("scatter", "scatter"),
             ("scatterv", "scatterv"), ("alltoall", "alltoall"), ("alltoallv", "alltoallv"), ("alltoallw", "alltoallv"),
             ("scan", "scan"), ("exscan", "exscan")]


def ratios(files):
    """By collective and size."""
    found = collections.defaultdict(list)
    said = []
    for file in files:
        data = json.load(open(file))
        said.append(f"{data['results'][0]['peer']['name']}, {data['results'][0]['ranks']} ranks on {data['results'][0]['nodes']} nodes")
        for record in data["results"]:
            size = min(SIZES, key=lambda known: abs(known - record["bytes"])) if record["bytes"] else None
            found[record["collective"], size].append(record["peer"]["time_us"]["min"] / record["time_us"]["min"])
    return {key: min(values) for key, values in found.items()}, said


def main():
    lines = []
    for argument in sys.argv[1:]:
        name, files = argument.split("=")
        column, said = ratios(files.split(","))
        lines.append(f"/// {'; '.join(said)}.")
        lines.append(f"inline constexpr Column {name}{{{{")
        for function, collective in FUNCTIONS:
            of_sizes = [column.get((collective, size), column.get((collective, None), 1.0)) for size in SIZES]
            lines.append("    {{" + ", ".join(f"{ratio:.2f}F" for ratio in of_sizes) + "}},  // " + function)
        lines.append("}};")
        lines.append("")
    print("""#pragma once
// How many times as long MPI takes as Tutti, as measured. Written by scripts/interpose_table.py, which says how.

#include <array>
#include <cstdint>

#include "interpose/functions.hpp"

namespace tutti::interpose {

/// Bytes of the larger buffer.
inline constexpr std::array<std::int64_t, 6> measured_sizes{8, 128, 2048, 32'768, 524'288, 8'388'608};
using Ratios = std::array<float, measured_sizes.size()>;  ///< By size.
using Column = std::array<Ratios, function_count>;        ///< By Function.
""")
    print("\n".join(lines))
    print("}  // namespace tutti::interpose")


if __name__ == "__main__":
    main()
