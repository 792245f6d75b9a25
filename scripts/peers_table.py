#!/usr/bin/env python3
"""peers_table.py PEER.json... - Tutti against the fastest MPI at each size, from files of tutti-bench --compare mpi.

For each collective, placement and size: the fastest of all MPIs' own calls, whose it is, and Tutti's time beside it in
the same run. ratio: the MPI's time over Tutti's; above 1, Tutti is faster. All times are medians, in microseconds. Behind
a ratio that is not resolved (docs/bench.md) is a '?'.
"""

import json
import math
import pathlib
import sys


def calls_in(path):
    """(collective, placement, bytes) -> result, of those that were compared."""
    with open(path, encoding="utf-8") as file:
        results = json.load(file)["results"]
    return {
        (r["collective"], "in place" if r["in_place"] else "out of place", r["bytes"]): r
        for r in results
        if r["peer"] is not None
    }


def heading(path, environment):
    settings = " ".join(environment["mpi_settings"]) or "no settings in the environment"
    version = environment["mpi_version"].split(";")[0]
    return f"# {path.stem}: {version}; {settings}"


def print_table(title, rows):
    """Rows of (bytes, name of the peer, its result)."""
    print(f"\n{title}")
    print(f"{'bytes':>10} {'fastest MPI':>12} {'its us':>10} {'Tutti us':>10} {'ratio':>6}")
    ratios, unresolved = [], 0
    for size, name, result in rows:
        peer, ours = result["peer"]["time_us"]["median"], result["time_us"]["median"]
        ratios.append(peer / ours)
        unresolved += not result["peer"].get("resolved", True)
        mark = "" if result["peer"].get("resolved", True) else "?"
        print(f"{size:>10} {name:>12} {peer:>10.4g} {ours:>10.4g} {ratios[-1]:>6.2f}{mark}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    doubts = f", not resolved: {unresolved} of {len(ratios)}" if unresolved else ""
    print(f"geometric mean {mean:.2f}, minimum {min(ratios):.2f}{doubts}")


def main(paths):
    peers = {}
    for path in map(pathlib.Path, paths):
        with open(path, encoding="utf-8") as file:
            environment = json.load(file)["environment"]
        print(heading(path, environment) + f"; {environment['ranks']} ranks, {environment['cores']} hardware threads")
        peers[path.stem] = calls_in(path)
    tables = {}
    for key in dict.fromkeys(key for calls in peers.values() for key in calls):
        having = [name for name, calls in peers.items() if key in calls]
        fastest = min(having, key=lambda name: peers[name][key]["peer"]["time_us"]["median"])
        tables.setdefault(key[:2], []).append((key[2], fastest, peers[fastest][key]))
    if not tables:
        sys.exit("peers_table.py: no result was compared with an MPI")
    for (collective, placement), rows in tables.items():
        print_table(f"{collective}, {placement}", sorted(rows, key=lambda row: row[0]))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1:])
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        sys.exit(f"peers_table.py: not a file of tutti-bench --json --compare mpi: {error!r}")
