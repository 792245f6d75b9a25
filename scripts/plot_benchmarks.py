#!/usr/bin/env python3
"""Draws what tutti-bench measured: latency by size, bandwidth by size, time by ranks, each as one SVG.

    scripts/plot_benchmarks.py build/plots/*.json --output docs/plots
    scripts/plot_benchmarks.py docs/plots/results.json --table

The files are those of tutti-bench --json, of one number of ranks or several. A call that is in several files counts
with the median over them. FOLDER/results.json keeps what is drawn, and can be drawn again. The colours suit light
and dark pages alike. Needs Python's standard library only.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 740, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 206, 52, 48  # margins; the legend is in the right one
COLOURS = ("#3b82f6", "#e07b2a", "#2f9e68", "#a06bd8", "#d6486b", "#8a8f98")
NEUTRAL = "#808892"


def bytes_of(text):
    """'64K' -> 65536."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    return int(number) * unit


def size_name(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


# ---- what was measured ----------------------------------------------------------------------------------------------


def read(paths):
    """Environments, and results whose times are the medians over all files that have the call."""
    environments, calls = [], {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        environments.append(content["environment"])
        for r in content["results"]:
            key = (r["collective"], r["ranks"], r["in_place"], r["bytes"], (r["peer"] or {}).get("name"))
            calls.setdefault(key, []).append(r)
    results = []
    for (collective, ranks, in_place, size, peer), found in calls.items():
        median = lambda times: float(f"{statistics.median(t['time_us']['median'] for t in times):.4g}")
        results.append({
            "collective": collective, "ranks": ranks, "in_place": in_place, "bytes": size,
            "wrong": sum(r["wrong"] for r in found) if all(r["wrong"] is not None for r in found) else None,
            "time_us": {"median": median(found)},
            "peer": peer and {"name": peer, "time_us": {"median": median([r["peer"] for r in found])}},
        })
    return environments, sorted(results, key=lambda r: (r["collective"], r["ranks"], r["in_place"], r["bytes"]))


def environment_of(environments):
    """One for all files: without the names of hosts and files."""
    first = environments[0]
    commands = [re.sub(r" --json \S+", "", c) for e in environments for c in e.get("commands", [e.get("command")])]
    return {"versions": {"Tutti": first["versions"]["Tutti"]}, "mpi_version": first["mpi_version"],
            "cores": first["cores"], "started": min(e["started"] for e in environments),
            "commands": list(dict.fromkeys(commands))}


def results_text(environment, results):
    lines = ",\n".join("  " + json.dumps(r) for r in results)
    return f'{{"environment": {json.dumps(environment, indent=1)},\n "results": [\n{lines}\n]}}\n'


# ---- a plot ---------------------------------------------------------------------------------------------------------


class Axis:
    """Logarithmic: from values to places between `begin` and `end`."""

    def __init__(self, values, begin, end, margin=1.0):
        self.low, self.high = min(values) / margin, max(values) * margin
        if self.low == self.high:
            self.low, self.high = self.low / 2, self.high * 2
        self.begin, self.end = begin, end

    def place(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        """1, 2 and 5 times powers of ten; 1 only where that would be many."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        factors = (1, 2, 5) if len(powers) <= 4 else (1,)
        return [v for p in powers for v in (f * 10.0**p for f in factors) if self.low <= v <= self.high]


def series_of(results, label, x, y):
    """label -> points, in the order in which labels appear; Tutti's before the MPI's."""
    series = {}
    for r in results:
        series.setdefault(label(r, "Tutti"), []).append((x(r), y(r, r)))
        if r["peer"]:
            series.setdefault(label(r, r["peer"]["name"]), []).append((x(r), y(r, r["peer"])))
    return series


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def grid(x_axis, y_axis, x_ticks, x_title, y_title):
    """The lines of both axes, with their values. `x_ticks`: value -> name."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for value, name in x_ticks.items():
        parts.append(f'<path class="grid" d="M{x_axis.place(value):.1f} {TOP}V{bottom}"/>')
        parts.append(text(x_axis.place(value), bottom + 16, name))
    for value in y_axis.ticks():
        parts.append(f'<path class="grid" d="M{LEFT} {y_axis.place(value):.1f}H{right}"/>')
        parts.append(text(LEFT - 6, y_axis.place(value) + 4, f"{value:g}", "end"))
    parts.append(text((LEFT + right) / 2, HEIGHT - 10, x_title))
    middle = (TOP + bottom) / 2
    parts.append(text(14, middle, y_title, more=f' transform="rotate(-90 14 {middle:.1f})"'))
    return parts


def line_of(number, colour, label, points, x_axis, y_axis, y_unit):
    """A series and its legend. Dashes are the MPI's."""
    dashes = "" if label.startswith("Tutti") else ' stroke-dasharray="5 4"'
    places = [(x_axis.place(x), y_axis.place(y), y) for x, y in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
    fill = "none" if dashes else colour
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill}"><title>{escape(label)}: {value:.3g} '
                   f"{y_unit}</title></circle>" for x, y, value in places)
    legend = WIDTH - RIGHT + 14, TOP + 8 + 20 * number
    return (f'<g class="series" stroke="{colour}"><polyline points="{path}"{dashes}/>{dots}'
            f'<path d="M{legend[0]} {legend[1]}h22"{dashes}/></g>'
            + text(legend[0] + 28, legend[1] + 4, label, "start", ' class="label"'))


def drawn(title, subtitle, series, x_title, x_name, y_title, y_unit, cores=None):
    """An SVG. `cores`: marks from where on ranks outnumber them."""
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points]
    x_axis = Axis(xs, LEFT + 10, WIDTH - RIGHT - 10)
    y_axis = Axis(ys, HEIGHT - BOTTOM, TOP, margin=1.15)
    step = math.ceil(len(xs) / 8)  # names of more would touch each other
    parts = grid(x_axis, y_axis, {x: x_name(x) for x in xs[::step]}, x_title, y_title)
    if cores is not None and xs[0] <= cores < xs[-1]:
        place = x_axis.place(cores + 0.5)
        parts.append(f'<path class="cores" d="M{place:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(text(place + 5, TOP + 12, "more ranks than cores", "start"))
    compared = list(dict.fromkeys(label.partition(", ")[2] for label in series))  # a colour each
    for number, (label, points) in enumerate(series.items()):
        colour = COLOURS[compared.index(label.partition(", ")[2]) % len(COLOURS)]
        parts.append(line_of(number, colour, label, points, x_axis, y_axis, y_unit))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(title)}" font-family="sans-serif" font-size="12" fill="{NEUTRAL}">',
        f"<style>.grid{{stroke:{NEUTRAL};stroke-opacity:.3}}.cores{{stroke:{NEUTRAL};stroke-dasharray:2 3}}"
        ".series{fill:none;stroke-width:2}</style>",
        text(LEFT, 20, title, "start", ' font-size="15" font-weight="bold"'),
        text(LEFT, 38, subtitle, "start"), *parts, "</svg>", ""])


def plots_of(environment, results, args):
    """name -> SVG."""
    chosen = [r for r in results if r["collective"] == args.collective and r["in_place"] == (args.placement == "in")]
    ranks = [int(p) for p in args.ranks.split(",")]
    by_size = [r for r in chosen if r["ranks"] in ranks]
    switch = bytes_of(args.switch)
    short, long = ([r for r in by_size if test(r["bytes"])] for test in (lambda b: b <= switch, lambda b: b >= switch))
    sizes = [bytes_of(s) for s in args.sizes.split(",")]
    by_ranks = [r for size in sizes for r in chosen if r["bytes"] == size]
    for name, found in (("latency", short), ("bandwidth", long), ("ranks", by_ranks)):
        if not found:
            sys.exit(f"plot_benchmarks.py: no results for the plot of {name}: see --collective, --ranks and --sizes")
    touched = all("--touch" in c for c in environment["commands"])
    facts = [f"{environment['cores']} cores", environment["started"][:10], *([args.note] if args.note else [])]
    subtitle = ("inputs rewritten before each call; " if touched else "") + ", ".join(facts)
    label_ranks = lambda r, whose: f"{whose}, {r['ranks']} ranks"
    label_size = lambda r, whose: f"{whose}, {size_name(r['bytes'])}"
    size, time = lambda r: r["bytes"], lambda r, side: side["time_us"]["median"]
    rate = lambda r, side: r["bytes"] / 1000 / side["time_us"]["median"]
    what = args.collective
    return {
        "latency": drawn(f"{what}: time of short messages (lower is better)", subtitle,
                         series_of(short, label_ranks, size, time), "message size", size_name, "time of a call, us",
                         "us"),
        "bandwidth": drawn(f"{what}: bandwidth of long messages (higher is better)", subtitle,
                           series_of(long, label_ranks, size, rate), "message size", size_name,
                           "message size over time, GB/s", "GB/s"),
        "ranks": drawn(f"{what}: time by number of ranks (lower is better)", subtitle,
                       series_of(by_ranks, label_size, lambda r: r["ranks"], time), "ranks", str, "time of a call, us",
                       "us", environment["cores"]),
    }


# ---- a table --------------------------------------------------------------------------------------------------------


def cell(results):
    """Geometric mean of the MPI's time over Tutti's, and the least, with its size."""
    ratios = {r["bytes"]: r["peer"]["time_us"]["median"] / r["time_us"]["median"] for r in results if r["peer"]}
    if not ratios:
        return ""
    mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
    least = min(ratios, key=ratios.get)
    where = f" ({size_name(least)})" if len(ratios) > 1 else ""
    return f"{mean:.2f} / {ratios[least]:.2f}{where}"


def table(results, args):
    """Markdown: a row a collective, a column a number of ranks."""
    ranks = [int(p) for p in args.ranks.split(",")]
    results = [r for r in results if r["in_place"] == (args.placement == "in")]
    lines = ["| collective | " + " | ".join(f"p = {p}" for p in ranks) + " |", "|---" * (len(ranks) + 1) + "|"]
    for collective in dict.fromkeys(r["collective"] for r in results):
        cells = [cell([r for r in results if (r["collective"], r["ranks"]) == (collective, p)]) for p in ranks]
        if all(cells):
            lines.append(f"| {collective} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON of tutti-bench")
    parser.add_argument("--output", metavar="FOLDER", help="write latency.svg, bandwidth.svg, ranks.svg, results.json")
    parser.add_argument("--table", action="store_true", help="print the ratios to the MPI's time, as Markdown")
    parser.add_argument("--collective", default="allreduce", help="of the plots [allreduce]")
    parser.add_argument("--placement", choices=("out", "in"), default="out", help="of buffers: out of place, in place [out]")
    parser.add_argument("--ranks", default="2,4", help="of latency, bandwidth and table [2,4]")
    parser.add_argument("--switch", default="32K", help="latency to this size, bandwidth from it on [32K]")
    parser.add_argument("--sizes", default="8,32K,2M", help="of the plot by ranks [8,32K,2M]")
    parser.add_argument("--note", default="", help="words for the line below the title")
    return parser.parse_args(arguments)


def main(arguments=None):
    args = parsed(arguments)
    try:
        environments, results = read(args.files)
        environment = environment_of(environments)
    except (OSError, KeyError, TypeError, IndexError, json.JSONDecodeError) as error:
        sys.exit(f"plot_benchmarks.py: not a file of tutti-bench --json: {error!r}")
    if args.table:
        print(table(results, args))
    if args.output:
        folder = pathlib.Path(args.output)
        folder.mkdir(parents=True, exist_ok=True)
        for name, svg in plots_of(environment, results, args).items():
            (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
        (folder / "results.json").write_text(results_text(environment, results), encoding="utf-8")


if __name__ == "__main__":
    main()
