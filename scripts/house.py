#!/usr/bin/env python3
"""Figures of the source tree, and the rules that it keeps.

    scripts/house.py            prints the figures
    scripts/house.py --check    says which rules are broken; exit status 1 if any is

The rules: a folder of lib includes only folders below it (LAYERS), no includes run in a circle, bindings/python includes
only headers that are installed, a class has at most 20 functions (LARGE_CLASSES names the exceptions), the byte
thresholds of the shared-memory transport stand in its tuning.hpp, algorithms/more has the algorithms that no rule names,
and links of pages lead somewhere. Files of more than 300 lines are listed with the figures.
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# From low to high: a folder may include itself and the lines before its own. The folders of one line know nothing of
# each other.
LAYERS = [
    ["lib/core/schedule", "lib/core/memory", "lib/core/reduce", "lib/topology"],
    ["lib/proof/checker", "lib/proof/cost", "lib/core/files", "lib/watch/records", "lib/core/transport/shm/tuning.hpp"],
    ["lib/core/plan", "lib/core/selection", "lib/proof/library", "lib/proof/simulator"],
    ["lib/core/exec", "lib/watch/faults.hpp"],
    ["lib/watch/faults.cpp", "lib/watch/trace", "lib/watch/bits", "lib/device/driver"],
    ["lib/core/transport/bootstrap.hpp", "lib/core/transport/network.hpp"],
    ["lib/core/transport/network.cpp", "lib/core/transport/mpi"],
    ["lib/core/transport/shm/segment"],
    ["lib/core/transport/shm/eager"],
    ["lib/core/transport/shm", "lib/device/staging"],
    ["lib/device/ipc"],
    ["lib/device/stream"],
    ["lib/proof/plan_checker", "lib/core/transport"],
    ["lib/core/communicator", "lib/core/run", "lib/watch", "lib/device/call", "lib/device/none.cpp"],
    ["lib/core/call"],
]
# And these know nothing of each other, though one is lower.
MUST_NOT = [("lib/core/transport/shm", "lib/core/transport/mpi"), ("lib/core/transport/mpi", "lib/core/transport/shm")]
LEVELS = {place: level for level, places in enumerate(LAYERS) for place in places}
# The folders of this level may include each other: a communicator, its operations, and whoever watches them.
KNOW_EACH_OTHER = LEVELS["lib/core/run"]
MOST_LINES, MOST_FUNCTIONS = 300, 20
# Classes of more functions, at most five, with the reason.
LARGE_CLASSES = {
    ("bindings/python/tutti/torch/csrc/backend.hpp", "Backend"): "torch's interface has as many",
    ("lib/core/run/operation.hpp", "Operation"): "one run in all of its states, the fast path among them",
    ("lib/core/transport/mux.hpp", "Mux"): "the verbs of a transport and those of the fast path, inlined",
    ("lib/core/call/tag_matching.hpp", "TagMatching"): "one protocol, whose lists belong together",
    ("lib/device/stream/program.cpp", "Writer"): "one function for each kind of step",
}
PAGES = ["*.md"] + [folder + "/**/*.md" for folder in ("algorithms", "apps", "bindings", "docs", "examples", "include", "lib", "slurm",
                                                       "tests", "ucx")]
SHM, PYTHON = "lib/core/transport/shm", "bindings/python"
# A constant of so many bytes decides something: pages, lines and sizes of a system call do not.
THRESHOLD = re.compile(r"constexpr (?:auto|std::int64_t|std::size_t|int) (\w*(?:bytes|most|least|longest|patience|looks)\w*) ?= ?(.*)[;,]")
NO_THRESHOLDS = {"line_bytes", "phase_bytes", "most_operands", "most_buffers", "most", "patience",
                 "looks_at_the_clock"}


def place_of(path):
    """The longest entry of LAYERS that the path is, or is in."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        place = "/".join(parts[:length])
        if place in LEVELS:
            return place
    return None


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".h") or (path.suffix in (".py", ".pyi") and folder == PYTHON):
                if "build" not in path.relative_to(ROOT).parts:  # what pip has made
                    yield path.relative_to(ROOT).as_posix(), path.read_text()


def wrong_includes():
    found = []
    for path, text in sources("lib"):
        mine = place_of(path)
        for name in re.findall(r'#include "((?:lib|ucx|apps|tests)/[^"]+)"', text):
            other = place_of(name)
            if not name.startswith("lib/"):
                found.append(f"{path} includes {name}, which is above lib")
            elif mine is None or other is None:
                found.append(f"{path} includes {name}: scripts/house.py does not know the folder of one of them")
            elif LEVELS[other] > LEVELS[mine] or (LEVELS[other] == LEVELS[mine] != KNOW_EACH_OTHER and other != mine):
                found.append(f"{path} includes {name}, which is not below it")
            elif any(path.startswith(a + "/") and name.startswith(b + "/") for a, b in MUST_NOT):
                found.append(f"{path} includes {name}: these must not know each other")
    for path, text in sources(PYTHON):  # built against an installed library, which has its headers alone
        found += [f"{path} includes {name}, which is not installed"
                  for name in re.findall(r'#include "((?:algorithms|lib|ucx|apps|tests)/[^"]+)"', text)]
    return found


def misplaced_algorithms():
    """Those in algorithms/more are those that no rule names."""
    builtin = ROOT / "lib/core/selection/builtin.json"
    rules = json.loads(builtin.read_text())["rules"] if builtin.exists() else []
    chosen = {f"{rule['collective']}_{re.split('[:/]', rule['use'])[0]}" for rule in rules}
    found = []
    for path, text in sources("algorithms"):
        name = pathlib.PurePath(path).stem
        if f"const Algorithm {name}" in text and (name in chosen) == ("/more/" in path):
            found.append(f"{path}: {'a rule names it' if name in chosen else 'no rule names it: algorithms/more'}")
    return found


def stray_thresholds():
    found = []
    for path, text in sources(SHM):
        if path.endswith("/tuning.hpp") or path.endswith("/geometry.hpp"):
            continue
        found += [f"{path}: {name} = {value}" for name, value in THRESHOLD.findall(text) if name not in NO_THRESHOLDS]
    return found


def heading_names(text):
    """The names by which links find the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading)).lower().replace(" ", "-") for heading in headings}


def dead_links():
    found = []
    for page in sorted(path for folder in PAGES for path in ROOT.glob(folder)):
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            target, _, heading = link.partition("#")
            other = page.parent / target if target else page
            if re.match(r"https?:|mailto:", link):
                continue
            if not other.exists() or (heading and other.suffix == ".md" and heading not in heading_names(other.read_text())):
                found.append(f"{page.relative_to(ROOT)} links to {link}, which is not there")
    return found


def cycles():
    """Units, a header with its source, that include each other by some way."""
    includes = {}
    for path, text in sources("include", "algorithms", "lib", "ucx", "bindings", "apps"):
        unit = includes.setdefault(path.rsplit(".", 1)[0], set())
        for name in re.findall(r'#include "([^"]+)"', text):
            for other in (name, "include/" + name):
                if (ROOT / other).exists():
                    unit.add(other.rsplit(".", 1)[0])
    found, done = [], set()

    def visit(unit, way):
        if unit in way:
            if unit != way[-1]:
                found.append("includes run in a circle: " + " > ".join(way[way.index(unit):] + [unit]))
            return
        if unit in done:
            return
        for other in sorted(includes.get(unit, ())):
            visit(other, way + [unit])
        done.add(unit)

    for unit in sorted(includes):
        visit(unit, [])
    return found


def classes(text):
    """Name, functions and members of each class with a body. Constructors, destructors and accessors, which are one
    line and take nothing, do not count."""
    for match in re.finditer(r"^(?:template <[^\n]*>\n)?(?:class|struct) (\w+)[^;{]*\{\n(.*?)^\};", text, re.M | re.S):
        name = match.group(1)
        body = re.sub(r"^ {3,}.*\n", "", match.group(2), flags=re.M)  # what is inside functions, and nested types
        functions = re.findall(r"^  (?!using|friend|static_assert|decltype|TUTTI_MPI_FUNCTION|TUTTI_CUDA_FUNCTION)[^/\n]*\([^\n]*(?<!= nullptr)(?:\{|\}|;|,|\)|:|&&|\|\|)$", body, re.M)
        accessor = re.compile(rf"\(\) (?:const )?(?:noexcept )?(?:final |override )?\{{ return .*\}}$|= (?:delete|default);$|^  (?:explicit |virtual )*~?{name}\(")
        members = len(re.findall(r"^  (?!using|friend|return|static_assert)[^(/\n]*\w+_(?:\{\}|\{[^\n]*\}| = [^;\n]*)?;", body, re.M))
        yield name, sum(not accessor.search(function) for function in functions), members


def large_classes():
    return [f"{path}: class {name} has {functions} functions, more than {MOST_FUNCTIONS}"
            for path, text in sources("lib", "ucx", "bindings") for name, functions, _ in classes(text)
            if functions > MOST_FUNCTIONS and (path, name) not in LARGE_CLASSES]


def figures():
    lines = {path: text.count("\n") for path, text in sources("lib", "algorithms", "ucx", "include", "apps", PYTHON, "tests")}
    for name, folder in (("lib", "lib/"), ("lib/core/transport/shm", SHM + "/"), ("tests/shm", "tests/shm/"), ("algorithms", "algorithms/"),
                         (PYTHON, PYTHON + "/"), ("tests", "tests/")):
        counted = [count for path, count in lines.items() if path.startswith(folder)]
        print(f"{name}: {sum(counted)} lines in {len(counted)} files")
    print(f"files of more than {MOST_LINES} lines: "
          + (", ".join(f"{path} {count}" for path, count in lines.items() if count > MOST_LINES) or "none"))
    found = [(functions, members, name, path) for path, text in sources("lib", "ucx", "bindings")
             for name, functions, members in classes(text)]
    print("largest classes (functions, members): "
          + ", ".join(f"{name} {functions}, {members}" for functions, members, name, _ in sorted(found, reverse=True)[:6]))
    print(f"thresholds of shared memory outside tuning.hpp: {len(stray_thresholds())}")
    print(f"includes that run the wrong way: {len(wrong_includes())}, or in a circle: {len(cycles())}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="check the rules alone")
    if not parser.parse_args().check:
        figures()
        return 0
    broken = wrong_includes() + cycles() + large_classes() + misplaced_algorithms() + stray_thresholds() + dead_links()
    print("\n".join(broken) or "all includes run downwards and in no circle, no class is too large, all thresholds are in "
                               "tuning.hpp, and all links lead somewhere")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
