"""Schedules, proofs, costs and pictures without MPI: the same as the tool `tutti` has. TUTTI_TOOL names the tool."""
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import tutti
from tutti import schedule

TOOL = os.environ.get("TUTTI_TOOL") or shutil.which("tutti")
needs_tool = pytest.mark.skipif(TOOL is None, reason="the tool `tutti` is not there: TUTTI_TOOL names none")


def tool(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


CASES = [
    ("allreduce", "ring", 8, 1024, {}, []),
    ("broadcast", "knomial:4/8", 7, 24, {"root": 3}, ["--root", 3]),
    ("barrier", "dissemination", 5, 0, {}, []),
    ("alltoall", "bruck", 6, 3, {"in_place": True}, ["--in-place"]),
    ("reduce_scatter", "pat", 9, 5, {"fused": True}, ["--fused"]),
    ("scan", "recursive_doubling", 1, 4, {}, []),
    ("allreduce", "two_level", 6, 24, {"nodes": [2, 4]}, ["--nodes", "2,4"]),
    ("allreduce", "three_level", 6, 24, {"nodes": [2, 4], "sockets": [1, 1, 2, 2]}, ["--nodes", "2,4", "--sockets", "1,1,2,2"]),
]


@needs_tool
@pytest.mark.parametrize("collective, algorithm, ranks, count, problem, options", CASES)
def test_what_the_tool_shows(collective, algorithm, ranks, count, problem, options):
    shown = schedule.of(collective, algorithm, ranks, count, **problem)
    same = {"text": shown.to_text(), "json": shown.to_json() + "\n", "dot": shown.to_dot(), "svg": shown.svg()}
    for form, text in same.items():
        assert tool("show", collective, algorithm, "-p", ranks, "-n", count, *options, "--format", form) == text, form
    one = tool("show", collective, algorithm, "-p", ranks, "-n", count, *options, "--format", "json", "--rank", ranks - 1)
    assert shown.to_json(rank=ranks - 1) + "\n" == one


@needs_tool
def test_the_algorithms_and_their_costs_are_the_tools():
    listed = [tuple(line.split()[:2]) for line in tool("list").splitlines()[1:] if line[0] != " "]
    assert [(each.collective, each.name) for each in tutti.algorithms()] == listed
    lines = tool("cost", "allreduce", "-p", 8, "-n", 4096).splitlines()
    rows = {words[0]: words[1:] for words in map(str.split, lines) if len(words) > 6 and words[1].isdecimal()}
    costs = schedule.costs("allreduce", ranks=8, count=4096)
    assert rows.keys() == costs.keys() and len(costs) > 10
    for name, cost in costs.items():
        assert [cost.messages, cost.rounds, cost.sent, cost.reduced, cost.scratch] == [int(word) for word in rows[name][:5]]
        assert f"{cost.time:.3f}" == rows[name][5]
    assert list(costs.values()) == sorted(costs.values(), key=lambda cost: cost.time)


def test_a_schedule():
    ring = schedule.of("allreduce", "ring", ranks=8, count=1024)
    assert ring.fault is None and ring.verify() is ring
    assert ring.title == "allreduce ring, 8 ranks, 1024 elements" and str(ring).startswith(ring.title)
    assert repr(ring) == f"<Schedule: {ring.title}>"
    assert ring.rounds == 14 and max(ring.steps_by_round(3)) == 14
    cost = ring.cost()
    assert (cost.messages, cost.sent, cost.reduced, cost.copied, cost.scratch) == (14, 2 * 7 * 128, 7 * 128, 0, 128)
    assert cost.time == pytest.approx(14 * 0.2 + 14 * 128 * 1e-4 + 7 * 128 * 1e-4)
    assert ring.cost(schedule.Network(alpha=1, beta=0, gamma=0)).time == 14
    assert len(json.loads(ring.to_json())["ranks"]) == 8


def test_a_notebook_shows_a_picture_where_it_is_not_too_large():
    picture = schedule.of("allreduce", "swing", ranks=4)._repr_svg_()
    assert xml.etree.ElementTree.fromstring(picture).tag.endswith("svg")
    assert schedule.of("barrier", "dissemination", ranks=65)._repr_svg_() is None


def test_algorithms():
    assert len(tutti.algorithms()) > 70 and tutti.algorithms is schedule.algorithms
    knomial = next(each for each in tutti.algorithms("broadcast") if each.name == "knomial")
    assert knomial.parameter == schedule.Parameter("radix", 2, 2, knomial.parameter.most) and knomial.order == "-"
    assert {each.order for each in tutti.algorithms("allreduce")} == {"fixed", "of ranks", "of nodes", "any"}
    assert all(each.summary and each.source and each.levels in (1, 2, 3) for each in tutti.algorithms())


@pytest.mark.parametrize("call, text", [
    (lambda: schedule.of("allredcue", "ring"), "'allredcue' is no collective; allowed: barrier, broadcast, .*exscan"),
    (lambda: schedule.of("allreduce", "rign"), "rign.*ring"),
    (lambda: schedule.of("allreduce", "ring", ranks=0), "ranks 0: allowed: 1 to 256"),
    (lambda: schedule.of("allreduce", "ring", count=-1), "count -1: allowed for 8 ranks: 0 to 262144"),
    (lambda: schedule.of("broadcast", "chain", root=8), "root 8 is no rank: allowed: 0 to 7"),
    (lambda: schedule.of("allreduce", "ring", root=1), "root: allreduce has no root"),
    (lambda: schedule.of("allreduce", "two_level", nodes=[4, 5]), "nodes has 9 ranks in all, not 8"),
    (lambda: schedule.of("allreduce", "two_level", nodes=[0, 8]), "nodes: 0 is no number of ranks"),
    (lambda: schedule.of("allreduce", "three_level", nodes=[4, 4], sockets=[3, 5]), "ranks 3 and 4 are on one socket"),
    (lambda: schedule.of("allreduce", "ring", ranks=100).svg(), "100 ranks are too many to draw, 64 are not"),
    (lambda: schedule.of("allreduce", "ring").cost(schedule.Network(links=0)), "links 0: allowed: 1 and more"),
    (lambda: schedule.Network(alpha=float("nan")), "Network: alpha is nan; allowed: a number, 0 and more"),
    (lambda: schedule.Network(beta="1"), "Network: beta is '1'; allowed"),
    (lambda: schedule.of("allreduce", "ring").to_text(8), "rank is 8; allowed: 0 to 7, or None for all"),
    (lambda: schedule.of("allreduce", "ring").to_json(-1), "rank is -1; allowed"),
    (lambda: schedule.of("allreduce", "ring").steps_by_round("0"), "rank is '0'; allowed"),
    (lambda: tutti.algorithms("all"), "'all' is no collective"),
])
def test_bad_input(call, text):
    with pytest.raises(tutti.ArgumentError, match=text):
        call()


def test_no_mpi_is_loaded():
    program = "import tutti, tutti.schedule as s; s.of('scan', 'linear').svg(); print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "_offline" in maps and "libmpi" not in maps and "_core" not in maps
