#!/usr/bin/env python3
"""How many lines of headers the compiler parses for each source, beside the precompiled ones.

    parsed_lines.py BUILD [--most N] [--up-to LINES]

BUILD: a build by g++ with TUTTI_UNITY_BUILD=OFF whose precompiled headers are built, such as build/develop. Prints the
sources of the library and the apps of up to LINES (50) lines that take more than N (30,000); exit code 1 if there is one.
Left out are sources that cannot have those headers, as they are compiled for another instruction set.
"""
import argparse
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys


def parsed(command):
    """The lines of the source and its headers. What is precompiled is one line, '#pragma GCC pch_preprocess'."""
    words = shlex.split(command["command"])
    at = words.index("-o")
    words[at:at + 2] = ["-o", "-"]
    words[words.index("-c")] = "-E"
    for option in ("-MD", "-MT", "-MF"):
        if option in words:
            at = words.index(option)
            del words[at:at + (1 if option == "-MD" else 2)]
    run = subprocess.run(words + ["-fpch-preprocess", "-P"], cwd=command["directory"], capture_output=True, text=True)
    if run.returncode != 0 and not command["file"].endswith("image.cpp"):  # those include a file that the build makes
        sys.exit(f"{command['file']}: {run.stderr}")
    return run.stdout.count("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=30_000)
    parser.add_argument("--up-to", type=int, default=50)
    wanted = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    folders = [root / name for name in ("lib", "algorithms", "ucx", "bindings", "apps")]
    listed = wanted.build / "compile_commands.json"
    if not listed.exists():
        sys.exit(f"parsed_lines.py: {wanted.build} is no build of CMake: there is no {listed}")
    commands = [each for each in json.loads(listed.read_text())
                if each["file"].endswith(".cpp") and any(map(pathlib.Path(each["file"]).is_relative_to, folders))
                and " -mavx" not in each["command"]
                and len(pathlib.Path(each["file"]).read_text().splitlines()) <= wanted.up_to]
    if not commands:
        sys.exit(f"parsed_lines.py: {wanted.build} compiles no source of {root} for itself: TUTTI_UNITY_BUILD=OFF")
    if not list(wanted.build.glob("lib/CMakeFiles/*/cmake_pch.hxx.gch")):
        sys.exit(f"parsed_lines.py: {wanted.build} has no precompiled headers yet: build tutti_core first")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        lines = dict(zip((each["file"] for each in commands), pool.map(parsed, commands)))
    over = {file: count for file, count in lines.items() if count > wanted.most}
    for file, count in sorted(over.items(), key=lambda item: -item[1]):
        print(f"{pathlib.Path(file).relative_to(root)}: {count} lines")
    print(f"{len(lines)} sources of up to {wanted.up_to} lines, {len(over)} take more than {wanted.most}; most: "
          f"{max(lines.values(), default=0)}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
