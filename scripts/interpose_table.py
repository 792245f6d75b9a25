#!/usr/bin/env python3
"""Writes columns of bindings/preload/ratios.hpp: how many times as long MPI takes, by collective and size, for the preloaded library.

    scripts/interpose_table.py --mpi "Open MPI 4.1.4" one_node=two.json one_node_crowded=four.json several_nodes=lab.json

A column is for one node with a core for each rank, for one with more ranks than cores, or for several nodes; those that are
not named stay as they are. A file is one of

- the --json of `compare_builds.py --before tutti-bench --after "LD_PRELOAD=... TUTTI_INTERPOSE=all tutti-bench" --extra
  "--calls mpi" --inputs touch --sizes 8:8M --factor 16`: the program's calls, passed and served;
- where jobs are started in another way, the --json of `tutti-bench --collective all --compare mpi --touch --min 8 --max 8M
  --factor 16`: Tutti's calls beside MPI's.

Of several files for a column, and of calls in place and out of place, the least ratio counts: a call is served where Tutti is
faster in all that was measured.
"""
import argparse
import collections
import json
import pathlib
import re

HEADER = pathlib.Path(__file__).resolve().parent.parent / "bindings/preload/ratios.hpp"
SIZES = [8, 128, 2048, 32768, 524288, 8388608]
# The functions in the order of bindings/preload/functions.hpp, and the benchmark's collective that stands for each.
FUNCTIONS = [("barrier", "barrier"), ("bcast", "broadcast"), ("reduce", "reduce"), ("allreduce", "allreduce"),
             ("reduce_scatter", "reduce_scatter"), ("reduce_scatter_block", "reduce_scatter"), ("allgather", "allgather"),
             ("allgatherv", "allgatherv"), ("gather", "gather"), ("gatherv", "gatherv"), ("scatter", "scatter"),
             ("scatterv", "scatterv"), ("alltoall", "alltoall"), ("alltoallv", "alltoallv"), ("alltoallw", "alltoallv"),
             ("scan", "scan"), ("exscan", "exscan")]


def measured(file):
    """The ranks, the nodes, and (collective, bytes, how many times as long MPI takes) for each point."""
    data = json.loads(pathlib.Path(file).read_text())
    if isinstance(data, list):  # of compare_builds.py
        if len({record["ranks"] for record in data}) != 1:
            raise SystemExit(f"{file} has calls of several numbers of ranks, or none: a column is of one")
        return data[0]["ranks"], 1, [(r["collective"], r["bytes"], 1 / r["ratio"]) for r in data]
    results = data["results"]
    return results[0]["ranks"], results[0]["nodes"], [
        (r["collective"], r["bytes"], r["peer"]["time_us"]["min"] / r["time_us"]["min"]) for r in results]


def column(name, files, mpi):
    """The text of a column."""
    found, places = collections.defaultdict(list), []
    for file in files:
        ranks, nodes, points = measured(file)
        places.append(f"{ranks} ranks on {nodes} node{'s' if nodes > 1 else ''}")
        for collective, size, ratio in points:
            found[collective, min(SIZES, key=lambda known: abs(known - size)) if size else None].append(ratio)
    rows = []
    for _, collective in FUNCTIONS:
        of_sizes = [min(found.get((collective, size)) or found.get((collective, None)) or [1.0]) for size in SIZES]
        rows.append("    {{" + ", ".join(f"{ratio:.2f}F" for ratio in of_sizes) + "}},")
    width = max(map(len, rows))
    lines = [f"{row:{width}}  // {function}" for row, (function, _) in zip(rows, FUNCTIONS)]
    return "\n".join([f"/// {mpi}, {'; '.join(places)}.", f"inline constexpr Column {name}{{{{", *lines, "}};", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", required=True, help="name and version of the MPI that was measured")
    parser.add_argument("columns", nargs="+", metavar="COLUMN=FILE[,FILE...]")
    args = parser.parse_args()
    text = HEADER.read_text()
    for argument in args.columns:
        name, files = argument.split("=", 1)
        old = re.search(rf"/// [^\n]*\ninline constexpr Column {name}\{{\{{\n.*?\n\}}\}};\n", text, re.DOTALL)
        if old is None:
            parser.error(f"{name} is no column of {HEADER}")
        text = text.replace(old.group(0), column(name, files.split(","), args.mpi))
    HEADER.write_text(text)


if __name__ == "__main__":
    main()
