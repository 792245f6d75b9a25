#!/usr/bin/env python3
"""plot_benchmarks_test.py SOURCE - what scripts/plot_benchmarks.py draws of a sample, and that it drew docs/plots."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

SOURCE = pathlib.Path(sys.argv.pop(1))
SAMPLE = pathlib.Path(__file__).parent / "plots" / "sample.json"
SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments):
    command = [sys.executable, str(SOURCE / "scripts" / "plot_benchmarks.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Plot:
    def __init__(self, text):
        self.root = xml.fromstring(text)
        self.texts = [t.text for t in self.root.iter(f"{SVG}text")]
        self.labels = [t.text for t in self.root.iter(f"{SVG}text") if t.get("class") == "label"]
        self.series = [g for g in self.root.iter(f"{SVG}g") if g.get("class") == "series"]

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

    def test_three_plots(self):
        self.assertEqual(sorted(self.plots(SAMPLE)), ["bandwidth", "latency", "ranks"])

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
        titles = [t.text for t in plot.series[0].iter(f"{SVG}title")]
        self.assertEqual(titles, ["Tutti, 2 ranks: 4.1 GB/s", "Tutti, 2 ranks: 5.24 GB/s"])

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
        self.assertEqual(lines[0], "| collective | p = 2 | p = 4 |")
        self.assertIn("| allreduce | 1.41 / 0.50 (2 MiB) | 1.41 / 0.50 (2 MiB) |", lines)
        self.assertIn("| barrier | 3.00 / 3.00 | 1.50 / 1.50 |", lines)

    def test_errors(self):
        self.assertEqual(run("--help").returncode, 0)
        (self.folder / "none.json").write_text("{}")
        done = run(self.folder / "none.json", "--table")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a file of tutti-bench", done.stderr)
        done = run(SAMPLE, "--collective", "scan", "--output", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no results for the plot of latency", done.stderr)


class Page(unittest.TestCase):
    """docs/performance.md has what its command prints and draws."""

    page = (SOURCE / "docs" / "performance.md").read_text(encoding="utf-8")

    def test_plots_and_table_are_those_of_the_results(self):
        command = re.search(r"^ +scripts/plot_benchmarks\.py docs/plots/results\.json (.*)$", self.page, re.M)
        self.assertIsNotNone(command)
        with tempfile.TemporaryDirectory() as folder:
            words = re.findall(r'"[^"]*"|\S+', command[1])
            words = [w.strip('"').replace("docs/plots", folder) for w in words]
            done = run(SOURCE / "docs/plots/results.json", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("latency.svg", "bandwidth.svg", "ranks.svg", "results.json"):
                kept = (SOURCE / "docs" / "plots" / name).read_text(encoding="utf-8")
                self.assertEqual(kept, (pathlib.Path(folder) / name).read_text(encoding="utf-8"), name)
        for row in done.stdout.splitlines()[2:]:
            self.assertIn(f"\n{row.rstrip('|').rstrip()} |", self.page)

    def test_is_short(self):
        self.assertLessEqual(len(self.page.splitlines()), 120)


if __name__ == "__main__":
    unittest.main()
