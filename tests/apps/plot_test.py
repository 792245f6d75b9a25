#!/usr/bin/env python3
"""plot_test.py TUTTI SOURCE - what tutti plot draws of samples, and that it drew docs/plots."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

TUTTI = sys.argv.pop(1)
SOURCE = pathlib.Path(sys.argv.pop(1))
SAMPLE = pathlib.Path(__file__).parent / "plots" / "sample.json"
SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments):
    command = [TUTTI, "plot", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Plot:
    def __init__(self, text):
        self.root = xml.fromstring(text)
        self.texts = [t.text for t in self.root.iter(f"{SVG}text")]
        self.labels = [t.text for t in self.root.iter(f"{SVG}text") if t.get("class") == "label"]
        self.series = [g for g in self.root.iter(f"{SVG}g") if g.get("class") == "series"]

    def titles(self, number):
        return [t.text for t in self.series[number].iter(f"{SVG}title")]

    def points(self, number):
        line = self.series[number].find(f"{SVG}polyline")
        return [tuple(map(float, point.split(","))) for point in line.get("points").split()]


class Drawn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plots(self, *arguments):
        done = run(*arguments, "--output", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {f.stem: Plot(f.read_text()) for f in self.folder.glob("*.svg")}

    def test_four_plots(self):
        self.assertEqual(sorted(self.plots(SAMPLE)), ["bandwidth", "latency", "ranks", "ratios"])

    def test_latency_has_a_series_for_each_side_and_number_of_ranks(self):
        plot = self.plots(SAMPLE)["latency"]
        sides = ["Tutti, 2 ranks", "Some MPI 1.0, 2 ranks", "Tutti, 4 ranks", "Some MPI 1.0, 4 ranks"]
        self.assertEqual(plot.labels, sides)
        self.assertEqual(len(plot.series), 4)
        for words in ("8 B", "512 B", "32 KiB", "message size", "time of a call, us"):
            self.assertIn(words, plot.texts)
        self.assertNotIn("2 MiB", plot.texts)

    def test_subtitle_says_what_was_measured(self):
        plot = self.plots(SAMPLE, "--note", "a shared machine")["latency"]
        self.assertIn("inputs rewritten before each call; 2 cores, 2026-01-02, a shared machine", plot.texts)

    def test_scales_are_logarithmic_and_rise(self):
        (x0, y0), (x1, y1), (x2, y2) = self.plots(SAMPLE)["latency"].points(0)  # 8, 512, 32768 B; 0.5, 1 and 8 us
        self.assertAlmostEqual((x1 - x0) / (x2 - x1), 1, delta=0.01)  # 6 powers of two each
        self.assertAlmostEqual((y0 - y1) / (y1 - y2), 1 / 3, delta=0.01)  # one and three

    def test_bandwidth_is_size_over_time(self):
        plot = self.plots(SAMPLE)["bandwidth"]
        self.assertEqual(plot.titles(0), ["Tutti, 2 ranks, 32 KiB: 4.1 GB/s", "Tutti, 2 ranks, 2 MiB: 5.24 GB/s"])

    def test_ranks_has_a_series_for_each_size_and_marks_the_cores(self):
        plot = self.plots(SAMPLE, "--sizes", "8,2M")["ranks"]
        sides = ["Tutti, 8 B", "Some MPI 1.0, 8 B", "Tutti, 2 MiB", "Some MPI 1.0, 2 MiB"]
        self.assertEqual(plot.labels, sides)
        self.assertIn("more ranks than cores", plot.texts)

    def test_sides_have_one_colour_and_the_mpi_dashes(self):
        first, second, third = self.plots(SAMPLE)["latency"].series[:3]
        self.assertEqual(first.get("stroke"), second.get("stroke"))
        self.assertNotEqual(first.get("stroke"), third.get("stroke"))
        dashes = [s.find(f"{SVG}polyline").get("stroke-dasharray") for s in (first, second)]
        self.assertEqual([d is not None for d in dashes], [False, True])

    def test_results_can_be_drawn_again_and_name_no_host(self):
        first = {n: xml.tostring(p.root) for n, p in self.plots(SAMPLE).items()}
        kept = self.folder / "results.json"
        self.assertNotIn("somewhere", kept.read_text())
        again = {n: xml.tostring(p.root) for n, p in self.plots(kept).items()}
        self.assertEqual(first, again)

    def test_a_call_in_several_files_counts_with_the_median(self):
        content = json.loads(SAMPLE.read_text())
        for number, factor in enumerate((3, 9)):
            for result in content["results"]:
                result["time_us"]["median"] *= factor
            (self.folder / f"{number}.json").write_text(json.dumps(content))  # 3 and 27 times as long
        self.plots(SAMPLE, self.folder / "0.json", self.folder / "1.json")
        kept = json.loads((self.folder / "results.json").read_text())["results"]
        found = [r["time_us"]["median"] for r in kept if (r["ranks"], r["bytes"], r["in_place"]) == (2, 8, False)]
        self.assertEqual(found, [1.5])

    def test_table(self):
        lines = run(SAMPLE, "--table").stdout.splitlines()
        self.assertEqual(lines[0], "| collective | Some MPI 1.0, p = 2 | p = 4 |")
        self.assertIn("| allreduce | 1.41 / 0.50 (2 MiB) | 1.41 / 0.50 (2 MiB) |", lines)
        self.assertIn("| barrier | 3.00 / 3.00 | 1.50 / 1.50 |", lines)

    def changed(self, name, change):
        """A copy of the sample after change(content)."""
        content = json.loads(SAMPLE.read_text())
        change(content)
        (self.folder / name).write_text(json.dumps(content))
        return self.folder / name

    def test_ratios_have_their_spread_and_doubtful_ones_are_hollow(self):
        def doubt(content):
            result = content["results"][0]
            result["time_us"].update(p10=0.4, p90=0.8)
            result["peer"].update(ratio=2.0, ratio_middle_half=[0.9, 2.5], resolved=False, doubts=["both_sides"])

        file = self.changed("doubtful.json", doubt)
        plots = self.plots(file)
        ratios = plots["ratios"]
        circles = list(ratios.series[0].iter(f"{SVG}circle"))
        self.assertEqual(circles[0].get("fill"), "none")
        self.assertNotEqual(circles[1].get("fill"), "none")
        self.assertIn("hollow points: not resolved", ratios.texts)
        self.assertNotIn("hollow points: not resolved", plots["latency"].texts)
        self.assertEqual(ratios.titles(0)[0],
                         "Some MPI 1.0, 2 ranks, 8 B: 2 times, middle half of the rounds: 0.9 to 2.5, not resolved")
        bars = [p for p in ratios.series[0].iter(f"{SVG}path") if p.get("class") == "bar"]
        place, low, high = map(float, re.fullmatch(r"M([\d.]+) ([\d.]+)V([\d.]+)", bars[0].get("d")).groups())
        self.assertAlmostEqual(place, float(circles[0].get("cx")))
        self.assertTrue(high < float(circles[0].get("cy")) < low, "the bar is around its point")
        line = next(p for p in ratios.root.iter(f"{SVG}path") if p.get("class") == "line")
        self.assertTrue(high < float(line.get("d").split()[1].split("H")[0]) < low, "1 is inside the bar")
        self.assertIn("p10 to p90: 0.4 to 0.8", plots["latency"].titles(0)[0])
        done = run(file, "--table")
        self.assertIn("1 of 4 not resolved", done.stdout)
        self.assertIn("ratios are not resolved", done.stderr)

    def test_the_least_ratio_is_one_that_is_resolved(self):
        def doubt(content):
            for result in content["results"]:
                if result["collective"] == "allreduce" and result["bytes"] == 1 << 21:
                    result["peer"]["resolved"] = False

        line = next(line for line in run(self.changed("doubtful.json", doubt), "--table").stdout.splitlines()
                    if line.startswith("| allreduce"))
        self.assertRegex(line, r"1\.41 / [\d.]+ \((8|32|512) K?i?B\), 1 of 4 not resolved")

    def test_other_machines_and_other_calls_are_left_out(self):
        def elsewhere(content):
            content["environment"].update(host="elsewhere")

        done = run(SAMPLE, self.changed("elsewhere.json", elsewhere), "--output", self.folder)
        self.assertRegex(done.stdout, "elsewhere.json' is left out: its host is 'elsewhere', not 'somewhere'")
        self.assertIn("elsewhere", (self.folder / "index.html").read_text())

        def named(content):
            content["results"][0].update(auto=False, chosen=False, algorithm="ring")
            content["results"][1].update(wrong=3)

        done = run(self.changed("named.json", named), "--output", self.folder)
        self.assertIn("1 result of", done.stdout)
        self.assertIn("they are of algorithms that Tutti does not choose there", done.stdout)
        self.assertIn("they are wrong", done.stdout)

    def test_calls_made_in_other_ways_are_left_out(self):
        def nonblocking(content):
            for number, result in enumerate(content["results"]):
                result.update(mode="blocking" if number else "nonblocking")

        done = run(self.changed("modes.json", nonblocking), "--output", self.folder)
        self.assertRegex(done.stdout, "they are of 'blocking' calls, others of 'nonblocking'")

    def test_pairs_are_a_heat_map(self):
        figure = lambda unit: {"unit": unit, "median": [[None, 1, 2], [1, None, 4], [2, 4, None]]}
        pairs = {"nodes": [0, 0, 1], "slow": [{"figure": "latency", "from": 1, "to": 2}],
                 "figures": {"latency": figure("us"), "bandwidth": figure("GB/s"), "rate": figure("million/s")}}
        environment = json.loads(SAMPLE.read_text())["environment"]
        (self.folder / "pairs.json").write_text(json.dumps({"environment": environment, "pairs": pairs}))
        plots = self.plots(self.folder / "pairs.json")
        self.assertEqual(sorted(plots), ["pairs-bandwidth", "pairs-latency", "pairs-rate"])
        of = lambda plot, kind: [e for e in plot.root.iter() if e.get("class") == kind]
        colours = lambda plot: {c.find(f"{SVG}title").text: c.get("fill") for c in of(plot, "cell")}
        green = lambda colour: int(colour[3:5], 16) - int(colour[1:3], 16)
        latency, bandwidth = colours(plots["pairs-latency"]), colours(plots["pairs-bandwidth"])
        self.assertEqual(len(latency), 6)
        self.assertEqual(latency["from rank 0 to rank 2: 2"], "#eceef0")
        self.assertGreater(green(latency["from rank 0 to rank 1: 1"]), 2)
        self.assertLess(green(latency["from rank 1 to rank 2: 4"]), 0)
        self.assertGreater(green(bandwidth["from rank 1 to rank 2: 4"]), 2)
        self.assertEqual(len(of(plots["pairs-latency"], "slow")), 2, "one cell and the legend")
        self.assertEqual(len(of(plots["pairs-rate"], "slow")), 0)
        self.assertEqual(len(of(plots["pairs-rate"], "border")), 1)
        for plot in plots.values():
            width, height = (float(plot.root.get(side)) for side in ("width", "height"))
            for cell in of(plot, "cell"):
                self.assertLessEqual(float(cell.get("x")) + float(cell.get("width")), width)
                self.assertLessEqual(float(cell.get("y")) + float(cell.get("height")), height)

    def test_pairs_of_another_machine_are_left_out(self):
        environment = json.loads(SAMPLE.read_text())["environment"]
        environment["cores"] = 64
        (self.folder / "pairs.json").write_text(json.dumps({"environment": environment, "pairs": {}}))
        done = run(SAMPLE, self.folder / "pairs.json", "--output", self.folder)
        self.assertIn("pairs.json' is left out: its machine has 64 hardware threads, not 2", done.stdout)

    def test_page_has_all_collectives(self):
        self.plots(SAMPLE, "--note", "a <note>")
        page = (self.folder / "index.html").read_text()
        for collective in {r["collective"] for r in json.loads(SAMPLE.read_text())["results"] if r["bytes"] > 0}:
            self.assertIn(f"<h2>{collective}</h2>", page)
        self.assertIn("a &lt;note&gt;", page)
        self.assertIn("<td>barrier</td><td>3.00 / 3.00</td><td>1.50 / 1.50</td>", page)
        self.assertGreaterEqual(page.count("<svg"), 4)

    def test_ratios_alone_have_columns_of_their_own(self):
        mean = {"collective": "scan", "ranks": 2, "peer": "Another", "geometric_mean": 1.5, "least": 0.9, "least_bytes": 8192}
        (self.folder / "means.json").write_text(json.dumps({"environment": {}, "ratios": [mean]}))
        lines = run(SAMPLE, self.folder / "means.json", "--table").stdout.splitlines()
        self.assertEqual(lines[0], "| collective | Some MPI 1.0, p = 2 | p = 4 | Another, p = 2 |")
        self.assertIn("| scan | – | – | 1.50 / 0.90 (8 KiB) |", lines)
        self.assertIn("| barrier | 3.00 / 3.00 | 1.50 / 1.50 | – |", lines)

    def refused(self, words, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def test_errors(self):
        self.assertEqual(run("--help").returncode, 0)
        (self.folder / "none.json").write_text("{}")
        (self.folder / "text.json").write_text("no JSON")
        self.refused("is no file of tutti-bench --json", self.folder / "none.json", "--table")
        self.refused("is no file of tutti-bench --json", self.folder / "text.json", "--table")
        self.refused("cannot open", self.folder / "missing.json", "--table")
        self.refused("a FILE of tutti-bench --json is missing", "--table")
        self.refused("nothing is asked for; allowed: --output FOLDER, --table", SAMPLE)
        self.refused("--collective scan: the files have no results of it; allowed: allreduce, barrier", SAMPLE,
                     "--collective", "scan", "--output", self.folder)
        self.refused("--ranks 16: the files have no results of it; allowed: 2, 4", SAMPLE, "--ranks", "16", "--table")
        self.refused("'x' is not a size", SAMPLE, "--switch", "x", "--table")
        self.refused("--output", SAMPLE, "--output", self.folder / "none.json" / "folder")


class Page(unittest.TestCase):
    """docs/performance.md has what its command prints and draws."""

    page = (SOURCE / "docs" / "performance.md").read_text(encoding="utf-8")

    def test_plots_and_table_are_those_of_the_results(self):
        command = re.search(r"^ +build/release/apps/tutti/tutti plot (docs/plots/results\.json .*)\\\n(.*)$", self.page, re.M)
        self.assertIsNotNone(command)
        with tempfile.TemporaryDirectory() as folder:
            words = [w.strip('"') for w in re.findall(r'"[^"]*"|\S+', command[1] + command[2])]
            words = [folder if w == "docs/plots" else SOURCE / w if w.endswith(".json") else w for w in words]
            done = run(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("latency.svg", "bandwidth.svg", "ranks.svg", "ratios.svg", "results.json"):
                kept = (SOURCE / "docs" / "plots" / name).read_text(encoding="utf-8")
                self.assertEqual(kept, (pathlib.Path(folder) / name).read_text(encoding="utf-8"), name)
        rows = done.stdout.splitlines()
        self.assertEqual(len(rows), 18, "a head of two lines and sixteen collectives")
        self.assertIn("\n" + "\n".join(rows) + "\n", self.page)

    def test_is_short(self):
        self.assertLessEqual(len(self.page.splitlines()), 120)


if __name__ == "__main__":
    unittest.main()
